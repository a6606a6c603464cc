# SPDX-License-Identifier: MIT
"""A proof has the operations of the headers that it is a proof of.

Its steps were read off the code. So tests_host/proofs/ticket.smt2 lists in its
head comment, for each header that names it ('Checked: proofs/ticket'), the
header's functions with their atomic operations, in the order of the code:

    ; Operations of ticket_lock.hpp:
    ;   take_ticket: fetch_add_acq_rel
    ;   unlock: load_relaxed, store_release

A function of relaxed loads alone is a look that decides nothing, and is left
out. Where a header has other operations, somebody must look at the proof again;
what is printed then is the list as it must be.

Each obligation, an echo, has the three questions that prove.py counts on, and
CMakeLists.txt says how many obligations there are. Run: proofs.py --root DIR
"""

import itertools
import re
import textwrap

import common
import cxx
import fields
from common import Finding

FOLDER = "tests_host/proofs"
LISTED = FOLDER + "/CMakeLists.txt"
LOOK = "load_relaxed"
QUESTIONS = 3

_OPERATION = re.compile(r"\b(\w+_(?:relaxed|acquire|release|acq_rel|seq_cst))\b"
                        r"\s*(?:<[^;(){}]*>)?\s*\(")
_LIST = re.compile(r"^; Operations of (\w+\.hpp):.*\n((?:;   .*\n)*)", re.M)


def operations(text):
    """The list of a header's functions and operations, as a proof has it."""
    code, found = cxx.code_only(text), {}
    functions = cxx.functions(code)
    for match in _OPERATION.finditer(code):
        function = cxx.enclosing(functions, match.start())
        if function:
            found.setdefault(function.name, []).append(match[1])
    lines = ""
    for name, all_ in found.items():
        if {*all_} == {LOOK}:
            continue
        grouped = [(one, len([*many])) for one, many in itertools.groupby(all_)]
        said = ", ".join(f"{one} x {many}" if many > 1 else one
                         for one, many in grouped)
        lines += textwrap.fill(f"{name}: {said}", 80, initial_indent=";   ",
                               subsequent_indent=";     ") + "\n"
    return lines


def proved(root):
    """{name of a proof: the headers that name it}"""
    found = {}
    for path in common.lock_headers(root):
        for field in fields.parse(path.read_text()).fields:
            for _, test in field.checked:
                world, _, name = test.partition("/")
                if world == "proofs":
                    found.setdefault(name, []).append(path)
    return found


def check_proof(path, headers, file=None):
    file, text = file or str(path), path.read_text()
    lists = {match[1]: match for match in _LIST.finditer(text)}
    for header in headers:
        has = lists.pop(header.name, None)
        must = operations(header.read_text())
        if not has or has[2] != must:
            yield Finding(
                file, common.line_of(text, has.start()) if has else 1,
                f"{header.name} has other operations: see that each is a step "
                f"of the proof, and list them:\n{must}".rstrip())
    for name, has in lists.items():
        yield Finding(file, common.line_of(text, has.start()), f"{name} does "
                      f"not say 'Checked: proofs/{path.stem}'")


def check_obligations(path, file, expected):
    text = path.read_text()
    parts = re.split(r'^\(echo "(.*)"\)$', text, flags=re.M)
    names = parts[1::2]
    for name, part in zip(names, parts[2::2]):
        asked = len(re.findall(r"^\(check-sat", part, re.M))
        if asked != QUESTIONS:
            line = common.line_of(text, text.index(f'"{name}"'))
            yield Finding(file, line, f"'{name}' asks {asked} times, not "
                          f"{QUESTIONS}")
    if len(names) != expected:
        yield Finding(LISTED, 0, f"{path.stem} has {len(names)} obligations: "
                      f"klock_add_proof({path.stem} {len(names)})")


def check(root):
    by_proof = proved(root)
    paths = common.files(root, FOLDER, {".smt2"})
    if not paths:
        return common.nothing_found(f"no proof in {FOLDER}")
    listed = root / LISTED
    expected = dict(re.findall(r"^klock_add_proof\((\w+) (\d+)\)$",
                               listed.read_text() if listed.is_file() else "",
                               re.M))
    found = []
    for path in paths:
        file = common.relative(path, root)
        found += check_proof(path, by_proof.get(path.stem, []), file)
        found += check_obligations(path, file, int(expected.get(path.stem, 0)))
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
