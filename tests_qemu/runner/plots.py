#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures every lock in the lab and plots it with gnuplot: SVG and PNG.

throughput   acquisitions per second against the number of CPUs
fairness     Jain's index against the number of CPUs, no think time
latency      CDF (cumulative distribution function) of the handoff time, at
             the most CPUs

What was measured stays beside the plots: contention.csv and greed.csv, from
which --redraw draws again without measuring. The columns: lab/figures.hpp.

plots.py LOG measures nothing either: LOG is what the lab has printed on any
machine, by its serial line or run.py. Of each run in it that has figures it
prints the table and makes the pictures: these three, or the map of run=pairs.
"""
import argparse
import pathlib
import shutil
import sys

import captured
import pictures
import qemu
import rows
from ends import exit_status

COUNTS = (1, 2, 4, 8, 16, 32)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", metavar="LOG", type=pathlib.Path,
                        help="a log of the lab, from whatever machine")
    parser.add_argument("--image", help="the lab's kernel")
    parser.add_argument("--out", help="the folder of CSV files and plots; "
                        "default: beside LOG, LOG's name and -plots")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="icount",
                        help="how the vCPUs run (default: %(default)s)")
    parser.add_argument("--lock", default="all",
                        help="names with commas (default: %(default)s)")
    parser.add_argument("--acquisitions", type=int, default=2000,
                        help="for each row, of all CPUs (default: %(default)s)")
    parser.add_argument("--redraw", action="store_true",
                        help="from the folder's CSV files; measures nothing")
    args = parser.parse_args()
    if args.log and (args.image or args.redraw):
        parser.error("LOG is instead of --image and --redraw")
    if args.log:
        args.out = args.out or args.log.with_name(f"{args.log.stem}-plots")
    elif not args.redraw and not args.image:
        parser.error("a LOG is needed, or --image, or --redraw")
    elif not args.out:
        parser.error("--out is needed")
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


def drawn(usual, greedy):
    """usual, greedy: reports, with think time and without."""
    worn = {}
    what = "critical sections of 500 cycles, think time of 0 to 2000"
    clock = " of guest time"
    yield pictures.throughput(usual, what, worn, clock)
    yield pictures.fairness(
        greedy, "critical sections of 500 cycles, no think time", worn)
    yield pictures.latency(usual, what, worn, clock)


def main():
    args = arguments()
    if args.log:
        return captured.show(args.log, pathlib.Path(args.out))
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
    for picture in drawn(usual, greedy):
        print("\n".join(pictures.draw(picture, args.out)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
