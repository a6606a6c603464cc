# SPDX-License-Identifier: MIT
"""Every lock header has the fields of add-a-lock.md's template, in its order.

It reads the comment at the top of a header, for the other lints too:

    NAME - one line
    Algorithm: ...                 fields, in column 0 of the comment
    Ordering:
        O1  lock  owner.await_eq_acquire  pairs with O3       rows

Every 'Checked: <label>/<test>' in lib/klock names a test that is built: its
file is in a CMake list, or included by one that is.

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

A label whose folder does not exist yet is noted, and is no failure; every
other name must be found. The test that a Size names has the lock's sizeof.

A Cost that sim/costs checks is read by tests_host/sim/test_costs.cpp, which says
how; here is whether it can be.
"""

import re
from typing import NamedTuple

import common
import cxx
from common import Finding


class Field(NamedTuple):
    name: str
    line: int
    lines: list  # (line number, text) of all its lines, the first without name

    @property
    def text(self):
        """All in one line, without what it is checked by."""
        text = "\n".join(text for _, text in joined(self.lines))
        return " ".join(_CHECKED.sub("", text).split())

    @property
    def checked(self):
        """(line, 'label/test') of each test that is named."""
        return [name for line, text in joined(self.lines)
                for name in checked_names(line, text)]


class Row(NamedTuple):
    number: int
    methods: list
    operation: str  # as in the table: owner.await_eq_acquire
    pairs: list     # numbers
    line: int

    @property
    def name(self):
        """The operation without its variable: await_eq_acquire."""
        return re.findall(r"\w+", self.operation)[-1]

    @property
    def place(self):
        """Returns the object of the operation, such as owner, or None."""
        words = re.findall(r"[A-Za-z_]\w*", self.operation)
        return words[-2] if len(words) > 1 else None


class LockHeader(NamedTuple):
    title: str
    title_line: int
    fields: list
    rows: list
    broken_rows: list  # (line, text)

    def field(self, name):
        for field in self.fields:
            if field.name == name:
                return field
        return None


_TOP = re.compile(r"/\*\n.*?\*/", re.S)
_FIELD = re.compile(r"([A-Z][a-z]+(?: [a-z]+)?)(?: \([^)]*\))?:(?:\s+(.*))?$")
_CHECKED = re.compile(r"Checked:[ \t]*([^\n]*)")
_ROW_START = re.compile(r"\s*O(\d+)(?:[ ]{2,}|\t)")
_ROW = re.compile(r"\s*O(\d+)\s+(\w+(?:, ?\w+)*)\s+(\S+)\s+pairs with\s+(.*)$")


def checked_names(line, text):
    """(line, name) of each test behind a 'Checked:' in this line of text."""
    match = _CHECKED.search(text)
    if not match:
        return []
    names = re.split(r"[,;]\s+(?=\w+/)", match[1].strip())
    return [(line, name.strip()) for name in names]


def joined(lines):
    """(line, text) with what a 'Checked: a/b,' goes on with pulled up."""
    result = []
    for line, text in lines:
        if result and _CHECKED.search(result[-1][1]) and \
                result[-1][1].rstrip().endswith(","):
            result[-1] = (result[-1][0],
                          result[-1][1].rstrip() + " " + text.strip())
        else:
            result.append((line, text))
    return result


def _numbers(text):
    """The numbers in 'O1, O4 to O6'."""
    numbers = []
    for first, last in re.findall(r"\bO(\d+)\b(?: to O(\d+)\b)?", text):
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _rows(field):
    rows, broken = [], []
    open_row = None
    for line, text in field.lines + [(0, "")]:
        start = _ROW_START.match(text)
        if open_row and not start and text.strip() and "Checked:" not in text:
            open_row = (open_row[0], open_row[1] + " " + text.strip())
            continue
        if open_row:
            match = _ROW.match(open_row[1])
            if match:
                rows.append(Row(int(match[1]),
                                [m.strip() for m in match[2].split(",")],
                                match[3],
                                _numbers(match[4]),
                                open_row[0]))
            else:
                broken.append(open_row)
        open_row = (line, text) if start else None
    return rows, broken


def parse(text):
    """The template's parts in the text of a header."""
    top = _TOP.search(text)
    if not top:
        return LockHeader("", 1, [], [], [])
    first = text.count("\n", 0, top.start()) + 1
    title, title_line = "", first
    fields = []
    for number, raw in enumerate(top[0].split("\n")[1:-1], first + 1):
        body = re.sub(r"^ \*(?: (?! )|(?=\t| {2,})|$)", "", raw)
        match = _FIELD.match(body)
        if match:
            fields.append(Field(match[1], number, [(number, match[2] or "")]))
        elif fields:
            fields[-1].lines.append((number, body))
        elif not title and body.strip():
            title, title_line = body.strip(), number
    ordering = [f for f in fields if f.name == "Ordering"]
    rows, broken = _rows(ordering[0]) if ordering else ([], [])
    return LockHeader(title, title_line, fields, rows, broken)


# -- The lint --

FIELDS = ("Algorithm", "Source", "Use when", "Size", "Zero bytes", "Lifetime",
          "Fairness", "Capacity", "Context", "Assumes", "Sizes", "State",
          "Ordering", "Cost")

# Fields that are left out if there is nothing to say.
OPTIONAL = ("Sizes",)

# The fields whose claims a test checks.
CHECKED = ("Size", "Zero bytes", "Lifetime", "Fairness", "Capacity", "Ordering",
           "Cost")


def _check_order(name, header):
    known = [field for field in header.fields if field.name in FIELDS]
    for before, after in zip(known, known[1:]):
        if FIELDS.index(before.name) == FIELDS.index(after.name):
            yield Finding(name, after.line, f"field '{after.name}:' a second "
                          "time: keep one")
        elif FIELDS.index(before.name) > FIELDS.index(after.name):
            yield Finding(name, after.line, f"field '{after.name}:' comes "
                          f"after '{before.name}:': the order is "
                          + ", ".join(FIELDS))


def _check_field(name, field):
    if field.name not in FIELDS:
        yield Finding(name, field.line, f"no field '{field.name}:' in the "
                      "template: say it in one of " + ", ".join(FIELDS))
        return
    if not field.text:
        yield Finding(name, field.line, f"field '{field.name}:' is empty")
    if field.name in CHECKED and not field.checked:
        yield Finding(name, field.line, f"field '{field.name}:' names no test: "
                      "add 'Checked: <label>/<test>'")


def check_header(path, root):
    name = common.relative(path, root)
    text = path.read_text()
    header = parse(text)
    if not header.title.startswith(path.stem + " - "):
        yield Finding(name, header.title_line, "the top comment does not begin "
                      f"with '{path.stem} - what it is'")
    present = {field.name for field in header.fields}
    for missing in FIELDS:
        if missing not in present and missing not in OPTIONAL:
            yield Finding(name, header.title_line, f"field '{missing}:' is "
                          "missing from the top comment")
    yield from _check_order(name, header)
    for field in header.fields:
        yield from _check_field(name, field)
        if field.name == "Cost":
            yield from _check_cost(name, field, cxx.code_only(text))


# -- A Cost, as the simulator reads it 

_LINES = re.compile(r"(?:(?:\d+ x )?(?:log2\(Cpus\)|Cpus)(?: / \d+)?"
                    r"(?: \+ \d+)?|\b(?:\d+|no)) lines?\b")
_TERM = r"(?:(?:\d+ )?(?:{0}(?: \+ \d+)?|\({0} \+ \d+\))|\d+)"
_MISSES = r"(?<!\w){0}(?: to {0})? (?:misses|transfers)\b"


def _unread_cost(text, shared):
    """Returns the parts of a Cost that the simulator's test cannot read."""
    alone, semicolon, rest = text.partition(";")
    handoff, _, read = rest.partition("; a read:")
    parts = [("uncontended", alone, handoff, "w")]
    if not semicolon:
        yield "no ';' between uncontended and handoff"
        return
    if read:
        parts.append(("a read", *read.partition(";")[::2], "r"))
    elif shared:
        yield "nothing of '; a read: ...; among r readers: ...'"
    for whose, alone, contended, count in parts:
        if not _LINES.search(alone):
            yield f"{whose}: no number of lines"
        term = _TERM.format(count)
        if not re.search(_MISSES.format(term), contended):
            yield (f"{whose}: no misses or transfers, like '{count} + 1 to "
                   f"2 ({count} + 1) misses', behind the ';'")


def _check_cost(name, field, code):
    if "sim/costs" not in [test for _, test in field.checked]:
        return
    shared = re.search(r"\bvoid lock_shared\(", code)
    for what in _unread_cost(field.text, shared):
        yield Finding(name, field.line, f"the simulator cannot read 'Cost:': "
                      f"{what}")
    text = "\n".join(text for _, text in field.lines)
    if " ".join(text.partition("Checked:")[0].split()) != field.text:
        yield Finding(name, field.line, "the simulator reads no more of 'Cost:'"
                      " than stands before 'Checked:'")


# -- The tests behind Checked 

LABELS = {
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
    """{name: text from there to the next} of the test cases of a file."""
    text = cxx.without_comments(path.read_text())
    found = list(_CASE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {"".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match[1])):
            text[match.end():end] for match, end in zip(found, ends)}


def _used(path):
    """The names of the files that a test file includes or imports."""
    if path.suffix in (".cpp", ".hpp"):
        return [name.rpartition("/")[2] for name in
                re.findall(r'#include "([^"]+)"', path.read_text())]
    if path.suffix == ".py":
        return [name + ".py" for line in
                re.findall(r"(?m)^(?:import|from) (.*)", path.read_text())
                for name in re.findall(r"\w+", line)]
    return []


def built_files(root):
    """The test files that a CMake list names, and the headers that they
    include: what is in no list is in no test."""
    files = common.files(root, "tests_host") + common.files(root, "tests_qemu")
    lists = " ".join(path.read_text() for path in files
                     if path.suffix == ".cmake" or path.name == "CMakeLists.txt")
    named = set(re.findall(r"[\w.-]+", re.sub(r"(?m)^\s*#.*", "", lists)))
    by_name = {}
    for path in files:
        by_name.setdefault(path.name, []).append(path)
    # A proof is named without its ending.
    built = {path for path in files if path.name in named or
             path.suffix == ".smt2" and path.stem in named}
    fresh = built
    while fresh:
        names = {name for path in fresh for name in _used(path)}
        fresh = {path for name in names
                 for path in by_name.get(name, ())} - built
        built |= fresh
    return built


def test_names(root, folder, built):
    """(exact names, {name that may go on: text}) of the tests of a folder."""
    exact, cases = set(), {}
    for path in common.files(root, folder):
        if path.suffix == ".cmake" or path.name == "CMakeLists.txt":
            cases |= dict.fromkeys(_CTEST.findall(path.read_text()), "")
        if path not in built:
            continue
        if path.suffix in (".cpp", ".hpp"):
            cases |= _cases(path)
        if path.suffix in (".cpp", ".py", ".smt2"):
            exact.add(path.stem)
            exact.add(path.stem.removeprefix("test_"))
    return exact, cases


def _claims(path):
    """(line, 'label/test') of each Checked in the comments of a header."""
    text = path.read_text()
    for offset, comment in cxx.comments(text):
        first = common.line_of(text, offset)
        lines = [(first + i, re.sub(r"\s*\*/$|^\s*\*", "", line))
                 for i, line in enumerate(comment.split("\n"))]
        for line, whole in joined(lines):
            yield from checked_names(line, whole)


def check_tests(root):
    headers = common.files(root, "lib/klock", {".hpp"})
    built = built_files(root)
    known, found, claims = {}, [], 0
    for path in headers:
        name = common.relative(path, root)
        for line, claim in _claims(path):
            claims += 1
            label, slash, test = claim.partition("/")
            if not slash or label not in LABELS or not test:
                found.append(Finding(name, line, f"'Checked: {claim}': write "
                                     "<label>/<test>; labels: "
                                     + ", ".join(LABELS)))
                continue
            folder = LABELS[label]
            if not (root / folder).is_dir():
                found.append(Finding(name, line, f"'Checked: {claim}': not "
                                     f"yet, there is no {folder}", True))
                continue
            if folder not in known:
                known[folder] = test_names(root, folder, built)
            exact, cases = known[folder]
            if test not in exact and \
                    not any(case.startswith(test) for case in cases):
                found.append(Finding(name, line, f"'Checked: {claim}': no test "
                                     f"that a CMake list of {folder} builds has "
                                     f"a name that begins with \"{test}\""))
    if not claims:
        return common.nothing_found("no 'Checked:' in lib/klock")
    return found


def check_sizes(root, headers):
    """A test that goes through all locks may forget one. A wrapper's size is
    that of what is inside, and its own state's."""
    _, cases = test_names(root, LABELS["unit"], built_files(root))
    for path in headers:
        if path.name in common.WRAPPERS:
            continue
        size = parse(path.read_text()).field("Size")
        tests = [claim.partition("/")[2] for _, claim in
                 (size.checked if size else []) if claim.startswith("unit/")]
        texts = [text for name, text in cases.items()
                 if name.startswith(tuple(tests))]
        has_it = re.compile(rf"\bsizeof\([^()]*\b{path.stem}\b")
        if texts and not any(map(has_it.search, texts)):
            yield Finding(common.relative(path, root), size.line,
                          f"'{tests[0]}' has no sizeof({path.stem})")


def check(root):
    headers = common.lock_headers(root)
    if not headers:
        return common.nothing_found("no lib/klock/*_lock.hpp")
    return [finding for path in headers
            for finding in check_header(path, root)
            ] + check_tests(root) + list(check_sizes(root, headers))


if __name__ == "__main__":
    common.main(check, __doc__)
