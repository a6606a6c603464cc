# SPDX-License-Identifier: MIT
"""What the lab has printed, on any machine, as tables and pictures.

A log may hold several runs, and what a loader or a terminal has printed between
them. A run's figures are those of mode=csv, or the table of run=measure and
run=backoff as people read it, which has no distribution of the handoff time.
"""
import csv
import dataclasses
import re
import shutil

import pairs
import pictures
import rows
from ends import Trouble

MACHINE = "# machine: "
BOOT = re.compile(r"# boot: \d+ CPUs?$")
VERDICT = re.compile(r"(PASS$|FAIL: |PANIC on CPU )")
# The table's second line, its columns' names here, a row.
HEAD = re.compile(r"lock +CPUs +per second +changes +median ns +wait us +index$")
TABLE = ("lock", "cpus", "per_second", "handoffs", "handoff_median",
         "longest_wait", "jain_permille")
ROW = re.compile(r"(\S+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d)\.(\d{3})$")

# A run's name by the columns that no other has.
NAMES = (("pairs", {"cpu", "other"}), ("topology", {"cpu", "offset_ns"}),
         ("readers", {"lock", "writers"}), ("measure", {"lock", "per_second"}),
         ("instructions", {"lock", "cycles"}))
# What is printed of it, if it is there; without a list, all columns.
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
    machine: str
    report: rows.Report = dataclasses.field(
        default_factory=lambda: rows.Report([], []))
    damaged: list = dataclasses.field(default_factory=list)
    verdict: str = ""

    def name(self):
        return next((name for name, wanted in NAMES
                     if wanted <= set(self.columns)), "")

    def take(self, kind, fields):
        """A row or a bar; ValueError: it is damaged."""
        if len(fields) != (len(self.columns) if kind == "row" else 5):
            raise ValueError
        if kind == "row":
            self.report.rows.append(rows.row_of(self.columns, fields))
        else:
            self.report.hists.append(rows.hist_of(fields))


def table_fields(match):
    """A table's row in CSV's units."""
    *fields, wait, whole, rest = match.groups()
    return [*fields, f"{wait}000", whole + rest]


def runs(text):
    """Those of the log; a line of theirs that is damaged is kept apart."""
    found, machine = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        kind, _, rest = line.partition(",")
        match = ROW.match(line)
        is_table = found and tuple(found[-1].columns) == TABLE
        if BOOT.match(line):
            machine = ""
        elif line.startswith(MACHINE):
            machine = line.removeprefix(MACHINE)
        elif kind == "head":
            found.append(Run(rest.split(","), machine))
        elif HEAD.match(line):
            found.append(Run(list(TABLE), machine))
        elif found and not found[-1].verdict and VERDICT.match(line):
            found[-1].verdict = line
        elif found and (kind in ("row", "hist") or (is_table and match)):
            fields = rest.split(",") if rest else table_fields(match)
            try:
                found[-1].take(kind if rest else "row", fields)
            except ValueError:
                found[-1].damaged.append((number, line))
    return [run for run in found if run.name() and run.report.rows]


def printed(name, report):
    """The table's lines; a thousandth is no unit for people."""
    columns = [c for c in SHOWN.get(name, report.rows[0]) if c in report.rows[0]]
    table = [[c.removesuffix("_permille") for c in columns]]
    for row in report.rows:
        table.append([f"{row[c] / 1000:.3f}" if c.endswith("_permille")
                      else str(row[c]) for c in columns])
    widths = [max(map(len, column)) for column in zip(*table)]
    for line in table:
        yield "  ".join(cell.ljust(width) if c in rows.TEXTS
                        else cell.rjust(width) for c, cell, width
                        in zip(columns, line, widths)).rstrip()


def length(row, name):
    """"500 cycles", "100 to 900 cycles"; "": the log does not say."""
    least, most = row.get(f"{name}_min"), row.get(f"{name}_max")
    if least is None or most is None:
        return ""
    return f"{least} cycles" if least == most else f"{least} to {most} cycles"


def what_of(row):
    section, think = length(row, "section"), length(row, "think")
    if not section:
        return "as the log's words say"
    writers = f", {row['writers']} % writes" if "writers" in row else ""
    return (f"critical sections of {section}, "
            f"{'no think time' if think == '0 cycles' else 'think time of ' + think}"
            f"{writers}")


def drawn(run):
    """The pictures that its figures are enough for; else a remark."""
    worn, what = {}, what_of(run.report.rows[0])
    counts = {}
    for row in run.report.rows:
        counts.setdefault(row["lock"], set()).add(row["cpus"])
    if max(map(len, counts.values())) > 1:
        yield pictures.throughput(run.report, what, worn)
        yield pictures.fairness(run.report, what, worn)
    else:
        yield ("no curves against the number of CPUs: each lock has one; "
               "cpus=1,2,4 makes more")
    yield pictures.latency(run.report, what, worn) or (
        "no distribution of the handoff time: run=measure mode=csv prints one"
        if run.name() == "measure" else "")


def draw(run, folder, suffix):
    if not shutil.which("gnuplot"):
        print("no plots without gnuplot: apt-get install gnuplot-nox")
        return
    for picture in drawn(run):
        if isinstance(picture, str):
            print(picture, end="\n" if picture else "")
        else:
            picture.name += suffix
            print("\n".join(pictures.draw(picture, folder)))


def write_csv(run, path):
    with open(path, "w", encoding="utf-8") as file:
        out = csv.DictWriter(file, run.columns, lineterminator="\n")
        out.writeheader()
        out.writerows(run.report.rows)


def show_run(run, folder, suffix):
    name, report = run.name(), run.report
    print(f"{name}{suffix}: {len(report.rows)} rows, times in ns; "
          + (run.verdict or "no verdict: the log ends before the run does"))
    if run.machine:
        print(f"{run.machine}")
    for number, line in run.damaged:
        print(f"line {number} is damaged, and left out: {line}")
    if name == "pairs":
        pairs.show(report.rows, folder)
        return
    print("\n".join(printed(name, report)))
    write_csv(run, folder / f"{name}{suffix}.csv")
    if name in ("measure", "readers"):
        draw(run, folder, suffix)


def show(log, out):
    try:
        found = runs(log.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise Trouble(f"{log}: {error.strerror}") from None
    if not found:
        raise Trouble(f"{log}: no figures in it: run=measure, backoff, pairs, "
                      "instructions and topology print them with mode=csv")
    seen = {}
    for run in found:
        seen[run.name()] = number = seen.get(run.name(), 0) + 1
        folder = out
        if run.name() == "pairs" and number > 1:
            folder = out / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        show_run(run, folder, f"-{number}" if number > 1 else "")
    return 0
