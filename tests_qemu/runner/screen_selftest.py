#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What screen.py makes of screens that are made up: each fault is named, and a
right one passes. Boots nothing."""
import sys
from types import SimpleNamespace

import pcs
import screen
from glyphs import INK, UNREADABLE, Font, Picture

ROWS = screen.ROWS


def text(lines):
    return ["# booting", "lock  a second"] + [f"row {i}"
                                              for i in range(lines - 2)]


def pages_of(printed):
    """As VGA shows them: the last one full, or blank below its end."""
    ends = range(len(printed), 0, -ROWS)
    return [blank_below(printed[max(end - ROWS, 0):end]) for end in ends]


def blank_below(rows):
    return rows + [""] * (ROWS - len(rows))


SHORT, LONG = text(10), text(2 * ROWS)
WHOLE = pages_of(LONG)
SCROLLING = LONG[-ROWS - 1:-2] + [""]     # in the middle of its last scroll
GAP = blank_below(SHORT[:4] + [""] + SHORT[4:])
ROW = text(8) + ["mcs_lock full", "next", "end"]

# printed, screens (newest first), full row, what is wrong ("": nothing)
CASES = [
    (SHORT, pages_of(SHORT), None, ""),
    (LONG, WHOLE, None, ""),
    (LONG, [SCROLLING] + WHOLE, None, "not the end"),
    (SHORT, [GAP], None, "not the end"),
    (SHORT, pages_of(SHORT[:-1]), None, "not the end"),
    (SHORT, pages_of(SHORT[2:]), None, "has room on the last screen"),
    (LONG, WHOLE[:1], None, "Page Up turns no page"),
    (LONG, [WHOLE[0], WHOLE[0]], None, "on no page: '# booting' and"),
    (ROW, pages_of(ROW), "mcs_lock", ""),
    (ROW, [blank_below(ROW[:9] + [""] + ROW[9:])], "mcs_lock",
     "followed by a blank line"),
]


def picture_faults():
    """Text that is drawn is read again, at any scale; a spot is no letter."""
    font = Font(16, {c: bytes((ord(c) * 37 + row) & 0xff if c != " " else 0
                              for row in range(16)) for c in " abc"})
    for scale in (1, 2):
        width, height = 800 * scale, 480 * scale
        pixels = bytearray(width * height)
        for x in range(8 * scale):
            for y in range(16 * scale):
                if font.of_character["b"][y // scale] >> 7 - x // scale & 1:
                    pixels[y * width + 8 * scale + x] = INK
        rows = Picture(width, height, bytes(pixels)).text(font)
        if len(rows) != 30 or rows[0] != " b" or any(rows[1:]):
            yield f"scale {scale}: {rows[0]!r} was read"
        pixels[0] = INK
        if Picture(width, height, bytes(pixels)).text(font)[0][0] != UNREADABLE:
            yield f"scale {scale}: a spot was read as a letter"


def pcs_faults():
    """Whether pcs.py says what screen.py asks for."""
    of = SimpleNamespace(iso="lab.iso", log="lab.log", font="font.psf")
    for uefi in (False, True):
        args = screen.arguments(pcs.words(of, uefi, "q35", 32))
        if (args.uefi, args.font, args.machine, args.cpus) != (
                uefi, of.font if uefi else None, "q35", 32):
            yield f"pcs: {args}"


def main():
    wrong = 0
    for fault in (*picture_faults(), *pcs_faults()):
        print(fault)
        wrong += 1
    for printed, screens, full_row, expected in CASES:
        said = "; ".join(screen.faults(SimpleNamespace(full_row=full_row, expect=[]),
                                       printed, screens))
        if (expected not in said) if expected else said:
            print(f"expected {expected!r}, is {said!r}")
            wrong += 1
    print(f"{len(CASES)} cases and 2 pictures, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
