#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the lab kernel once or more and turns the outcome into an exit status.

0: as expected. 1: not. 77: skipped, this host cannot run it (CTest shows it
as skipped). The serial log is kept, and named when anything is wrong.
"""
import argparse
import sys

import qemu

SKIPPED = 77


def at_least_one(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least one")
    return number


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", required=True)
    parser.add_argument("--cpus", type=at_least_one, default=1)
    parser.add_argument("--boots", type=at_least_one,
                        help="CPUs that the guest finds, if not all")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="single")
    parser.add_argument("--append", default="", help="kernel command line")
    parser.add_argument("--qemu", default=qemu.PROGRAM)
    parser.add_argument("--qemu-arg", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--log", required=True, help="where the serial log goes")
    parser.add_argument("--expect", default="pass",
                        choices=[o.value for o in qemu.Outcome])
    parser.add_argument("--expect-text", action="append", default=[],
                        help="a text that the log or the message must hold")
    parser.add_argument("--repeat", type=at_least_one, default=1)
    parser.add_argument("--identical", action="store_true",
                        help="all repetitions must print the same, to the byte")
    parser.add_argument("--echo", action="store_true",
                        help="show the serial line as it comes")
    return parser.parse_args()


def faults(args, run, first):
    """What is not as expected of this run, in words."""
    if run.outcome.value != args.expect:
        yield f"expected {args.expect}, but: {run.message}"
    for text in args.expect_text:
        if text not in run.serial and text not in run.message:
            yield f"nowhere to be found: {text!r}"
    if args.identical and first is not None and run.serial != first.serial:
        pairs = zip(first.serial.splitlines(), run.serial.splitlines())
        line = next((f"{a!r} became {b!r}" for a, b in pairs if a != b),
                    "the lengths differ")
        yield f"not reproducible: {line}"


def main():
    args = arguments()
    first = None
    for number in range(1, args.repeat + 1):
        log = args.log if number == 1 else f"{args.log}.{number}"
        machine = qemu.Machine(
            image=args.image, cpus=args.cpus, accelerator=args.mode,
            append=args.append, timeout=args.timeout, qemu=args.qemu,
            extra=tuple(args.qemu_arg), log=log,
            boots=args.boots or 0,
            echo=sys.stdout.buffer if args.echo else None)
        why_not = qemu.missing(machine)
        if why_not:
            print(f"skipped: {why_not}")
            return SKIPPED
        run = qemu.run(machine)
        wrong = list(faults(args, run, first))
        if wrong or not args.echo:  # else the guest's own PASS is the last word
            print(f"run {number} of {args.repeat}: {args.cpus} CPUs, "
                  f"{args.mode}: {run.message} ({run.seconds:.1f} s)")
        if wrong:
            if not args.echo:
                print("\n".join(run.serial.splitlines()[-40:]))
            print(f"serial log: {log}")
            print("FAIL: " + "; ".join(wrong))
            return 1
        first = first or run
    return 0


if __name__ == "__main__":
    sys.exit(main())
