# SPDX-License-Identifier: MIT
"""RISC-V, 64 bits: what its instructions do, and the order that it keeps.

The RISC-V Instruction Set Manual, volume I: RVWMO (chapter "RVWMO Memory
Consistency Model"), whose rules of preserved program order are `before`, but
for rule 2 (formula.py, _read_in_order). An AMO is one event, as there.
"""

import copy
import re

from solver import z3

from events import Fence, Value
from interpreter import (Interpreter, RETURN, Unknown, constant, low,
                         sign_extended, zero_extended)

_SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}
_IGNORED = {"nop", "pause", "wrs.nto", "wrs.sto"}
# Hints that this objdump does not know: PAUSE is a fence of nothing.
_WORDS = {"0x0100000f": "pause", "0x00d00073": "wrs.nto",
          "0x01d00073": "wrs.sto"}
_INTERRUPTS = {"csrc", "csrs", "csrrc", "csrci", "csrsi", "csrrci"}
_INTERRUPTS_ON = 2  # what is read; a section of klock's is in no other
_ACCESS = re.compile(r"([ls])([bhwd])(u?)$")
_RESERVED = re.compile(r"(lr|sc)\.([bhwd])(?:\.(aqrl|aq|rl))?$")
_ATOMIC = re.compile(r"amo(add|swap|or|and|xor|cas)\.([bhwd])"
                     r"(?:\.(aqrl|aq|rl))?$")
_BRANCH = re.compile(r"b(eq|ne|lt|ge|ltu|geu|gt|le|gtu|leu)(z?)$")
_PLACE = re.compile(r"(-?\w*)\((\w+)\)$")
_COMPARE = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "le": lambda x, y: x <= y,
    "ltu": z3.ULT,
    "geu": z3.UGE,
    "gtu": z3.UGT,
    "leu": z3.ULE,
}
_CHANGES = {
    "add": lambda old, by: old + by,
    "swap": lambda old, by: by,
    "or": lambda old, by: old | by,
    "and": lambda old, by: old & by,
    "xor": lambda old, by: old ^ by,
}
# Each also with a number as its last operand: addi, which objdump calls add.
_ARITHMETIC = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "mul": lambda x, y: x * y,
    "sll": lambda x, y: x << (y & (x.size() - 1)),
    "srl": lambda x, y: z3.LShR(x, y & (x.size() - 1)),
    "sra": lambda x, y: x >> (y & (x.size() - 1)),
    "slt": lambda x, y: _bit(x < y),
    "sltu": lambda x, y: _bit(z3.ULT(x, y)),
}
_OF_ONE = {
    "mv": lambda x: x,
    "not": lambda x: ~x,
    "neg": lambda x: -x,
    "negw": lambda x: sign_extended(-low(x, 32)),
    "seqz": lambda x: _bit(x == 0),
    "snez": lambda x: _bit(x != 0),
    "sltz": lambda x: _bit(x < 0),
    "sgtz": lambda x: _bit(x > 0),
    "sext.b": lambda x: sign_extended(low(x, 8)),
    "sext.h": lambda x: sign_extended(low(x, 16)),
    "sext.w": lambda x: sign_extended(low(x, 32)),
    "zext.b": lambda x: zero_extended(low(x, 8)),
    "zext.h": lambda x: zero_extended(low(x, 16)),
    "zext.w": lambda x: zero_extended(low(x, 32)),
}


def _bit(condition):
    return z3.If(condition, constant(1), constant(0))


class RiscV(Interpreter):
    stack_pointer = "sp"
    arguments = tuple(f"a{n}" for n in range(8))
    preserved = ("a0", "sp", "ra") + tuple(f"s{n}" for n in range(12))
    full_fence = "rw,rw"
    futex = 98

    def enter(self, state):
        state.write("sp", constant(self.stack))
        state.write("tp", constant(self.thread))
        state.write("ra", constant(RETURN))

    def get(self, state, name):
        if name == "zero":
            return Value(constant(0))
        return state.read(name)

    def put(self, state, name, term, sources=frozenset()):
        if name != "zero":
            state.write(name, term, sources)

    def operand(self, state, word):
        """A register or a number."""
        try:
            return Value(constant(int(word, 0)))
        except ValueError:
            return self.get(state, word)

    def place(self, state, text):
        match = _PLACE.match(text)
        if not match:
            raise Unknown(f"address {text}")
        base = self.get(state, match[2])
        offset = int(match[1], 0) if match[1] else 0
        return Value(z3.simplify(base.term + offset), base.sources)

    # -- Instructions --------------------------------------------------------

    def execute(self, state, instruction):
        name = instruction.name
        words = instruction.operands.replace(" ", "").split(",")
        if name in (".word", ".4byte", ".insn"):
            name = _WORDS.get(words[-1], name + " " + words[-1])
        here = copy.copy(state)
        here.pc = instruction.after
        if name in _IGNORED:
            if name == "wrs.nto":
                self.sleeps(here)
            return [here]
        if name in ("fence", "fence.tso"):
            kind = "tso" if name == "fence.tso" else ",".join(words)
            if kind == "w,unknown":  # objdump's name for clang's PAUSE
                return [here]
            if "unknown" in kind:
                raise Unknown(f"{instruction}")
            here.add(Fence(kind or "iorw,iorw"))
            return [here]
        if name == "ecall":
            number, *arguments = (self.get(here, register).term
                                  for register in ("a7", "a0", "a1", "a2"))
            self.system_call(here, number, arguments, instruction)
            self._forget(here, "a0")
            return [here]
        if name in _INTERRUPTS and "sstatus" in words:
            if name.startswith("csrrc"):
                self.put(here, words[0], constant(_INTERRUPTS_ON))
            return [here]
        if name in ("rdtime", "rdcycle"):
            self._forget(here, words[0])
            return [here]
        if name == "auipc":
            upper = sign_extended(constant(int(words[1], 0) << 12, 32))
            self.put(here, words[0], upper + instruction.address)
            return [here]
        branches = self.branch(here, name, words)
        if branches is not None:
            return branches
        for form, does in ((_ACCESS, self.accesses), (_RESERVED, self.reserves),
                           (_ATOMIC, self.atomics)):
            if match := form.match(name):
                return list(does(here, match, words, instruction))
        self.computes(here, name, words)
        return [here]

    def branch(self, state, name, words):
        """The states behind a branch, or None if it is none."""
        after = state.pc
        if name == "ret":
            term = z3.simplify(self.get(state, "ra").term)
            if not z3.is_bv_value(term):
                raise Unknown("return to an address that is loaded")
            state.pc = term.as_long()
            state.calls = state.calls[:-1]
            return [state]
        if name in ("jr", "jalr"):
            place = words[-1] if "(" in words[-1] else f"({words[-1]})"
            term = z3.simplify(self.place(state, place).term)
            if not z3.is_bv_value(term) or len(words) > 1:
                raise Unknown(f"{name} {','.join(words)}")
            if name == "jalr":
                state.write("ra", constant(after))
                state.calls = state.calls + (after,)
            state.pc = term.as_long()
            return [state]
        if name in ("j", "jal"):
            state.pc = int(words[-1], 16)
            if name == "jal":
                if len(words) > 1 and words[0] != "ra":
                    raise Unknown(f"jal {words}")
                state.write("ra", constant(after))
                state.calls = state.calls + (after,)
            return [state]
        match = _BRANCH.match(name)
        if not match:
            return None
        x = self.get(state, words[0])
        y = Value(constant(0)) if match[2] else self.get(state, words[1])
        condition = _COMPARE[match[1]](x.term, y.term)
        return list(self.fork(state, condition, x.sources | y.sources,
                              int(words[-1], 16), after))

    def accesses(self, state, match, words, instruction):
        kind, letter, unsigned = match.groups()
        size = _SIZES[letter]
        address = self.place(state, words[1])
        if kind == "s":
            value = self.get(state, words[0])
            yield from self.store(state, address, value, size, instruction)
            return
        for other, value in self.load(state, address, size, instruction):
            extend = zero_extended if unsigned else sign_extended
            self.put(other, words[0], extend(value.term), value.sources)
            yield other

    def reserves(self, state, match, words, instruction):
        kind, letter, order = match.groups()
        size = _SIZES[letter]
        address = self.place(state, words[-1])
        marks = _orders(order)
        if kind == "lr":
            for other, value in self.load(state, address, size, instruction,
                                          marks=True, **marks):
                self.put(other, words[0], sign_extended(value.term),
                         value.sources)
                yield other
            return
        failed = copy.copy(state)
        failed.failures += 1
        failed.marked = None
        self.put(failed, words[0], constant(1))
        yield failed
        if state.marked is None:
            return
        value = self.get(state, words[1])
        pair = state.marked
        state.marked = None
        for other in self.store(state, address, value, size, instruction,
                                pair=pair, **marks):
            if (other.items[-1].address, size) != (pair.address, pair.size):
                raise Unknown(f"{instruction}: another size or address than "
                              "its load")
            self.put(other, words[0], constant(0))
            yield other

    def atomics(self, state, match, words, instruction):
        kind, letter, order = match.groups()
        size = _SIZES[letter]
        address = self.place(state, words[2])
        argument = self.get(state, words[1])
        by = low(argument.term, 8 * size)
        sources = argument.sources
        if kind == "cas":
            expected = self.get(state, words[0])
            yield from self.compares(state, address, size, expected, argument,
                                     words, instruction, _orders(order))
            return
        change = _CHANGES[kind]
        for other, old in self.update(state, address, size,
                                      lambda value: change(value, by), sources,
                                      instruction, **_orders(order)):
            self.put(other, words[0], sign_extended(old.term), old.sources)
            yield other

    def compares(self, state, address, size, expected, new, words, instruction,
                 marks):
        """AMOCAS: an AMO if it swaps. If not, it is a load, whose release is
        nothing."""
        wanted = low(expected.term, 8 * size)
        by = low(new.term, 8 * size)
        for other, old in self.load(state, address, size, instruction,
                                    acquire=marks["acquire"]):
            other.conditions += (old.term != wanted,)
            if self.possible(other.conditions):
                self.put(other, words[0], sign_extended(old.term), old.sources)
                yield other
        for other, old in self.update(state, address, size, lambda value: by,
                                      new.sources, instruction, **marks):
            other.conditions += (old.term == wanted,)
            if self.possible(other.conditions):
                self.put(other, words[0], sign_extended(old.term), old.sources)
                yield other

    def computes(self, state, name, words):
        """Instructions that touch no memory."""
        if name == "li":
            self.put(state, words[0], constant(int(words[1], 0)))
        elif name == "lui":
            upper = constant(int(words[1], 0) << 12, 32)
            self.put(state, words[0], sign_extended(upper))
        elif name in _OF_ONE:
            value = self.get(state, words[1])
            self.put(state, words[0], _OF_ONE[name](value.term), value.sources)
        else:
            self.combines(state, name, words)

    def combines(self, state, name, words):
        in_words = name.endswith("w")
        base = name.removesuffix("w").replace("iu", "u").removesuffix("i")
        if base not in _ARITHMETIC:
            raise Unknown(f"instruction {name} {','.join(words)}")
        x = self.get(state, words[1])
        y = self.operand(state, words[2])
        width = 32 if in_words else 64
        term = _ARITHMETIC[base](low(x.term, width), low(y.term, width))
        self.put(state, words[0], sign_extended(term), x.sources | y.sources)


def _orders(suffix):
    """The attributes of an event by its suffix: aq, rl, aqrl."""
    suffix = suffix or ""
    return {"acquire": "aq" in suffix, "release": "rl" in suffix}


# -- The order that a CPU keeps ------------------------------------------------


def before(items):
    """The events of items[:-1] that are ordered before items[-1]."""
    last = items[-1]
    earlier = [item for item in items[:-1] if not isinstance(item, Fence)]
    found = set(last.address_from | last.data_from)               # rules 9, 10
    if last.stores:
        found |= last.control_from                                # rule 11
        found |= {e for e in earlier if e.overlaps(last)}         # rule 1
        for event in earlier:
            found |= event.address_from                           # rule 13
    if last.loads:
        found |= _through_own_stores(earlier, last)               # rules 3, 12
    found |= _by_fences(items)                                    # rule 4
    found |= {event for event in earlier if event.acquire}        # rule 5
    if last.release:
        found |= set(earlier)                                     # rule 6
    if last.acquire or last.release:
        found |= {event for event in earlier
                  if event.acquire or event.release}              # rule 7
    if last.pair:
        found.add(last.pair)                                      # rule 8
    return found


def _through_own_stores(earlier, load):
    """A load of what this CPU stored last is behind what that store depends on,
    and behind the store itself if it is an AMO's or an SC's. Only if the load
    is all from that store: weaker than the manual, which knows no parts, and as
    AArch64 has it."""
    whole = load.address, load.address + load.size
    stores = [event for event in earlier
              if event.stores and event.overlaps(load)]
    if not stores or not stores[-1].covers(whole):
        return set()
    found = set(stores[-1].address_from | stores[-1].data_from)
    if stores[-1].pair or stores[-1].loads:
        found.add(stores[-1])
    return found


def _by_fences(items):
    found = set()
    last = items[-1]
    for i, fence in enumerate(items[:-1]):
        if not isinstance(fence, Fence):
            continue
        events = [e for e in items[:i] if not isinstance(e, Fence)]
        if fence.kind == "tso":
            found |= {e for e in events if e.loads or last.stores}
            continue
        first, second = fence.kind.split(",")
        if not (last.loads and "r" in second or last.stores and "w" in second):
            continue
        found |= {e for e in events
                  if e.loads and "r" in first or e.stores and "w" in first}
    return found
