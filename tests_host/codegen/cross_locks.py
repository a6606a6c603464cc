# SPDX-License-Identifier: MIT
"""Every lock of the list in the object code of AArch64 or RISC-V.

    changes     as many read-modify-writes as facts.py has for x86
    orders      lock() acquires, unlock() releases
    waits       lock() sleeps or pauses where it waits; a sleep lies right
                behind the read that marks what ends it; nobody sends an event
    symbols     nothing is asked of the program but klock_os_*
"""

import re
from pathlib import Path
from typing import NamedTuple

import cross
import objects
import orders

HERE = Path(__file__).resolve().parent
_PROBE = re.compile(r"probe_(\w+?)ILj(\d+)E")
OF_ANY_KERNEL = ("memcmp", "memcpy", "memmove", "memset")
_PADDING = ("nop", "c.nop")


class Row(NamedTuple):
    name: str
    lock: tuple    # (bytes, instructions)
    unlock: tuple
    changes: int   # read-modify-writes in lock() + unlock(), inlined
    unlock_changes: int
    acquires: bool # lock() does
    releases: bool # unlock() does
    waits: bool    # lock() sleeps, or pauses in a loop


def _with_callees(functions, name):
    reached, todo = {}, [name]
    while todo:
        at = todo.pop()
        if at in functions and at not in reached:
            reached[at] = functions[at]
            todo += [i.other for i in functions[at] if i.other]
    return reached


def size(code):
    """(bytes, instructions), less what only aligns."""
    code = [i for i in code if i.name not in _PADDING]
    return sum(2 if i.name.startswith("c.") else 4 for i in code), len(code)


def rows(compiler, machine, obj, scratch):
    """A Row for each lock that the object file has probes of, in order."""
    names, functions = compiler.names(obj, scratch), compiler.functions(obj)
    places = {}
    for symbol in functions:
        match = _PROBE.search(symbol)
        if match and "." not in symbol:
            places.setdefault(int(match[2]), {})[match[1]] = symbol
    if not names or sorted(places) != list(range(len(names))):
        raise objects.Failed(f"{len(names)} names, but probes of "
                             f"{sorted(places)}\n")
    for place, name in enumerate(names):
        parts = {verb: _with_callees(functions, symbol)
                 for verb, symbol in places[place].items()}
        code = {verb: [i for one in found.values() for i in one]
                for verb, found in parts.items()}
        line = {verb: orders.words(machine, all_of_it)
                for verb, all_of_it in code.items()}
        again = [word for one in parts["lock"].values()
                 for word in orders.words(machine, cross.repeated(one))]
        yield Row(name, size(code["lock"]), size(code["unlock"]),
                  orders.changes(line["pair"]), orders.changes(line["unlock"]),
                  orders.acquires(line["lock"]),
                  orders.releases(line["unlock"]),
                  "pause" in again or machine.sleep in again)


def check_row(row, expected):
    if not row.acquires:
        yield f"{row.name}: lock() does not acquire"
    if not row.releases:
        yield f"{row.name}: unlock() does not release"
    if not row.waits:
        yield f"{row.name}: lock() neither sleeps nor pauses where it waits"
    for what, has, should in (
            ("lock() + unlock() has", row.changes, expected.locked),
            ("unlock() has", row.unlock_changes, expected.unlock_locked)):
        if isinstance(should, tuple):
            should = should[0]
        # A compiler may write one down twice: before a loop, and in it.
        if should is not None and (has < should or has > 2 * should):
            yield (f"{row.name}: {what} {has} read-modify-writes, expected "
                   f"{should}")


def check_all(machine, functions):
    for name, code in functions.items():
        yield from orders.check_sleep(machine, name, code)
        if "sev" in orders.words(machine, code):
            yield f"{name}: SEV, where the store itself is the event"


def undefined(compiler, obj, of_any_kernel=False):
    """What a kernel would miss. A compiler may call the four functions of
    OF_ANY_KERNEL in any program, for a large structure."""
    return [f"undefined symbol {name}: a kernel has no library"
            for name in compiler.undefined(obj)
            if not name.startswith("klock_os_") and
            not (of_any_kernel and name in OF_ANY_KERNEL)]


def check(compiler, machine, scratch, expectations, extra=()):
    """(one line for each thing that is not as it should be, the rows)"""
    obj = compiler.compile(HERE / "all_locks.cpp", Path(scratch) / "locks.o",
                           extra)
    found = undefined(compiler, obj)
    found += check_all(machine, compiler.functions(obj))
    seen = list(rows(compiler, machine, obj, scratch))
    for row in seen:
        if row.name in expectations:
            found += check_row(row, expectations[row.name])
    return found, seen
