#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to hand a line from one CPU to another, as a heat map: run=pairs.

Boots the lab, or takes what another machine has printed on its serial line
(run=pairs mode=csv). Beside the picture lie the rows, pairs.csv.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import qemu
import rows
from ends import Trouble, exit_status

SKIPPED = 77
# White to black by way of colours that the colour-blind tell apart.
PALETTE = 'defined (0 "#ffffff", 1 "#56b4e9", 2 "#0072b2", 3 "#000000")'
TERMINALS = {"svg": 'svg size {0},{0} font "sans-serif,12" background "white"',
             "png": 'pngcairo size {0},{0} font "sans,10"'}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--image", help="the lab's kernel, to be booted")
    source.add_argument("--serial", type=pathlib.Path, metavar="LOG",
                        help="a log of the lab, from whatever machine")
    parser.add_argument("--cpus", type=int, default=8,
                        help="vCPUs to boot (default: %(default)s)")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="single",
                        help="how they run (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        help="the folder of the picture")
    return parser.parse_args()


def serial_of(args):
    """What the guest has printed; a text and None, or None and why not."""
    if args.serial:
        return args.serial.read_text(encoding="utf-8", errors="replace"), None
    machine = qemu.Machine(
        image=args.image, cpus=args.cpus, accelerator=args.mode,
        append="run=pairs mode=csv", log=str(args.out / "pairs.log"))
    why_not = qemu.missing(machine)
    if why_not:
        return None, why_not
    run = qemu.run(machine)
    if run.outcome is not qemu.Outcome.PASS:
        raise Trouble(f"{run.message}; serial log: {machine.log}")
    return run.serial, None


def matrix(of):
    """{(cpu, other): ns}, either way round; Trouble: a pair is missing."""
    found = {}
    for row in of:
        if "other" not in row:
            raise Trouble("these are not the rows of run=pairs")
        found[row["cpu"], row["other"]] = row["ns"]
        found[row["other"], row["cpu"]] = row["ns"]
    if not found:
        raise Trouble("no rows of run=pairs mode=csv in it")
    cpus = 1 + max(cpu for cpu, _ in found)
    missing = [(cpu, other) for cpu in range(cpus) for other in range(cpu)
               if (cpu, other) not in found]
    if missing:
        raise Trouble("nothing of CPUs {} and {}: is the log whole?".format(
            *missing[0]))
    return cpus, found


def summary(cpus, ns):
    ordered = sorted((cost, pair) for pair, cost in ns.items()
                     if pair[0] < pair[1])
    nearest, middle = ordered[0], ordered[len(ordered) // 2]
    farthest = next(of for of in ordered if of[0] == ordered[-1][0])
    return (f"{cpus} CPUs, {len(ordered)} pairs: nearest {nearest[0]} ns (CPUs "
            "{} and {}), median {} ns, farthest {} ns (CPUs {} and {})".format(
                *nearest[1], middle[0], farthest[0], *farthest[1]))


def script(cpus, ns):
    block = "\n".join(" ".join(
        str(ns.get((cpu, other), 0)) for other in range(cpus))
        for cpu in range(cpus))
    every = max(1, cpus // 16)
    return (f"$ns << EOD\n{block}\nEOD\n"
            'set title "One handoff between two CPUs, ns"\n'
            f"set palette {PALETTE}\nset size square\nset key off\n"
            f"set xrange [-0.5:{cpus - 0.5}]\n"
            f"set yrange [{cpus - 0.5}:-0.5]\n"
            f"set xtics {every}\nset ytics {every}\nset tics out nomirror\n"
            'set xlabel "CPU"\nset ylabel "CPU"\n'
            f"set cbrange [0:{max(ns.values())}]\n"
            "plot $ns matrix with image pixels\n")


def draw(text, folder):
    given = folder / "pairs.gp"
    given.write_text(text, encoding="utf-8")
    for suffix, terminal in TERMINALS.items():
        path = folder / f"pairs.{suffix}"
        done = subprocess.run(
            ["gnuplot", "-e", f"set terminal {terminal.format(720)}; "
             f"set output '{path.name}'", given.name],
            text=True, capture_output=True, cwd=folder)
        if done.returncode or done.stderr.strip():
            raise Trouble(f"gnuplot: {done.stderr.strip()}")
        yield path


def show(of, folder):
    """Prints what the rows say, and makes the picture."""
    cpus, ns = matrix(of)
    (folder / "pairs.csv").write_text("cpu,other,ns\n" + "".join(
        f"{cpu},{other},{cost}\n" for (cpu, other), cost in sorted(ns.items())
        if other < cpu), encoding="utf-8")
    print(summary(cpus, ns))
    if not shutil.which("gnuplot"):
        print("no picture without gnuplot: apt-get install gnuplot-nox")
        return
    print(*draw(script(cpus, ns), folder))


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    serial, why_not = serial_of(args)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    show(rows.parse(serial).rows, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
