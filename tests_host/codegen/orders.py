# SPDX-License-Identifier: MIT
"""Every operation of a port, in the object code of AArch64 or RISC-V.

probes.py writes a function for each operation and type; tables.py says of which
instructions it must be, from its order. A compiler that drops an order is found
here and nowhere else: an emulator on x86 has x86's orders.
"""

import re
from pathlib import Path

import flow
import probes

_SIZES = {"bool": 1, "u8": 1, "schar": 1, "u16": 2, "u32": 4, "int": 4,
          "word_enum": 4, "usize": 8, "pointer": 8}
_NAME = re.compile(r"probe_(?:(pair|fields)_)?(\w+?)_"
                   r"(relaxed|acquire|release|acq_rel|seq_cst)"
                   r"(?:__(word_enum|[a-z0-9]+)(?:_(first|second|\d))?)?$")


class Wanted:
    """What a probe's name says of it."""

    def __init__(self, name):
        kind, self.operation, self.order, short, part = \
            _NAME.match(name).groups()
        self.name = name
        self.change = {"await_exchange": "exchange", "advance": "fetch_add"} \
            .get(self.operation, self.operation)
        one = self.size = _SIZES.get(short, 0)
        fields = {None: 1, "pair": 2}.get(kind) or int(part)
        fields = 4 if fields == 3 else fields
        if self.operation in ("compare_exchange", "advance"):
            self.size *= fields
        # Of several fields the last, but for a pair's first and three's third.
        index = {None: 0, "first": 0, "second": 1}.get(part) if \
            kind != "fields" else int(part) - 1
        # Its carry leaves an aligned word of 4 bytes (arch/riscv).
        self.at_the_top = (self.operation == "fetch_add" and one < 4 and
                           fields * one >= 4 and (index + 1) * one % 4 == 0)


def pattern(machine, wanted):
    """(what the words must be, which words do not count)"""
    operation, order = wanted.operation, wanted.order
    if operation == "load":
        return machine.loads[order], ()
    if operation == "store":
        return machine.stores[order], ()
    if operation == "fence":
        return machine.fences[order], ()
    if operation in ("await", "await_eq", "await_ne"):
        return machine.wait(order), ()
    if operation == "await_exchange":
        one = re.escape(machine.change(wanted, order))
        return f"{one}(?: {one})*", ("pause",)
    if operation.startswith("await"):
        one = machine.loads[order]
        return f"{one}(?: {one})*", ("pause", "call")
    # A compare_exchange reads what it expects, and writes what it found.
    return re.escape(machine.change(wanted, order)), (
        ("load", "store") if operation == "compare_exchange" else ())


def words(machine, code):
    return [text for text in map(machine.word, code) if text]


def check_sleep(machine, name, code):
    """Nothing happens between the read that marks and the sleep; and no sleep
    has neither a mark nor an event before it."""
    named = {i.offset: machine.word(i) for i in code}
    sleeps = [at for at, word in named.items() if word == machine.sleep]
    if not sleeps:
        return
    marks = [at for at, word in named.items() if word in machine.marks]
    events = [at for at, word in named.items() if word == machine.event]
    for i in flow.between(code, marks, sleeps, events):
        if named[i.offset]:
            yield (f"{name}: {i.name} {i.operands} between the read that marks "
                   f"and {machine.sleep}")
    if flow.leads_to(code, sleeps, marks + events):
        yield f"{name}: {machine.sleep} without a mark or an event before it"
    for at in sleeps:
        if not flow.reached({at}, flow.after(code)) & {*marks}:
            yield f"{name}: nothing is read after {machine.sleep}"


def check_operation(machine, wanted, code):
    """One line for each thing that is not as the operation's order demands."""
    line = words(machine, code)
    expected, ignored = pattern(machine, wanted)
    counted = " ".join(word for word in line if word not in ignored)
    if not re.fullmatch(expected, counted):
        yield f"{wanted.name} is '{' '.join(line)}', expected '{expected}'"
    yield from check_sleep(machine, wanted.name, code)
    if not wanted.operation.startswith("await") or machine.sleep in line:
        return
    again = words(machine, flow.repeated(code))
    if "pause" not in again:
        yield f"{wanted.name}: its loop has no pause"
    if wanted.operation in ("await_paced", "await_patient") and \
            "call" not in again:
        yield f"{wanted.name}: its loop does not ask for the pace"


def check(compiler, machine, scratch, extra=(), only=None):
    """One line for each operation that is not what its name says; only: of
    those alone whose names it matches."""
    wanted = [probe for probe in probes.every(probes.names(compiler.lib))
              if not only or re.search(only, probe.name)]
    path = Path(scratch) / "orders.cpp"
    path.write_text(probes.source(wanted))
    obj = compiler.compile(path, Path(scratch) / "orders.o", extra)
    found = [f"undefined symbol {name}: a kernel has no library"
             for name in compiler.undefined(obj)
             if not name.startswith("klock_os_")]
    functions = compiler.functions(obj)
    for probe in wanted:
        found += check_operation(machine, Wanted(probe.name),
                                 functions[probe.name])
    print(f"{compiler}: {len(wanted)} operations")
    return found
