#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of the same kernel on several machines: --write makes it from a
run on each, with --exact these runs must print it; without, it must have the
machines and locks that are run now, and on each machine show what the demo is
for."""
import os
import sys

import demo
import qemu
from output import Trouble, exit_status

SKIPPED = 77


def arguments():
    parser = demo.table_arguments(__doc__)
    parser.add_argument("--append", required=True,
                        help="the kernel's command line but section=")
    parser.add_argument("--image", action="append", required=True,
                        metavar="NAME=FILE=CYCLES", help="a machine's name, "
                        "the lab's .elf for it, and how long a section is by "
                        "its clock; several. Its log is LOG.NAME")
    return parser.parse_args()


def rows_of(serial):
    """{lock: (acquisitions per second, changes of the owner)}"""
    rows = [line.split() for line in demo.table_of(serial)[2:-1]]
    return {row[0]: (row[2], row[3]) for row in rows}


def table_of(columns):
    """columns: {machine: rows_of() of its run}"""
    head = [f"{'':<27}" + "".join(f"{name:>21}" for name in columns),
            f"{'lock':<27}" + f"{'per second':>12}{'changes':>9}" * len(columns)]
    first = next(iter(columns.values()))
    return head + [
        f"{lock:<27}" + "".join(
            f"{rate:>12}{changes:>9}" for rate, changes in
            (rows.get(lock, ("-", "-")) for rows in columns.values()))
        for lock in first]


def shape(table):
    return table[:2] + [line.split()[0] for line in table[2:]]


def run_on(name, image, section, args):
    """rows_of() of a run, or in words why there is none."""
    append = f"{args.append} section={section}"
    machine = qemu.Machine(image=image, cpus=4, append=append,
                           accelerator="icount", log=f"{args.log}.{name}")
    why_not = (qemu.missing(machine) if os.path.exists(image)
               else f"{name}: no kernel: its compiler is missing")
    if why_not:
        return f"skipped: {why_not}"
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        return f"FAIL: {name}: {run.message}; serial log: {machine.log}"
    wrong = list(demo.differences(demo.table_of(run.serial)))
    return f"FAIL: {name}: {'; '.join(wrong)}" if wrong else \
        rows_of(run.serial)


def main():
    args = arguments()
    place = demo.Place(args.readme, "machines")
    columns = {}
    for word in args.image:
        if word.count("=") != 2:
            raise Trouble(f"--image {word}: not NAME=FILE=CYCLES")
    machines = [word.split("=") for word in args.image]
    status = demo.cannot_compare(
        args, [image for _, image, _ in machines if os.path.exists(image)])
    if status:
        return status
    for name, image, section in machines:
        columns[name] = run_on(name, image, section, args)
        if isinstance(columns[name], str):
            print(columns[name])
            return SKIPPED if columns[name].startswith("skipped") else 1
    table = table_of(columns)
    print("\n".join(table))
    wrong = []
    if args.write or args.exact:
        wrong = list(demo.settle(args, place, table))
    elif shape(place.lines) != shape(table):
        wrong = ["the table in README is another one: build the target tables"]
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
