#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py --device: what a machine says on its serial line, here a pseudo
terminal, becomes the same verdict, log and CSV file as a guest's."""
import os
import pathlib
import pty
import subprocess
import sys
import tty

HERE = pathlib.Path(__file__).parent
END = "# boot: {}; the machine can be switched off: Page Up\r\n"
PASSED = ("GRUB\r\n# boot: 2 CPUs\r\nhead,lock,cpus\r\nrow,tas_lock,2\r\n"
          "PASS\r\n" + END.format("passed"))

# what the machine prints, run.py's further words, its exit status, what it says
CASES = [
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


def wrong_outcomes(folder):
    for text, words, status, expected in CASES:
        got, said = outcome(folder, text, words)
        if got != status or expected not in said or "Traceback" in said:
            yield f"{text!r} {words}: {got}: {said}"
    outcome(folder, PASSED, [])
    if (folder / "csv").read_text() != "lock,cpus\ntas_lock,2\n":
        yield "the CSV file is " + (folder / "csv").read_text()
    if "# boot: 2 CPUs\n" not in (folder / "log").read_text():
        yield "the log is " + (folder / "log").read_text()


def wrong_mistakes(folder):
    for words, expected in (
            (["--device", folder / "none"], "No such file or directory"),
            (["--device", "/dev/null"], "no serial line"),
            (["--device", "/dev/null", "--speed", "7"], "invalid choice: 7"),
            (["--device", "/dev/null", "--image", "x.elf"], "not allowed")):
        done = subprocess.run(
            [sys.executable, "-B", HERE / "run.py", "--log", folder / "log",
             *words], capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode != 2 or expected not in said or \
                "Traceback" in said:
            yield f"{words}: {done.returncode}: {said}"


if __name__ == "__main__":
    scratch = pathlib.Path(sys.argv[1])
    scratch.mkdir(parents=True, exist_ok=True)
    found = [*wrong_outcomes(scratch), *wrong_mistakes(scratch)]
    print("\n".join(found) or f"{len(CASES)} machines, all as they say")
    sys.exit(1 if found else 0)
