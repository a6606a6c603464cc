# SPDX-License-Identifier: MIT
"""Reads litmus tests in herd's format, in each dialect that klock has.

C                        the checker's tests: table.py makes C++ of them
X86_64, AArch64, RISCV   ../machine/litmus.py

The format is that of herd7 (herdtools7), but that a file has many tests, one
after the other. `herd.py --into DIR FILE` writes each into a file of its own.
herd7 7.57 takes them, but for hexadecimal numbers in code, a loop in C and a
few instructions, and has the same verdicts (of C by its rc11.cat, as many
executions, too), but for x86's SB+lfences, which the SDM allows.

Only a part of C is read: a body's statements are those of _CALLS and a loop
around a load. What is not understood is an error with its line, and nothing is
passed over.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "toolchain"))
import tool

DIALECTS = ("C", "X86_64", "AArch64", "RISCV")
_BYTES = {"int": 4, "uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8}
_ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")

# An operation's name here; how many arguments and orders it has, and whether
# its result is assigned.
_CALLS = {
    "atomic_load_explicit": ("load", 1, 1, True),
    "atomic_store_explicit": ("store", 2, 1, False),
    "atomic_exchange_explicit": ("exchange", 2, 1, True),
    "atomic_fetch_add_explicit": ("add", 2, 1, True),
    "atomic_compare_exchange_strong_explicit": ("cas", 3, 2, False),
    "atomic_thread_fence": ("fence", 0, 1, False),
}

_COMMENT = re.compile(r"^\(\*.*?\*\)$", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r"(\w+) ([\w/.+\[\]-]+)\n")
_DOC = re.compile(r'"([^"\n]*)"\n')
_INFO = re.compile(r"([A-Za-z]\w*)=(.*)\n")
_INIT = re.compile(r"\{([^{}]*)\}\n")
_ROW = re.compile(r"([^;\n]*);\n")
_FUNCTION = re.compile(r"P(\d) \(([^()]*)\) \{\n(.*?)^\}\n", re.DOTALL | re.M)
_CONDITION = re.compile(r"exists \(([^()]*)\)\n")

_PARAMETER = re.compile(r"(atomic_int|int)\* (\w+)$")
_CALL = re.compile(r"(?:int (\w+) = )?(\w+)\((.*)\)$")
_LOOP = re.compile(r"while \((.*) != (\d+)\)$")
_LOCATION = re.compile(r"(?:(\w+) )?([a-z]\w*)(?:=(\w+))?$")
_REGISTER = re.compile(r"(\d):(\w+)=(\w+)$")
_CONTENTS = re.compile(r"\[(\w+)\]=(\w+)$")


class Malformed(tool.Trouble):
    """A text that is no test: its file, its line, and why."""


class Location(NamedTuple):
    bytes: int
    value: int  # at first


class Operation(NamedTuple):
    """A statement of C. What it has read is in `result`, a variable of its CPU;
    of a compare_exchange, in the location `expected`."""
    what: str
    location: str = ""
    value: str = "0"
    expected: str = ""
    orders: tuple = ()  # of success, and of failure
    result: str = ""


class Clause(NamedTuple):
    cpu: int     # None: `name` is a location
    name: str
    value: int


class Test(NamedTuple):
    where: str       # file and line
    dialect: str
    name: str
    doc: str
    info: dict
    locations: dict  # {name: Location}
    registers: dict  # {CPU: {register: a location's name}}
    code: list       # of each CPU: instructions or Operations
    outcome: list    # of Clauses, all of which hold
    text: str        # from head to condition


class _Reader:
    def __init__(self, path):
        self.path = path
        # A comment's lines stay, so that all others keep their numbers.
        self.text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"),
                                 path.read_text())
        self.at = 0

    def where(self, at):
        return f"{self.path}:{self.text.count(chr(10), 0, at) + 1}"

    def fail(self, why, at=None):
        at = self.at if at is None else at
        raise Malformed(f"{self.where(at)}: {why}")

    def take(self, pattern, wanted=None):
        """The match that begins here. Without one: None, or an error if it is
        wanted."""
        while self.text.startswith("\n", self.at):
            self.at += 1
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        elif wanted:
            line = self.text[self.at:].partition("\n")[0]
            self.fail(f"{wanted} is expected, not: {line}")
        return match

    def parts(self, match, group, separator):
        """(text, its place) of each part of a group that is not empty."""
        at = match.start(group)
        for part in match[group].split(separator):
            if words := part.split():
                yield " ".join(words), at + part.index(words[0])
            at += len(part) + len(separator)

    def add(self, to, name, value, at):
        if name in to:
            self.fail(f"{name} again", at)
        to[name] = value

    def number(self, text, at):
        try:
            return int(text, 0)
        except ValueError:
            self.fail(f"no number: {text}", at)


def _initial(reader):
    """({name: Location}, {CPU: {register: a location's name}})"""
    init = reader.take(_INIT, "{ }")
    locations, registers = {}, {}
    for text, at in reader.parts(init, 1, ";"):
        register, location = _REGISTER.match(text), _LOCATION.match(text)
        if register:
            cpu, name, value = register.groups()
            reader.add(registers.setdefault(int(cpu), {}), name, value, at)
        elif location and (location[1] or "int") in _BYTES:
            kind, name, value = location.groups("0")
            reader.add(locations, name,
                       Location(_BYTES.get(kind, 4), reader.number(value, at)),
                       at)
        else:
            reader.fail(f"no initial value: {text}", at)
    return locations, registers


def _instructions(reader):
    """The columns of the rows under P0 | P1 ;"""
    columns = []
    while not _CONDITION.match(reader.text, reader.at):
        row = reader.take(_ROW, "a row that ends by ;")
        cells = [cell.strip() for cell in row[1].split("|")]
        if not columns and cells != [f"P{cpu}" for cpu in range(len(cells))]:
            reader.fail("the first row is not P0 | P1 ;", row.start())
        if columns and len(cells) != len(columns):
            reader.fail(f"{len(cells)} columns, not {len(columns)}",
                        row.start())
        columns = columns or [[] for _ in cells]
        for column, cell in zip(columns, cells):
            column.append(cell)
    return [[cell for cell in column[1:] if cell] for column in columns]


def _operation(reader, text, at, kinds):
    loop = _LOOP.match(text)
    if loop:
        text = "int turns = " + loop[1]
    call = _CALL.match(text)
    if not call or call[2] not in _CALLS:
        reader.fail(f"no statement that is read here: {text}", at)
    what, operands, orders, assigns = _CALLS[call[2]]
    words = [word.strip() for word in call[3].split(",")]
    named = [word.removeprefix("memory_order_") for word in words[operands:]]
    if len(named) != orders or not set(named) <= set(_ORDERS):
        reader.fail(f"other arguments than {call[2]} has", at)
    if bool(call[1]) != assigns:
        reader.fail(f"{call[2]}: its result is "
                    f"{'not used' if assigns else 'none to assign'}", at)
    if what == "fence":
        return Operation(what, orders=tuple(named))
    expected = words[1] if what == "cas" else ""
    for name, kind in (words[0], "atomic_int"), (expected, "int"):
        if name and kinds.get(name) != kind:
            reader.fail(f"{name} is no parameter of type {kind}*", at)
    if loop:
        return Operation("loads", words[0], loop[2], orders=tuple(named))
    value = words[operands - 1] if operands > 1 else "0"
    reader.number(value, at)
    return Operation(what, words[0], value, expected, tuple(named),
                     call[1] or "")


def _functions(reader):
    """(the operations of each thread, the names of all parameters)"""
    code, names = [], set()
    while match := reader.take(_FUNCTION):
        if int(match[1]) != len(code):
            reader.fail(f"P{match[1]} is not P{len(code)}", match.start())
        kinds, results = {}, {}
        for text, at in reader.parts(match, 2, ","):
            parameter = _PARAMETER.match(text)
            if not parameter:
                reader.fail(f"no parameter that is read here: {text}", at)
            reader.add(kinds, parameter[2], parameter[1], at)
        code.append([])
        for text, at in reader.parts(match, 3, ";"):
            made = _operation(reader, text, at, kinds)
            if made.result:
                reader.add(results, made.result, made, at)
            code[-1].append(made)
        names |= set(kinds)
    return code, names


def _check_initial(test, names):
    """Checks that each initial value is one of a name in the code."""
    code = [] if test.dialect == "C" else test.code
    for cpu, of in test.registers.items():
        text = "\n".join(code[cpu]) if cpu < len(code) else ""
        for name in set(of) - set(re.findall(r"\w+", text)):
            raise Malformed(f"{test.where}: {cpu}:{name} is in no instruction")
    for name in set(test.locations) - names:
        raise Malformed(f"{test.where}: {name} is in no thread")


def _outcome(reader, test):
    """The clauses of `exists`. Each names what the test has."""
    condition = reader.take(_CONDITION, "exists (...)")
    for text, at in reader.parts(condition, 1, "/\\"):
        register, contents = _REGISTER.match(text), _CONTENTS.match(text)
        if register and int(register[1]) < len(test.code):
            test.outcome.append(Clause(int(register[1]), register[2],
                                       reader.number(register[3], at)))
        elif contents and contents[1] in test.locations:
            test.outcome.append(Clause(None, contents[1],
                                       reader.number(contents[2], at)))
        else:
            reader.fail(f"no outcome of this test: {text}", at)


def _test(reader):
    head = reader.take(_HEAD, "a dialect and a name")
    if head[1] not in DIALECTS:
        reader.fail(f"no dialect of {', '.join(DIALECTS)}: {head[1]}",
                    head.start())
    doc = reader.take(_DOC)
    info = {}
    while match := reader.take(_INFO):
        reader.add(info, match[1], match[2], match.start())
    locations, registers = _initial(reader)
    if head[1] == "C":
        code, names = _functions(reader)
    else:
        code = _instructions(reader)
        names = {name for of in registers.values() for name in of.values()}
    if not code:
        reader.fail("P0 is expected")
    test = Test(reader.where(head.start()), head[1], head[2],
                doc[1] if doc else "", info, locations, registers, code, [], "")
    _check_initial(test, names)
    for name in names:
        locations.setdefault(name, Location(4, 0))
    _outcome(reader, test)
    return test._replace(text=reader.text[head.start():reader.at])


def read(path):
    """All tests of a file. No two have one name."""
    reader = _Reader(path)
    tests = {}
    while reader.text[reader.at:].strip():
        test = _test(reader)
        if test.name in tests:
            raise Malformed(f"{test.where}: {test.name} again, as at "
                            f"{tests[test.name].where}")
        tests[test.name] = test
    return list(tests.values())


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--into", required=True, type=Path)
    parser.add_argument("file", type=tool.existing)
    arguments = parser.parse_args()
    for test in read(arguments.file):
        tool.write(arguments.into / f"{test.name}.litmus", test.text)
    return 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
