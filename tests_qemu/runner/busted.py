#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which mode of the lab finds which busted lock; fails if one that it
should find got away. The list itself says what should be found where."""
import argparse
import re
import sys

import qemu

# column, mode, CPUs, words
MODES = [("single", "single", 4, "run=busted"),
         ("icount", "icount", 4, "run=busted acquisitions=2000"),
         ("storm", "single", 4, "run=busted_storm acquisitions=2000"),
         ("parallel", "parallel", 2, "run=busted parallel=1 pauses=1"),
         ("par. storm", "parallel", 2,
          "run=busted_storm parallel=1 pauses=1 acquisitions=5000")]
VERDICT = re.compile(r"^(ok|not ok) \d+ (\S+)( # SKIP)?")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", required=True)
    parser.add_argument("--log", required=True)
    return parser.parse_args()


def verdicts(args, mode, cpus, words):
    """{lock: "found", "missed" or "-"}, or None where the host cannot."""
    machine = qemu.Machine(image=args.image, cpus=cpus, accelerator=mode,
                           append=f"mode=tap {words}", timeout=120,
                           log=f"{args.log}.{mode}")
    if qemu.missing(machine):
        return None
    run = qemu.run(machine)
    found = {}
    for line in run.serial.splitlines():
        match = VERDICT.match(line)
        if match:
            found[match[2]] = ("-" if match[3] else
                               "found" if match[1] == "ok" else "missed")
    if not found:
        print(f"{mode}: {run.message}")
        found["(no run)"] = "missed"
    return found


def main():
    args = arguments()
    columns = {column: verdicts(args, *machine)
               for column, *machine in MODES}
    columns = {column: found for column, found in columns.items() if found}
    locks = list(dict.fromkeys(
        lock for found in columns.values() for lock in found))
    print(f"{'busted lock':24}" + "".join(f"{mode:>12}" for mode in columns))
    for lock in locks:
        print(f"{lock:24}" + "".join(f"{found.get(lock, '?'):>12}"
                                     for found in columns.values()))
    cells = [found.get(lock, "?") for found in columns.values()
             for lock in locks]
    return 1 if "missed" in cells or "?" in cells or "found" not in cells else 0


if __name__ == "__main__":
    sys.exit(main())
