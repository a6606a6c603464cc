# SPDX-License-Identifier: MIT
"""A program in QEMU's place, that prints what a test wants of a guest.

Cheap, and the same on a busy machine: for what the runner does with a guest's
words, no guest is needed.
"""
import contextlib
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

RUN = str(pathlib.Path(__file__).parent / "run.py")
WAIT = 60   # seconds, for what comes at once; never a verdict on speed
PASS, FAIL = 85, 87
SLEEP = "exec sleep 600"


class Fake:
    """A folder with the program, its log, and what it was called with."""
    all = []

    def __init__(self, folder, text, end=f"exit {PASS}"):
        self.all.append(self)
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "run.log"
        self.pid_file = self.folder / "pid"
        self.words_file = self.folder / "words"
        self.program = self.folder / "qemu"
        (self.folder / "text").write_bytes(text.encode())
        self.program.write_text(
            "#!/bin/sh\n"
            f"printf '%s\\n' \"$@\" > '{self.words_file}'\n"
            f"echo $$ > '{self.pid_file}'\n"
            f"cat '{self.folder}/text'\n{end}\n")
        self.program.chmod(0o755)

    def command(self, *more):
        return [sys.executable, "-B", RUN, "--image", "none.elf", "--log",
                str(self.log), "--qemu", str(self.program), *more]

    def run(self, *more):
        """The runner, to its end."""
        return subprocess.run(self.command(*more), capture_output=True,
                              timeout=WAIT)

    def start(self, *more, **how):
        return subprocess.Popen(self.command(*more), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **how)

    def was_started(self):
        return self.pid_file.exists()

    def is_gone(self):
        """Also as a zombie that its parent has not looked at."""
        pid = int(self.pid_file.read_text())
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def end(self):
        if self.was_started() and not self.is_gone():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(self.pid_file.read_text()), signal.SIGKILL)

    def wait_for_log(self, text):
        return until(lambda: self.log.exists()
                     and text in self.log.read_text(encoding="utf-8"))


def until(true):
    """Whether it becomes true."""
    deadline = time.monotonic() + WAIT
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def on_terminal(command):
    """What a command prints where its standard output is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stdin=theirs,
                               stderr=theirs)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while chunk := os.read(ours, 4096):
            text += chunk
    os.close(ours)
    process.wait()
    return text
