# SPDX-License-Identifier: MIT
"""A CPU's accesses to shared memory, and what their order depends on."""

from typing import NamedTuple

from solver import z3


class Value(NamedTuple):
    """The contents of a register, 64 bits, or of a byte of the stack.

    sources: the loads that it was computed from, which is what the manuals call
    an address or a data dependency of what uses it.
    """
    term: z3.BitVecRef
    sources: frozenset = frozenset()


class Event:
    """One access to shared memory.

    An instruction is one of them, or two where its load and its store are
    ordered apart: AArch64's read-modify-writes. A read-modify-write of x86 or
    RISC-V is one event that loads and stores.
    """

    def __init__(self, cpu, address, size, text):
        self.cpu = cpu
        self.address = address
        self.size = size
        self.text = text            # "4000b4 ldaxrb w3, [x2]"
        self.loaded = None          # a term of size * 8 bits, if it loads
        self.stored = None          # likewise, if it stores
        self.acquire = False
        self.acquire_pc = False     # AArch64: LDAPR
        self.release = False
        self.marks = False          # a load exclusive
        self.returns = True         # AArch64: false of STADD and its like
        self.single = False         # AArch64: one of LSE's, no exclusive
        self.locked = False         # x86: LOCK or XCHG
        self.pair = None            # a store's load exclusive, or LSE's load
        self.address_from = frozenset()  # the loads that its address depends on
        self.data_from = frozenset()     # ... what it stores
        self.control_from = frozenset()  # ... that it runs at all
        self.context_from = frozenset()  # AArch64: an ISB behind such a branch

    @property
    def loads(self):
        return self.loaded is not None

    @property
    def stores(self):
        return self.stored is not None

    def covers(self, cell):
        return self.address <= cell[0] and cell[1] <= self.address + self.size

    def overlaps(self, other):
        return (self.address < other.address + other.size and
                other.address < self.address + self.size)

    def __repr__(self):
        return f"<CPU {self.cpu}: {self.text}>"


class Fence(NamedTuple):
    """A fence, by its operands: "ish", "rw,w"; or "isb"."""
    kind: str


class Path(NamedTuple):
    """One way of a CPU through its code, from the first instruction to the
    last, or to a wait that it does not leave.

    looks: of such a wait, the events of the last round; else empty.
    wakes: of a sleep in futex(2), where the stores are that would end it.
    """
    items: tuple       # Event and Fence, in program order
    conditions: tuple  # of the values loaded: what lets the CPU go this way
    registers: dict    # name -> Value at the end
    looks: tuple = ()
    wakes: int = 0

    def events(self):
        return [item for item in self.items if isinstance(item, Event)]
