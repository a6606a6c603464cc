# SPDX-License-Identifier: MIT
"""The rest of CONTRIBUTING's style that a script can see.

Each source file names its licence in its first line (its second, behind a #!),
has no note of work left undone, no path of somebody's machine, and no comment
whose margin clang-format has lost in breaking a long line. Documents and the
headers that users include use the field's words, and no comment of theirs begins
with What (sentences.py has the other words). Run: style.py --root DIR
"""

import re

import common
from common import Finding

LICENCE = "SPDX-License-" "Identifier: MIT"     # not for REUSE
SOURCES = {".hpp", ".cpp", ".h", ".c", ".S", ".ld", ".lds", ".py", ".cmake",
           ".sh"}

# Written so that this file does not find itself.
_UNDONE = re.compile(r"\b([T]ODO|[F]IXME|[X]XX)\b")
_HOME = re.compile(r"(?<![\w.$}/])/(?:[w]ork|[h]ome|[r]oot|[U]sers)/\w*")


_LOST_MARGIN = re.compile(r"^\s*\*[A-Za-z][\w',.:;-]*(?: |$)(?![*=])")


# Words that documents and public comments avoid, with the word to use.
WORDS = (
    (r"\bin vain\b", "without success, or: that failed"),
    (r"\b(?:who|whoever|those who) comes?\b", "an arriving CPU"),
    (r"\bdraws? (?:a|its|the) ticket\b", "takes a ticket"),
    (r"\b(?:acquisitions|sections|interrupts|million|times) a second\b",
     "per second"),
    (r"\bstays? outside\b", "excluded, or: enters"),
    (r"\bbrought\b", "passed, set, given"),
    (r"\b(?:seat|bed|crew|crowd)s?\b", "position, node, contenders"),
    (r"\bfloor\b", "lower bound, or: common part"),
    (r"(?<!no )\brooms?\b(?! (?:for|to)\b)", "space, or: machine"),
    (r"\bplace in (?:the )?(?:line|queue)\b|\bold place\b",
     "position in the queue"),
    (r"\bmended\b", "fixed"),
    (r"\b(?:is|are) to be an error\b", "must become an error"),
)
_WORDS = re.compile("|".join(f"({pattern})" for pattern, _ in WORDS), re.I)
_FIRST = re.compile(r"/\*\*?\s(?:\s*\*\s)?\s*(What) ")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Text that is no prose: blocks and spans of code, addresses of links, marks.
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->",
                   re.M | re.S)
README_WORDS = 900
_MARK = re.compile(r"<!--.*?-->", re.S)
PUBLIC = ("lib/klock", "lib/c/klock", "lib/analysis/klock")


def _check_words(name, text, prose):
    for found in _WORDS.finditer(prose):
        instead = WORDS[found.lastindex - 1][1]
        yield Finding(name, common.line_of(text, found.start()),
                      f"'{found[0]}': {instead}")


def _blank(found):
    return re.sub(r"[^\n]", " ", found[0])


def _check_header(name, text):
    at = 0
    prose = ""
    for comment in _COMMENT.finditer(text):
        prose += re.sub(r"[^\n]", " ", text[at:comment.start()]) + comment[0]
        at = comment.end()
    yield from _check_words(name, text, prose)
    for first in _FIRST.finditer(prose):
        yield Finding(name, common.line_of(text, first.start(1)),
                      f"'{first[1]} ...': begin with a subject")


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
        if path.name != "lints.mutants":  # texts that lints must find
            found += _check_text(name, lines)
        text = path.read_text()
        if path.suffix == ".md":
            found += _check_words(name, text, _CODE.sub(_blank, text))
            words = len(_MARK.sub("", text).split())
            if name == "README.md" and words > README_WORDS:
                found.append(Finding(name, 0, f"{words} words: at most "
                                     f"{README_WORDS}"))
        elif path.suffix in (".hpp", ".h") and \
                common.relative(path.parent, root) in PUBLIC:
            found += _check_header(name, text)
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
