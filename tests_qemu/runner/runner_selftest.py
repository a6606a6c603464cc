#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What run.py does with a guest's words, and with its user's: logs, Ctrl-C,
pipes, time-outs, CSV files. Boots nothing: fake_qemu.py."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import arch
import patience
import qemu
from fake_qemu import FAIL, SLEEP, WAIT, Fake, on_terminal, until

BOOT = "# boot: 1 CPU\r\n"
ROW = "mcs_lock                     ...\rmcs_lock  4  100\r\n"
CSV = (BOOT + "head,lock,cpus\r\n# a remark\r\nrow,mcs_lock,4\r\n"
       "hist,mcs_lock,4,0,16,9\r\nrow,tas_lock,4\r\nPASS\r\n")
WRONG = "FAIL: wrong word lok=all: lok is unknown, did you mean lock?\r\n"


def no_traceback(done):
    return "Traceback" not in (done.stderr + done.stdout).decode()


def bad_path(folder):
    for option in ("--log", "--csv"):
        fake = Fake(folder, BOOT + "PASS\r\n")
        done = fake.run(option, f"{folder}/none/x")
        lines = done.stderr.decode().splitlines()
        if done.returncode != 2 or len(lines) != 1 or done.stdout:
            yield f"{option}: {done.returncode}: {done.stderr.decode()[-300:]}"
        elif f"{folder}/none/x: No such file" not in lines[0]:
            yield f"{option}: {lines[0]}"
        if fake.was_started():
            yield f"{option}: QEMU was started"


def killed(folder):
    fake = Fake(folder, BOOT + ROW, SLEEP)
    runner = fake.start()
    if not fake.wait_for_log("mcs_lock  4  100\n"):
        yield "the log has no row while the guest runs"
    runner.kill()
    runner.communicate()
    if fake.log.exists() and b"\r" in fake.log.read_bytes():
        yield "the log has a carriage return"


def stopped(folder):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for more in ([], ["--echo"]):
            yield from stopped_by(folder, number, more)


def stopped_by(folder, number, more):
    fake = Fake(folder, BOOT + ROW, SLEEP)
    runner = fake.start(*more, start_new_session=True)
    until(fake.was_started)
    fake.wait_for_log("mcs_lock  4")
    if number == signal.SIGINT and more:
        os.killpg(runner.pid, number)   # as a terminal does: QEMU, too
    else:
        runner.send_signal(number)
    out, err = runner.communicate(timeout=WAIT)
    what = f"{number.name} {' '.join(more)}"
    if runner.returncode != 128 + number:
        yield f"{what}: exit status {runner.returncode}"
    if err:
        yield f"{what}: {err.decode()[-200:]}"
    if out.count(b"mcs_lock  4  100\n") != 1:
        yield f"{what}: the row came {out.count(b'mcs_lock  4')} times"
    if not fake.is_gone():
        yield f"{what}: QEMU is still there"
    fake.log.unlink(missing_ok=True)
    fake.pid_file.unlink(missing_ok=True)


def reader_gone(folder):
    fake = Fake(folder, BOOT + ROW * 5000, SLEEP)
    runner = fake.start("--echo")
    runner.stdout.close()
    _, err = runner.communicate(timeout=WAIT)
    if runner.returncode != 128 + signal.SIGPIPE or err:
        yield f"exit status {runner.returncode}: {err.decode()[-200:]}"
    if not fake.is_gone():
        yield "QEMU is still there"


def pipe(folder):
    fake = Fake(folder, BOOT + ROW + "tas_lock ...\r\nPASS\r\n")
    done = fake.run("--echo")
    if b"\r" in done.stdout:
        yield "a carriage return in a pipe"
    if done.stdout.count(b"mcs_lock") != 1:
        yield f"the row came {done.stdout.count(b'mcs_lock')} times"
    if done.returncode or not no_traceback(done):
        yield f"exit status {done.returncode}: {done.stderr.decode()}"


def terminal(folder):
    fake = Fake(folder, BOOT + ROW + "PASS\r\n")
    if b" ...\rmcs_lock" not in on_terminal(fake.command("--echo")):
        yield "no progress on a terminal"


def said_once(folder):
    for more in ([], ["--echo"]):
        fake = Fake(folder, BOOT + WRONG, f"exit {FAIL}")
        done = fake.run(*more)
        times = done.stdout.decode().count("wrong word lok=all")
        if times != 1 or done.returncode != 1 or done.stderr:
            yield f"{more}: said {times} times: {done.stdout.decode()}"
        if done.stdout.count(b"serial log:") != 1:
            yield f"{more}: the log is not named once"


def time_out(folder):
    plan = "# plan: rows=99 acquisitions=2000 seconds=3600 patience=10000\r\n"
    fake = Fake(folder, BOOT + plan + "PASS\r\n")
    done = fake.run("--echo")
    expected = ("# host time-out: 36222 s without a line, because a row is "
                "2000 acquisitions or 3600 s")
    if expected not in done.stdout.decode():
        yield f"not said: {done.stdout.decode()}{done.stderr.decode()}"
    fake = Fake(folder, BOOT + "tas_lock ...\r", SLEEP)
    done = fake.run("--timeout", "1", "--expect", "timeout", "--expect-text",
                    "host time-out: 1 s in all, by --timeout; the last line "
                    "was: tas_lock ...")
    if done.returncode or not fake.is_gone():
        yield f"--timeout 1: {done.stdout.decode()}"


def silence(_folder):
    """The time begins anew with each line, and ends."""
    killed_by = threading.Event()
    watchdog = patience.Watchdog(killed_by.set)
    watchdog.last = 0
    watchdog.came()
    if not watchdog.last:
        yield "what comes does not begin the time anew"
    watchdog.limit = 0.1
    with watchdog:
        if not killed_by.wait(WAIT) or "without a line" not in watchdog.expired:
            yield "silence does not end"
    total = patience.Watchdog(None, 5)
    total.last = 0
    total.came()
    if total.last:
        yield "--timeout is not the time in all"


def plans(_folder):
    """More work is more time; so are slower machines."""
    plan = patience.Plan(rows=9, acquisitions=1000, seconds=10, patience=1000)
    usual, _ = patience.silence_for(plan, "single", 4)
    for what, mode, cpus in (
            (dataclasses.replace(plan, acquisitions=10 ** 6), "single", 4),
            (dataclasses.replace(plan, seconds=1000), "single", 4),
            (dataclasses.replace(plan, patience=10 ** 6), "single", 4),
            (plan, "icount", 4), (plan, "parallel", 10 ** 6)):
        if patience.silence_for(what, mode, cpus)[0] <= usual:
            yield f"{what} in mode {mode} gets no more than {usual} s"


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
    fake = Fake(folder, BOOT + "PASS\r\n")
    done = fake.run("--csv", str(path))
    if done.returncode != 1 or b"no row for" not in done.stdout:
        yield "a CSV file without a row passes"
    fake.pid_file.unlink()
    done = fake.run("--csv", str(path), "--append", "mode=tap")
    if (done.returncode != 2 or b"mode=tap" not in done.stderr
            or not no_traceback(done) or fake.was_started()):
        yield f"--csv with mode=tap: {done.stderr.decode()}"


def logs_of_modes(folder):
    """busted.py boots a mode after the other: each keeps its log."""
    fake = Fake(folder, BOOT + "ok 1 control\r\nnot ok 2 lifo\r\n",
                f"exit {FAIL}")
    script = pathlib.Path(__file__).parent / "busted.py"
    done = subprocess.run(
        [sys.executable, "-B", str(script), "--image", "none.elf", "--log",
         str(fake.log)], capture_output=True, timeout=WAIT,
        env={**os.environ, "KLOCK_QEMU": str(fake.program)})
    modes = done.stdout.decode().count("serial log: ")
    logs = sorted(path.name for path in fake.folder.glob("run.log.*"))
    if done.returncode != 1 or modes < 3 or len(logs) != modes:
        yield f"{modes} modes, logs {logs}: {done.stdout.decode()[-300:]}"


def panic_in_time(folder):
    """By the guest's own clock, which must have been said."""
    for said, passes in (("  1000 ms after boot began\r\n", True),
                         ("  1001 ms after boot began\r\n", False),
                         ("", False)):
        fake = Fake(folder, BOOT + "PANIC on CPU 0: lock a\r\n" + said,
                    "exit 89")
        done = fake.run("--expect", "panic", "--panic-within", "1000")
        if (done.returncode == 0) != passes or not no_traceback(done):
            yield f"{said!r}: {done.stdout.decode()}{done.stderr.decode()}"


def architecture(folder):
    """The image says what it is; QEMU is its own, --arch is held against it."""
    for number, entry, name in ((3, 0, "i686"), (183, 0, "aarch64"),
                                (243, 0x80000000, "riscv64"),
                                (243, 0x80200000, "riscv64s")):
        image = pathlib.Path(folder) / f"{name}.elf"
        image.write_bytes(b"\x7fELF".ljust(18, b"\0")
                          + number.to_bytes(2, "little") + bytes(4)
                          + entry.to_bytes(8, "little"))
        machine = qemu.Machine(image=str(image))
        board = arch.ARCHES[name].machine
        if machine.arch != name or not set(board) <= set(qemu.command(machine)):
            yield f"{image.name}: {qemu.command(machine)}"
        fake = Fake(folder, BOOT + "PASS\r\n")
        done = fake.run("--image", str(image), "--arch", name)
        if done.returncode:
            yield f"--arch {name}: {done.stderr.decode()}"
        fake.pid_file.unlink(missing_ok=True)
        other = "riscv64" if name == "aarch64" else "aarch64"
        done = fake.run("--image", str(image), "--arch", other)
        if (done.returncode != 2 or fake.was_started()
                or f"is of {name}" not in done.stderr.decode()):
            yield f"--arch {other} of {name}: {done.stderr.decode()}"


CASES = [architecture, bad_path, killed, panic_in_time, stopped, reader_gone, pipe, terminal, said_once,
         time_out, silence, plans, csv, logs_of_modes]


def main():
    # Ctrl-C is ignored by what a shell started in the background; not here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                wrong = list(case(folder))
            except (OSError, subprocess.SubprocessError) as error:
                wrong = [f"{type(error).__name__}: {error}"]
            for fake in Fake.all:
                fake.end()
            Fake.all.clear()
        print(f"{case.__name__}: " + ("; ".join(wrong) or "ok"))
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
