# SPDX-License-Identifier: MIT
"""Each text that lib/klock says at run time is asked for by a test.

A text is each string of words that is no compiler's or linker's: what
complain() is given, what a function returns that finds misuse, a part of a
report or of a table. A test has a part of it that no other text has. So a check
that says nothing any more fails its test, and needs no mutant for that.
Run: reports.py --root DIR
"""

import re

import common
import cxx
from common import Finding

# Calls of these have texts for a compiler or an assembler.
_COMPILERS = re.compile(r"\b(?:static_assert|asm|nodiscard|error)\s*\(")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
_TESTS = ("tests_host/unit", "tests_host/native", "tests_host/model",
          "tests_host/claims", "tests_host/embed")
_ENOUGH = 16    # characters


def texts(code):
    """(offset, text) of each string; several in a row are one."""
    for match in _TEXT.finditer(code):
        yield match.start(), "".join(re.findall(r'"((?:[^"\\]|\\.)*)"',
                                                match[0]))


def _compilers(bare):
    """(begin, end) of what is for a compiler, in code without its strings."""
    for call in _COMPILERS.finditer(bare):
        depth = 1
        end = call.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(bare[end], 0)
            end += 1
        yield call.end(), end


def said_by(text):
    """(line, text) of each text that a header says."""
    others = [*_compilers(cxx.code_only(text))]
    for start, said in texts(cxx.without_comments(text)):
        if (len(said) >= _ENOUGH and " " in said and
                not any(begin <= start < end for begin, end in others)):
            yield common.line_of(text, start), said


def own_parts(text, every):
    """The parts of a text that no other has."""
    others = "\n".join(every - {text})
    parts = {text[i:i + _ENOUGH] for i in range(len(text) - _ENOUGH + 1)}
    return {part for part in parts if part not in others} or {text}


def check(root):
    said = [(common.relative(path, root), *report)
            for path in common.files(root, "lib/klock", {".hpp"})
            if path.parent.name != "selftest"
            for report in said_by(path.read_text())]
    asked = "\n".join(
        text for folder in _TESTS
        for path in common.files(root, folder,
                                 {".cpp", ".hpp", ".c", ".py"})
        for _, text in texts(cxx.without_comments(path.read_text())))
    if not said or not asked:
        return common.nothing_found("no text in lib/klock, or no test")
    every = {text for _, _, text in said}
    return [Finding(where, line, f'no test asks for "{text}": make one that '
                    "has this misuse, in tests_host/unit")
            for where, line, text in said
            if not any(part in asked for part in own_parts(text, every))]


if __name__ == "__main__":
    common.main(check, __doc__)
