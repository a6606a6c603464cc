#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_selftest.py TABLE.csv MISSES.svg: the picture on the front page can be
read, and shows what the simulator says today. Needs no gnuplot."""
import sys

import plot

sys.path.insert(0, str(plot.TOOLCHAIN))
import curves_selftest as look  # pylint: disable=wrong-import-position

# The counts move a little with the compiler: where stacks lie.
PIXELS = 3


def points_of(picture, name):
    """Where the picture's curve should be, in pixels of the SVG."""
    for x, y in picture.series[name]:
        yield (plot.curves.LEFT + picture.x.place(x) * picture.width(),
               plot.curves.TOP + (1 - picture.y.place(y)) * picture.height())


def outdated(picture, svg):
    shown = look.lines(svg)
    if shown.keys() != picture.series.keys():
        yield f"curves of {sorted(shown)}, not {sorted(picture.series)}"
    for name in shown.keys() & picture.series.keys():
        told = list(points_of(picture, name))
        drawn = shown[name][1]
        if (len(told) != len(drawn)
                or any(max(abs(a - c), abs(b - d)) > PIXELS
                       for (a, b), (c, d) in zip(told, drawn))):
            yield (f"{name} is not what the simulator says: cmake --build "
                   "BUILD --target sim_report, then copy report/misses.svg")


def main():
    table, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    failures = [*look.alike(plot.SHOWN.values()), *look.wrong(svg),
                *outdated(plot.misses(table), svg)]
    print("\n".join(failures) or f"{path} is up to date and can be read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
