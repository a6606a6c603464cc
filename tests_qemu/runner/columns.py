#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The columns of a CSV file are those that README documents, in its order, and
a row has a value for each. plots.py reads the log alone as well. Median and
99 % are those of the histogram beside them: with fault=percentiles they are
not."""
import csv
import dataclasses
import re
import sys

import plots
import qemu
from output import exit_status, lab_parser

SKIPPED = 77
ROW = re.compile(r"^\| `(\w+)` \| [^|]*\w[^|]* \|$")


def arguments():
    parser = lab_parser(__doc__)
    parser.add_argument("--readme", required=True,
                        help="the file with a row for each column, below the "
                        "head '| column | is |'")
    return parser.parse_args()


def documented(path):
    with open(path, encoding="utf-8") as file:
        _, _, rest = file.read().partition("| column | is |\n|---|---|\n")
    names = []
    for line in rest.splitlines():
        match = ROW.match(line)
        if not match:
            break
        names.append(match[1])
    return names


def faults(names, rows):
    if not rows or rows[0] != names:
        printed = rows[0] if rows else []
        yield f"documented are {names}, printed are {printed}"
    if len(rows) != 3 or any(len(row) != len(rows[0]) for row in rows):
        yield f"not two rows with a value in each column: {rows[1:]}"


def log_faults(path, csv_rows):
    """Yields the differences between the CSV file and what plots.py reads in
    the log."""
    with open(path, encoding="utf-8") as file:
        found = plots.runs(file.read())
    for run in found:
        table = [list(map(str, row.values())) for row in run.rows]
        if [run.columns, *table] != csv_rows or run.damaged:
            yield f"the log's rows are {[run.columns, *table]}"
        if not (run.machine and run.hists and run.verdict == "PASS"):
            yield "the log's machine, handoffs or verdict are not seen"
    if len(found) != 1:
        yield f"{len(found)} runs are seen in the log"


def within(share, buckets):
    """The first of these buckets up to which the share of all lies, in
    thousandths."""
    seen, total = 0, sum(bucket[2] for bucket in buckets)
    for bucket in buckets:
        seen += bucket[2]
        if seen * 1000 >= total * share:
            break
    return bucket


def share_faults(path):
    """Yields the percentiles of the log's rows that are not in their bucket."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip().split(",") for line in file]
    names = next(line[1:] for line in lines if line[0] == "head")
    for values in (line[1:] for line in lines if line[0] == "row"):
        row = dict(zip(names, values))
        buckets = [tuple(map(int, line[3:])) for line in lines
                   if line[0] == "hist" and line[1] == row["lock"]]
        for column, share in (("handoff_min", 0), ("handoff_median", 500),
                              ("handoff_p99", 990), ("handoff_max", 1000)):
            least, end, _ = within(share, buckets)
            if not least <= int(row[column]) <= end:
                yield (f"{row['lock']}: {column} is {row[column]}, and not "
                       f"{least} to {end}")


def main():
    args = arguments()
    machine = qemu.Machine(
        image=args.image, cpus=2, log=args.log, csv=f"{args.log}.csv",
        append="mode=csv lock=tas_lock,mcs_lock acquisitions=500")
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    run = qemu.run(machine)
    with open(machine.csv, newline="", encoding="utf-8") as file:
        csv_rows = list(csv.reader(file))
    wrong = [*faults(documented(args.readme), csv_rows),
             *log_faults(args.log, csv_rows), *share_faults(args.log)]
    if run.outcome is not qemu.Outcome.PASS:
        wrong.insert(0, run.message)
    control = f"{args.log}.control"
    qemu.run(dataclasses.replace(
        machine, log=control, csv="",
        append=f"{machine.append} fault=percentiles"))
    if not any("handoff_median" in fault for fault in share_faults(control)):
        wrong.append("a wrong median is not found")
    print("FAIL: " + "; ".join(wrong) if wrong else "as documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
