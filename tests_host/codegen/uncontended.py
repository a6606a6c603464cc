# SPDX-License-Identifier: MIT
"""Counts the instructions of an uncontended critical section.

From a function's first instruction to its return, by the shortest way through
its read-modify-write: with a pair of exclusive accesses, one attempt. The owner
in the word, with klock_os_inheriting_thread() inline, costs at most what mutex
does. check.py and architecture.py run it.
"""

import re
from collections import deque
from pathlib import Path
from typing import NamedTuple

import cross
import objects

HERE = Path(__file__).resolve().parent
# A mutex that knows its owner: so many instructions more, at most.
MORE = 0


class Code(NamedTuple):
    first: int
    steps: dict    # {offset: the offsets that may come next}
    changes: set   # offsets of what writes, in each read-modify-write
    returns: set   # offsets


_X86_ENDS = re.compile(r"(?:jmp|ret|ud2)")
_WRITES = re.compile(r"st(l?)xr|strex|cas|sc\.")


def _of_x86(function):
    steps = {}
    for i in function.code:
        steps[i.offset] = {i.target} if i.target >= 0 else set()
        if not _X86_ENDS.match(i.text):
            steps[i.offset].add(i.offset + i.length)
    return Code(function.offset, steps,
                {i.offset for i in function.code if i.text.startswith("lock")},
                {i.offset for i in function.code if i.text.startswith("ret")})


def _of_others(code):
    return Code(code[0].offset, cross.after(code),
                {i.offset for i in code if _WRITES.match(i.name)},
                cross.returns(code))


def _way(code, start, ends):
    """How many steps from start to the nearest of ends; None: no way."""
    seen, todo = {start: 0}, deque([start])
    while todo:
        at = todo.popleft()
        if at in ends:
            return seen[at]
        for there in code.steps.get(at, ()):
            if there not in seen:
                seen[there] = seen[at] + 1
                todo.append(there)
    return None


def instructions(code):
    """Counts those of the shortest way to a return through a write."""
    ways = []
    for change in code.changes:
        there = _way(code, code.first, {change})
        back = _way(code, change, code.returns)
        if there is not None and back is not None:
            ways.append(there + back + 1)
    return min(ways, default=None)


def _read(compiler, scratch, way):
    source, obj = HERE / "uncontended.cpp", Path(scratch) / "uncontended.o"
    if isinstance(compiler, cross.Cross):
        found = compiler.functions(compiler.compile(source, obj, way))
        return {name: _of_others(code) for name, code in found.items()}
    found = objects.functions(compiler.compile_as_kernel(source, obj, way))
    return {name: _of_x86(function) for name, function in found.items()}


def _compare(code, kind, verb):
    """(how many more than mutex's, the read-modify-writes more, the text)"""
    plain, other = code[f"plain_{verb}"], code[f"{kind}_{verb}"]
    cost = [instructions(one) for one in (plain, other)]
    if None in cost:
        return None, 0, f"{kind}_{verb}: no way through it is found"
    return (cost[1] - cost[0], len(other.changes) - len(plain.changes),
            f"{verb} {cost[1]}, mutex's {cost[0]}")


def check(compiler, scratch, ways=("-O1", "-O2", "-O3", "-Os")):
    for way in ([option] for option in ways):
        code = _read(compiler, scratch, way)
        table = []
        for verb in ("lock", "unlock"):
            more, writes, text = _compare(code, "owner", verb)
            table.append(text)
            if more is None or more > MORE or writes > 0:
                yield f"{way[0]}: inheriting_mutex: {text}"
            more, writes, text = _compare(code, "wrong", verb)
            if more is None or (more <= MORE and writes <= 0):
                yield f"{way[0]}: wrong_{verb}: {text}: nothing is found"
        print(f"{compiler} {way[0]}, instructions without a contender: "
              f"{'; '.join(table)}")
