# SPDX-License-Identifier: MIT
"""Lines in a scene, one at a time, that compile, warn, or must not compile."""
from typing import NamedTuple

import cases

COMPILERS = ("g++", "clang++")


class Wrong(NamedTuple):
    line: str
    # What the one error or warning says; the second: clang, where it differs.
    says: str
    clang_says: str = ""


def _compile(case, cxx, scene, line, flags=()):
    source = case.write("user.cpp", scene.replace("LINE", line))
    status, said = case.call(cxx, "-std=c++20", "-Wall", "-Wextra", *flags,
                             *case.includes("hosted"), "-fsyntax-only", source)
    return status, said, [text for text in said.splitlines()
                          if "user.cpp:" in text and "warning:" in text]


def _says(wrong, cxx):
    return wrong.clang_says if cxx != "g++" and wrong.clang_says else wrong.says


def right_ones_are_silent(case, scene, right):
    strict = ["-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
              "-Werror"]
    for cxx in COMPILERS:
        for line in right:
            status, said, _ = _compile(case, cxx, scene, line, strict)
            case.expect(status == 0 and not said, f"{cxx}: {line}\n{said}")


def some_warn(case, scene, wrongs):
    for cxx in COMPILERS:
        for wrong in wrongs:
            status, said, warnings = _compile(case, cxx, scene, wrong.line)
            case.expect(status == 0 and len(warnings) == 1 and
                        _says(wrong, cxx) in warnings[0],
                        f"{cxx}: {wrong.line}: not one warning that says "
                        f"{_says(wrong, cxx)}:\n{said}")


def some_are_errors(case, scene, wrongs, at_most=1):
    for cxx in COMPILERS:
        for wrong in wrongs:
            status, said, _ = _compile(case, cxx, scene, wrong.line)
            # g++ says in a second line what it had to choose from.
            found = [text for text in cases.errors(said)
                     if "no matching function" not in text]
            case.expect(status != 0 and 1 <= len(found) <= at_most and
                        _says(wrong, cxx) in found[0],
                        f"{cxx}: {wrong.line}: not one error that says "
                        f"{_says(wrong, cxx)}:\n{said}")


def some_are_refused(case, scene, lines):
    for cxx in COMPILERS:
        for line in lines:
            status, said, _ = _compile(case, cxx, scene, line)
            case.expect(status != 0 and "user.cpp" in cases.errors(said)[0],
                        f"{cxx}: {line}: not refused in its own line:\n{said}")
