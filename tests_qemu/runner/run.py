#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the lab kernel once or more and turns the outcome into an exit status.

0: as expected. 1: not. 2: a mistake of this command line, or a file that cannot
be read or written. 77: skipped, this host cannot run it (CTest shows it as
skipped). 130: Ctrl-C, after the rows that had come. The serial log is written
line by line, and named when anything is wrong; a second run refuses to write a
log that another writes.
"""
import os
import re
import subprocess
import sys

import qemu
import serial_line
from qemu import ARCHES, arch_of
from output import (STATUS_PASS, Outcome, Parser, Stopped, Trouble,
                    at_least_one, exit_status, seconds)

SKIPPED = 77
# A figure of a clock. No two runs print the same.
MEASURED = re.compile(r"\bclock \d|\d ?([kMG]Hz|ns|us|ms|cycles|per second)\b")
TAIL = 40       # lines of the log that are shown when something is wrong
HOW = """\
The lab waits for gdb. In another terminal:

  gdb {symbols} -ex 'target remote :1234' -ex 'hbreak payload_main' -ex continue

'info threads' lists the vCPUs, 'thread 2' and 'bt' shows where one is.
A breakpoint before the kernel runs must be a hardware one (hbreak).
"""


def bounds(args):
    """Yields the text and both limits of each --expect-number."""
    for text, *limits in args.expect_number:
        if not all(limit.isdecimal() for limit in limits):
            raise Trouble(f"--expect-number {text!r}: two numbers, not "
                          + " ".join(limits))
        yield text, *map(int, limits)


def add_machine(parser):
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--image", default="",
                      help="the kernel's .elf, or an .iso, whose menu's "
                      "first entry is run")
    what.add_argument("--device", metavar="TTY",
                      help="no QEMU: the serial line of a machine that is "
                      "started by hand, as /dev/ttyUSB0; its words are those "
                      "of its menu")
    parser.add_argument("--speed", type=int, choices=serial_line.SPEEDS,
                        default=115200, metavar="BAUD",
                        help="of that line; default: 115200")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="the kernel's command line; the word help alone "
                        "prints all words")
    parser.add_argument("--cpus", type=at_least_one, metavar="N",
                        help="vCPUs; default: 4. With --device: what must be "
                        "found there; default: whatever is")
    parser.add_argument("--boots", type=at_least_one, metavar="N",
                        help="CPUs that the guest must find; default: all")
    parser.add_argument("--mode", choices=qemu.ACCELERATORS, default="single",
                        help="single: vCPUs take turns, many of them, quickly; "
                        "icount: the same, reproducible to the byte; parallel: "
                        "two truly run at once; kvm: where there is /dev/kvm. "
                        "Default: single")
    parser.add_argument("--arch", choices=ARCHES, default="",
                        help="the kernel must be of this architecture; default: "
                        "whatever the image is")
    parser.add_argument("--cpu", default="", metavar="NAME",
                        help="QEMU's name of the CPU, as cortex-a57; default: "
                        "all that QEMU has of the architecture")
    parser.add_argument("--qemu", default="", metavar="PROGRAM",
                        help="default: $KLOCK_QEMU (KLOCK_QEMU_AARCH64, "
                        "KLOCK_QEMU_RISCV64), or qemu-system-x86_64 and so on")
    parser.add_argument("--gdb", action="store_true",
                        help="stop before the first instruction, and say how to "
                        "attach gdb; no log, no verdict but the guest's")
    parser.add_argument("--qemu-arg", action="append", default=[],
                        metavar="ARG", help="one more argument for QEMU, as "
                        "--qemu-arg=-vga --qemu-arg=std")


def add_output(parser):
    parser.add_argument("--log", required=True, metavar="FILE",
                        help="gets the serial line's text, line by line")
    parser.add_argument("--csv", default="", metavar="FILE",
                        help="gets the rows as comma-separated values, the "
                        "names of the columns first; sets the word mode=csv")
    parser.add_argument("--echo", action="store_true",
                        help="show the serial line as it comes: as it is on a "
                        "terminal, whole lines in a pipe")


def add_judgement(parser):
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS",
                        help="ends each run after this time in all; default: "
                        "when no row arrives for longer than the planned row "
                        "takes; the limit is printed")
    parser.add_argument("--expect", default="pass",
                        choices=[o.value for o in Outcome],
                        help="how the run must end; default: pass")
    parser.add_argument("--expect-text", action="append", default=[],
                        metavar="TEXT", help="the log or the message must hold "
                        "it; may come more than once")
    parser.add_argument("--expect-number", nargs=3, action="append",
                        default=[], metavar=("TEXT", "LEAST", "MOST"),
                        help="the number behind the text lies between; may "
                        "come more than once")
    parser.add_argument("--expect-once", action="append", default=[],
                        metavar="TEXT", help="exactly one line of the log must "
                        "hold it")
    parser.add_argument("--panic-within", type=at_least_one, metavar="MS",
                        help="the panic's report must say that boot began so "
                        "many ms ago, or fewer, by the guest's own clock")
    parser.add_argument("--repeat", type=at_least_one, default=1, metavar="N",
                        help="so many runs; the second one's files end in .2")
    parser.add_argument("--identical", action="store_true",
                        help="all repetitions must print the same, to the byte")


def arguments():
    parser = Parser(__doc__)
    add_machine(parser.add_argument_group("the machine"))
    add_output(parser.add_argument_group("what comes out"))
    add_judgement(parser.add_argument_group("the verdict"))
    args = parser.parse_args()
    for text in args.expect_text + args.expect_once:
        if MEASURED.search(text):
            parser.error(f"{text!r} holds digits of a measurement: "
                         "--expect-number TEXT LEAST MOST, by its resolution")
    args.expect_number = list(bounds(args))
    if args.device and args.append:
        parser.error("--append: a machine has the words of its own menu")
    if not args.device:
        args.cpus = args.cpus or 4
    return args


def words(args):
    """The kernel's command line: --csv is one word more."""
    if args.csv and os.path.realpath(args.csv) == os.path.realpath(args.log):
        raise Trouble(f"--log and --csv are one file: {args.csv}")
    modes = [word for word in args.append.split() if word.startswith("mode=")]
    if not args.csv or modes == ["mode=csv"]:
        return args.append
    if args.device:
        return ""
    if args.image.endswith(".iso"):
        raise Trouble("--csv: an .iso has its own words; give the .elf")
    if modes:
        raise Trouble(f"--csv wants mode=csv, and --append has {modes[0]}")
    return f"{args.append} mode=csv".strip()


def check_arch(args):
    found = arch_of(args.image)
    if args.arch and os.path.isfile(args.image) and \
            ARCHES[args.arch] is not ARCHES[found]:
        raise Trouble(f"--arch {args.arch}: the image is of {found}")


def machine_for(args, number):
    suffix = "" if number == 1 else f".{number}"
    return qemu.Machine(
        image=args.image, cpus=args.cpus or 0, accelerator=args.mode,
        append=words(args), timeout=args.timeout, arch=args.arch,
        qemu=args.qemu, cpu=args.cpu,
        extra=tuple(args.qemu_arg), log=args.log + suffix,
        csv=args.csv and args.csv + suffix, boots=args.boots or 0,
        echo=sys.stdout.buffer if args.echo else None)


def faults(args, run, first):
    """Yields in words what differs from the expected run, besides how it ended.
    """
    for text in args.expect_text:
        if text not in run.serial and text not in run.message:
            yield f"nowhere to be found: {text!r}"
    for text, least, most in args.expect_number:
        found = re.search(re.escape(text) + r" *(\d+)", run.serial)
        if not found or not least <= int(found[1]) <= most:
            yield (f"{text!r}: {found[1] if found else 'no number'}, not "
                   f"{least} to {most}")
    for text in args.expect_once:
        lines = sum(text in line for line in run.serial.splitlines())
        if lines != 1:
            yield f"in {lines} lines instead of one: {text!r}"
    if args.panic_within:
        told = re.findall(r"^  (\d+) ms after boot began$", run.serial, re.M)
        if not told or int(told[0]) > args.panic_within:
            yield (f"no panic within {args.panic_within} ms of boot, but after "
                   f"{told[0] if told else 'none'}")
    if args.csv and run.outcome is Outcome.PASS and not run.csv_rows:
        yield f"no row for {args.csv}"
    if args.identical and first is not None and run.serial != first.serial:
        pairs = zip(first.serial.splitlines(), run.serial.splitlines())
        line = next((f"{a!r} became {b!r}" for a, b in pairs if a != b),
                    "the lengths differ")
        yield f"not reproducible: {line}"


def report(args, number, machine, run, wrong):
    """Prints what the user has not read yet. The guest's own last lines are on
    the screen already if its lines are shown as they come."""
    ended_wrong = run.outcome.value != args.expect
    if (wrong or ended_wrong) and not args.echo:
        tail = run.serial.splitlines()[-TAIL:]
        print("\n".join(line for line in tail if line != run.said))
    own_words = run.outcome is Outcome.PASS or run.said
    if not (args.echo and own_words):
        where = args.device or f"{args.cpus} CPUs, {args.mode}"
        print(f"run {number} of {args.repeat}: {where}: {run.message} "
              f"({run.seconds:.1f} s)")
    if ended_wrong and args.expect != "pass":
        wrong.insert(0, f"expected {args.expect}")
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    if wrong or ended_wrong:
        print(f"serial log: {machine.log}")


def wait_for_gdb(args):
    """Ends with the guest, or by Ctrl-C. The symbols are in .debug beside the
    .elf."""
    machine = qemu.Machine(image=args.image, cpus=args.cpus, qemu=args.qemu,
                           accelerator=args.mode, append=args.append,
                           cpu=args.cpu, extra=(*args.qemu_arg, "-s", "-S"))
    why_not = qemu.missing(machine)
    if why_not:
        raise Trouble(why_not)
    print(HOW.format(symbols=args.image.removesuffix(".elf") + ".debug"),
          flush=True)
    return int(subprocess.call(qemu.command(machine)) != STATUS_PASS)


def boot(machine, args):
    """Runs the machine. If somebody ends it, the lines up to then are shown."""
    sys.stdout.flush()
    try:
        if args.device:
            return serial_line.run(args.device, args.speed, machine)
        return qemu.run(machine)
    except Stopped as stopped:
        if not args.echo:
            print("".join(line + "\n" for line in stopped.lines), end="")
        print(f"stopped; serial log: {machine.log}", flush=True)
        raise


def main():
    args = arguments()
    check_arch(args)
    if args.gdb:
        return wait_for_gdb(args)
    first = None
    for number in range(1, args.repeat + 1):
        machine = machine_for(args, number)
        why_not = None if args.device else qemu.missing(machine)
        if why_not:
            print(f"skipped: {why_not}")
            return SKIPPED
        run = boot(machine, args)
        wrong = list(faults(args, run, first))
        report(args, number, machine, run, wrong)
        if wrong or run.outcome.value != args.expect:
            return 1
        first = first or run
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
