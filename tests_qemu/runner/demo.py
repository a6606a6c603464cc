#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README's table of the demo: --write makes it from a run; without, it must have
the head and the locks that a run prints now, and show what the demo is for: a
lock that one CPU keeps, and one that goes round."""
import sys

import marked
import qemu
from output import exit_status

SKIPPED = 77


def arguments():
    parser = marked.arguments(__doc__)
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
    place = marked.Place(args.readme, "demo table")
    machine = qemu.Machine(image=args.image, cpus=4, append=args.append,
                           log=args.log)
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
        place.put(table)
    elif shape(place.lines) != shape(table):
        wrong.append("README's table is another one: build the target "
                     "demo_table")
    print("\n".join(table))
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
