#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the whole matrix again and again for a given time; prints totals.

Each boot has another seed. The first boot that does not pass ends the soak
with its log named; a soak that ends by time prints what it did, and 0. 77:
skipped, this host can run none of them.
"""
import collections
import dataclasses
import os
import re
import sys
import time

import qemu
from output import Parser, exit_status, seconds

SKIPPED = 77

# mode, image's toolchain, CPUs, command line. The first ones are for numbers,
# the others for variety.
ROUND = [
    ("parallel", "gcc-64", 2, "run=storm parallel=1 acquisitions=20000"),
    ("parallel", "gcc-64", 2, "run=locks parallel=1 acquisitions=400000 "
                              "lock=ticket_lock<u8>,ticket_lock<u16>,tas_lock,"
                              "narrow_ticket_lock<3>,mcs_lock"),
    ("single", "gcc-64", 1, "run=locks acquisitions=2000000"),
    ("single", "gcc-64", 4, "run=locks acquisitions=400000 convoys=200"),
    ("single", "clang-64", 8, "run=storm acquisitions=4000 convoys=50"),
    ("single", "gcc-32", 2, "run=locks acquisitions=1000000 convoys=200"),
    ("single", "clang-32", 8, "run=storm acquisitions=4000"),
    ("single", "gcc-64", 64, "run=locks acquisitions=20000 convoys=10"),
    ("single", "gcc-64", 64, "run=storm acquisitions=500 convoys=2"),
    ("single", "gcc-64", 255, "run=locks acquisitions=8000 convoys=2"),
    ("icount", "gcc-64", 4, "run=storm acquisitions=2000 convoys=10"),
    ("single", "gcc-64", 64, "run=shared acquisitions=1000000 convoys=50"),
    ("single", "clang-64", 8, "run=shared_storm acquisitions=500000"),
    ("parallel", "gcc-64", 2, "run=sequences parallel=1 acquisitions=200000"),
    ("single", "gcc-aarch64", 64, "run=locks acquisitions=20000 convoys=10"),
    ("parallel", "clang-aarch64", 2, "run=storm parallel=1 acquisitions=4000"),
    ("single", "gcc-aarch64", 512, "run=locks acquisitions=1200 convoys=1"),
    ("single", "gcc-riscv64", 64, "run=locks acquisitions=20000 convoys=10"),
    ("parallel", "clang-riscv64", 2, "run=locks parallel=1 "
                                     "acquisitions=100000"),
    ("single", "gcc-riscv64s", 8, "run=storm acquisitions=2000"),
    ("single", "gcc-64", 4, "run=busted"),
    ("parallel", "gcc-64", 2, "run=busted parallel=1 pauses=1"),
]
TOTALS = re.compile(r"(\w+)=(\d+)")


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--images", required=True, help="folder of lab-*.elf")
    parser.add_argument("--minutes", type=seconds, default=20,
                        help="no boot begins later; default: 20")
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    return parser.parse_args()


def possible(args):
    """Yields the parts of a round that this host can run, and prints the others
    once."""
    for mode, toolchain, cpus, words in ROUND:
        machine = qemu.Machine(
            image=f"{args.images}/lab-{toolchain}.elf", cpus=cpus,
            accelerator=mode, append=f"mode=tap {words}", log=args.log)
        why_not = (qemu.missing(machine) if os.path.exists(machine.image)
                   else f"{machine.image} was not built")
        if why_not:
            print(f"left out: {mode}, {toolchain}, {cpus} CPUs: {why_not}",
                  flush=True)
        else:
            yield f"{mode}, {toolchain}, {cpus} CPUs, {words}", machine


def main():
    args = arguments()
    begin, number = time.monotonic(), 0
    sums = collections.Counter()
    matrix = list(possible(args))
    if not matrix:
        return SKIPPED
    while time.monotonic() - begin < args.minutes * 60:
        what, machine = matrix[number % len(matrix)]
        number += 1
        run = qemu.run(dataclasses.replace(
            machine, append=f"{machine.append} seed={number}"))
        print(f"{number}: {what}: {run.message} ({run.seconds:.0f} s)",
              flush=True)
        for line in run.serial.splitlines():
            if line.startswith("# totals:"):
                sums.update({name: int(value)
                             for name, value in TOTALS.findall(line)})
        if run.outcome is not qemu.Outcome.PASS:
            print("\n".join(run.serial.splitlines()[-40:]))
            print(f"FAIL: serial log: {args.log}")
            return 1
    minutes = (time.monotonic() - begin) / 60
    print(f"soak: {minutes:.0f} minutes, {number} boots: "
          + ", ".join(f"{name} {value:,}" for name, value in sums.items()))
    return 0 if sums["acquisitions"] and not sums["errors"] else 1


if __name__ == "__main__":
    sys.exit(exit_status(main))
