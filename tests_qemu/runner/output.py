# SPDX-License-Identifier: MIT
"""Reads the guest's output, line by line as it comes: for the log, for a terminal
or a pipe, for a CSV file.

A line that the guest has written over (carriage return: "mcs_lock ..." while
mcs_lock runs) is kept in its last form. Only a terminal gets the bytes as they
are.

How a run ended: only an exact pass code with a whole report is a pass.
"""
import contextlib
import enum
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchain"))
from tool import (NewFile, Parser, Stopped, Trouble, at_least_one, exit_status,
                  is_device, lock, seconds, write)


def lab_parser(doc):
    """The command line of a script that boots the lab."""
    parser = Parser(doc)
    parser.add_argument("--image", required=True, help="the lab's .elf")
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    return parser


class Log:
    """A text file that gets each line at once; one process at a time writes it.
    A line for which there is no room is not in it, nor is a part of it."""

    def __init__(self, path):
        self.path, self.size = path, 0
        try:
            # "a" and not "w", as another process may be writing it.
            self.file = open(path, "ab", buffering=0)
            if not is_device(path):
                lock(self.file, f"--log {path}")
                self.file.truncate(0)
        except OSError as error:
            raise Trouble(f"--log {path}: {error.strerror}") from None

    def write(self, text):
        line = text.encode()
        try:
            # A write that was cut short raises the reason when it is tried
            # again.
            done = self.file.write(line)
            while done < len(line):
                done += self.file.write(line[done:])
            self.size += done
        except OSError as error:
            with contextlib.suppress(OSError):
                self.file.truncate(self.size)
            raise Trouble(f"--log {self.path}: {error.strerror}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def last_form(raw):
    """A line's last form, without its end."""
    text = raw.decode("utf-8", "replace").rstrip("\r")
    return text.rpartition("\r")[2]


class CsvFile:
    """The rows of mode=csv as a file that other programs read: the names of
    the columns, then the rows; not what the guest prints beside them."""

    def __init__(self, path):
        self.file = NewFile(path)
        self.rows = 0

    def __enter__(self):
        return self

    def __exit__(self, wrong, *_):
        """Keeps the file also if somebody ended the run: its rows are whole.
        A run without a row leaves no file."""
        if wrong in (None, Stopped) and self.rows:
            self.file.keep()
        else:
            self.file.drop()

    def take(self, line):
        kind, _, rest = line.partition(",")
        if kind in ("head", "row"):
            self.file.write(rest + "\n")
            self.rows += kind == "row"


class Output:
    """Files are opened before QEMU is started: a bad path is found first."""

    def __init__(self, log="", csv="", echo=None):
        self.lines = []
        self.rest = b""
        self.echo = echo
        self.raw = echo is not None and echo.isatty()
        with contextlib.ExitStack() as opened:
            self.log = self.csv = None
            if log:
                self.log = opened.enter_context(Log(log))
            if csv:
                self.csv = opened.enter_context(CsvFile(csv))
            self.opened = opened.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *wrong):
        self.opened.__exit__(*wrong)

    def take(self, chunk):
        """Returns the lines that are whole now."""
        if self.raw:
            self.show(chunk)
        *whole, self.rest = (self.rest + chunk).split(b"\n")
        new = [last_form(raw) for raw in whole]
        for line in new:
            self.keep(line)
        return new

    def keep(self, line):
        self.lines.append(line)
        if self.log:
            self.log.write(line + "\n")
        if self.csv:
            self.csv.take(line)
        if self.echo and not self.raw:
            self.show(f"{line}\n".encode())

    def remark(self, text):
        """A line of the runner's own: for the reader, not of the guest."""
        if self.log:
            self.log.write(f"# {text}\n")
        if self.echo:   # over what the guest shows while it works
            self.show((b"\r" if self.raw else b"") + f"# {text}\n".encode())

    def show(self, chunk):
        self.echo.write(chunk)
        self.echo.flush()

    def end(self):
        """The guest has ended, perhaps within a line."""
        if self.rest:
            self.keep(last_form(self.rest))
            self.rest = b""
            if self.raw:
                self.show(b"\r\n")

    def serial(self):
        return "".join(line + "\n" for line in self.lines)


# boot/panic.hpp: QEMU's isa-debug-exit turns code v into status 2 * v + 1.
STATUS_PASS, STATUS_FAIL, STATUS_PANIC = 85, 87, 89

CPUS = re.compile(r"# boot: (\d+) CPUs?$")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(ok|not ok) (\d+) \S+( # SKIP .*)?$")


class Outcome(enum.Enum):
    """How a run ended; the value is what a test asks for by --expect."""
    PASS = "pass"
    FAIL = "fail"
    PANIC = "panic"
    RESET = "reset"
    TIMEOUT = "timeout"
    QEMU = "qemu"


def not_earned(machine, lines):
    """Returns what a guest that says it has passed does not show, or None."""
    if "PASS" not in lines:
        return "there is no line PASS"
    found = next((int(m[1]) for m in map(CPUS.match, lines) if m), 0)
    wanted = machine.boots or machine.cpus
    if wanted and found != wanted:
        return f"it found {found} CPUs of {wanted}"
    if "KTAP version 1" in lines or "mode=tap" in machine.append.split():
        return wrong_rows(lines)
    return None


def wrong_rows(lines):
    """Returns what is wrong with the rows of a KTAP report, or None."""
    plans = [int(m[1]) for m in map(PLAN.match, lines) if m]
    rows = [m for m in map(RESULT.match, lines) if m]
    if len(plans) != 1:
        return f"there are {len(plans)} plans"
    if [int(row[2]) for row in rows] != list(range(1, plans[0] + 1)):
        return f"of {plans[0]} rows that were planned there are {len(rows)}"
    if any(row[1] == "not ok" for row in rows):
        return "a row is not ok"
    if all(row[3] for row in rows):
        return f"none of its {len(rows)} rows was run"
    return None


def judge(machine, status, expired, lines, stderr):
    """The outcome, one sentence, and the guest's own line in it, or "".

    expired: which time-out has ended the run, in words, or ""."""
    last = next((line for line in reversed(lines) if line.strip()), "nothing")
    if expired:
        return Outcome.TIMEOUT, (
            f"host time-out: {expired}; the last line was: {last}"), ""
    if status == STATUS_PASS:
        why = not_earned(machine, lines)
        if why:
            return Outcome.FAIL, f"the guest passed, but {why}", ""
        return Outcome.PASS, "passed", ""
    if status == STATUS_FAIL:
        why = next((line for line in lines if line.startswith("FAIL")), last)
        return (Outcome.FAIL, "test failure: " + why.removeprefix("FAIL: "),
                why)
    if status == STATUS_PANIC:
        why = next((line for line in lines if "panic" in line.lower()), last)
        return Outcome.PANIC, f"kernel panic: {why}", why
    if status == 0:
        return Outcome.RESET, (
            "the guest reset or powered off without a verdict (triple "
            f"fault?); the last line was: {last}"), ""
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return Outcome.QEMU, f"QEMU failed with {how}: {stderr or last}", ""
