# SPDX-License-Identifier: MIT
"""Every 'Checked: <world>/<test>' in lib/klock names a test that exists.

    unit/ticket_lock: sizes   a TEST_CASE (or TEMPLATE_..., SCENARIO) in
                              tests_host/unit whose name begins with
                              "ticket_lock: sizes"
    native/torture: FIFO      the same in tests_host/native
    unit/guard                ... or a file tests_host/unit/test_guard.cpp
    model/orders_needed       ... or a CTest of that name in that folder's
                              CMakeLists.txt
    proofs/ticket             ... or a file tests_host/proofs/ticket.smt2
    codegen/facts             ... or a script tests_host/codegen/facts.py
    lab/torture               the same, in tests_qemu

A world whose folder does not exist yet is noted, and is no failure; every
other name must be found. Run: proofs.py --root DIR
"""

import re

import common
import cxx
import fields
from common import Finding

WORLDS = {
    "unit": "tests_host/unit",
    "native": "tests_host/native",
    "model": "tests_host/model",
    "proofs": "tests_host/proofs",
    "sim": "tests_host/sim",
    "bench": "tests_host/bench",
    "lint": "tests_host/lint",
    "codegen": "tests_host/codegen",
    "lab": "tests_qemu",
}

_CASE = re.compile(r"\b(?:\w*TEST_CASE\w*|SCENARIO\w*)\s*\(\s*"
                   r"(?:[A-Za-z_]\w*\s*,\s*)?"      # a fixture's name
                   r'((?:"(?:\\.|[^"\\\n])*"\s*)+)')
_CTEST = re.compile(r"\badd_test\s*\(\s*NAME\s+([\w.:/-]+)")


def _cases(path):
    text = cxx.without_comments(path.read_text())
    for match in _CASE.finditer(text):
        yield "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match[1]))


def test_names(root, folder):
    """(exact names, names that may go on) of the tests of a folder."""
    exact, cases = set(), set()
    for path in common.files(root, folder):
        if path.suffix in (".cpp", ".hpp"):
            cases.update(_cases(path))
        if path.suffix in (".cpp", ".py", ".smt2"):
            exact.add(path.stem)
            exact.add(path.stem.removeprefix("test_"))
        if path.suffix == ".cmake" or path.name == "CMakeLists.txt":
            cases.update(_CTEST.findall(path.read_text()))
    return exact, cases


def _claims(path):
    """(line, 'world/test') of each Checked in the comments of a header."""
    text = path.read_text()
    for offset, comment in cxx.comments(text):
        first = common.line_of(text, offset)
        lines = [(first + i, re.sub(r"\s*\*/$|^\s*\*", "", line))
                 for i, line in enumerate(comment.split("\n"))]
        for line, joined in fields.joined(lines):
            yield from fields.checked_names(line, joined)


def check(root):
    headers = common.files(root, "lib/klock", {".hpp"})
    known, found, claims = {}, [], 0
    for path in headers:
        name = common.relative(path, root)
        for line, claim in _claims(path):
            claims += 1
            world, slash, test = claim.partition("/")
            if not slash or world not in WORLDS or not test:
                found.append(Finding(name, line, f"'Checked: {claim}': write "
                                     "<world>/<test>; worlds: "
                                     + ", ".join(WORLDS)))
                continue
            folder = WORLDS[world]
            if not (root / folder).is_dir():
                found.append(Finding(name, line, f"'Checked: {claim}': not "
                                     f"yet, there is no {folder}", True))
                continue
            if folder not in known:
                known[folder] = test_names(root, folder)
            exact, cases = known[folder]
            if test not in exact and \
                    not any(case.startswith(test) for case in cases):
                found.append(Finding(name, line, f"'Checked: {claim}': no test "
                                     f"in {folder} has a name that begins "
                                     f"with \"{test}\""))
    if not claims:
        return common.nothing_found("no 'Checked:' in lib/klock")
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
