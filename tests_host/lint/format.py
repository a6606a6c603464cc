# SPDX-License-Identifier: MIT
"""Every C++ file is as clang-format leaves it, by the .clang-format at the top.

Versions of clang-format differ in taste: only the one the tree is formatted
with is asked. Exit status 77, "skipped", where it is not installed.
Run: format.py --root DIR [--clang-format PROGRAM]
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import common

VERSION = 16  # Debian 12 has it; 14 mangles concepts
SKIPPED = 77
SOURCES = {".hpp", ".cpp", ".h", ".c"}


def find_program(wanted):
    """A clang-format of the right version, or None and the reason."""
    reason = "clang-format not found"
    for name in [wanted] if wanted else [f"clang-format-{VERSION}",
                                         "clang-format"]:
        program = shutil.which(name)
        if not program:
            continue
        said = subprocess.run([program, "--version"], capture_output=True,
                              text=True, check=True).stdout
        version = re.search(r"version (\d+)", said)
        if version and int(version[1]) == VERSION:
            return program, ""
        reason = (f"{name} is version {version[1] if version else 'unknown'}, "
                  f"the tree is formatted with {VERSION}")
    return None, reason


def misformatted(program, root, paths):
    """What clang-format would change, in its own words: file:line:column."""
    if not paths:
        return ""
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file"]
                          + [common.relative(path, root) for path in paths],
                          cwd=root, capture_output=True, text=True)
    return done.stderr + done.stdout if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--clang-format", metavar="PROGRAM")
    args = parser.parse_args()
    root = args.root.resolve()
    program, reason = find_program(args.clang_format)
    if not program:
        print(f"skipped: {reason}")
        return SKIPPED
    paths = [path for folder in common.FOLDERS
             for path in common.files(root, folder, SOURCES)]
    if not paths:
        return common.report(common.nothing_found("no C++ files"))
    said = misformatted(program, root, paths)
    if said:
        print(said, end="")
        print("run: clang-format -i on these files")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
