#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which mode of the lab finds which mutant; fails if one that it
should find got away, or if a right lock was found out (the row "control"). The
list itself says what should be found where. 77: skipped, this host can run none
of the modes."""
import re
import sys

import qemu
from output import exit_status, lab_parser

SKIPPED = 77
TIMEOUT = 400   # a mode takes some seconds; on busy cores, minutes

# column, mode, CPUs, words
MODES = [("single", "single", 4, "run=busted"),
         ("icount", "icount", 4, "run=busted acquisitions=2000"),
         ("storm", "single", 4, "run=busted_storm acquisitions=2000"),
         ("parallel", "parallel", 2,
          "run=busted parallel=1 pauses=1 acquisitions=100000"),
         ("par. storm", "parallel", 2,
          "run=busted_storm parallel=1 pauses=1 acquisitions=5000")]
VERDICT = re.compile(r"^(ok|not ok) \d+ (\S+)( # SKIP)?")


def arguments():
    parser = lab_parser(__doc__)
    parser.add_argument("modes", choices=("single", "turns", "parallel", "all"),
                        nargs="?", default="all",
                        help="the first alone; those whose vCPUs take turns, or "
                        "run at once")
    parser.add_argument("--table", metavar="FILE",
                        help="a text with this table, which must say the same")
    return parser.parse_args()


def verdicts(args, column, mode, cpus, words):
    """{lock: "found", "missed" or "-"}, or None where the host cannot."""
    machine = qemu.Machine(image=args.image, cpus=cpus, accelerator=mode,
                           append=f"mode=tap {words}", timeout=TIMEOUT,
                           log=f"{args.log}.{column.replace(' ', '_')}")
    why_not = qemu.missing(machine)
    if why_not:
        print(f"{column}: left out: {why_not}")
        return None
    run = qemu.run(machine)
    found = {}
    for line in run.serial.splitlines():
        match = VERDICT.match(line)
        if match:
            good = "passed" if match[2] == "control" else "found"
            found[match[2]] = ("-" if match[3] else
                               good if match[1] == "ok" else "missed")
    if run.outcome is not qemu.Outcome.PASS:
        print(f"{column}: {run.message}; serial log: {machine.log}")
        found["(the run)"] = "missed"
    return found


def table_in(path):
    """{column: {lock: cell}} of the table in a text."""
    titles = [column for column, *_ in MODES]
    with open(path, encoding="utf-8") as text:
        lines = iter(text.read().splitlines())
    columns = {title: {} for title in titles}
    for line in lines:
        if line.split() == ["mutant", *" ".join(titles).split()]:
            break
    for line in lines:
        lock, *cells = line.split()
        if len(cells) != len(titles):
            break
        for title, cell in zip(titles, cells):
            columns[title][lock] = cell
    return columns


def is_stale(path, columns):
    """Prints what a text's table says otherwise, if it does."""
    written = table_in(path)
    stale = [column for column in columns if written[column] != columns[column]]
    for column in stale:
        rows = sorted({lock for table in (written, columns)
                       for lock in table[column]
                       if written[column].get(lock) !=
                       columns[column].get(lock)})
        print(f"{path}: the table's column \"{column}\" is stale: "
              + ", ".join(rows))
    return bool(stale)


def main():
    args = arguments()
    columns = {column: verdicts(args, column, *machine)
               for column, *machine in MODES
               if args.modes in ("all", column, "parallel" if machine[0] ==
                                 "parallel" else "turns")}
    columns = {column: found for column, found in columns.items() if found}
    if not columns:
        return SKIPPED
    locks = list(dict.fromkeys(
        lock for found in columns.values() for lock in found))
    print(f"{'mutant':24}" + "".join(f"{mode:>12}" for mode in columns))
    for lock in locks:
        print(f"{lock:24}" + "".join(f"{found.get(lock, '?'):>12}"
                                     for found in columns.values()))
    cells = [found.get(lock, "?") for found in columns.values()
             for lock in locks]
    if args.table and is_stale(args.table, columns):
        return 1
    return 1 if "missed" in cells or "?" in cells or "found" not in cells else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
