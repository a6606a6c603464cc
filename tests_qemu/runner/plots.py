#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plots.py LOG: what the lab has printed, on any machine, as tables, CSV files
and pictures (toolchain/plot.py).

A log may hold several runs, and what a loader or a terminal has printed between
them. A run's figures are those of mode=csv, or the table of run=measure and
run=backoff as people read it, which has no distribution of the handoff time, and
counts behind the lab's line "# boot:" alone: a text that quotes one is no log.
"""
import csv
import dataclasses
import io
import pathlib
import re
import subprocess
import sys

PLOT = pathlib.Path(__file__).resolve().parents[2] / "toolchain/plot.py"
sys.path.append(str(PLOT.parent))
import plot
from output import Parser, Trouble, exit_status

TEXTS = ("lock", "kind")    # the columns that are no numbers


MACHINE = "# machine: "
BOOT = re.compile(r"# boot: \d+ CPUs?$")
VERDICT = re.compile(r"(PASS$|FAIL: |PANIC on CPU )")
# The table's second line, its columns' names here, a row.
HEAD = re.compile(r"lock +CPUs +per second +changes +median ns +wait us +index$")
TABLE = ("lock", "cpus", "per_second", "handoffs", "handoff_median",
         "longest_wait", "jain_permille")
# A time that a coarse clock could not measure is a dash; in CSV it is 0.
ROW = re.compile(r"(\S+) +(\d+) +(\d+|-) +(\d+) +(\d+|-) +(\d+|-) +"
                 r"(\d)\.(\d{3})$")

# A run's name by the columns that no other has.
NAMES = (("pairs", {"cpu", "other"}), ("topology", {"cpu", "offset_ns"}),
         ("readers", {"lock", "writers"}), ("measure", {"lock", "per_second"}),
         ("instructions", {"lock", "cycles"}))
# The columns that are printed, if they are there; all columns, if there is no
# list.
SHOWN = {
    "measure": ("lock", "cpus", "per_second", "handoffs", "handoff_median",
                "handoff_p99", "longest_wait", "jain_permille",
                "to_floor_permille"),
    "readers": ("lock", "cpus", "writers", "per_second", "together",
                "read_handoff_median", "read_longest_wait",
                "write_handoff_median", "write_longest_wait",
                "jain_permille"),
}


@dataclasses.dataclass
class Run:
    columns: list
    machine: str = ""
    rows: list = dataclasses.field(default_factory=list)  # {column: value}
    # (lock, cpus, from ns, to ns, count)
    hists: list = dataclasses.field(default_factory=list)
    damaged: list = dataclasses.field(default_factory=list)
    verdict: str = ""

    def name(self):
        return next((name for name, wanted in NAMES
                     if wanted <= set(self.columns)), "")

    def take(self, kind, fields):
        """A row or a bar; ValueError: it is damaged."""
        if kind == "hist":
            lock, *numbers = fields
            if len(numbers) != 4:
                raise ValueError
            self.hists.append((lock, *map(int, numbers)))
            return
        if len(fields) != len(self.columns):
            raise ValueError
        self.rows.append({name: value(name, text)
                          for name, text in zip(self.columns, fields)})


def value(name, text):
    """Returns a column's value; raises ValueError if it is none."""
    if name in TEXTS:
        return text
    number = float(text) if "." in text else int(text)
    if abs(number) >= 2**64:
        raise ValueError(text)
    return number


def table_fields(match):
    """A table's row in CSV's units."""
    *fields, wait, whole, rest = ("0" if field == "-" else field
                                  for field in match.groups())
    return [*fields, f"{wait}000", whole + rest]


def runs(text):
    """The runs in a log; their damaged lines are kept apart."""
    found, machine, booted = [], "", False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        kind, _, rest = line.partition(",")
        match = ROW.match(line)
        is_table = found and tuple(found[-1].columns) == TABLE
        if BOOT.match(line):
            machine, booted = "", True
        elif line.startswith(MACHINE):
            machine = line.removeprefix(MACHINE)
        elif kind == "head":
            found.append(Run(rest.split(","), machine))
        elif booted and HEAD.match(line):
            found.append(Run(list(TABLE), machine))
        elif found and not found[-1].verdict and VERDICT.match(line):
            found[-1].verdict = line
        elif found and (kind in ("row", "hist") or (is_table and match)):
            fields = rest.split(",") if rest else table_fields(match)
            try:
                found[-1].take(kind if rest else "row", fields)
            except ValueError:
                found[-1].damaged.append((number, line))
    return [run for run in found if run.name() and run.rows]


def printed(run):
    """The table's lines; a thousandth is no unit for people."""
    columns = [column for column in SHOWN.get(run.name(), run.columns)
               if column in run.columns]
    table = [[column.removesuffix("_permille") for column in columns]]
    for row in run.rows:
        table.append([f"{row[column] / 1000:.3f}"
                      if column.endswith("_permille") else str(row[column])
                      for column in columns])
    widths = [max(map(len, cells)) for cells in zip(*table)]
    for line in table:
        yield "  ".join(cell.ljust(width) if column in TEXTS
                        else cell.rjust(width) for column, cell, width
                        in zip(columns, line, widths)).rstrip()


def written(run):
    """The rows as CSV; as the lab prints them where there are histograms."""
    kinds = bool(run.hists)
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["head"] * kinds + run.columns)
    out.writerows(["row"] * kinds + list(row.values()) for row in run.rows)
    out.writerows(["hist", *bar] for bar in run.hists)
    return file.getvalue().encode()


def show_run(run, folder):
    """Prints a table, and makes what can be made of it; plot.py's status."""
    print(f"{folder.name}: {len(run.rows)} rows, times in ns; "
          + (run.verdict or "no verdict: the log ends before the run does"))
    if run.machine:
        print(run.machine)
    for number, line in run.damaged:
        print(f"line {number} is damaged, and left out: {line}")
    print("\n".join(printed(run)), flush=True)
    path = folder / f"{run.name()}.csv"
    plot.write(path, written(run))
    if run.name() not in ("measure", "pairs"):
        return 0
    return subprocess.run([sys.executable, PLOT, "--optional", "--out", folder,
                           path], check=False).returncode


def main():
    parser = Parser(__doc__)
    parser.add_argument("log", metavar="LOG", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="the folder of CSV "
                        "files and pictures, one in it for each run; default: "
                        "beside LOG, LOG's name and -plots")
    args = parser.parse_args()
    out = args.out or args.log.parent / f"{args.log.stem}-plots"
    found = runs(args.log.read_text(encoding="utf-8", errors="replace"))
    if not found:
        raise Trouble(f"{args.log}: no figures in it: run=measure, backoff, "
                      "pairs, instructions and topology print them with "
                      "mode=csv")
    seen, status = {}, 0
    for run in found:
        seen[run.name()] = number = seen.get(run.name(), 0) + 1
        status = max(status, show_run(run, out / (
            run.name() + (f"-{number}" if number > 1 else ""))))
    return status


if __name__ == "__main__":
    sys.exit(exit_status(main))
