#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a bootable image of the lab with GRUB's menu of experiments: for a USB
stick (dd), a CD, or QEMU's -cdrom.

0: made. 77: not, as packages are missing; they are named.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from output import Parser, exit_status
from menu import shortened

SKIPPED = 77
# package              what shows that it is there
NEEDED = [("grub-common", "grub-mkrescue"), ("xorriso", "xorriso"),
          ("mtools", "mformat"), ("grub-pc-bin", "i386-pc"),
          ("grub-efi-amd64-bin", "x86_64-efi")]
ENTRY = re.compile(r"(\n\tlab )(.*)")
GRUB_FILES = pathlib.Path("/usr/lib/grub")


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--image", required=True, help="the kernel")
    parser.add_argument("--menu", required=True, help="grub.cfg")
    parser.add_argument("--out", required=True,
                        help="the .iso to make")
    parser.add_argument("--quick", action="store_true",
                        help="for tests: starts at once, fewer acquisitions")
    parser.add_argument("--pixels", help="for tests: the screen's size on a "
                        "BIOS machine, 800x600x24, instead of text")
    return parser.parse_args()


def missing(packages):
    return [package for package, sign in packages
            if not shutil.which(sign) and not (GRUB_FILES / sign).is_dir()]


def copy_stripped(image, to):
    """Copies an image without debugging information, if there is a tool for
    that."""
    shutil.copy(image, to)
    if shutil.which("objcopy"):
        subprocess.run(["objcopy", "--strip-debug", str(to)], check=False)


def menu_of(args):
    """The text of grub.cfg."""
    text = pathlib.Path(args.menu).read_text(encoding="utf-8")
    if args.quick:
        text = text.replace("timeout=5", "timeout=0")
        text = ENTRY.sub(lambda entry: entry[1] + shortened(entry[2]),
                         text)
    if args.pixels:
        text = text.replace("gfxpayload=text", f"gfxpayload={args.pixels}")
    return text


def main():
    args = arguments()
    out = pathlib.Path(args.out)
    out.unlink(missing_ok=True)
    packages = missing(NEEDED)
    if packages:
        print("skipped: no ISO without " + ", ".join(packages)
              + ": apt-get install " + " ".join(packages))
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        boot = pathlib.Path(folder) / "boot"
        (boot / "grub").mkdir(parents=True)
        copy_stripped(args.image, boot / "lab.elf")
        (boot / "grub" / "grub.cfg").write_text(menu_of(args),
                                                encoding="utf-8")
        # Written to the disk of --out, which may be full.
        part = out.with_name(f"{out.name}.part")
        made = subprocess.run(["grub-mkrescue", "-o", part, folder],
                              capture_output=True, text=True)
    if made.returncode or not part.is_file():
        part.unlink(missing_ok=True)
        print(f"FAIL: grub-mkrescue:\n{made.stderr}")
        return 1
    part.replace(out)
    size = out.stat().st_size / 1e6
    print(f"{args.out}: {size:.1f} MB, boots from BIOS and UEFI")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
