# SPDX-License-Identifier: MIT
"""A run of the lab on a real machine, read from its serial line.

Nothing is sent. The machine says by its last line how the run has ended
(boot/kmain.cpp). For its first the host waits for ever, for the others as long
as for a guest's.
"""
import contextlib
import os
import re
import select
import termios
import time
import tty

import qemu
from output import (STATUS_FAIL, STATUS_PANIC, STATUS_PASS, Outcome, Output,
                    Stopped, Trouble, judge)
from qemu import Watchdog, plan_of

END = re.compile(r"# boot: (passed|failed|stopped by a panic); the machine can "
                 "be switched off")
STATUS = {"passed": STATUS_PASS, "failed": STATUS_FAIL,
          "stopped by a panic": STATUS_PANIC}
SPEEDS = {int(name[1:]): value for name, value in vars(termios).items()
          if re.fullmatch(r"B[1-9]\d*", name)}


@contextlib.contextmanager
def opened(path, speed):
    """The line, raw, 8 bits, no parity, nothing that stops it."""
    try:
        line = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise Trouble(f"--device {path}: {error.strerror}") from None
    try:
        tty.setraw(line, termios.TCSANOW)
        settings = termios.tcgetattr(line)
        settings[2] |= termios.CLOCAL | termios.CREAD
        settings[4] = settings[5] = SPEEDS[speed]
        termios.tcsetattr(line, termios.TCSANOW, settings)
        yield line
    except termios.error:
        raise Trouble(f"--device {path}: no serial line") from None
    finally:
        os.close(line)


def chunks(line, watchdog):
    """Yields the bytes that come, and b"" now and then; ends with the line or
    at the time-out."""
    while not watchdog.expired:
        ready, _, _ = select.select([line], [], [], 0.2)
        try:
            chunk = os.read(line, 4096) if ready else b""
        except BlockingIOError:
            chunk = b""
        except OSError:     # the adapter was pulled out
            return
        if ready and not chunk:
            return
        yield chunk


def watch(line, machine, output, watchdog):
    """How the machine says that its run has ended; "": it does not."""
    begun = planned = False
    output.remark("waiting for the machine to be started")
    for chunk in chunks(line, watchdog):
        begun = begun or bool(chunk)
        if chunk or not begun:
            watchdog.came()
        for text in output.take(chunk):
            plan = None if planned else plan_of(text)
            if plan:
                planned = True
                output.remark(watchdog.follow(plan, "kvm", 1))
            if end := END.match(text):
                return end[1]
    return ""


def run(path, speed, machine):
    """As qemu.run(): what came, and what is to be thought of it."""
    begin = time.monotonic()
    with Output(machine.log, machine.csv, machine.echo) as output, \
            opened(path, speed) as line:
        try:
            with Watchdog(lambda: None, machine.timeout) as watchdog:
                end = watch(line, machine, output, watchdog)
        except KeyboardInterrupt as why:
            output.end()
            raise Stopped(why.args[0] if why.args else 2,
                          output.lines) from None
        output.end()
    if end:
        judged = judge(machine, STATUS[end], "", output.lines, "")
    elif watchdog.expired:
        judged = judge(machine, 0, watchdog.expired, output.lines, "")
    else:
        judged = (Outcome.RESET, "the serial line ended before the "
                  "machine's run", "")
    rows = output.csv.rows if output.csv else 0
    outcome, message, said = judged
    return qemu.Run(outcome, message, output.serial(),
                    time.monotonic() - begin, said, rows)
