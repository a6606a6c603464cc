#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plots.py LOG: what the lab has printed becomes tables and pictures, whatever
stands between its lines. Boots nothing.

	captured_selftest.py FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys

import captured

HERE = pathlib.Path(__file__).parent
FIXTURE = HERE / "fixture"
MACHINE = "# machine: A CPU, 4 CPUs in 2 cores of 1 package, clock invariant"
NO_GNUPLOT = "no plots without gnuplot: apt-get install gnuplot-nox"

# As a serial line has it: a loader's text, lines that were written over.
TABLE = f"""GRUB loading.\x1b[2J
# boot: 4 CPUs\r
{MACHINE}\r
                                 acquisitions   owner   handoff  longest Jain's
lock                          CPUs per second changes median ns  wait us  index
tas_lock                     ...\rtas_lock                         4    1183819\
       4       541    16803  0.250\r
mcs_lock                         4     934413   20002       245       51  0.999
PASS\r
# boot: passed; the machine can be switched off\r
"""
# Of the second run a line is damaged, and the end missing.
PAIRS = "head,cpu,other,cycles,ns\nrow,1,0,100,50\nPASS\n"
CUT = ("# boot: 4 CPUs\nhead,lock,cpus,per_second,jain_permille\n"
       "row,mcs_lock,2,100,1000\nrow,mc\x00k,2,1x0,999\nrow,tas_lock,2\n"
       "row,mcs_lock,4,900,1000\n")
TOPOLOGY = ("head,cpu,id,core,l2,l3,package,offset_ns,within_ns,kind\n"
            "row,0,0,0,0,0,0,+0,0,Core\nrow,1,1,0,0,0,0,-49,50,Atom\nPASS\n")
INSTRUCTIONS = "head,lock,cycles\nrow,mcs_lock,77.52\nPASS\n"

# the log, whether gnuplot is there, the status, what is said
CASES = [
    (TABLE, True, 0, [
        "measure: 2 rows, times in ns; PASS", MACHINE.partition(": ")[2],
        "lock      cpus  per_second  handoffs  handoff_median  longest_wait"
        "   jain",
        "tas_lock     4     1183819         4             541      16803000"
        "  0.250",
        "no curves against the number of CPUs", "mode=csv prints one"]),
    (PAIRS + CUT, True, 0, [
        "1 pairs: nearest 50 ns", "pairs.svg", "throughput.svg",
        "measure: 2 rows, times in ns; no verdict: the log ends before",
        "line 7 is damaged, and left out: row,mc\x00k,2,1x0,999",
        "line 8 is damaged, and left out: row,tas_lock,2"]),
    (CUT + CUT, True, 0, ["measure-2: 2 rows", "throughput.svg",
                          "throughput-2.svg"]),
    (CUT + CUT, False, 0, [NO_GNUPLOT, "mcs_lock     4         900  1.000"]),
    (PAIRS, False, 0, ["nearest 50 ns", NO_GNUPLOT.replace("plots", "picture")]),
    (TOPOLOGY + INSTRUCTIONS, False, 0, [
        "topology: 2 rows", "        -49         50  Atom",
        "instructions: 1 rows", "mcs_lock   77.52"]),
    ("# boot: 1 CPU\nok 1 mcs_lock\nPASS\n", True, 2, ["no figures in it"]),
    (PAIRS.replace("row,1,0", "row,2,0"), True, 2, ["is the log whole?"]),
]


def outcome(folder, log, with_gnuplot=True):
    """As a person calls it."""
    out = folder / "log-plots"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-B", HERE / "plots.py", log], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | ({} if with_gnuplot else {"PATH": str(out)}))
    return done.returncode, done.stdout


def wrong_cases(folder):
    log = folder / "log.txt"
    for text, with_gnuplot, status, expected in CASES:
        if with_gnuplot and not shutil.which("gnuplot"):
            continue
        log.write_text(text, encoding="utf-8", newline="")
        got, said = outcome(folder, log, with_gnuplot)
        missing = [words for words in expected if words not in said]
        if got != status or missing or "Traceback" in said:
            yield f"{got}, without {missing}: {said}"
        if said.count("error") != (status == 2):
            yield f"not one line of trouble: {said}"


def data(script):
    """What gnuplot draws: the figures, not the texts."""
    return [line for line in script.read_text(encoding="utf-8").splitlines()
            if line[:1].isdigit()]


def wrong_pictures(folder):
    """The same as the runner's own, of the same figures."""
    redrawn = folder / "redrawn"
    shutil.rmtree(redrawn, ignore_errors=True)
    shutil.copytree(FIXTURE, redrawn)
    subprocess.run([sys.executable, "-B", HERE / "plots.py", "--redraw",
                    "--out", redrawn], check=True, stdout=subprocess.DEVNULL)
    log = folder / "log.txt"
    log.write_text("".join((FIXTURE / f"{name}.csv").read_text(encoding="utf-8")
                           + "PASS\n" for name in ("contention", "greed")),
                   encoding="utf-8")
    said = outcome(folder, log)[1]
    for own, other in (("throughput", "throughput"), ("latency", "latency"),
                       ("fairness", "fairness-2")):
        made = folder / "log-plots" / f"{other}.gp"
        if not made.exists() or data(made) != data(redrawn / f"{own}.gp"):
            yield f"{other} is not as the runner's {own}: {said}"


def wrong_titles():
    for row, expected in (
            ({"section_min": 500, "section_max": 500, "think_min": 0,
              "think_max": 0}, "critical sections of 500 cycles, no think time"),
            ({"section_min": 100, "section_max": 900, "think_min": 0,
              "think_max": 9, "writers": 10}, "critical sections of 100 to 900 "
             "cycles, think time of 0 to 9 cycles, 10 % writes")):
        if captured.what_of(row) != expected:
            yield f"{captured.what_of(row)!r}, not {expected!r}"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = [*wrong_titles(), *wrong_cases(folder)]
    got, said = outcome(folder, folder / "none.txt")
    if got != 2 or "none.txt: No such file" not in said:
        wrong.append(said)
    if shutil.which("gnuplot"):
        wrong += wrong_pictures(folder)
    print("\n".join(wrong) or f"{len(CASES)} logs, all read")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
