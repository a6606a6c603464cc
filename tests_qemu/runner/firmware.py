# SPDX-License-Identifier: MIT
"""UEFI for QEMU, and the screen that it leaves."""
import os
import re

# Debian and Ubuntu (ovmf), old and new; the last holds variables, too.
IMAGES = ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_CODE_4M.fd",
          "/usr/share/ovmf/OVMF.fd")
SCREEN = re.compile(r"# boot: screen of (\d+) x (\d+) pixels, (\d+) bits each$")


def uefi():
    """The file, or None."""
    return next((path for path in IMAGES if os.path.exists(path)), None)


def columns(printed):
    """Of the screen that the kernel says it has, letters of 8 pixels."""
    sizes = [SCREEN.match(line) for line in printed]
    widths = [int(size[1]) for size in sizes if size]
    return widths[0] // 8 if widths else 80
