# SPDX-License-Identifier: MIT
"""Reads what mode=csv prints: lab/figures.hpp."""
import dataclasses


@dataclasses.dataclass
class Report:
    rows: list    # dicts: lock, and numbers by the names of the line "head,"
    hists: list   # (lock, cpus, from ns, to ns, count)


def parse(serial):
    names, report = [], Report([], [])
    for line in serial.splitlines():
        kind, _, rest = line.strip().partition(",")
        fields = rest.split(",")
        if kind == "head":
            names = fields
        elif kind == "row":
            report.rows.append({name: value if name == "lock" else int(value)
                                for name, value in zip(names, fields)})
        elif kind == "hist":
            report.hists.append((fields[0], *map(int, fields[1:])))
    return report


def row(report, lock, cpus):
    return next(r for r in report.rows
                if r["lock"] == lock and r["cpus"] == cpus)
