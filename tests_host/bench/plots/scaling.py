#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scaling.py FOLDER: its scaling.csv as scaling_klock.svg and scaling_peers.svg,
by gnuplot."""
import csv
import pathlib
import sys

TOOLCHAIN = pathlib.Path(__file__).parents[3] / "toolchain"
sys.path.insert(0, str(TOOLCHAIN))
import curves   # pylint: disable=wrong-import-position

TITLES = {"klock": "klock's locks", "peer": "Other locks"}


def counts(rows):
    """1, 2, 4 and so on, and how many there are."""
    most = max(int(row["threads"]) for row in rows)
    return [2 ** i for i in range(most.bit_length()) if 1.3 * 2 ** i < most] + [
        most]


def picture(rows, kind):
    series = {}
    for row in rows:
        if row["kind"] == kind:
            series.setdefault(row["lock"], []).append(
                (int(row["threads"]), float(row["rate_median"]) / 1e3))
    # One axis for both, to compare them.
    rates = [float(row["rate_median"]) / 1e3 for row in rows]
    section = rows[0]["section_cycles"]
    return curves.Picture(
        "scaling_" + {"klock": "klock", "peer": "peers"}[kind],
        f"{TITLES[kind]}: throughput, critical sections of {section} cycles",
        curves.octaves("threads, each on a core of its own", counts(rows)),
        curves.decades("thousand acquisitions per second", rates), series)


def main():
    folder, = sys.argv[1:]
    with open(f"{folder}/scaling.csv", encoding="utf-8") as file:
        # A trial on a busy machine may see no acquisition: no point then.
        rows = [row for row in csv.DictReader(file)
                if float(row["rate_median"]) > 0]
    for kind in TITLES:
        if any(row["kind"] == kind for row in rows):
            print(*curves.draw(picture(rows, kind), folder, suffixes=("svg",)))


if __name__ == "__main__":
    sys.exit(main())
