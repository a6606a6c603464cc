# SPDX-License-Identifier: MIT
"""The rest of CONTRIBUTING's style that a script can see.

Each source file names its licence in its first line (its second, behind a #!),
has no note of work left undone, no path of somebody's machine, and no comment
whose margin clang-format has lost in breaking a long line. Run: style.py --root DIR
"""

import re

import common
from common import Finding

LICENCE = "SPDX-License-Identifier: MIT"
SOURCES = {".hpp", ".cpp", ".h", ".c", ".S", ".ld", ".lds", ".py", ".cmake",
           ".sh"}

# Written so that this file does not find itself.
_UNDONE = re.compile(r"\b([T]ODO|[F]IXME|[X]XX)\b")
_HOME = re.compile(r"(?<![\w.$}/])/(?:[w]ork|[h]ome|[r]oot|[U]sers)/\w*")


_LOST_MARGIN = re.compile(r"^\s*\*[A-Za-z][\w',.:;-]*(?: |$)(?![*=])")


def _is_source(path, lines):
    if path.suffix in SOURCES or path.name == "CMakeLists.txt":
        return True
    return bool(lines) and lines[0].startswith("#!")


def _check_source(name, lines):
    script = bool(lines) and lines[0].startswith("#!")
    first = lines[1 if script else 0:][:1]
    if not first or LICENCE not in first[0]:
        yield Finding(name, 2 if script else 1, "no licence: this line must "
                      f"be a comment that says {LICENCE}")


def _check_margins(name, lines):
    inside = False
    for number, line in enumerate(lines, 1):
        if inside and _LOST_MARGIN.match(line):
            yield Finding(name, number, "no blank behind the comment's "
                          "margin: the line before was too long")
        opens, closes = line.rfind("/*"), line.rfind("*/")
        if opens != closes:
            inside = opens > closes


def _check_text(name, lines):
    for number, line in enumerate(lines, 1):
        undone = _UNDONE.search(line)
        if undone:
            yield Finding(name, number, f"'{undone[1]}': do it, or say why "
                          "it stays as it is")
        home = _HOME.search(line)
        if home:
            yield Finding(name, number, f"'{home[0]}': a path of one machine; "
                          "make it relative or a parameter")


def check(root):
    paths = [path for folder in common.FOLDERS
             for path in common.files(root, folder)]
    if not paths:
        return common.nothing_found("no files")
    # .git is a file where the tree is a worktree of git's.
    paths += [path for path in sorted(root.iterdir())
              if path.is_file() and path.name != ".git"]
    found = []
    for path in paths:
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue  # an image: nothing to read
        name = common.relative(path, root)
        if _is_source(path, lines):
            found += _check_source(name, lines)
        if path.suffix in (".hpp", ".cpp", ".h", ".c"):
            found += _check_margins(name, lines)
        found += _check_text(name, lines)
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
