# SPDX-License-Identifier: MIT
"""A comment is a sentence: it begins with a subject or a verb.

Comments of C, C++, Python, CMake, make and shell, also in a Markdown file's
blocks of code, and Python's docstrings, do not begin with a word that leaves the reader to look for the subject. Read is
the first word of each: of a block, of the lines of // or # that stand together,
of a heading between dashes. Run: sentences.py --root DIR
"""

import ast
import io
import re
import tokenize

import common
import cxx
from common import Finding

CXX = {".hpp", ".cpp", ".h", ".c", ".S"}
HASHES = {".cmake", ".mk", ".sh"}
HASH_NAMES = {"CMakeLists.txt", "Makefile"}

_HEADLESS = re.compile(
    r"(?:Of|What|Who|Whoever|Whose|Whom|The same|And|Those|Such|Else|Which|By|"
    r"So (?:many|much|often)|As many|One (?:that|who)|That of)\b")
# A comment's frame: the opening, margins, the dashes of a heading.
_FRAME = re.compile(r"[\s/*#-]*")
_HASH = re.compile(r"^[ \t]*#(?!!).*(?:\n[ \t]*#.*)*|(?<=\S)[ \t]+# .*$", re.M)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def headless(comment):
    """The words without a subject that a comment begins with, or None."""
    found = _HEADLESS.match(comment, _FRAME.match(comment).end())
    return found and found[0]


def _joined(text, comments):
    """(offset, text), lines of // that stand together as one comment."""
    found = []
    for offset, comment in comments:
        end = found[-1][0] + len(found[-1][1]) if found else 0
        if comment.startswith("//") and found and \
                found[-1][1].startswith("//") and \
                text[end:offset].strip() == "" and \
                text.count("\n", end, offset) == 1:
            found[-1] = found[-1][0], text[found[-1][0]:offset] + comment
        else:
            found.append((offset, comment))
    return found


def _of_python(text):
    """(line, text) of each comment and docstring of a program in Python."""
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        alone = token.line[:token.start[1]].strip() == ""
        if not (alone and last == token.start[0] - 1):
            yield token.start[0], token.string
        last = token.start[0] if alone else 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            said = ast.get_docstring(node)
            if said:
                yield node.body[0].lineno, said


def _of_cxx(text):
    return [(common.line_of(text, offset), comment)
            for offset, comment in _joined(text, cxx.comments(text))]


def _of_hashes(text):
    return [(common.line_of(text, found.start()), found[0])
            for found in _HASH.finditer(text)]


def _of_markdown(text):
    """(line, text) of each comment in a block of code."""
    for block in _BLOCK.finditer(text):
        of = _of_cxx if block[1] in ("c", "cpp") else _of_hashes
        if block[1] not in ("text", "meson"):
            first = common.line_of(text, block.start(2))
            for line, comment in of(block[2]):
                yield first + line - 1, comment


def comments(path):
    """(line, text) of each comment of a file."""
    text = path.read_text()
    if path.suffix in CXX:
        return _of_cxx(text)
    if path.suffix == ".py" or re.match(r"#!.*python", text):
        return list(_of_python(text))
    if path.suffix == ".md":
        return list(_of_markdown(text))
    if path.suffix in HASHES or path.name in HASH_NAMES or \
            text.startswith("#!"):
        return _of_hashes(text)
    return []


def check(root):
    seen, found = 0, []
    paths = [path for folder in common.FOLDERS
             for path in common.files(root, folder)]
    paths += [root / name for name in sorted(HASH_NAMES)
              if (root / name).is_file()]
    for path in paths:
        name = common.relative(path, root)
        try:
            all_ = comments(path)
        except UnicodeDecodeError:
            continue  # an image: nothing to read
        seen += len(all_)
        for line, comment in all_:
            if words := headless(comment):
                found.append(Finding(
                    name, line, f"'{words} ...': begin with a subject or a "
                    "verb; a condition begins with If"))
    if not seen:
        return common.nothing_found("no comment")
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
