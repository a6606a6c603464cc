#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_selftest.py TABLE.csv misses.svg
plot_selftest.py READERS.csv readers_SHARE.svg...

The pictures in the texts can be read, and show what the simulator says today.
Needs no gnuplot."""
import pathlib
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
                   f"BUILD --target sim_report, then copy {picture.name}.svg")


def faults(picture, path):
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    return [f"{path}: {fault}"
            for fault in [*look.wrong(svg), *outdated(picture, svg)]]


def main():
    table, *paths = sys.argv[1:]
    if pathlib.Path(paths[0]).stem == "misses":
        pictures, colours = {"misses": plot.misses(table)}, plot.SHOWN
    else:
        pictures, colours = plot.of_readers(table), plot.READERS
    failures = [*look.alike(colours.values())]
    if pictures.keys() != {pathlib.Path(path).stem for path in paths}:
        failures.append(f"to be drawn: {', '.join(pictures)}")
    else:
        for path in paths:
            failures += faults(pictures[pathlib.Path(path).stem], path)
    print("\n".join(failures) or "up to date, and can be read: " + " ".join(paths))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
