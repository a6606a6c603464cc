#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README's table of the demo, six of its rows: --write makes it from a run;
without, a run must print its head and those rows, a second run the very same,
and show what the demo is for: a lock that one CPU keeps, one that goes round.
The figures are counts of instructions, and another compiler's are others."""
import argparse
import sys

import qemu
from output import Trouble, exit_status

SKIPPED = 77
SHOWN = ["ticket_lock<u8>", "preemptable_ticket_lock<u8>", "tas_lock",
         "mcs_lock", "bakery_lock", "rw_ticket_lock<u8>"]


def table_arguments(description):
    """What a script is told that makes a table between two marks of a README."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    parser.add_argument("--append", required=True,
                        help="the kernel's command line")
    parser.add_argument("--readme", required=True,
                        help="the file that holds the table")
    parser.add_argument("--write", action="store_true",
                        help="put this run's table into it")
    return parser


class Place:
    """A table between two marks: <!-- NAME: begin --> and <!-- NAME: end -->, each
    a line, and ``` inside of them. Trouble, where the file has none."""

    def __init__(self, path, name):
        self.path = path
        begin = f"<!-- {name}: begin -->\n```\n"
        end = f"```\n<!-- {name}: end -->\n"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(begin) != 1 or text.count(end) != 1:
            raise Trouble(f"{path}: not one place for the table {name!r}")
        before, _, rest = text.partition(begin)
        old, _, after = rest.partition(end)
        self.lines = old.splitlines()
        self._before, self._after = before + begin, end + after

    def put(self, lines):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self._before + "\n".join(lines) + "\n" + self._after)


def arguments():
    parser = table_arguments(__doc__)
    parser.add_argument("--image", required=True,
                        help="the lab's .elf")
    return parser.parse_args()


def table_of(serial):
    """From the head's first line to PASS."""
    lines = serial.splitlines()
    head = next((i for i, line in enumerate(lines)
                 if line.startswith("lock ")), 1)
    end = lines.index("PASS") if "PASS" in lines else len(lines)
    return lines[head - 1:end + 1]


def shown(table):
    return table[:2] + [line for line in table[2:]
                        if line.split()[0] in SHOWN]


def shape(table):
    """The head, and the first word of each row."""
    return table[:2] + [line.split()[0] for line in table[2:] if line.strip()]


def differences(table):
    """What the first table that a person sees does not show, in words."""
    rows = [line.split() for line in table[2:-1]]
    indices = [float(row[-1]) for row in rows]
    changes = [int(row[3]) for row in rows]
    if min(indices) > 0.5 or max(indices) < 0.9:
        yield "no lock is unfair, or none is fair"
    if min(changes) * 100 > max(changes):
        yield "all locks change their owner equally often"
    if any(len(line) > 80 for line in table):
        yield "a line is longer than a screen is wide"


def main():
    args = arguments()
    place = Place(args.readme, "demo table")
    machine = qemu.Machine(image=args.image, cpus=4, append=args.append,
                           accelerator="icount", log=args.log)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        print(f"FAIL: {run.message}; serial log: {args.log}")
        return 1
    table = table_of(run.serial)
    wrong = list(differences(table))
    if args.write:
        place.put(shown(table))
    elif shape(place.lines) != shape(shown(table)):
        wrong.append("README's table is another one: build the target "
                     "demo_table")
    elif table_of(qemu.run(machine).serial) != table:
        wrong.append("a second run prints another table")
    print("\n".join(table))
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
