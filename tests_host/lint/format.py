# SPDX-License-Identifier: MIT
"""Every C++ file is as clang-format leaves it, by the .clang-format at the top.

Versions of clang-format differ in taste: only the one the tree is formatted
with is asked. Where it is not installed, that is said.
Run: format.py --root DIR
"""

import re
import shutil
import subprocess

import common
from common import Finding

VERSION = 16  # Debian 12 has it; 14 mangles concepts
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
    """Returns clang-format's messages on what it would change:
    file:line:column."""
    if not paths:
        return ""
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file"]
                          + [common.relative(path, root) for path in paths],
                          cwd=root, capture_output=True, text=True)
    return done.stderr + done.stdout if done.returncode else ""


def check(root, wanted=None):
    program, reason = find_program(wanted)
    if not program:
        return [Finding(".", 0, f"not formatted anew: {reason}", note=True)]
    paths = [path for folder in common.FOLDERS
             for path in common.files(root, folder, SOURCES)]
    if not paths:
        return common.nothing_found("no C++ files")
    said = misformatted(program, root, paths)
    return [Finding(".", 0, f"{said}run: {program} -i on these")] if said \
        else []


if __name__ == "__main__":
    common.main(check, __doc__)
