#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stops QEMU (SIGSTOP) while boot measures its clock, for longer than the 8254
can count: the clock must be right, or the lab must say that it is not known.

Where to stop, QEMU's trace says: the reads of the 8254's channel 2. It is
written to a pipe that this reads bit by bit, so that QEMU cannot be far ahead,
however busy the host. That the stop has hit, the guest says: the 8254 "ran out".
"""
import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time

import qemu
from output import STATUS_PASS, exit_status, lab_parser

SKIPPED = 77
TRACE = "memory_region_ops_read"
CHANNEL_2 = re.compile(rb"addr 0x42 ")
CLOCK = re.compile(r"^# clock (\d+) kHz", re.MULTILINE)
STOPS = (0.058, 0.120)  # once round in 54.9 ms
READS = 40              # of channel 2: the first reading takes 16
TRIES = 5               # a stop that has missed proves nothing


def arguments():
    parser = lab_parser(__doc__)
    return parser.parse_args()


def can_trace(program):
    events = subprocess.run([program, "-trace", "help"], check=False,
                            capture_output=True, text=True)
    return TRACE in events.stdout.split()


def stop_at_calibration(process, trace, seconds):
    """Reads the trace to its end; stops QEMU once, in the right place."""
    reads, text = 0, b""
    while chunk := os.read(trace, 256):
        text = text[-9:] + chunk    # less than a match, so that none counts twice
        before = reads
        reads += len(CHANNEL_2.findall(text))
        if before < READS <= reads:
            process.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            process.send_signal(signal.SIGCONT)


def boot(machine, seconds):
    """The serial output and the exit status of a boot with one stop."""
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(
        qemu.command(machine) + ["-trace", TRACE], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    watchdog = threading.Timer(machine.timeout, process.kill)
    watchdog.start()
    reader = threading.Thread(target=stop_at_calibration,
                              args=(process, ours, seconds))
    reader.start()
    serial = process.stdout.read().decode("utf-8", "replace")
    status = process.wait()
    watchdog.cancel()
    reader.join()
    os.close(ours)
    return serial.replace("\r\n", "\n"), status


def clock_of(serial):
    match = CLOCK.search(serial)
    return int(match[1]) if match else 0


def faults(machine, seconds, right):
    """Yields in words the fault of a boot that was stopped."""
    for _ in range(TRIES):
        serial, status = boot(machine, seconds)
        clock = clock_of(serial)
        hit = "ran out" in serial
        said = "clock is not known" in serial
        print(f"stopped for {seconds * 1000:.0f} ms: {clock} kHz"
              + (", and said so" if said else "")
              + ("" if hit else ", not hit"))
        if not said and not 0.99 < clock / right < 1.01:
            yield f"a clock of {clock} kHz, it is {right}"
            return
        if said and status == STATUS_PASS:
            yield "an unknown clock, and a PASS"
            return
        if hit:
            return
    yield f"no stop has hit in {TRIES} boots"


def main():
    args = arguments()
    machine = qemu.Machine(image=args.image, log=args.log,
                           append="lock=tas_lock acquisitions=200", timeout=120)
    why_not = qemu.missing(machine)
    if not why_not and not can_trace(machine.qemu):
        why_not = f"{machine.qemu} cannot trace {TRACE}"
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    run = qemu.run(machine)
    right = clock_of(run.serial)
    print(f"not stopped: {right} kHz")
    if not right:
        print(f"FAIL: {run.message}; serial log: {args.log}")
        return 1
    wrong = [fault for seconds in STOPS
             for fault in faults(machine, seconds, right)]
    if wrong:
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
