#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures every lock in the lab and plots it with gnuplot: SVG and PNG.

throughput   acquisitions per second against the number of CPUs
fairness     Jain's index against the number of CPUs, no think time
latency      CDF (cumulative distribution function) of the handoff time, at
             the most CPUs

What was measured stays beside the plots: contention.csv and greed.csv, from
which --redraw draws again without measuring. The columns: lab/figures.hpp.
"""
import argparse
import pathlib
import shutil
import sys

import qemu
import rows
from ends import exit_status

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "toolchain"))
import curves   # pylint: disable=wrong-import-position

COUNTS = (1, 2, 4, 8, 16, 32)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", help="the lab's kernel")
    parser.add_argument("--out", required=True,
                        help="the folder of CSV files and plots")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="icount",
                        help="how the vCPUs run (default: %(default)s)")
    parser.add_argument("--lock", default="all",
                        help="names with commas (default: %(default)s)")
    parser.add_argument("--acquisitions", type=int, default=2000,
                        help="for each row, of all CPUs (default: %(default)s)")
    parser.add_argument("--redraw", action="store_true",
                        help="from the folder's CSV files; measures nothing")
    args = parser.parse_args()
    if not args.redraw and not args.image:
        parser.error("--image is needed, or --redraw")
    return args


def measured(args, name, words):
    """The report of one boot; its CSV is kept beside the plots."""
    kept = pathlib.Path(args.out, f"{name}.csv")
    if args.redraw:
        return rows.parse(kept.read_text(encoding="utf-8"))
    machine = qemu.Machine(
        image=args.image, cpus=max(COUNTS), accelerator=args.mode,
        append=f"mode=csv run=measure lock={args.lock} "
               f"acquisitions={args.acquisitions} {words}",
        log=str(kept))
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        raise SystemExit(f"FAIL: {name}: {run.message}")
    return rows.parse(run.serial)


def by_cpus(report, value):
    series = {}
    for r in report.rows:
        series.setdefault(r["lock"], []).append((r["cpus"], value(r)))
    return series


def cdf(report, cpus):
    """{lock: [(ns, % of handoffs that took at most so long)]}"""
    series = {}
    for lock, _, begin, end, count in (h for h in report.hists if h[1] == cpus):
        counts = series.setdefault(lock, [(max(begin, 1), 0)])
        seen = counts[-1][1]
        if begin > counts[-1][0]:   # none between the bars
            counts.append((begin, seen))
        counts.append((max(end, 1), seen + count))
    return {lock: [(x, 100 * seen / counts[-1][1]) for x, seen in counts]
            for lock, counts in series.items()}


def ends_early(series):
    """What is said of a lock that has no room for all CPUs."""
    last = max(points[-1][0] for points in series.values())
    return {lock: f"(up to {points[-1][0]} CPUs)"
            for lock, points in series.items() if points[-1][0] < last}


def against_cpus(name, title, label, series, worn, most=None):
    counts = sorted({x for points in series.values() for x, _ in points})
    top = 1.05 * max(y for points in series.values() for _, y in points)
    return curves.Picture(
        name, title, curves.octaves("CPUs that contend", counts),
        curves.linear(label, most or top), series, note=ends_early(series),
        styles=worn)


def pictures(usual, greedy):
    """usual, greedy: reports, with think time and without."""
    worn = {}
    yield against_cpus(
        "throughput", "Throughput: critical sections of 500 cycles, think "
        "time of 0 to 2000",
        "million acquisitions per second of guest time",
        by_cpus(usual, lambda r: r["per_second"] / 1e6), worn)
    yield against_cpus(
        "fairness", "Fairness: critical sections of 500 cycles, no think time",
        "Jain's index (1: equal shares, 1/n: one CPU of n has all)",
        by_cpus(greedy, lambda r: r["jain_permille"] / 1000), worn, 1.05)
    cpus = max(r["cpus"] for r in usual.rows)
    series = cdf(usual, cpus)
    times = [x for points in series.values() for x, _ in points]
    yield curves.Picture(
        "latency", f"CDF of the handoff time, {cpus} CPUs: critical "
        "sections of 500 cycles, think time of 0 to 2000",
        curves.decades("handoff time, ns of guest time", times),
        curves.Axis("handoffs that took at most this long, %", 0, 100,
                    [(n, f"{n}") for n in range(0, 101, 20)]),
        series, cdf=True, styles=worn)


def main():
    args = arguments()
    if not shutil.which("gnuplot"):
        print("no plots without gnuplot: apt-get install gnuplot-nox")
        return 1
    why_not = None if args.redraw else qemu.missing(
        qemu.Machine(image=args.image, accelerator=args.mode))
    if why_not:
        print(why_not)
        return 1
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    counts = ",".join(map(str, COUNTS))
    usual = measured(args, "contention",
                     f"cpus={counts} section=500 think=0..2000")
    greedy = measured(args, "greed", f"cpus={counts} section=500 think=0")
    for picture in pictures(usual, greedy):
        print("\n".join(curves.draw(picture, args.out)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
