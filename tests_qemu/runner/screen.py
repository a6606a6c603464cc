#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the VGA text screen shows when the lab has ended: the whole report, on
one screen or on pages that Page Up turns, every row of it in one line."""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

import qemu
from ends import exit_status

SKIPPED = 77
COLUMNS, ROWS = 80, 25
END = "the machine can be switched off"
DEVICE = "isa-debug-exit"   # with it, the lab would be gone


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", required=True,
                        help="the lab's .elf")
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    parser.add_argument("--append", required=True,
                        help="the kernel's command line")
    parser.add_argument("--full-row", help="what a row of 80 columns begins "
                        "with: the next one must not be blank")
    parser.add_argument("--picture", help="a PPM file of the last screen")
    return parser.parse_args()


class Monitor:
    """QEMU's, by its machine protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw", encoding="utf-8")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **words):
        self.file.write(json.dumps({"execute": command, "arguments": words}))
        self.file.flush()
        while "return" not in (answer := json.loads(self.file.readline())):
            if "error" in answer:
                raise RuntimeError(answer["error"]["desc"])

    def screen(self, folder):
        """The text screen's rows, without the blanks at their ends."""
        path = os.path.join(folder, "screen")
        self.do("pmemsave", val=0xb8000, size=COLUMNS * ROWS * 2,
                filename=path)
        with open(path, "rb") as file:
            text = file.read()[::2].decode("latin-1")
        return [text[at:at + COLUMNS].rstrip()
                for at in range(0, COLUMNS * ROWS, COLUMNS)]

    def page_up(self, folder):
        """The screen after the key, when it has changed; else as it was."""
        before = self.screen(folder)
        self.do("send-key", keys=[{"type": "qcode", "data": "pgup"}])
        for _ in range(100):
            now = self.screen(folder)
            if now != before:
                time.sleep(0.1)     # all of it
                return self.screen(folder)
            time.sleep(0.05)
        return before


def command(machine, path):
    line = qemu.command(machine)
    at = next(i for i, word in enumerate(line) if word.startswith(DEVICE))
    return (line[:at - 1] + line[at + 1:]
            + ["-vga", "std", "-qmp", f"unix:{path},server=on,wait=off"])


def read_until_end(process, log):
    lines = []
    for raw in process.stdout:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        lines.append(line.rpartition("\r")[2])
        log.write(lines[-1] + "\n")
        if END in line:
            break
    return [line.rstrip() for line in lines]


def shows_end(screen, printed):
    """Without a gap, from the top: the screen may be read while it scrolls."""
    last = [line for line in screen if line]
    return last == printed[-len(last):] and "" not in screen[:len(last)]


def last_screen(monitor, folder, printed):
    """The screen once it shows what the serial line has said before it."""
    for _ in range(100):
        screen = monitor.screen(folder)
        if shows_end(screen, printed):
            break
        time.sleep(0.05)
    return screen


def pages(monitor, folder, printed):
    """Screens from the newest to the one that begins with the first line."""
    screens = [last_screen(monitor, folder, printed)]
    while len(screens) < 20 and screens[-1][0] != printed[0]:
        screen = monitor.page_up(folder)
        if screen == screens[-1]:
            break
        screens.append(screen)
    return screens


def faults(args, printed, screens):
    """What is wrong, in words."""
    begin = next((i for i, line in enumerate(printed)
                  if line.startswith("lock ")), 0)
    report = printed[begin:]
    last = [line for line in screens[0] if line]
    if not shows_end(screens[0], printed):
        yield "the last screen is not the end of what was printed"
    if len(report) < ROWS and last[-len(report):] != report:
        yield "the report has room on the last screen and is not there"
    seen = {line for screen in screens for line in screen}
    lost = [line for line in printed if line not in seen]
    if lost:
        yield f"on no page: {lost[0]!r} and {len(lost) - 1} more"
    if args.full_row:
        at = next((i for i, line in enumerate(screens[0])
                   if line.startswith(args.full_row)), None)
        if at is None or not screens[0][at + 1]:
            yield "a row of 80 columns is followed by a blank line"
    elif len(printed) >= ROWS and len(screens) < 2:
        yield "Page Up turns no page"


def main():
    args = arguments()
    machine = qemu.Machine(image=args.image, cpus=4, append=args.append)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, \
            open(args.log, "w", encoding="utf-8") as log:
        path = os.path.join(folder, "monitor")
        process = subprocess.Popen(command(machine, path),
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE)
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        try:
            printed = read_until_end(process, log)
            monitor = Monitor(path)
            if args.picture:
                monitor.do("screendump", filename=args.picture)
            screens = pages(monitor, folder, printed)
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
    wrong = list(faults(args, printed, screens))
    print(f"{len(printed)} lines, {len(screens)} pages")
    if wrong:
        print("\n".join(screens[0]))
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
