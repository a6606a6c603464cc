#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots the start-up kernel again and again, 4 vCPUs on one host core, and says
how often not all CPUs were up in time: a figure of this host, no verdict.
"""
import os
import re
import statistics
import sys

import qemu
from output import Parser, at_least_one, exit_status

SKIPPED = 77
LAST_UP = re.compile(r"the last one is up after (\d+) us")


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--image", required=True, help="startup.elf")
    parser.add_argument("--log", required=True,
                        help="where the serial log goes, of the last boot")
    parser.add_argument("--boots", type=at_least_one, default=20,
                        help="of each lock (default: %(default)s)")
    return parser.parse_args()


def last_up(args, lock):
    """ms of guest time, which is the host's; None: it ended otherwise."""
    machine = qemu.Machine(image=args.image, cpus=4, accelerator="parallel",
                           append=f"lock={lock}", log=args.log, timeout=60)
    found = LAST_UP.search(qemu.run(machine).serial)
    return int(found[1]) / 1000 if found else None


def main():
    args = arguments()
    why_not = qemu.missing(qemu.Machine(image=args.image))
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    os.sched_setaffinity(0, qemu.host_cores()[:1])
    print("lock         boots  missed  median, ms  longest, ms")
    for lock in ("preemptable", "backoff", "ticket"):
        times = [last_up(args, lock) for _ in range(args.boots)]
        came = [ms for ms in times if ms is not None]
        missed = sum(ms is None or ms > 500 for ms in times)
        print(f"{lock:12} {len(times):5} {missed:7} "
              f"{statistics.median(came or [0]):11.0f} "
              f"{max(came or [0]):12.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
