#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Locks whose waiters do not always run: vCPUs that share host cores.

Writes vcpus.csv, and lib/README's table of one count of vCPUs. Of each row, the one of several boots
whose rate is the median. The columns: README.md.
"""
import csv
import os
import pathlib
import statistics
import sys

import qemu
from output import (NewFile, Parser, Trouble, at_least_one, exit_status,
                    write)

SKIPPED = 77
CORES = 2
PER_CORE = (1, 2, 4, 8)
LOCKS = ("ticket_lock<u8>", "preemptable_ticket_lock<u8>", "queued_lock",
         "backoff_ttas_lock", "tas_lock", "ttas_lock")
# The rows of lib/README's table, in their order, and the line above them.
TOLD = ("ticket_lock<u8>", "queued_lock", "preemptable_ticket_lock<u8>",
        "backoff_ttas_lock", "ttas_lock", "tas_lock")
TOLD_CPUS = 8
TOLD_HEAD = f"| {TOLD_CPUS} vCPUs on {CORES} host cores |"


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--image", required=True, help="the lab's .elf")
    parser.add_argument("--out", required=True,
                        help="the folder of vcpus.csv")
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
        log=f"{args.out}/vcpus.log", csv=f"{args.out}/vcpus.csv")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [{name: value if name == "lock" else int(value)
                 for name, value in row.items()}
                for row in csv.DictReader(file)]


def measured(args):
    """The rows of one boot, on two host cores however many there are."""
    machine = machine_for(args)
    os.sched_setaffinity(0, qemu.host_cores()[:CORES])
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        raise Trouble(f"{run.message}; serial log: {machine.log}")
    return rows_of(machine.csv)


def medians(boots):
    """Of the same rows of all boots."""
    for same in zip(*boots):
        rate = statistics.median_low(row["per_second"] for row in same)
        yield next(row for row in same if row["per_second"] == rate)


def write_rows(rows, path):
    with NewFile(path) as file:
        out = csv.DictWriter(file, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def show(rows):
    print(f"{'lock':28} vCPUs  acquisitions a second  longest wait, ms  Jain")
    for row in rows:
        print(f"{row['lock']:28} {row['cpus']:5} {row['per_second']:22} "
              f"{row['longest_wait'] / 1e6:17.1f} "
              f"{row['jain_permille'] / 1000:5.3f}")


def table(rows):
    """The lines of lib/README's table."""
    for name in TOLD:
        row = next(row for row in rows
                   if row["lock"] == name and row["cpus"] == TOLD_CPUS)
        yield (f"| `{name}` | {row['per_second']:,} | "
               f"{row['longest_wait'] / 1e6:.0f} | "
               f"{row['jain_permille'] / 1000:.3f} |")


def lines_of_table(path):
    """All lines of the text, and where the table's rows begin in it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line.startswith(TOLD_HEAD):
            return lines, number + 2
    raise Trouble(f"{path}: no table that begins with {TOLD_HEAD}")


def put_table(rows, path):
    lines, start = lines_of_table(path)
    lines[start:start + len(TOLD)] = table(rows)
    write(path, "\n".join(lines) + "\n")


def main():
    args = arguments()
    path = f"{args.out}/vcpus.csv"
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    why_not = qemu.missing(machine_for(args))
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    write_rows(list(medians([measured(args) for _ in range(args.boots)])), path)
    rows = rows_of(path)
    show(rows)
    print("", *table(rows), sep="\n")
    if args.readme:
        put_table(rows, args.readme)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
