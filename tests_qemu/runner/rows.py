# SPDX-License-Identifier: MIT
"""Reads what mode=csv prints: lab/figures.hpp."""
import dataclasses

TEXTS = ("lock", "kind")    # the columns that are no numbers


@dataclasses.dataclass
class Report:
    rows: list    # dicts: values by the names of the line "head,"
    hists: list   # (lock, cpus, from ns, to ns, count)


def value(name, text):
    """Of a column; ValueError: this is none."""
    if name in TEXTS:
        return text
    return float(text) if "." in text else int(text)


def row_of(names, fields):
    return {name: value(name, text) for name, text in zip(names, fields)}


def hist_of(fields):
    return (fields[0], *map(int, fields[1:]))


def parse(serial):
    names, report = [], Report([], [])
    for line in serial.splitlines():
        kind, _, rest = line.strip().partition(",")
        fields = rest.split(",")
        if kind == "head":
            names = fields
        elif kind == "row":
            report.rows.append(row_of(names, fields))
        elif kind == "hist":
            report.hists.append(hist_of(fields))
    return report


def row(report, lock, cpus):
    return next(r for r in report.rows
                if r["lock"] == lock and r["cpus"] == cpus)
