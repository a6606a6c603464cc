#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the runner's judgement of what it reads: verdicts of a guest's and a machine's
words, CSV files, screens, logs. Boots nothing: a program in QEMU's place prints
what a test wants of a guest, the same on a busy machine.
"""
import fcntl
import importlib.util
import io
import os
import pathlib
import pty
import resource
import subprocess
import sys
import tempfile
import tty
from contextlib import redirect_stdout
from types import SimpleNamespace

import output
import plots
import plot     # whose folder plots knows
import qemu
import screen
from screen import INK, UNREADABLE, Font, Picture

HERE = pathlib.Path(__file__).parent
WAIT = 60   # seconds, for what comes at once; never a verdict on speed
PASS, FAIL = 85, 87
ROWS = screen.ROWS
BOOT = "# boot: 1 CPU\r\n"
LINE = "mcs_lock                     ...\rmcs_lock  4  100\r\n"
CSV = (BOOT + "head,lock,cpus\r\n# a remark\r\nrow,mcs_lock,4\r\n"
       "hist,mcs_lock,4,0,16,9\r\nrow,tas_lock,4\r\nPASS\r\n")

# -- A guest's verdict: only a report with all its rows is a pass --

GOOD = ["# boot: 2 CPUs", "KTAP version 1", "1..3", "ok 1 a", "ok 2 b # SKIP c",
        "ok 3 d", "PASS"]


def without(line):
    return [other for other in GOOD if other != line]


def instead_of(line, other):
    return [other if one == line else one for one in GOOD]


# what the guest printed, what the message must hold ("": a pass)
VERDICTS = [
    (GOOD, ""),
    (["# boot: 2 CPUs", "a table", "PASS"], ""),
    (without("PASS"), "no line PASS"),
    (instead_of("PASS", "PASSED by"), "no line PASS"),
    (without("# boot: 2 CPUs"), "0 CPUs of 2"),
    (instead_of("# boot: 2 CPUs", "# boot: 1 CPU"), "1 CPUs of 2"),
    (without("1..3"), "0 plans"),
    (GOOD + ["1..3"], "2 plans"),
    (without("ok 3 d"), "of 3 rows that were planned there are 2"),
    (instead_of("ok 3 d", "ok 2 d"), "there are 3"),
    (GOOD + ["ok 4 e"], "there are 4"),
    (instead_of("ok 3 d", "not ok 3 d"), "a row is not ok"),
    (["# boot: 2 CPUs", "KTAP version 1", "1..0", "PASS"], "none of its 0"),
    (["# boot: 2 CPUs", "KTAP version 1", "1..1", "ok 1 a # SKIP b", "PASS"],
     "none of its 1 rows was run"),
]


def verdicts(_folder):
    machine = qemu.Machine(image="none", cpus=2)
    for lines, expected in VERDICTS:
        outcome, message, _ = output.judge(machine, output.STATUS_PASS, "",
                                           lines, "")
        passed = outcome is output.Outcome.PASS
        if passed != (not expected) or expected not in message:
            yield f"{lines}: {message!r} instead of {expected!r}"
    tap = qemu.Machine(image="none", cpus=2, append="run=locks mode=tap")
    if output.not_earned(tap, ["# boot: 2 CPUs", "PASS"]) != "there are 0 plans":
        yield "mode=tap without a report passes"


# -- run.py's reading of a guest, and of a serial line -------------


def elf(number=62, entry=0):
    """The head of a kernel's file, for a machine by its number (e_machine)."""
    return (b"\x7fELF".ljust(18, b"\0") + number.to_bytes(2, "little")
            + bytes(4) + entry.to_bytes(8, "little"))


class Fake:
    """A folder with the program, its log, and what it was called with."""

    def __init__(self, folder, text, end=f"exit {PASS}"):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "run.log"
        self.words_file = self.folder / "words"
        self.program = self.folder / "qemu"
        self.image = self.folder / "none.elf"
        self.image.write_bytes(elf())
        (self.folder / "text").write_bytes(text.encode())
        self.words_file.unlink(missing_ok=True)
        self.program.write_text(
            "#!/bin/sh\n"
            f"printf '%s\\n' \"$@\" > '{self.words_file}'\n"
            f"cat '{self.folder}/text'\n{end}\n")
        self.program.chmod(0o755)

    def run(self, *more, **how):
        """The runner, to its end."""
        return subprocess.run(
            [sys.executable, "-B", str(HERE / "run.py"), "--image",
             str(self.image), "--log", str(self.log), "--qemu",
             str(self.program), "--cpus", "1", *more],
            capture_output=True, timeout=WAIT, **how)

    def was_started(self):
        return self.words_file.exists()


def no_traceback(done):
    return "Traceback" not in (done.stderr + done.stdout).decode()


def one_line(done, said):
    """A mistake, or a file that cannot be written."""
    return (done.returncode == 2 and said in done.stderr
            and done.stderr.count(b"\n") == 1)


def pipe(folder):
    fake = Fake(folder, BOOT + LINE + "tas_lock ...\r\nPASS\r\n")
    done = fake.run("--echo")
    if b"\r" in done.stdout:
        yield "a carriage return in a pipe"
    if done.stdout.count(b"mcs_lock") != 1:
        yield f"the row came {done.stdout.count(b'mcs_lock')} times"
    if done.returncode or not no_traceback(done):
        yield f"exit status {done.returncode}: {done.stderr.decode()}"


def time_out(folder):
    plan = "# plan: rows=99 acquisitions=2000 seconds=3600 patience=10000\r\n"
    fake = Fake(folder, BOOT + plan + "PASS\r\n")
    done = fake.run("--echo")
    expected = ("# host time-out: 36222 s without a line, because a row is "
                "2000 acquisitions or 3600 s")
    if expected not in done.stdout.decode():
        yield f"not said: {done.stdout.decode()}{done.stderr.decode()}"
    fake = Fake(folder, BOOT + "tas_lock ...\r", "exec sleep 600")
    done = fake.run("--timeout", "1", "--expect", "timeout", "--expect-text",
                    "host time-out: 1 s in all, by --timeout; the last line "
                    "was: tas_lock ...")
    if done.returncode:
        yield f"--timeout 1: {done.stdout.decode()}"


def csv(folder):
    path = pathlib.Path(folder) / "rows.csv"
    fake = Fake(folder, CSV)
    done = fake.run("--csv", str(path), "--append", "lock=all")
    if done.returncode or not path.exists():
        yield f"{done.stdout.decode()}{done.stderr.decode()}"
        return
    if path.read_text() != "lock,cpus\nmcs_lock,4\ntas_lock,4\n":
        yield f"the file is {path.read_text()!r}"
    if "lock=all mode=csv" not in fake.words_file.read_text().splitlines():
        yield "the guest is not asked for mode=csv"
    path.unlink()
    fake = Fake(folder, BOOT + "PASS\r\n")
    done = fake.run("--csv", str(path))
    if done.returncode != 1 or b"no row for" not in done.stdout:
        yield "a CSV file without a row passes"
    if path.exists():
        yield "a run without a row leaves a CSV file"
    fake.words_file.unlink()
    done = fake.run("--csv", str(path), "--append", "mode=tap")
    if (done.returncode != 2 or b"mode=tap" not in done.stderr
            or not no_traceback(done) or fake.was_started()):
        yield f"--csv with mode=tap: {done.stderr.decode()}"


def logs_of_modes(folder):
    """busted.py boots a mode after the other: each keeps its log."""
    fake = Fake(folder, BOOT + "ok 1 control\r\nnot ok 2 lifo\r\n",
                f"exit {FAIL}")
    script = HERE / "busted.py"
    done = subprocess.run(
        [sys.executable, "-B", str(script), "--image", str(fake.image), "--log",
         str(fake.log)], capture_output=True, timeout=WAIT,
        env={**os.environ, "KLOCK_QEMU": str(fake.program)})
    modes = done.stdout.decode().count("serial log: ")
    logs = sorted(path.name for path in fake.folder.glob("run.log.*"))
    if done.returncode != 1 or modes < 3 or len(logs) != modes:
        yield f"{modes} modes, logs {logs}: {done.stdout.decode()[-300:]}"


def panic_in_time(folder):
    """A panic counts as in time by the guest's own clock, which must be
    printed."""
    for said, passes in (("  1000 ms after boot began\r\n", True),
                         ("  1001 ms after boot began\r\n", False),
                         ("", False)):
        fake = Fake(folder, BOOT + "PANIC on CPU 0: lock a\r\n" + said,
                    "exit 89")
        done = fake.run("--expect", "panic", "--panic-within", "1000")
        if (done.returncode == 0) != passes or not no_traceback(done):
            yield f"{said!r}: {done.stdout.decode()}{done.stderr.decode()}"


# what the guest prints, run.py's further words, what is said ("": it passes)
JUDGEMENTS = [
    ("rate 5", ["--expect-once", "rate"], ""),
    ("rate 5\r\nrate 5", ["--expect-once", "rate"], "in 2 lines instead of one"),
    ("none", ["--expect-once", "rate"], "in 0 lines instead of one"),
    ("rate 5", ["--expect-number", "rate", "5", "5"], ""),
    ("rate 5", ["--expect-number", "rate", "6", "9"], "'rate': 5, not 6 to 9"),
    ("rate 5", ["--expect-number", "rate", "1", "4"], "'rate': 5, not 1 to 4"),
    ("none", ["--expect-number", "rate", "1", "4"], "no number, not 1 to 4"),
    ("rate 5", ["--expect-text", "rate 5"], ""),
    ("none", ["--expect-text", "rate 5"], "nowhere to be found: 'rate 5'"),
]


def judgements(folder):
    """Each bound and each number of lines is held to, from both sides."""
    for printed, words, says in JUDGEMENTS:
        done = Fake(folder, f"{BOOT}{printed}\r\nPASS\r\n").run(*words)
        said = done.stdout.decode()
        if done.returncode != bool(says) or says not in said:
            yield f"{printed!r} {words}: {done.returncode}: {said}"


def architecture(folder):
    """The image says what it is; QEMU is its own, --arch is held against it."""
    for number, entry, name in ((3, 0, "i686"), (183, 0, "aarch64"),
                                (243, 0x80000000, "riscv64"),
                                (243, 0x80200000, "riscv64s")):
        image = pathlib.Path(folder) / f"{name}.elf"
        image.write_bytes(elf(number, entry))
        machine = qemu.Machine(image=str(image))
        board = qemu.ARCHES[name].machine
        if machine.arch != name or not set(board) <= set(qemu.command(machine)):
            yield f"{image.name}: {qemu.command(machine)}"
        fake = Fake(folder, BOOT + "PASS\r\n")
        done = fake.run("--image", str(image), "--arch", name)
        if done.returncode:
            yield f"--arch {name}: {done.stderr.decode()}"
        fake.words_file.unlink(missing_ok=True)
        other = "riscv64" if name == "aarch64" else "aarch64"
        done = fake.run("--image", str(image), "--arch", other)
        if (done.returncode != 2 or fake.was_started()
                or f"is of {name}" not in done.stderr.decode()):
            yield f"--arch {other} of {name}: {done.stderr.decode()}"


def hosts_without_an_msr(folder):
    """-cpu host is tried; what helps is used, and said."""
    for lacks, ends_well in (("arch-capabilities", True), ("anything", False)):
        fake = Fake(folder, BOOT + "PASS\r\n",
                    f'case "$*" in *-{lacks}*) exit {PASS};; esac\n'
                    "echo 'error: failed to set MSR 0x10a' >&2; kill -ABRT $$")
        ended = qemu.run(qemu.Machine(
            image="none.elf", qemu=str(fake.program), accelerator="kvm",
            cpus=1, log=str(fake.log)))
        said = "-cpu host,-arch-capabilities, because with -cpu host"
        if ((ended.outcome is output.Outcome.PASS) != ends_well
                or said not in ended.message
                or said not in fake.log.read_text()):
            yield f"a host without {lacks}: {ended.message}"


def other_compilers(folder):
    """A document's table is neither compared with another compiler's figures
    nor written from them."""
    folder = pathlib.Path(folder)
    old = "<!-- demo table: begin -->\n```\nold\n```\n<!-- demo table: end -->\n"
    for made_by, option, status, said in (
            ("GNU C++20 14.2.0", "--exact", 77, "is by g++ 14.2.0, the tables"),
            ("GNU C++20 14.2.0", "--write", 2, "is by g++ 14.2.0, the tables"),
            ("clang", "--exact", 77, "is by an unknown compiler"),
            ("GNU C++20 12.2.0", "--exact", 1, "has 'old', printed is")):
        fake = Fake(folder, TABLE)
        (folder / "readme").write_text(old)
        (folder / "lab.elf").write_bytes(elf())
        (folder / "lab.debug").write_text(f"\0{made_by} -O2\0")
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "demo.py"), option, "--image",
             str(folder / "lab.elf"), "--readme", str(folder / "readme"),
             "--log", str(fake.log), "--append", ""], capture_output=True,
            timeout=WAIT, env={**os.environ, "KLOCK_QEMU": str(fake.program)})
        text = (done.stdout + done.stderr).decode()
        if (done.returncode != status or said not in text
                or (folder / "readme").read_text() != old):
            yield f"{made_by} {option}: {done.returncode}: {text}"


def measured_digits(folder):
    """A figure is a number with a bound, never a text."""
    fake = Fake(folder, BOOT + "# boot: clock 999980 kHz, by a timer\r\nPASS\r\n")
    for option, text, status in (("--expect-text", "# boot: clock 9", 2),
                                 ("--expect-once", "999980 kHz", 2),
                                 ("--expect-text", "kHz, by a timer", 0)):
        done = fake.run(option, text)
        if done.returncode != status or not no_traceback(done):
            yield f"{option} {text!r}: {done.returncode} {done.stderr.decode()}"


def mistakes(folder):
    """Said before QEMU is started."""
    fake = Fake(folder, BOOT + "PASS\r\n")
    arm = fake.folder / "arm.elf"
    arm.write_bytes(elf(40))
    disk = fake.folder / "text.iso"
    disk.write_text("no disk")
    for words, said in ((["--cpus", "0"], b"argument --cpus: 0: at least one"),
                        (["--log", f"{folder}/none/x"], b"No such file"),
                        (["--csv", folder], b"Is a directory"),
                        (["--csv", str(fake.log)], b"are one file"),
                        (["--image", "none.elf"], b"none.elf: no such file"),
                        (["--image", __file__], b"selftest.py: no ELF file"),
                        (["--image", str(arm)], b"arm.elf: no ELF file"),
                        (["--image", str(disk)], b"text.iso: no ISO image"),
                        (["--expect-number", "a", "b", "c"], b"two numbers"),
                        (["--no-such"], b"--no-such")):
        done = fake.run(*words)
        if not one_line(done, said) or fake.was_started():
            yield f"{words}: {done.returncode}: {done.stderr.decode()}"
        fake.words_file.unlink(missing_ok=True)
    done = fake.run(env={**os.environ, "KLOCK_QEMU_ACCEL": "foo"})
    if not one_line(done, b"KLOCK_QEMU_ACCEL=foo: ") or fake.was_started():
        yield f"KLOCK_QEMU_ACCEL=foo: {done.returncode}: {done.stderr.decode()}"


def full_disks(folder):
    """The log keeps whole lines; of the rows there is no file."""
    fake = Fake(folder, CSV)
    path = pathlib.Path(folder) / "rows.csv"
    for option in ("--log", "--csv"):
        done = fake.run(option, "/dev/full")
        if not one_line(done, b"/dev/full: No space left"):
            yield f"{option} /dev/full: {done.stderr.decode()}"
    fake.program.write_text(f"#!/bin/sh\ncat '{folder}/text'\nexit {PASS}\n")
    # Room for the line of boot, not for the next.
    for log, says in ((fake.log, b"run.log: "), ("/dev/null", b"rows.csv: ")):
        done = fake.run("--csv", str(path), "--log", str(log),
                        preexec_fn=lambda: resource.setrlimit(
                            resource.RLIMIT_FSIZE, (20, 20)))
        left = sorted(found.name for found in fake.folder.glob("rows*"))
        if not one_line(done, says + b"File too large") or left:
            yield f"{done.returncode}: {done.stderr.decode()}{left}"
    if fake.log.read_text() != BOOT.replace("\r", ""):
        yield f"the log is {fake.log.read_text()!r}"


def two_runs(folder):
    """The second run that writes the same log or CSV file refuses."""
    fake = Fake(folder, CSV)
    path = pathlib.Path(folder) / "rows.csv"
    for taken, options in ((fake.log, []), (f"{path}.part", ["--csv", path])):
        with open(taken, "w+", encoding="utf-8") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            other.write("a row")
            other.flush()
            done = fake.run(*map(str, options))
            if (not one_line(done, b"another process writes it")
                    or fake.was_started() or other.seek(0) or
                    other.read() != "a row"):
                yield f"{options}: {done.returncode}: {done.stderr.decode()}"
    pathlib.Path(f"{path}.part").unlink(missing_ok=True)
    if (done := fake.run("--csv", str(path))).returncode:
        yield f"behind another run: {done.stderr.decode()}"


END = "# boot: {}; the machine can be switched off: Page Up\r\n"
PASSED = ("GRUB\r\n# boot: 2 CPUs\r\nhead,lock,cpus\r\nrow,tas_lock,2\r\n"
          "PASS\r\n" + END.format("passed"))

# what the machine prints, run.py's further words, its exit status, what it says
MACHINES = [
    (PASSED, [], 0, "passed"),
    (PASSED, ["--cpus", "4"], 1, "it found 2 CPUs of 4"),
    (PASSED.replace("PASS\r\n", ""), [], 1, "there is no line PASS"),
    ("FAIL: a row\r\n" + END.format("failed"), [], 1, "test failure: a row"),
    ("FAIL: a row\r\n" + END.format("failed"), ["--expect", "fail"], 0,
     "a row"),
    ("PANIC on CPU 1: why\r\n" + END.format("stopped by a panic"), [], 1,
     "kernel panic: PANIC on CPU 1: why"),
    ("# boot: 2 CPUs\r\nPASS\r\n", ["--timeout", "0.5"], 1,
     "host time-out: 0.5 s in all"),
]


def outcome(folder, text, words):
    line, end = pty.openpty()
    tty.setraw(end)     # what comes before run.py opens it stays as it is
    done = subprocess.Popen(
        [sys.executable, "-B", HERE / "run.py", "--device", os.ttyname(end),
         "--log", folder / "log", "--csv", folder / "csv", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        os.write(line, text.encode())
        said = done.communicate(timeout=60)[0]
    finally:
        done.kill()
        os.close(line)
        os.close(end)
    return done.returncode, said


def pulled_out(folder):
    """Returns the status and the message of a run whose line ends."""
    line, end = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-B", HERE / "run.py", "--device", os.ttyname(end),
         "--log", folder / "log", "--echo"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    done.stdout.readline()      # it has opened the line
    os.close(line)
    os.close(end)
    said = done.communicate(timeout=60)[0]
    return done.returncode, said


def serial_line(folder):
    folder = pathlib.Path(folder)
    status, said = pulled_out(folder)
    if (status != 1 or "Traceback" in said
            or "the serial line ended before" not in said):
        yield f"pulled out: {status}: {said}"
    for text, words, status, expected in MACHINES:
        got, said = outcome(folder, text, words)
        if got != status or expected not in said or "Traceback" in said:
            yield f"{text!r} {words}: {got}: {said}"
    outcome(folder, PASSED, [])
    if (folder / "csv").read_text() != "lock,cpus\ntas_lock,2\n":
        yield "the CSV file is " + (folder / "csv").read_text()
    if "# boot: 2 CPUs\n" not in (folder / "log").read_text():
        yield "the log is " + (folder / "log").read_text()


# -- Screens --


def text(lines):
    return ["# booting", "lock  a second"] + [f"row {i}"
                                              for i in range(lines - 2)]


def pages_of(printed):
    """As VGA shows them: the last one full, or blank below its end."""
    ends = range(len(printed), 0, -ROWS)
    return [blank_below(printed[max(end - ROWS, 0):end]) for end in ends]


def blank_below(rows):
    return rows + [""] * (ROWS - len(rows))


SHORT, LONG = text(10), text(2 * ROWS)
WHOLE = pages_of(LONG)
SCROLLING = LONG[-ROWS - 1:-2] + [""]     # in the middle of its last scroll
GAP = blank_below(SHORT[:4] + [""] + SHORT[4:])
ROW = text(8) + ["mcs_lock full", "next", "end"]

# printed, screens (newest first), full row, what is wrong ("": nothing)
SCREENS = [
    (SHORT, pages_of(SHORT), None, ""),
    (LONG, WHOLE, None, ""),
    (LONG, [SCROLLING] + WHOLE, None, "not the end"),
    (SHORT, [GAP], None, "not the end"),
    (SHORT, pages_of(SHORT[:-1]), None, "not the end"),
    (SHORT, pages_of(SHORT[2:]), None, "has room on the last screen"),
    (LONG, WHOLE[:1], None, "Page Up turns no page"),
    (LONG, [WHOLE[0], WHOLE[0]], None, "on no page: '# booting' and"),
    (ROW, pages_of(ROW), "mcs_lock", ""),
    (ROW, [blank_below(ROW[:9] + [""] + ROW[9:])], "mcs_lock",
     "followed by a blank line"),
]


def pictures(_folder):
    """Text that is drawn is read again, at any scale; a spot is no letter."""
    font = Font(16, {c: bytes((ord(c) * 37 + row) & 0xff if c != " " else 0
                              for row in range(16)) for c in " abc"})
    for scale in (1, 2):
        width, height = 800 * scale, 480 * scale
        pixels = bytearray(width * height)
        for x in range(8 * scale):
            for y in range(16 * scale):
                if font.of_character["b"][y // scale] >> 7 - x // scale & 1:
                    pixels[y * width + 8 * scale + x] = INK
        rows = Picture(width, height, bytes(pixels)).text(font)
        if len(rows) != 30 or rows[0] != " b" or any(rows[1:]):
            yield f"scale {scale}: {rows[0]!r} was read"
        pixels[0] = INK
        if Picture(width, height, bytes(pixels)).text(font)[0][0] != UNREADABLE:
            yield f"scale {scale}: a spot was read as a letter"


def screens(_folder):
    for printed, shown, full_row, expected in SCREENS:
        said = "; ".join(screen.faults(
            SimpleNamespace(full_row=full_row, expect=[]), printed, shown))
        if (expected not in said) if expected else said:
            yield f"expected {expected!r}, is {said!r}"


# -- A captured log: a loader's text, lines written over, damaged, cut --

TABLE = """GRUB loading.
# boot: 4 CPUs\r
# machine: A CPU, 4 CPUs in 2 cores of 1 package, clock invariant\r
lock                          CPUs per second changes median ns  wait us  index
tas_lock                     ...\rtas_lock                         4    1183819\
       4       541    16803  0.250\r
PASS\r
"""
PAIRS = "head,cpu,other,cycles,ns\nrow,1,0,100,50\nPASS\n"
CUT = ("# boot: 4 CPUs\nhead,lock,cpus,per_second,jain_permille\n"
       "row,mcs_lock,2,100,1000\nrow,mc\x00k,2,1x0,999\nrow,tas_lock,2\n"
       "row,mcs_lock,4,900,1000\nhist,mcs_lock,4,1,2,3\n")
TOPOLOGY = ("head,cpu,id,core,l2,l3,package,offset_ns,within_ns,kind\n"
            "row,1,1,0,0,0,0,-49,50,Atom\nPASS\n")

# the log; of each run its name, rows, bars, damaged lines, verdict
LOGS = [
    (TABLE, [("measure", 1, 0, 0, "PASS")]),
    (PAIRS + CUT, [("pairs", 1, 0, 0, "PASS"), ("measure", 2, 1, 2, "")]),
    (CUT + TOPOLOGY, [("measure", 2, 1, 2, ""), ("topology", 1, 0, 0, "PASS")]),
    ("head,lock,cycles\nrow,mcs_lock,77.52\nFAIL: why\n",
     [("instructions", 1, 0, 0, "FAIL: why")]),
    ("# boot: 1 CPU\nok 1 mcs_lock\nPASS\n", []),
    # Too large for a float.
    (CUT + f"row,tas_lock,2,100,{'9' * 400}\n", [("measure", 2, 1, 3, "")]),
    (TABLE.replace("# boot", "# no boot"), []),
]


def logs(_folder):
    for text_of, expected in LOGS:
        found = [(run.name(), len(run.rows), len(run.hists),
                  len(run.damaged), run.verdict) for run in plots.runs(text_of)]
        if found != expected:
            yield f"{text_of!r}: {found}"
    shown = io.StringIO()
    with redirect_stdout(shown):
        print(*plots.printed(plots.runs(TABLE)[0]), sep="\n")
    if ("tas_lock     4     1183819         4             541      16803000"
            "  0.250") not in shown.getvalue():
        yield shown.getvalue()
    coarse = plots.runs(TABLE.replace("1183819", "-").replace(" 541", " -"))
    if coarse[0].damaged or coarse[0].rows[0]["per_second"] != 0:
        yield f"a clock too coarse to measure by: {coarse[0].damaged}"


# -- Pictures: what they show, and what is left when one cannot be made --

SAME = {f"lock_{i}<u8>": [(1, 0.999), (2, 0.998)] for i in range(3)}
BARS = [("mcs_lock", 2, 130, 140, 5), ("mcs_lock", 2, 150, 160, 5),
        ("tas_lock", 2, 190, 220, 5)]


def drawn(panel):
    from matplotlib import figure
    axes = figure.Figure(figsize=(7, 5)).subplots()
    plot.draw_curves(axes, panel, {})
    low, high = axes.get_xlim()
    return axes, [x for x in axes.get_xticks() if low <= x <= high]


def curves(_folder):
    """One curve for those that cover each other, and axes to read them by."""
    fair = plot.Panel("", "", "", {**SAME, "tas_lock": [(1, 1), (2, 0.5)],
                                   "peterson_lock": [(2, 0.998)]},
                      logx=True, whole=True)
    axes, _ = drawn(fair)
    said = [text.get_text() for text in axes.texts]
    if len(axes.lines) != 2 or len(said) != 2 or "peterson" not in said[0]:
        yield f"{len(axes.lines)} curves, {said}"
    if axes.get_ylim() != (0, 1.05):
        yield f"fairness from {axes.get_ylim()}"
    axes, ticks = drawn(plot.Panel("", "", "", plot.cdf(BARS, 2), logx=True,
                                   step=True))
    if axes.get_ylim()[1] > 102 or len(ticks) < 2 or len(axes.lines) != 2:
        yield f"a CDF to {axes.get_ylim()[1]} %, ticks at {ticks}"
    named = plot.name_of(["a_lock<u8>", "b_lock", "a_lock<u16>"])
    if named != "a_lock<u8, u16>, b_lock":
        yield f"names: {named}"
    if "\n" in plot.name_of(["a lock of a name that is longer than a line"]):
        yield "a name in two lines"
    placed = plot.spread([0.99, 0.98, 0.1], [0.1] * 3)
    if [round(y, 6) for y in placed] != [0.95, 0.85, 0.1]:
        yield "names over each other"


def plotted(log, *arguments, out=subprocess.PIPE, most=resource.RLIM_INFINITY):
    """plots.py's status and errors; no file may be longer than `most` bytes,
    which is how a disk gets full."""
    done = subprocess.run(
        [sys.executable, "-B", plots.__file__, str(log), *arguments],
        stdout=out, stderr=subprocess.PIPE, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                              (most, most)))
    return done.returncode, done.stderr


def no_pictures(folder):
    """One line and a status that says so; a picture stays as it was."""
    log = pathlib.Path(folder) / "a.log"
    log.write_text(TABLE)
    readme = plots.PLOT.parents[1] / "README.md"
    old = pathlib.Path(folder) / "a-plots/measure/throughput.png"
    tries = [("a document", (readme, "--out", folder), {}), ("no log", (folder,), {}),
             ("no folder", (log, "--out", str(log)), {})]
    with open("/dev/full", "w", encoding="utf-8") as full:
        tries.append(("no room for the table", (log,), {"out": full}))
        tries.append(("no room for a picture", (log,), {"most": 4096}))
        if plotted(log) != (0, ""):
            yield f"a log: {plotted(log)}"
        before = old.read_bytes()
        for what, of, how in tries:
            status, said = plotted(*of, **how)
            if status != 2 or said.count("\n") != 1:
                yield f"{what}: {status}, {said}"
    if old.read_bytes() != before or len(list(old.parent.iterdir())) != 3:
        yield f"left: {list(old.parent.iterdir())}"
    if plotted("--help") != (0, ""):
        yield "--help"


CASES = [verdicts, pipe, time_out, csv, logs_of_modes, judgements, panic_in_time,
         hosts_without_an_msr, measured_digits, other_compilers,
         architecture, mistakes, full_disks, two_runs, serial_line, pictures,
         screens, logs]
NEED_MATPLOTLIB = [curves, no_pictures]


def main():
    output.Parser(__doc__).parse_args()
    failed = 0
    cases = CASES
    if importlib.util.find_spec("matplotlib"):
        cases = CASES + NEED_MATPLOTLIB
    else:
        print("curves, no_pictures: not run, no matplotlib")
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            wrong = list(case(folder))
        print(f"{case.__name__}: " + ("; ".join(wrong) or "ok"))
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(output.exit_status(main))
