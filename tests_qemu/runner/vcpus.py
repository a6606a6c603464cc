#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Locks whose waiters do not always run: vCPUs that share host cores.

Prints, plots and writes measure.csv, as plots.py; and lib/README's table of one
count of vCPUs. Of each row, the one of several boots whose rate is the median.
"""
import os
import pathlib
import statistics
import sys

import plots
import qemu
from output import Parser, Trouble, at_least_one, exit_status, write

SKIPPED = 77
CORES = 2
PER_CORE = (1, 2, 4, 8)
# The rows of lib/README's table, in their order, and the line above them.
LOCKS = ("ticket_lock<u8>", "queued_lock", "preemptable_ticket_lock<u8>",
         "backoff_ttas_lock", "ttas_lock", "tas_lock")
TOLD_CPUS = 8
TOLD_HEAD = f"| {TOLD_CPUS} vCPUs on {CORES} host cores |"


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--image", required=True, help="the lab's .elf")
    parser.add_argument("--out", required=True, type=pathlib.Path,
                        help="the folder of measure.csv and the pictures")
    parser.add_argument("--boots", type=at_least_one, default=5,
                        help="how many (default: %(default)s)")
    parser.add_argument("--seconds", type=at_least_one, default=1,
                        help="of each row (default: %(default)s)")
    parser.add_argument("--readme", type=pathlib.Path,
                        help="whose table gets the figures")
    return parser.parse_args()


def machine_for(args):
    counts = ",".join(str(CORES * n) for n in PER_CORE)
    return qemu.Machine(
        image=args.image, cpus=CORES * max(PER_CORE), accelerator="parallel",
        append=f"mode=csv run=measure cpus={counts} lock={','.join(LOCKS)} "
               f"section=500 think=0..2000 seconds={args.seconds}",
        log=str(args.out / "vcpus.log"))


def measured(machine):
    """Returns the output of one boot."""
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        raise Trouble(f"{run.message}; serial log: {machine.log}")
    return plots.runs(run.serial)[0]


def medians(boots):
    """The first boot's run, with the same rows' medians of all boots."""
    rows = []
    for same in zip(*(run.rows for run in boots)):
        rate = statistics.median_low(row["per_second"] for row in same)
        rows.append(next(row for row in same if row["per_second"] == rate))
    return plots.Run(boots[0].columns, boots[0].machine, rows, verdict="PASS")


def told(rows):
    """The lines of lib/README's table."""
    by_lock = {row["lock"]: row for row in rows if row["cpus"] == TOLD_CPUS}
    for name in LOCKS:
        row = by_lock[name]
        yield (f"| `{name}` | {row['per_second']:,} | "
               f"{row['longest_wait'] / 1e6:.0f} | "
               f"{row['jain_permille'] / 1000:.3f} |")


def put(table, path):
    lines = path.read_text(encoding="utf-8").splitlines()
    heads = [number for number, line in enumerate(lines)
             if line.startswith(TOLD_HEAD)]
    if len(heads) != 1:
        raise Trouble(f"{path}: not one table that begins with {TOLD_HEAD}")
    first = heads[0] + 2
    lines[first:first + len(LOCKS)] = table
    write(path, "\n".join(lines) + "\n")


def main():
    args = arguments()
    machine = machine_for(args)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    args.out.mkdir(parents=True, exist_ok=True)
    # On two host cores, however many there are.
    os.sched_setaffinity(0, qemu.host_cores()[:CORES])
    run = medians([measured(machine) for _ in range(args.boots)])
    status = plots.show_run(run, args.out)
    table = list(told(run.rows))
    print("", *table, sep="\n")
    if args.readme:
        put(table, args.readme)
    return status


if __name__ == "__main__":
    sys.exit(exit_status(main))
