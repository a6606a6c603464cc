#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot.py TABLE.csv FOLDER: misses.svg and cycles.svg, by gnuplot."""
import csv
import itertools
import pathlib
import sys

TOOLCHAIN = pathlib.Path(__file__).parents[3] / "toolchain"
sys.path.insert(0, str(TOOLCHAIN))
import curves   # pylint: disable=wrong-import-position

# Warm colours: all wait on one line. Cold ones: each on its own, or seldom.
# The colour-blind can tell them apart, too: plot_selftest.py.
SHOWN = {
    "ttas_lock": "#4d1923",
    "tas_lock": "#d74405",
    "ticket_lock<u16>": "#e88f62",
    "padded_ticket_lock<u32>": "#cbad14",
    "tournament_lock": "#880909",
    "bakery_lock": "#c04260",
    "mcs_lock": "#162466",
    "clh_lock": "#4e73ee",
    "anderson_lock": "#26c4aa",
    "graunke_thakkar_lock": "#0c6f9b",
    "proportional_ticket_lock<u32>": "#17bad7",
}


def short(lock):
    return lock.partition("<")[0].removesuffix("_lock")


def picture(table, column, label):
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    series = {short(lock): [(int(row["cpus"]), float(row[column]))
                            for row in rows if row["lock"] == lock]
              for lock in SHOWN}
    counts = sorted({int(row["cpus"]) for row in rows})
    values = [y for points in series.values() for _, y in points]
    styles = zip(SHOWN.values(), itertools.cycle(curves.POINTS))
    return curves.Picture(
        column, f"{label.capitalize()}, simulated with a 28-core Xeon's "
        "latencies",
        curves.octaves("CPUs that contend", counts),
        curves.fourfold(label, min(values), max(values)), series,
        styles=dict(zip(series, styles)), together=0.005, size=(760, 420),
        letters=22)


def misses(table):
    return picture(table, "misses", "cache misses per acquisition")


def cycles(table):
    return picture(table, "cycles", "cycles per acquisition")


def main():
    table, folder = sys.argv[1:]
    for shown in (misses(table), cycles(table)):
        print(*curves.draw(shown, folder, suffixes=("svg",)))


if __name__ == "__main__":
    sys.exit(main())
