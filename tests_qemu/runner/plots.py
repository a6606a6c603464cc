#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures every lock in the lab and plots it with gnuplot: SVG and PNG.

throughput   acquisitions a second against the number of CPUs
fairness     Jain's index against the number of CPUs, nobody staying outside
latency      how many hand-overs took at most how long, at the most CPUs
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import qemu
import rows

COUNTS = (1, 2, 4, 8, 16, 32)
STYLE = """\
set terminal {terminal}
set output "{output}"
set title "{title}"
set xlabel "{x}"
set ylabel "{y}"
set key outside right font ",9"
set grid
{more}
"""
TERMINALS = {"svg": 'svg size 1000,600 background "white"',
             "png": "pngcairo size 1000,600"}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", required=True)
    parser.add_argument("--out", required=True, help="a folder")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="icount")
    parser.add_argument("--lock", default="all")
    parser.add_argument("--acquisitions", type=int, default=2000)
    return parser.parse_args()


def measure(args, name, words):
    """The CSV of one boot, kept beside the plots."""
    machine = qemu.Machine(
        image=args.image, cpus=max(COUNTS), accelerator=args.mode,
        append=f"mode=csv run=measure lock={args.lock} "
               f"acquisitions={args.acquisitions} {words}",
        timeout=600, log=f"{args.out}/{name}.csv")
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        raise SystemExit(f"FAIL: {name}: {run.message}")
    return rows.parse(run.serial)


def plot(args, name, title, x, y, more, series):
    """series: {lock: [(x, y)]}, one line each."""
    data = "".join(
        f"$d{i} << EOD\n" + "".join(f"{a} {b}\n" for a, b in points) + "EOD\n"
        for i, points in enumerate(series.values()))
    lines = ", ".join(
        f'$d{i} using 1:2 with linespoints pointsize 0.5 dashtype '
        f'{1 + i // 8} title "{lock}" noenhanced'
        for i, lock in enumerate(series))
    for suffix, terminal in TERMINALS.items():
        script = STYLE.format(terminal=terminal, title=title, x=x, y=y,
                              more=more, output=f"{args.out}/{name}.{suffix}")
        made = subprocess.run(["gnuplot"], input=f"{data}{script}plot {lines}\n",
                              text=True, capture_output=True)
        if made.returncode:
            raise SystemExit(f"FAIL: gnuplot: {made.stderr}")
        print(f"{args.out}/{name}.{suffix}")


def by_cpus(report, value):
    series = {}
    for r in report.rows:
        series.setdefault(r["lock"], []).append((r["cpus"], value(r)))
    return series


def shares(report, cpus):
    """{lock: [(ns, per cent of hand-overs that took at most so long)]}"""
    series = {}
    for lock in dict.fromkeys(h[0] for h in report.hists):
        bars = [h for h in report.hists if h[0] == lock and h[1] == cpus]
        total, seen, points = sum(h[4] for h in bars), 0, []
        for _, _, _, end, count in bars:
            seen += count
            points.append((max(end, 1), 100 * seen / total))
        if points:
            series[lock] = points
    return series


def main():
    args = arguments()
    if not shutil.which("gnuplot"):
        print("no plots without gnuplot: apt-get install gnuplot-nox")
        return 1
    why_not = qemu.missing(qemu.Machine(image=args.image,
                                        accelerator=args.mode))
    if why_not:
        print(why_not)
        return 1
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    counts = ",".join(map(str, COUNTS))
    usual = measure(args, "contention",
                    f"cpus={counts} section=500 outside=0..2000")
    greedy = measure(args, "greed", f"cpus={counts} section=500 outside=0")
    cpus = f"set logscale x 2; set xtics ({counts})"
    plot(args, "throughput", "Throughput, sections of 500 cycles", "CPUs",
         "acquisitions a second", cpus + "; set yrange [0:*]",
         by_cpus(usual, lambda r: r["per_second"]))
    plot(args, "fairness", "Fairness, nobody stays outside", "CPUs",
         "Jain's index", cpus + "; set yrange [0:1.05]",
         by_cpus(greedy, lambda r: r["jain_permille"] / 1000))
    plot(args, "latency", f"Hand-overs, {max(COUNTS)} CPUs", "ns",
         "% that took at most so long", "set logscale x; set yrange [0:101]",
         shares(usual, max(COUNTS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
