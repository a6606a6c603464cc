#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a quick ISO (iso.py --quick) on BIOS and UEFI, pc and q35, with 1, 4 and
32 vCPUs, and reads each screen: one line a machine."""
import itertools
import sys
import time

import screen
from output import Parser, at_least_one, exit_status


def words(args, uefi, machine, cpus):
    """The arguments of screen.py for one machine."""
    return ["--image", args.iso, "--log", args.log, "--machine", machine,
            "--cpus", str(cpus), "--expect", "PASS",
            "--expect", f"# boot: {cpus} CPU{'s' if cpus > 1 else ''}",
            *(["--uefi", "--font", args.font] if uefi else [])]


def check(*of):
    return screen.check(screen.arguments(words(*of)))


def main():
    parser = Parser(__doc__)
    parser.add_argument("--iso", required=True,
                        help="the bootable image")
    parser.add_argument("--font", required=True,
                        help="the PSF font that is in it")
    parser.add_argument("--log", required=True,
                        help="where the serial logs go")
    parser.add_argument("--cpus", type=at_least_one, nargs="+",
                        default=[1, 4, 32],
                        help="vCPUs, one boot after another (default: "
                             "%(default)s)")
    args = parser.parse_args()
    results = []
    for uefi, machine, cpus in itertools.product((False, True),
                                                 ("pc", "q35"), args.cpus):
        begin = time.monotonic()
        results.append(check(args, uefi, machine, cpus))
        print(f"{'UEFI' if uefi else 'BIOS'}, {machine}, {cpus} vCPUs: "
              f"{results[-1]} ({time.monotonic() - begin:.0f} s)", flush=True)
    return int(1 in results)


if __name__ == "__main__":
    sys.exit(exit_status(main))
