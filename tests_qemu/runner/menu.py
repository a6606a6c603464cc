#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots every entry of the ISO's menu once, without GRUB: an entry with a word
that the lab does not know would be found by a user otherwise."""
import argparse
import re
import sys

import qemu

ENTRY = re.compile(r'menuentry "([^"]+)" \{\s*multiboot /boot/lab.elf (.*)')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--menu", required=True)
    parser.add_argument("--image", required=True)
    parser.add_argument("--log", required=True)
    args = parser.parse_args()
    with open(args.menu, encoding="utf-8") as file:
        entries = ENTRY.findall(file.read())
    failed = not entries
    for title, words in entries:
        # The last word counts: short runs.
        machine = qemu.Machine(image=args.image, cpus=2, log=args.log,
                               append=f"{words} acquisitions=500", timeout=60)
        why_not = qemu.missing(machine)
        if why_not:
            print(f"skipped: {why_not}")
            return 77
        run = qemu.run(machine)
        print(f"{title}: {run.message} ({run.seconds:.1f} s)")
        failed |= run.outcome is not qemu.Outcome.PASS
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
