# SPDX-License-Identifier: MIT
"""All lints share this: findings, the list of source files, the command line.

A lint is a module with a function check(root) that returns findings. Run as a
program it prints each as "file:line: what is wrong and what to do" and exits
with 1, or with 0 when there is nothing to say.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "toolchain"))
import tool

# The folders that hold our sources.
FOLDERS = ("lib", "boot", "linker", "toolchain", "tests_host", "tests_qemu")

# Lock headers that wrap any lock: the template, but no line in the list of
# locks, as they are no algorithm of their own.
WRAPPERS = ("checked_lock.hpp", "counted_lock.hpp", "irq_lock.hpp",
            "irq_shared_lock.hpp", "recursive_lock.hpp")

# Locks with an interface and tests of their own: the template, but no line in
# the list of locks, whose tests take any lock by lock() and unlock().
#
# The sleeping locks need a kernel's threads.
SLEEPING = ("byte_mutex.hpp", "completion.hpp", "condition.hpp",
            "futex.hpp", "inheriting_mutex.hpp", "mutex.hpp", "semaphore.hpp",
            "shared_mutex.hpp", "wait_queue.hpp")
UNLISTED = ("seq_lock.hpp", *SLEEPING)

class Finding(NamedTuple):
    path: str          # relative to the root
    line: int          # from 1; 0: the whole file
    text: str          # what is wrong and what to do
    note: bool = False  # said, but no failure

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {'note: ' if self.note else ''}{self.text}"


def relative(path, root):
    return path.relative_to(root).as_posix()


def files(root, folder, suffixes=None):
    """The files under root/folder, sorted; suffixes: only those that end so."""
    found = []
    for path in sorted((root / folder).rglob("*")):
        name = relative(path, root)
        if not path.is_file():
            continue
        if "__pycache__" in path.parts:
            continue
        if suffixes is None or path.suffix in suffixes:
            found.append(path)
    return found


def fixture():
    """{path: text} of a tree in which no lint finds anything."""
    parts = re.split(r"^=== (.*)\n", (HERE / "fixture.txt").read_text(),
                     flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def write_tree(files, root):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def lock_headers(root):
    folder = root / "lib/klock"
    return sorted({*folder.glob("*_lock.hpp"),
                   *(folder / name for name in SLEEPING
                     if (folder / name).is_file())})


def nothing_found(what):
    """A lint that looked at nothing must not pass."""
    return [Finding(".", 0, f"{what} found: is --root the top of the tree?")]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(findings):
    """Prints the findings; the exit status."""
    for finding in findings:
        print(finding)
    return 1 if any(not finding.note for finding in findings) else 0


def main(check, doc):
    parser = tool.Parser(doc)
    parser.add_argument("--root", type=tool.tree, required=True,
                        help="top of the source tree")
    sys.exit(tool.exit_status(lambda: report(check(parser.parse_args().root))))
