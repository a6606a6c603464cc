#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot.py TABLE.csv READERS.csv FOLDER: misses.svg, cycles.svg, and of readers
one picture for each share of writers, by gnuplot."""
import csv
import itertools
import math
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

# Locks that readers share, a value under a sequence, an exclusive lock.
READERS = {
    "mcs_lock": "#162466",
    "rw_ticket_lock<u16>": "#d74405",
    "phase_fair_lock<u16>": "#cbad14",
    "reader_lock": "#26c4aa",
    "seq_lock": "#4e73ee",
}
SHARES = (0, 1, 10, 50)     # of writers, in percent


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


def tens(label, values):
    """To the base 10, from the power below to a little above the values."""
    first = math.floor(math.log10(min(values)))
    last = math.floor(math.log10(max(values)))
    return curves.Axis(label, 10 ** first, 1.2 * max(values),
                       [(10 ** i, f"{10 ** i:,}")
                        for i in range(first, last + 1)], log=True)


def readers(table, share):
    """Sections in 100,000 cycles; axes that all shares have in common."""
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    series = {short(lock): [(int(row["cpus"]), 100 * float(row["rate"]))
                            for row in rows if row["lock"] == lock
                            and int(row["writers"]) == share]
              for lock in READERS}
    counts = sorted({int(row["cpus"]) for row in rows})
    rates = [100 * float(row["rate"]) for row in rows]
    styles = zip(READERS.values(), itertools.cycle(curves.POINTS))
    return curves.Picture(
        f"readers_{share}",
        f"{share} % of the sections are writes",
        curves.octaves("CPUs", counts),
        tens("sections per 100,000 cycles", rates), series,
        styles=dict(zip(series, styles)), together=0.003, size=(600, 380),
        letters=20)


def of_readers(table):
    return {f"readers_{share}": readers(table, share) for share in SHARES}


def main():
    table, shared, folder = sys.argv[1:]
    for shown in (misses(table), cycles(table), *of_readers(shared).values()):
        print(*curves.draw(shown, folder, suffixes=("svg",)))


if __name__ == "__main__":
    sys.exit(main())
