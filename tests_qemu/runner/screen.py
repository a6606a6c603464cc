#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the screen when the lab has ended: the whole report, on one screen or
on pages that Page Up turns, every row of it in one line. The screen is VGA's text
memory, or a picture from which text is read by the font that drew it."""
import dataclasses
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from output import (Log, Trouble, at_least_one, exit_status,
                    lab_parser)
import qemu

# Debian and Ubuntu (ovmf), old and new. It holds variables, too: QEMU's -bios
# takes no code that is to have them in a flash device of their own.
OVMF = "/usr/share/ovmf/OVMF.fd"
SCREEN = re.compile(r"# boot: screen of (\d+) x (\d+) pixels, (\d+) bits each$")


def uefi():
    """The file, or None."""
    return OVMF if os.path.exists(OVMF) else None


def columns_of(printed):
    """The columns of the screen that the kernel printed, at 8 pixels a letter.
    """
    sizes = [SCREEN.match(line) for line in printed]
    widths = [int(size[1]) for size in sizes if size]
    return widths[0] // 8 if widths else 80


INK = 0xaa              # two thirds of a colour's 255 (boot/x86/framebuffer.cpp)
COLUMNS, ROWS = 100, 30     # with more than these, pixels are drawn larger
UNREADABLE = "\ufffd"


@dataclasses.dataclass
class Font:
    height: int
    of_character: dict      # to the glyph's rows, a byte each

    @staticmethod
    def read(path):
        """Reads a font of format 1, 8 columns wide: Debian's psf-unifont is
        one."""
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] != b"\x36\x04":
            raise Trouble(f"{path}: no PSF font of format 1")
        height, count = data[3], 512 if data[2] & 1 else 256
        table = data[4 + count * height:]
        found, glyph, skip = {}, 0, False
        for at in range(0, len(table) - 1, 2):
            code = table[at] | table[at + 1] << 8
            if code == 0xffff:
                glyph, skip = glyph + 1, False
            elif code == 0xfffe:
                skip = True
            elif not skip and 0x20 <= code < 0x7f:
                begin = 4 + glyph * height
                found.setdefault(chr(code), data[begin:begin + height])
        return Font(height, found)

    def pictures(self, scale):
        """Characters by the brightness of their cell's pixels."""
        result = {}
        for character, rows in self.of_character.items():
            lines = (bytes(INK if row >> 7 - x & 1 else 0
                           for x in range(8) for _ in range(scale))
                     for row in rows)
            whole = b"".join(line * scale for line in lines)
            result.setdefault(whole, character)
        return result


@dataclasses.dataclass
class Picture:
    width: int
    height: int
    red: bytes              # all colours are the same: grey

    @staticmethod
    def read(path):
        """A PPM file, as QEMU's screendump writes it."""
        with open(path, "rb") as file:
            kind, size, _, data = file.read().split(b"\n", 3)
        if kind != b"P6":
            raise ValueError(f"{path}: no PPM file")
        width, height = map(int, size.split())
        return Picture(width, height, data[0:width * height * 3:3])

    def text(self, font):
        """The rows of text, without the blanks at their ends."""
        scale = 1
        while (self.width >= COLUMNS * 8 * (scale + 1)
               and self.height >= ROWS * font.height * (scale + 1)):
            scale += 1
        across, down = 8 * scale, font.height * scale
        known = font.pictures(scale)
        rows = []
        for top in range(0, self.height - down + 1, down):
            lines = [self.red[y * self.width:(y + 1) * self.width]
                     for y in range(top, top + down)]
            cells = (b"".join(line[x:x + across] for line in lines)
                     for x in range(0, self.width - across + 1, across))
            rows.append("".join(known.get(cell, UNREADABLE)
                                for cell in cells).rstrip())
        return rows


SKIPPED = 77
COLUMNS, ROWS = 80, 25
FIRST = "# boot: "
UNMEASURED = "the clock is not known"
END = "the machine can be switched off"
PATIENCE = 900          # seconds for one boot, on a host that has others to run
DEVICE = "isa-debug-exit"   # with it, the lab would be gone


def arguments(words=None):
    parser = lab_parser(__doc__)
    parser.add_argument("--append", default="",
                        help="the kernel's command line")
    parser.add_argument("--font", help="the font on a screen made of pixels; "
                        "without one: VGA's text memory is read")
    parser.add_argument("--cpus", type=at_least_one, default=4, help="vCPUs")
    parser.add_argument("--mode", default="single",
                        choices=sorted(qemu.ACCELERATORS),
                        help="how QEMU runs them, as of run.py")
    parser.add_argument("--uefi", action="store_true",
                        help="firmware is OVMF, not a BIOS")
    parser.add_argument("--machine", default="pc", help="QEMU's: pc or q35")
    parser.add_argument("--no-serial", action="store_true",
                        help="a machine without a serial line")
    parser.add_argument("--expect", action="append", default=[],
                        help="a line that must be on the screen")
    parser.add_argument("--qemu-arg", action="append", default=[],
                        help="one more argument for QEMU")
    parser.add_argument("--full-row", help="what a row of 80 columns begins "
                        "with: the next one must not be blank")
    parser.add_argument("--picture", help="a PPM file of the last screen")
    return parser.parse_args(words)


class Monitor:
    """QEMU's, by its machine protocol."""

    def __init__(self, path, font=None):
        self.font = font
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
        """The screen's rows, without the blanks at their ends."""
        path = os.path.join(folder, "screen")
        if self.font:
            self.do("screendump", filename=path)
            return Picture.read(path).text(self.font)
        self.do("pmemsave", val=0xb8000, size=COLUMNS * ROWS * 2,
                filename=path)
        with open(path, "rb") as file:
            text = file.read()[::2].decode("latin-1")
        return [text[at:at + COLUMNS].rstrip()
                for at in range(0, COLUMNS * ROWS, COLUMNS)]

    def press(self, key, folder):
        """The screen after the key, when it has changed; else as it was."""
        before = self.screen(folder)
        self.do("send-key", keys=[{"type": "qcode", "data": key}])
        for _ in range(100):
            now = self.screen(folder)
            if now != before:
                time.sleep(0.1)     # all of it
                return self.screen(folder)
            time.sleep(0.05)
        return before


def command(args, machine, path):
    line = qemu.command(machine)
    at = next(i for i, word in enumerate(line) if word.startswith(DEVICE))
    line = line[:at - 1] + line[at + 1:]
    if args.no_serial:
        line[line.index("stdio")] = "none"
    if "-vga" not in args.qemu_arg:
        line += ["-vga", "std"]
    return line + ["-qmp", f"unix:{path},server=on,wait=off"]


def read_until_end(process, log):
    """Returns the lines that the kernel has printed, without those of firmware
    and GRUB."""
    lines = []
    for raw in process.stdout:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        line = line.rpartition("\r")[2].rstrip()
        log.write(line + "\n")
        if FIRST in line and not lines:
            line = line[line.index(FIRST):]
        if lines or line.startswith(FIRST):
            lines.append(line)
        if END in line:
            break
    return lines


def wait_for_end(process, monitor, folder):
    """read_until_end() by the screen alone, which must have room for all lines.
    """
    while process.poll() is None:
        time.sleep(1)
        rows = without_blanks(monitor.screen(folder))
        if rows and END in rows[-1]:
            return rows
    return []


def wrapped(lines, columns):
    """The lines as a screen of that many columns breaks them."""
    return [line[at:at + columns].rstrip() for line in lines
            for at in range(0, max(len(line), 1), columns)]


def without_blanks(screen):
    """The rows up to the last one that is not empty."""
    return screen[:max((i + 1 for i, row in enumerate(screen) if row),
                       default=0)]


def shows_end(screen, printed):
    """All rows, without a gap: the screen may be read while it scrolls."""
    last = without_blanks(screen)
    return last == printed[-len(last):]


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
        screen = monitor.press("pgup", folder)
        if screen == screens[-1]:
            break
        screens.append(screen)
    return screens


def faults(args, printed, screens):
    """Yields the faults, in words."""
    begin = next((i for i, line in enumerate(printed)
                  if line.startswith("lock ")), 0)
    report = printed[begin:]
    last, rows = without_blanks(screens[0]), len(screens[0])
    if not shows_end(screens[0], printed):
        yield "the last screen is not the end of what was printed"
    if len(report) < rows and last[-len(report):] != report:
        yield "the report has room on the last screen and is not there"
    seen = {line for screen in screens for line in screen}
    lost = [line for line in printed if line not in seen]
    if lost:
        yield f"on no page: {lost[0]!r} and {len(lost) - 1} more"
    for line in args.expect:
        if line not in seen:
            yield f"{line!r} is on no page"
    if args.full_row:
        at = next((i for i, line in enumerate(screens[0])
                   if line.startswith(args.full_row)), None)
        if at is None or not screens[0][at + 1]:
            yield "a row of 80 columns is followed by a blank line"
    elif len(printed) >= rows and len(screens) < 2:
        yield "Page Up turns no page"


def look(args, machine):
    """Returns the lines that were printed, and the pages of the screen."""
    font = Font.read(args.font) if args.font else None
    with tempfile.TemporaryDirectory() as folder, Log(args.log) as log:
        path = os.path.join(folder, "monitor")
        process = subprocess.Popen(command(args, machine, path),
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE)
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            if args.no_serial:
                while not os.path.exists(path):
                    time.sleep(0.1)
                monitor = Monitor(path, font)
                printed = wait_for_end(process, monitor, folder)
            else:
                printed = read_until_end(process, log)
                monitor = None
            if not printed or END not in printed[-1]:
                return printed, []
            monitor = monitor or Monitor(path, font)
            if args.picture:
                monitor.do("screendump", filename=args.picture)
            columns = COLUMNS if not font else columns_of(printed)
            printed = wrapped(printed, columns)
            return printed, pages(monitor, folder, printed)
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()


def check(args):
    """One machine: 0, 1 or 77, and says why."""
    extra = tuple(args.qemu_arg) + ("-machine", args.machine)
    if args.uefi:
        if not uefi():
            print("skipped: no OVMF: apt-get install ovmf")
            return SKIPPED
        extra += ("-bios", uefi(), "-m", "256")
    machine = qemu.Machine(image=args.image, cpus=args.cpus,
                           append=args.append, extra=extra,
                           accelerator=args.mode)
    why_not = qemu.missing(machine)
    if args.font and not os.path.exists(args.font):
        why_not = f"no font {args.font}: apt-get install psf-unifont"
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    printed, screens = look(args, machine)
    if any(UNMEASURED in line for line in printed) and "PASS" not in printed:
        # The lab fails then, and says why; its screen is a screen.
        print("this host was too busy to measure the guest's clock")
        args.expect = [line for line in args.expect if line != "PASS"]
    if not screens:
        print(f"FAIL: no end; the last of {len(printed)} lines: {printed[-1:]}")
        return 1
    wrong = list(faults(args, printed, screens))
    print(f"{len(printed)} lines, {len(screens)} pages")
    if wrong:
        print("\n".join(screens[0]))
        print("FAIL: " + "; ".join(wrong))
    return 1 if wrong else 0


def main():
    return check(arguments())


if __name__ == "__main__":
    sys.exit(exit_status(main))
