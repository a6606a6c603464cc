# SPDX-License-Identifier: MIT
"""Each text of a report of misuse in lib/klock is asked for by a test.

A text is what complain(), misuse_at() or report_misuse() is given. A test has
a part of it that no other report has. So a check that says nothing any more
fails its test, and needs no mutant for that.
Run: reports.py --root DIR
"""

import re

import common
import cxx
from common import Finding

_CALL = re.compile(r"\b(?:complain\w*|misuse_at|report_misuse)\(")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
_TESTS = ("tests_host/unit", "tests_host/native", "tests_host/model",
          "tests_host/claims", "tests_host/embed")
_ENOUGH = 16    # characters


def texts(code, start=0, end=None):
    """(offset, text) of each string; several in a row are one."""
    for match in _TEXT.finditer(code, start, len(code) if end is None else end):
        yield match.start(), "".join(re.findall(r'"((?:[^"\\]|\\.)*)"',
                                                match[0]))


def reported(text):
    """(line, text) of each report in a header."""
    code = cxx.without_comments(text)
    bare = cxx.code_only(text)
    for call in _CALL.finditer(bare):
        depth = 1
        end = call.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(bare[end], 0)
            end += 1
        for start, said in texts(code, call.end(), end):
            if len(said) >= _ENOUGH:
                yield common.line_of(text, start), said


def own_parts(text, every):
    """The parts of a text that no other has."""
    others = "\n".join(every - {text})
    parts = {text[i:i + _ENOUGH] for i in range(len(text) - _ENOUGH + 1)}
    return {part for part in parts if part not in others} or {text}


def check(root):
    said = [(common.relative(path, root), *report)
            for path in common.files(root, "lib/klock", {".hpp"})
            for report in reported(path.read_text())]
    asked = "\n".join(
        text for folder in _TESTS
        for path in common.files(root, folder, {".cpp", ".hpp", ".c"})
        for _, text in texts(cxx.without_comments(path.read_text())))
    if not said or not asked:
        return common.nothing_found("no report in lib/klock, or no test")
    every = {text for _, _, text in said}
    return [Finding(where, line, f'no test asks for "{text}": make one that '
                    "has this misuse, in tests_host/unit")
            for where, line, text in said
            if not any(part in asked for part in own_parts(text, every))]


if __name__ == "__main__":
    common.main(check, __doc__)
