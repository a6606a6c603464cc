# SPDX-License-Identifier: MIT
"""The machines: how their code is carried out, and what their order is."""

from typing import NamedTuple

import aarch64
import riscv
import x86
from events import Event


class Machine(NamedTuple):
    name: str
    interpreter: type
    before: object  # the events that an event's own CPU orders before it

    def order(self, path, known):
        """{event: the events ordered before it}, without those that follow from
        others. known: what it has been for events of other paths."""
        for i, event in enumerate(path.items):
            if isinstance(event, Event) and event not in known:
                known[event] = _reduced(self.before(path.items[:i + 1]), event,
                                        path.items[:i], known)
        return known


def _reduced(found, event, earlier, known):
    """The last of them, and those that none of them is behind."""
    kept, implied = [], set()
    for other in reversed(earlier):
        if not isinstance(other, Event) or other not in found:
            continue
        if other not in implied:
            kept.append(other)
        if other not in implied:
            _close(other, known, implied)
    return kept


def _close(event, known, implied):
    todo = list(known[event])
    while todo:
        other = todo.pop()
        if other not in implied:
            implied.add(other)
            todo += known[other]


MACHINES = {
    "x86": Machine("x86", x86.X86, x86.before),
    "aarch64": Machine("aarch64", aarch64.AArch64, aarch64.before),
    "riscv": Machine("riscv", riscv.RiscV, riscv.before),
}
