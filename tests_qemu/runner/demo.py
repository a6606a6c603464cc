#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README's table of the demo, six of its rows: --write makes it from a run, with
--exact a run must print it. Without, a run must print its head and those rows, a
second run the very same, and show what the demo is for: a lock that one CPU
keeps, one that goes round; and the median must be the median of what was
measured. The figures are counts of instructions, and another compiler's are
others."""
import dataclasses
import re
import sys

import plots
import qemu
from output import Parser, Trouble, exit_status, write

SKIPPED = 77
SHOWN = ["ticket_lock<u8>", "preemptable_ticket_lock<u8>", "tas_lock",
         "mcs_lock", "bakery_lock", "rw_ticket_lock<u8>"]
# The documents' tables are of kernels by this g++; DWARF has it (DW_AT_producer).
REFERENCE = "12.2.0"
PRODUCER = re.compile(rb"GNU C\+\+20 (\d[\d.]*)")
# Think time makes handoffs, and so their percentiles, differ.
SPREAD = ("run=measure section=500 think=0..2000 acquisitions=2000 "
          "lock=ticket_lock<u8>,mcs_lock")


def table_arguments(description):
    """Returns the arguments of a script that makes a table between two marks of
    a README."""
    parser = Parser(description)
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    parser.add_argument("--readme", required=True,
                        help="the file that holds the table")
    to_do = parser.add_mutually_exclusive_group()
    to_do.add_argument("--write", action="store_true",
                       help="put this run's table into it")
    to_do.add_argument("--exact", action="store_true",
                       help="it must have this run's table, figure by figure; "
                       f"skipped unless the kernel is by g++ {REFERENCE}")
    return parser


def by_another_compiler(image):
    """None, or why the kernel's figures are not those of the documents."""
    try:
        with open(image.removesuffix(".elf") + ".debug", "rb") as file:
            found = PRODUCER.search(file.read())
    except OSError:
        found = None
    by = f"g++ {found[1].decode()}" if found else "an unknown compiler"
    return (None if by == f"g++ {REFERENCE}" else
            f"{image} is by {by}, the tables are by g++ {REFERENCE}")


def cannot_compare(args, images):
    """The exit status, where the tables are not those of these kernels."""
    why_not = next(filter(None, map(by_another_compiler, images)), None)
    if not why_not or not (args.write or args.exact):
        return None
    if args.write:
        raise Trouble(f"--write: {why_not}")
    print(f"skipped: {why_not}")
    return SKIPPED


def settle(args, place, table):
    """Writes the table, or yields how the document's is another one."""
    if args.write:
        place.put(table)
    elif place.lines != table:
        pairs = zip(place.lines, table)
        old, new = next((pair for pair in pairs if pair[0] != pair[1]),
                        (f"{len(place.lines)} lines", f"{len(table)} lines"))
        yield (f"{place.path} has {old!r}, printed is {new!r}: build the "
               "target tables")


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
        write(self.path, self._before + "\n".join(lines) + "\n" + self._after)


def arguments():
    parser = table_arguments(__doc__)
    parser.add_argument("--image", required=True,
                        help="the lab's .elf")
    parser.add_argument("--append", required=True,
                        help="the kernel's command line")
    return parser.parse_args()


def table_of(serial):
    """The lines of a serial log from the table's head to PASS."""
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
    """Yields in words what the first table that a person sees does not show."""
    rows = [line.split() for line in table[2:-1]]
    indices = [float(row[-1]) for row in rows]
    changes = [int(row[3]) for row in rows]
    if min(indices) > 0.5 or max(indices) < 0.9:
        yield "no lock is unfair, or none is fair"
    if min(changes) * 100 > max(changes):
        yield "all locks change their owner equally often"
    if any(len(line) > 80 for line in table):
        yield "a line is longer than a screen is wide"


def bucket(hists, share):
    """(from ns, to ns) of the handoff below which so many thousandths lie."""
    total = sum(count for *_, count in hists)
    seen = 0
    for *_, begin, end, count in hists:
        seen += count
        if seen * 1000 >= total * share:
            return begin, end
    return 0, 0


def median_faults(machine):
    """The column says the median where the handoffs that were counted have it."""
    table, csv = (qemu.run(dataclasses.replace(machine, append=words)).serial
                  for words in (SPREAD, f"{SPREAD} mode=csv"))
    (measured,) = plots.runs(csv)
    differ = False
    for row in (line.split() for line in table_of(table)[2:-1]):
        hists = [hist for hist in measured.hists if hist[0] == row[0]]
        begin, end = bucket(hists, 500)
        differ |= bucket(hists, 900) != (begin, end)
        if not begin <= int(row[4]) <= end:
            yield (f"{row[0]}: the median is said to be {row[4]} ns and lies "
                   f"between {begin} and {end}")
    if not differ:
        yield "no other percentile would be seen in the column of the median"


def run_faults(place, machine, table):
    """Yields the faults that do not depend on the compiler."""
    yield from differences(table)
    if shape(place.lines) != shape(shown(table)):
        yield "README's table is another one: build the target tables"
    elif table_of(qemu.run(machine).serial) != table:
        yield "a second run prints another table"
    yield from median_faults(machine)


def main():
    args = arguments()
    place = Place(args.readme, "demo table")
    machine = qemu.Machine(image=args.image, cpus=4, append=args.append,
                           accelerator="icount", log=args.log)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    status = cannot_compare(args, [args.image])
    if status:
        return status
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        print(f"FAIL: {run.message}; serial log: {args.log}")
        return 1
    table = table_of(run.serial)
    wrong = list(settle(args, place, shown(table))
                 if args.write or args.exact else
                 run_faults(place, machine, table))
    print("\n".join(table))
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
