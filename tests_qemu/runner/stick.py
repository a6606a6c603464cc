#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README's way from the image to a stick to a table: its commands as they stand
there, with a quick image, a file in place of the stick, and without the last
one's machine. The stick boots, by BIOS and by UEFI."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import screen
import qemu
from output import STATUS_PASS, Parser, Trouble, exit_status
from screen import UNMEASURED

SKIPPED = 77
HEAD = "## From the image to a stick to a table\n"
ISO = "build/default/tests_qemu/klock-lab.iso"
PATIENCE = 900          # seconds for one boot, on a host that has others to run
BUSY = "this host was too busy to measure the guest's clock"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--readme", type=pathlib.Path, required=True,
                        help="whose commands are run")
    parser.add_argument("--iso", required=True,
                        help="instead of README's: iso.py --quick")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        help="a folder for what they write")
    return parser.parse_args()


def commands_of(readme):
    _, found, rest = readme.read_text(encoding="utf-8").partition(HEAD)
    block = re.search(r"^```sh\n(.*?)^```$", rest, re.M | re.S)
    lines = block[1].splitlines() if found and block else []
    if len(lines) != 5:
        raise Trouble(f"{readme}: not five commands, but {lines}")
    return [shlex.split(line) for line in lines]


def makes_iso(line):
    """The preset's last step builds the target that makes the image."""
    if line[:3] != ["cmake", "--workflow", "--preset"]:
        return False
    presets = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))
    step = next(flow["steps"][-1] for flow in presets["workflowPresets"]
                if flow["name"] == line[3])
    return any(build["name"] == step["name"] and build["targets"] == ["iso"]
               for build in presets["buildPresets"])


def here(line, args):
    """The command with the test's files."""
    instead = {ISO: args.iso, f"if={ISO}": f"if={args.iso}",
               "of=/dev/sdX": "of=stick.img", "/dev/ttyUSB0": "no-such-line",
               "python3": sys.executable}
    words = line[1:] if line[0] == "sudo" else line
    return [instead.get(word, word.replace("tests_qemu/", f"{ROOT}/tests_qemu/"))
            for word in words]


def run(line, args, status=0):
    """Returns the program's output; raises Trouble if it ends otherwise. A
    guest whose clock could not be measured says so and fails; its table is a
    table."""
    done = subprocess.run(here(line, args), cwd=args.out, text=True,
                          timeout=PATIENCE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if UNMEASURED in done.stdout:
        print(BUSY)
    elif done.returncode != status:
        raise Trouble(f"{shlex.join(line)}: status {done.returncode}, not "
                      f"{status}: {done.stdout}")
    return done.stdout


def boot(args, extra):
    """Boots from the stick, as a machine without another disk does."""
    line = qemu.command(qemu.Machine(image=args.iso, cpus=4, extra=(
        *extra, "-device", "qemu-xhci", "-device", "usb-storage,drive=stick",
        "-drive", "if=none,id=stick,format=raw,file=stick.img")))
    at = line.index("-cdrom")
    done = subprocess.run(line[:at] + line[at + 2:], cwd=args.out,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode("utf-8", "replace")
    if UNMEASURED in said:
        print(BUSY)
    elif done.returncode != STATUS_PASS or "# boot: 4 CPUs" not in said:
        raise Trouble(f"the stick, {extra or 'BIOS'}: status "
                      f"{done.returncode}: {said[-2000:]}")


def main():
    args = arguments()
    why_not = qemu.missing(qemu.Machine(image=args.iso))
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    image, emulated, table, stick, machine = commands_of(args.readme)
    if not makes_iso(image):
        raise Trouble(f"{shlex.join(image)} does not make the image")
    run(emulated, args)
    said = run(table, args)
    if "; PASS" not in said and UNMEASURED not in said or \
            "bakery_lock" not in said:
        raise Trouble(f"{shlex.join(table)} makes no table of it: {said}")
    run(stick, args)
    boot(args, ())
    if screen.uefi():
        boot(args, ("-bios", screen.uefi(), "-m", "256"))
    if "no-such-line: No such file" not in run(machine, args, status=2):
        raise Trouble(f"{shlex.join(machine)} does not look for its line")
    os.remove(args.out / "stick.img")
    print("the five commands are right; the stick boots")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
