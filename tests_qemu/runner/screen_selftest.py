#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What screen.py makes of screens that are made up: each fault is named, and a
right one passes. Boots nothing."""
import sys
from types import SimpleNamespace

import screen

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


def main():
    wrong = 0
    for printed, screens, full_row, expected in CASES:
        said = "; ".join(screen.faults(SimpleNamespace(full_row=full_row),
                                       printed, screens))
        if (expected not in said) if expected else said:
            print(f"expected {expected!r}, is {said!r}")
            wrong += 1
    print(f"{len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
