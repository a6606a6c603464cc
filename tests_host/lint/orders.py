# SPDX-License-Identifier: MIT
"""Each memory order stronger than relaxed has its reason, both ways.

An operation whose name ends in _acquire, _release, _acq_rel or _seq_cst
carries one tag on its statement, /* O1 */, and that tag is a row of the
header's Ordering table, which names the method, the operation and what it
pairs with. The model's mutation test then proves each row needed.

Every header of lib/klock is read but those that define the operations.
Run: orders.py --root DIR
"""

import re
from typing import NamedTuple

import common
import cxx
import fields
from common import Finding

# They define the operations.
DEFINE = ("atomic*.hpp", "builtin_ops.hpp")

_OPERATION = re.compile(
    r"\b(?!try_acquire\b)(\w+_(?:acquire|release|acq_rel|seq_cst))\b"
    r"\s*(?:<[^;(){}]*?>)?\s*\(")
_TAG = re.compile(r"/\*\s*O(\d+)\s*\*/")
# The model checker's tests (tests_host/model/orders.hpp) read a tag so: one a
# line, in these characters, in the line of the call's name or one of the four
# behind it.
_SPELT = re.compile(r"/\* O\d+ \*/")
FARTHEST = 4


class Operation(NamedTuple):
    name: str
    start: int
    statement: str  # the code from the statement's begin to the call's end
    end: int        # of the lines that may hold its tag
    tags: list      # (number, offset)


def _statement_start(code, offset):
    depth = 0
    for i in range(offset - 1, -1, -1):
        if code[i] in ")]":
            depth += 1
        elif code[i] in "([":
            depth -= 1
        elif code[i] in ";{}" and depth <= 0:
            return i + 1
    return 0


def operations(text):
    """The operations stronger than relaxed, each with its tags; stray tags."""
    code = cxx.code_only(text)
    found = []
    for match in _OPERATION.finditer(code):
        close = cxx.closing(code, match.end() - 1)
        start = _statement_start(code, match.start())
        found.append(Operation(match[1], match.start(), code[start:close + 1],
                               cxx.statement_end(code, close + 1), []))
    stray = []
    for offset, comment in cxx.comments(text):
        tag = _TAG.fullmatch(comment)
        if not tag:
            continue
        owners = [o for o in found if o.start < offset < o.end]
        if owners:
            owners[-1].tags.append((int(tag[1]), offset))
        else:
            stray.append((int(tag[1]), offset))
    return found, stray


def _check_table(name, header):
    for line, _ in header.broken_rows:
        yield Finding(name, line, "not a row of an Ordering table: write "
                      "'O<n>  method  operation  pairs with O<m>'")
    numbers = [row.number for row in header.rows]
    pairs = {row.number: row.pairs for row in header.rows}
    for expected, row in enumerate(header.rows, 1):
        if row.number != expected:
            yield Finding(name, row.line, f"row O{row.number} where "
                          f"O{expected} is due: number them densely from O1")
        if not row.pairs:
            yield Finding(name, row.line, f"row O{row.number} pairs with no "
                          "O<m>: name its other end")
        for other in row.pairs:
            if other not in numbers:
                yield Finding(name, row.line, f"O{row.number} pairs with "
                              f"O{other}, which is not in the table")
            elif row.number not in pairs[other]:
                yield Finding(name, row.line, f"O{row.number} pairs with "
                              f"O{other}, but O{other} does not say that it "
                              f"pairs with O{row.number}")


def _mentions(statement, place):
    """Whether it names place, or place as a part of a name: flag, flag_of."""
    return re.search(rf"(?<![A-Za-z0-9]){place}(?![A-Za-z0-9])", statement)


def _check_row(name, row, operation, code, functions, line):
    tag = f"O{row.number}"
    if row.name != operation.name:
        yield Finding(name, line, f"{tag} is on {operation.name}, but its row "
                      f"says {row.name}")
    elif row.place and not _mentions(operation.statement, row.place):
        yield Finding(name, line, f"{tag}'s row says {row.operation}, but "
                      f"this statement does not name {row.place}")
    function = cxx.enclosing(functions, operation.start)
    for method in row.methods:
        if not function or function.name not in cxx.reached_from(
                code, functions, method):
            yield Finding(name, line, f"{tag} is in "
                          f"{function.name if function else 'no function'}(), "
                          f"which {method}(), named in its row, does not run")


def _check_spelling(name, text, operation):
    """As orders.hpp reads it."""
    first = common.line_of(text, operation.start)
    for number, offset in operation.tags:
        line = common.line_of(text, offset)
        whole = text.splitlines()[line - 1]
        if not _SPELT.match(text, offset):
            yield Finding(name, line, f"write '/* O{number} */', which the "
                          "model checker's tests read")
        if len(_TAG.findall(whole)) > 1:
            yield Finding(name, line, "two tags in one line, of which the "
                          "model checker's tests read one")
        if line > first + FARTHEST:
            yield Finding(name, line, f"O{number} stands {line - first} lines "
                          f"behind its operation: {FARTHEST} at most")


def check_header(path, root):
    name = common.relative(path, root)
    text = path.read_text()
    header = fields.parse(text)
    yield from _check_table(name, header)
    code = cxx.code_only(text)
    functions = cxx.functions(code)
    rows = {row.number: row for row in header.rows}
    found, stray = operations(text)
    used = {}
    for number, offset in stray:
        yield Finding(name, common.line_of(text, offset), f"tag O{number} is "
                      "on no operation stronger than relaxed: remove it")
    for operation in found:
        line = common.line_of(text, operation.start)
        if not operation.tags:
            yield Finding(name, line, f"{operation.name} without a tag: add a "
                          "row to the Ordering table and /* O<n> */ behind "
                          "the operation")
        if len(operation.tags) > 1:
            tags = ", ".join(f"O{number}" for number, _ in operation.tags)
            yield Finding(name, line, f"{operation.name} carries {tags}: one "
                          "tag an operation, right behind it")
        yield from _check_spelling(name, text, operation)
        for number, _ in operation.tags:
            if number in used:
                yield Finding(name, line, f"O{number} is on {operation.name} "
                              f"and, in line {used[number]}, on another "
                              "operation: one row each")
            used[number] = line
            if number not in rows:
                yield Finding(name, line, f"tag O{number} has no row in the "
                              "Ordering table")
            else:
                yield from _check_row(name, rows[number], operation, code,
                                      functions, line)
    for row in header.rows:
        if row.number not in used:
            yield Finding(name, row.line, f"row O{row.number}: no operation "
                          f"carries /* O{row.number} */")


def check(root):
    headers = [path for path in sorted((root / "lib/klock").glob("*.hpp"))
               if not any(path.match(pattern) for pattern in DEFINE)]
    if not headers:
        return common.nothing_found("no headers in lib/klock")
    return [finding for path in headers for finding in check_header(path, root)]


if __name__ == "__main__":
    common.main(check, __doc__)
