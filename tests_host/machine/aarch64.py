# SPDX-License-Identifier: MIT
"""AArch64: what its instructions do, and the order that it keeps.

Arm Architecture Reference Manual (DDI 0487), B2.3; as the machine-readable
aarch64.cat by Deacon, Alglave and others. Other-multi-copy atomic. What is left
weaker than there orders less, and so allows more than the machine does: the
status of an exclusive store and the conditional selects carry no dependency.
"""

import copy
import re

from solver import z3

from events import Fence, Value
from interpreter import (Interpreter, RETURN, Unknown, constant, known,
                         low, sign_extended, zero_extended)

_IGNORED = {"nop", "yield", "hint", "bti", "prfm",
            "paciasp", "autiasp"}
_LOAD = re.compile(r"ld(a|ap|u|x|ax|)(?:r|ur)(s?)([bhw]?)$")
_STORE = re.compile(r"st(l|u|x|lx|)(?:r|ur)([bh]?)$")
_ATOMIC = re.compile(r"(ldadd|ldset|ldclr|ldeor|swp|cas|stadd|stset|stclr|"
                     r"steor)(a?)(l?)([bh]?)$")
_SIZES = {"b": 1, "h": 2, "w": 4}
_CHANGES = {
    "add": lambda old, by: old + by,
    "set": lambda old, by: old | by,
    "clr": lambda old, by: old & ~by,
    "eor": lambda old, by: old ^ by,
    "swp": lambda old, by: by,
}
_ARITHMETIC = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "and": lambda x, y: x & y,
    "orr": lambda x, y: x | y,
    "eor": lambda x, y: x ^ y,
    "bic": lambda x, y: x & ~y,
    "orn": lambda x, y: x | ~y,
    "eon": lambda x, y: x ^ ~y,
    "mul": lambda x, y: x * y,
    "lsl": lambda x, y: x << (y & (x.size() - 1)),
    "lsr": lambda x, y: z3.LShR(x, y & (x.size() - 1)),
    "asr": lambda x, y: x >> (y & (x.size() - 1)),
}
_OPERANDS = re.compile(r",\s*(?![^\[]*\])")
_PLACE = re.compile(r"\[(\w+)(?:, ([^\]]+))?\](!?)$")


class AArch64(Interpreter):
    stack_pointer = "sp"
    arguments = tuple(f"x{n}" for n in range(8))
    preserved = ("x0", "sp") + tuple(f"x{n}" for n in range(19, 31))
    full_fence = "ish"
    futex = 98

    def enter(self, state):
        state.write("sp", constant(self.stack))
        state.write("x30", constant(RETURN))

    # -- Registers and operands ----------------------------------------------

    def get(self, state, name):
        """A register in its own width: 32 bits of wN."""
        if name in ("wzr", "xzr"):
            return Value(constant(0, 32 if name[0] == "w" else 64))
        if name in ("sp", "wsp"):
            return state.read("sp")
        value = state.read("x" + name[1:])
        if name[0] == "w":
            return Value(low(value.term, 32), value.sources)
        return value

    def put(self, state, name, term, sources=frozenset()):
        if name in ("wzr", "xzr"):
            return
        if name == "sp":
            state.write("sp", term, sources)
            return
        if name[0] == "w":
            term = low(term, min(term.size(), 32))
        state.write("x" + name[1:], zero_extended(term), sources)

    def operand(self, state, words, width):
        """A register or a number, and how it is shifted or extended."""
        first = words[0]
        if first[0] == "#":
            value = Value(constant(int(first[1:], 0), width))
        else:
            value = self.get(state, first)
        if len(words) < 2:
            return value
        kind, _, count = words[1].partition(" ")
        count = int(count[1:], 0) if count else 0
        term = value.term
        if kind in ("uxtb", "uxth", "uxtw", "uxtx"):
            term = low(term, min(term.size(), _bits(kind)))
            term = zero_extended(term, width) << count
        elif kind in ("sxtb", "sxth", "sxtw", "sxtx"):
            term = low(term, min(term.size(), _bits(kind)))
            term = sign_extended(term, width) << count
        elif kind in ("lsl", "lsr", "asr"):
            term = _ARITHMETIC[kind](term, constant(count, term.size()))
        else:
            raise Unknown(f"operand {words}")
        return Value(term, value.sources)

    def place(self, state, text, offset_after=None):
        """The address of a memory operand. Its register is written back where
        it is "[x0, #8]!" or "[x0], #8"."""
        match = _PLACE.match(text)
        if not match:
            raise Unknown(f"address {text}")
        base = self.get(state, match[1])
        term, sources = base.term, base.sources
        if match[2]:
            words = [word.strip() for word in match[2].split(",")]
            offset = self.operand(state, words, 64)
            term = term + zero_extended(offset.term)
            sources = sources | offset.sources
        address = Value(z3.simplify(term), sources)
        if match[3]:
            self.put(state, match[1], address.term, sources)
        if offset_after:
            after = address.term + int(offset_after[1:], 0)
            self.put(state, match[1], after, sources)
        return address

    # -- Flags ---------------------------------------------------------------

    def compare(self, state, name, x, y):
        """The flags of x - y, x + y or x & y: z, n, c, v."""
        result = _ARITHMETIC[name](x.term, y.term)
        alike = (x.term < 0) == (y.term < 0)
        changes = (result < 0) != (x.term < 0)
        if name == "sub":
            carry = z3.UGE(x.term, y.term)
            over = z3.And(z3.Not(alike), changes)
        elif name == "add":
            carry = z3.ULT(result, x.term)
            over = z3.And(alike, changes)
        else:
            carry = over = z3.BoolVal(False)
        flags = z3.Concat(*(z3.If(flag, constant(1, 1), constant(0, 1))
                            for flag in (result == 0, result < 0, carry, over)))
        state.write("flags", flags, x.sources | y.sources)

    def condition(self, state, name):
        flags = state.read("flags")
        zero, negative, carry, over = (
            z3.Extract(n, n, flags.term) == 1 for n in (3, 2, 1, 0))
        meanings = {
            "eq": zero, "cs": carry, "hs": carry, "mi": negative, "vs": over,
            "hi": z3.And(carry, z3.Not(zero)), "ge": negative == over,
            "gt": z3.And(z3.Not(zero), negative == over),
        }
        opposites = {"ne": "eq", "cc": "cs", "lo": "cs", "pl": "mi",
                     "vc": "vs", "ls": "hi", "lt": "ge", "le": "gt"}
        if name in opposites:
            return z3.Not(meanings[opposites[name]]), flags.sources
        return meanings[name], flags.sources

    # -- Instructions --------------------------------------------------------

    def execute(self, state, instruction):
        name, text = instruction.name, instruction.operands
        words = [word.strip() for word in _OPERANDS.split(text)]
        here = copy.copy(state)
        here.pc = instruction.after
        if name in _IGNORED:
            return [here]
        if name in ("sev", "sevl"):
            here.woken = True
            return [here]
        if name == "clrex":
            here.marked = None
            return [here]
        if name == "wfe":
            self.sleeps(here)
            here.add(Fence("wfe"))
            return [here]
        if name == "isb":
            here.context = (here.context | here.control |
                            _addresses(here.items))
            here.add(Fence("isb"))
            return [here]
        if name in ("dmb", "dsb"):
            here.add(Fence(text))
            return [here]
        if name == "svc":
            number, *arguments = (self.get(here, register).term
                                  for register in ("x8", "x0", "x1", "x2"))
            self.system_call(here, number, arguments, instruction)
            self._forget(here, "x0")
            return [here]
        if name in ("mrs", "msr"):
            self.moves_special(here, name, words, instruction)
            return [here]
        branches = self.branch(here, name, words)
        if branches is not None:
            return branches
        for form, does in ((_LOAD, self.loads), (_STORE, self.stores),
                           (_ATOMIC, self.atomics)):
            if match := form.match(name):
                return list(does(here, match, words, instruction))
        if name in ("ldp", "stp"):
            return list(self.pairs(here, name, words, instruction))
        self.computes(here, name, words)
        return [here]

    def moves_special(self, state, name, words, instruction):
        """The thread pointer, the clock, and the interrupt mask. That is read
        as open: a section of klock's is in no other."""
        if name == "mrs" and words[1] in ("tpidr_el0", "daif"):
            is_thread = words[1] == "tpidr_el0"
            self.put(state, words[0], constant(self.thread if is_thread else 0))
        elif name == "mrs" and words[1] == "cntvct_el0":
            self._forget(state, "x" + words[0][1:])
        elif name != "msr" or words[0] not in ("daifset", "daifclr"):
            raise Unknown(f"{instruction}")

    def branch(self, state, name, words):
        """The states behind a branch, or None if it is none."""
        after = state.pc
        if name == "ret":
            return [self.returns(state)]
        if name in ("b", "bl", "blr", "br"):
            target = self.target(state, words[0])
            if name in ("bl", "blr"):
                state.write("x30", constant(after))
                state.calls = state.calls + (after,)
            state.pc = target
            return [state]
        if name.startswith("b."):
            condition, sources = self.condition(state, name[2:])
            target = words[0]
        elif name in ("cbz", "cbnz"):
            value = self.get(state, words[0])
            condition, sources = value.term == 0, value.sources
            target = words[1]
        elif name in ("tbz", "tbnz"):
            value = self.get(state, words[0])
            bit = int(words[1][1:], 0)
            condition = z3.Extract(bit, bit, value.term) == 0
            sources, target = value.sources, words[2]
        else:
            return None
        if name in ("cbnz", "tbnz"):
            condition = z3.Not(condition)
        return list(self.fork(state, condition, sources, int(target, 16),
                              after))

    def target(self, state, word):
        """Where a branch goes: a number, or a register that holds one."""
        if word[0] != "x":
            return int(word, 16)
        term = z3.simplify(self.get(state, word).term)
        if not z3.is_bv_value(term):
            raise Unknown("branch to an address that is loaded")
        return term.as_long()

    def returns(self, state):
        state.pc = self.target(state, "x30")
        state.calls = state.calls[:-1]
        return state

    def loads(self, state, match, words, instruction):
        kind, signed, letter = match.groups()
        size = _SIZES.get(letter) or _width(words[0]) // 8
        after = words[2] if len(words) > 2 else None
        address = self.place(state, words[1], after)
        marks = {"acquire": kind in ("a", "ax"), "acquire_pc": kind == "ap",
                 "marks": kind in ("x", "ax")}
        for other, value in self.load(state, address, size, instruction,
                                      **marks):
            extend = sign_extended if signed else zero_extended
            self.put(other, words[0], extend(value.term), value.sources)
            yield other

    def stores(self, state, match, words, instruction):
        kind, letter = match.groups()
        exclusive = kind in ("x", "lx")
        data = words[1] if exclusive else words[0]
        size = _SIZES.get(letter) or _width(data) // 8
        value = self.get(state, data)
        value = Value(zero_extended(value.term), value.sources)
        place = words[2 if exclusive else 1]
        after = words[2] if not exclusive and len(words) > 2 else None
        address = self.place(state, place, after)
        marks = {"release": kind in ("l", "lx")}
        if exclusive:
            failed = copy.copy(state)
            failed.failures += 1
            failed.marked = None
            self.put(failed, words[0], constant(1))
            yield failed
            if state.marked is None:
                return
            marks["pair"] = state.marked
            state.marked = None
        for other in self.store(state, address, value, size, instruction,
                                **marks):
            if exclusive:
                event = other.items[-1]
                pair = event.pair
                if (event.address, event.size) != (pair.address, pair.size):
                    raise Unknown(f"{instruction}: another size or address "
                                  "than its load")
                self.put(other, words[0], constant(0))
            yield other

    def pairs(self, state, name, words, instruction):
        """LDP and STP: two accesses, of the stack or, unordered, of memory."""
        size = _width(words[0]) // 8
        after = words[3] if len(words) > 3 else None
        first = self.place(state, words[2], after)
        second = Value(first.term + size, first.sources)
        if name == "stp":
            values = [self.get(state, word) for word in words[:2]]
            for middle in self.store(state, first, values[0], size,
                                     instruction):
                yield from self.store(middle, second, values[1], size,
                                      instruction)
            return
        for middle, one in self.load(state, first, size, instruction):
            for other, two in self.load(middle, second, size, instruction):
                self.put(other, words[0], one.term, one.sources)
                self.put(other, words[1], two.term, two.sources)
                yield other

    def atomics(self, state, match, words, instruction):
        """LSE: a load and a store, whose orders are apart."""
        kind, acquire, release, letter = match.groups()
        size = _SIZES.get(letter) or _width(words[0]) // 8
        address = self.place(state, words[-1])
        result = words[0] if kind == "cas" else words[1]
        returns = not kind.startswith("st") and result not in ("wzr", "xzr")
        acquires = bool(acquire) and returns
        argument = self.get(state, words[0])
        by = Value(low(argument.term, 8 * size), argument.sources)
        for other, old in self.load(state, address, size, instruction,
                                    acquire=acquires, returns=returns,
                                    single=True):
            load = other.items[-1]
            if kind == "cas":
                failed = copy.copy(other)
                failed.conditions += (old.term != by.term,)
                self.put(failed, result, old.term, old.sources)
                if self.possible(failed.conditions):
                    yield failed
                other.conditions += (old.term == by.term,)
                if not self.possible(other.conditions):
                    continue
                new = self.get(other, words[1])
                # The comparison orders the store as a control dependency does.
                other.control = other.control | by.sources
            else:
                change = _CHANGES[kind.removeprefix("ld").removeprefix("st")]
                new = Value(change(old.term, by.term), by.sources)
                if kind != "swp":
                    new = Value(new.term, by.sources | old.sources)
            for last in self.store(other, address, new, size, instruction,
                                   release=bool(release), pair=load,
                                   single=True):
                last.control = state.control
                if kind == "cas":
                    # Where it swaps, Arm has a "pick" dependency here.
                    self.put(last, result, old.term)
                elif not kind.startswith("st"):
                    self.put(last, result, old.term, old.sources)
                yield last

    def computes(self, state, name, words):
        """Instructions that touch no memory."""
        if not words[0]:
            raise Unknown(f"instruction {name}")
        width = _width(words[0])
        if name in ("mov", "movz"):
            value = self.operand(state, words[1:], width)
            self.put(state, words[0], value.term, value.sources)
        elif name == "movk":
            old = self.get(state, words[0])
            shift = int(words[2].split()[1][1:], 0) if len(words) > 2 else 0
            number = int(words[1][1:], 0) << shift
            kept = old.term & ~constant(0xffff << shift, width)
            self.put(state, words[0], kept | number, old.sources)
        elif name in ("mvn", "neg"):
            value = self.operand(state, words[1:], width)
            term = ~value.term if name == "mvn" else -value.term
            self.put(state, words[0], term, value.sources)
        elif name in ("cmp", "cmn", "tst"):
            x = self.get(state, words[0])
            y = self.operand(state, words[1:], width)
            does = {"cmp": "sub", "cmn": "add", "tst": "and"}[name]
            self.compare(state, does, x, y)
        elif name in ("ccmp", "ccmn"):
            self.compares_if(state, name, words, width)
        elif name in ("adr", "adrp"):
            self.put(state, words[0], constant(int(words[1], 16)))
        elif name in ("cset", "csel", "csinc", "csetm", "csinv", "csneg"):
            self.selects(state, name, words)
        elif name in ("sxtb", "sxth", "sxtw", "uxtb", "uxth", "uxtw"):
            value = self.operand(state, [words[1], name], width)
            self.put(state, words[0], value.term, value.sources)
        elif name in ("ubfx", "sbfx", "ubfiz", "sbfiz", "bfi", "bfxil"):
            self.moves_bits(state, name, words, width)
        else:
            base = name[:-1] if name in ("adds", "subs", "ands") else name
            if base not in _ARITHMETIC:
                raise Unknown(f"instruction {name} {', '.join(words)}")
            x = self.get(state, words[1])
            y = self.operand(state, words[2:], width)
            term = _ARITHMETIC[base](x.term, y.term)
            if base != name:
                self.compare(state, base, x, y)
            self.put(state, words[0], term, x.sources | y.sources)

    def compares_if(self, state, name, words, width):
        """The flags of a comparison, or else those that are given: n, z, c, v.
        """
        holds, sources = self.condition(state, words[3])
        x = self.get(state, words[0])
        y = self.operand(state, words[1:2], width)
        self.compare(state, "sub" if name == "ccmp" else "add", x, y)
        flags = state.read("flags")
        number = int(words[2][1:], 0)
        given = (number & 3) | (number & 4) << 1 | (number & 8) >> 1
        state.write("flags", z3.If(holds, flags.term, constant(given, 4)),
                    flags.sources | sources)

    def selects(self, state, name, words):
        """No dependency: Arm's "pick" dependencies order less than others."""
        condition, _ = self.condition(state, words[-1])
        width = _width(words[0])
        if name in ("cset", "csetm"):
            yes = constant(1 if name == "cset" else -1, width)
            no = constant(0, width)
        else:
            yes, no = (self.get(state, word).term for word in words[1:3])
            no = {"csel": no, "csinc": no + 1, "csinv": ~no, "csneg": -no}[name]
        self.put(state, words[0], z3.If(condition, yes, no))

    def moves_bits(self, state, name, words, width):
        value = self.get(state, words[1])
        at, count = (int(word[1:], 0) for word in words[2:4])
        if name in ("ubfx", "sbfx", "bfxil"):
            field = z3.Extract(at + count - 1, at, value.term)
            to = 0
        else:
            field = low(value.term, count)
            to = at
        if name in ("bfi", "bfxil"):
            old = self.get(state, words[0])
            mask = constant(((1 << count) - 1) << to, width)
            moved = zero_extended(field, width) << to
            self.put(state, words[0], (old.term & ~mask) | moved,
                     old.sources | value.sources)
            return
        extend = sign_extended if name[0] == "s" else zero_extended
        self.put(state, words[0], extend(field, width) << to, value.sources)


def _width(register):
    return 32 if register[0] == "w" else 64


def _bits(extension):
    return {"b": 8, "h": 16, "w": 32, "x": 64}[extension[-1]]


def _addresses(items):
    """The loads that an address depends on, of all accesses so far."""
    found = frozenset()
    for item in items:
        if not isinstance(item, Fence):
            found = found | item.address_from
    return found


# -- The order that a CPU keeps ------------------------------------------------

_FULL = {"sy", "ish", "osh", "nsh"}
_LOADS = {"ld", "ishld", "oshld", "nshld"}
_STORES = {"st", "ishst", "oshst", "nshst"}


def before(items):
    """The events of items[:-1] that are ordered before items[-1]."""
    last = items[-1]
    earlier = [item for item in items[:-1] if not isinstance(item, Fence)]
    found = set(last.address_from)
    if last.stores:
        found |= last.data_from | last.control_from
        found |= _addresses(earlier)
        found |= {event for event in earlier if event.overlaps(last)}
    if last.loads:
        found |= last.context_from
        found |= _through_own_stores(earlier, last)
    if last.pair:
        found.add(last.pair)
    if last.release:
        found |= set(earlier)
    found |= {event for event in earlier if event.acquire or event.acquire_pc}
    if last.acquire:
        found |= {event for event in earlier if event.release}
    found |= _by_fences(items)
    for i, event in enumerate(earlier):
        if event.single and event.release and event.pair.acquire:
            found |= set(earlier[:i])
    found.discard(last)
    return found


def _through_own_stores(earlier, load):
    """A load of what this CPU stored last is behind what that depends on, if it
    is all from one store: where a part is from memory, that part need not wait
    (herd's MP+dmb.syb0b1+datab1b1-rfib1h0). An acquire of any part is
    behind the store of a read-modify-write."""
    found = set()
    for byte in range(load.address, load.address + load.size):
        stores = [event for event in earlier
                  if event.stores and event.covers((byte, byte + 1))]
        if not stores:
            continue
        if stores[-1].covers((load.address, load.address + load.size)):
            found |= stores[-1].address_from | stores[-1].data_from
        if stores[-1].pair and (load.acquire or load.acquire_pc):
            found.add(stores[-1])
    return found


def _by_fences(items):
    found = set()
    last = items[-1]
    for i, fence in enumerate(items[:-1]):
        if not isinstance(fence, Fence):
            continue
        events = [e for e in items[:i] if not isinstance(e, Fence)]
        if fence.kind in _FULL:
            found |= set(events)
        elif fence.kind in _LOADS:
            found |= {e for e in events if e.loads and e.returns}
        elif fence.kind in _STORES:
            found |= {e for e in events if e.stores and last.stores}
        elif fence.kind not in ("isb", "wfe"):
            raise Unknown(f"dmb {fence.kind}")
    return found
