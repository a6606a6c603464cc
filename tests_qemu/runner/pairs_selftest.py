#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pairs.py reads a log of any machine, and says where it is not whole.

The machine: 2 packages of 4 CPUs, a handoff within one 50 ns, between them 200.
"""
import pathlib
import subprocess
import sys

import pairs
import rows
from ends import Trouble

HERE = pathlib.Path(__file__).parent


def log(left_out=()):
    lines = ["GRUB loading.", "head,cpu,other,cycles,ns"]
    for cpu in range(8):
        for other in range(cpu):
            if (cpu, other) not in left_out:
                ns = 50 if cpu // 4 == other // 4 else 200
                lines.append(f"row,{cpu},{other},{2 * ns},{ns}\r")
    return "\n".join([*lines, "PASS", ""])


def said_of(text):
    try:
        return pairs.summary(*pairs.matrix(rows.parse(text).rows))
    except Trouble as trouble:
        return str(trouble)


def wrong_words():
    for text, said in (
            (log(), "8 CPUs, 28 pairs: nearest 50 ns (CPUs 0 and 1), median "
             "200 ns, farthest 200 ns (CPUs 0 and 4)"),
            (log([(5, 2)]), "nothing of CPUs 5 and 2: is the log whole?"),
            ("PASS\n", "no rows of run=pairs mode=csv in it"),
            ("head,lock,cpus\nrow,tas_lock,2\n",
             "these are not the rows of run=pairs")):
        if said_of(text) != said:
            yield f"{said_of(text)!r}, not {said!r}"


def wrong_script():
    block = pairs.script(*pairs.matrix(rows.parse(log()).rows)).splitlines()[1:9]
    for cpu, line in enumerate(block):
        near, far = ["50"] * 4, ["200"] * 4
        row = near + far if cpu < 4 else far + near
        row[cpu] = "0"
        if line.split() != row:
            yield f"row {cpu} of the map is {line}"


def wrong_run(folder):
    """As a person calls it; with gnuplot or without."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "any.log"
    for text, status in ((log(), 0), (log([(1, 0)]), 2)):
        kept.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", HERE / "pairs.py", "--serial", kept,
             "--out", folder], capture_output=True, text=True)
        if done.returncode != status or "Traceback" in done.stderr:
            yield f"exit status {done.returncode}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    found = [*wrong_words(), *wrong_script(),
             *wrong_run(pathlib.Path(sys.argv[1]))]
    print("\n".join(found) or "pairs.py reads what it is given")
    sys.exit(1 if found else 0)
