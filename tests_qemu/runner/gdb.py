#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts QEMU with the lab, stopped before its first instruction, and says how
to attach gdb. Ends with the guest, or by Ctrl-C."""
import argparse
import subprocess
import sys

import qemu
from output import STATUS_PASS, exit_status

HOW = """\
The lab waits for gdb. In another terminal:

  gdb {symbols} -ex 'target remote :1234' -ex 'hbreak payload_main' -ex continue

'info threads' lists the vCPUs, 'thread 2' and 'bt' shows where one is.
A breakpoint before the kernel runs must be a hardware one (hbreak).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", required=True, help="the .elf; its symbols "
                        "are in .debug beside it")
    parser.add_argument("--cpus", type=int, default=4,
                        help="vCPUs")
    parser.add_argument("--append", default="run=measure section=1000",
                        help="the kernel's command line")
    args = parser.parse_args()
    machine = qemu.Machine(image=args.image, cpus=args.cpus,
                           append=args.append, extra=("-s", "-S"))
    why_not = qemu.missing(machine)
    if why_not:
        print(why_not)
        return 1
    symbols = args.image.removesuffix(".elf") + ".debug"
    print(HOW.format(symbols=symbols), flush=True)
    status = subprocess.call(qemu.command(machine))
    return 0 if status == STATUS_PASS else 1


if __name__ == "__main__":
    sys.exit(exit_status(main))
