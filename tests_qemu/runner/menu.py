#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots every entry of the ISO's menu once, without GRUB: an entry with a word
that the lab does not know would be found by a user otherwise."""
import re
import sys

import qemu
from output import exit_status, lab_parser
from screen import UNMEASURED

ENTRY = re.compile(r'menuentry "([^"]+)" \{\s*lab (.*)')


def shortened(words):
    """The experiment with fewer acquisitions; interrupts need time."""
    kept = [word for word in words.split()
            if not word.startswith(("acquisitions=", "seconds="))]
    number = 20000 if "irq=" in words else 500
    return " ".join(kept + [f"acquisitions={number}"])


def main():
    parser = lab_parser(__doc__)
    parser.add_argument("--menu", required=True, help="grub.cfg")
    args = parser.parse_args()
    with open(args.menu, encoding="utf-8") as file:
        entries = ENTRY.findall(file.read())
    failed = not entries
    for title, words in entries:
        machine = qemu.Machine(image=args.image, cpus=2, log=args.log,
                               append=shortened(words))
        why_not = qemu.missing(machine)
        if why_not:
            print(f"skipped: {why_not}")
            return 77
        run = qemu.run(machine)
        print(f"{title}: {run.message} ({run.seconds:.1f} s)")
        # A guest on a host that is too busy says so, and fails.
        failed |= (run.outcome is not qemu.Outcome.PASS
                   and UNMEASURED not in run.serial)
    return int(failed)


if __name__ == "__main__":
    sys.exit(exit_status(main))
