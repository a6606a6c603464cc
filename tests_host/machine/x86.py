# SPDX-License-Identifier: MIT
"""x86, 64 bits: what its instructions do, and the order that it keeps.

Sewell, Sarkar, Owens, Zappa Nardelli, Myreen: x86-TSO, CACM 53(7), 2010. A
locked instruction is one event. No dependency is kept: TSO needs none.
"""

import copy
import re

from solver import z3

from events import Fence, Value
from interpreter import (Interpreter, RETURN, Unknown, constant, low,
                         load_stack, sign_extended, store_stack,
                         zero_extended)

_IGNORED = {"nop", "pause", "endbr64", "lfence", "sfence", "prefetchw",
            "xchg ax,ax", "cli", "sti"}
_INTERRUPTS_ON = 0x200  # what is read; a section is in no other
_SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8}
_MEMORY = re.compile(r"(?:(\w+) PTR )?(?:ds:|(fs:))?\[(.+)\]$")
_BARE = re.compile(r"\b(ds|fs):(\w+)")  # an address without brackets
_OPERANDS = re.compile(r",\s*(?![^\[]*\])")
_BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x << y,
    "shr": z3.LShR,
    "sar": lambda x, y: x >> y,
    "rol": z3.RotateLeft,
    "ror": z3.RotateRight,
    "imul": lambda x, y: x * y,
}
_SHIFTS = {"shl", "shr", "sar", "rol", "ror"}
_UNARY = {
    "inc": lambda x: x + 1,
    "dec": lambda x: x - 1,
    "neg": lambda x: -x,
    "not": lambda x: ~x,
}


def _parts():
    """{name: (register, lowest bit, width)}"""
    found = {}
    for letter in "abcd":
        whole = f"r{letter}x"
        found |= {whole: (whole, 0, 64), f"e{letter}x": (whole, 0, 32),
                  f"{letter}x": (whole, 0, 16), f"{letter}l": (whole, 0, 8),
                  f"{letter}h": (whole, 8, 8)}
    for short in ("si", "di", "bp", "sp"):
        whole = f"r{short}"
        found |= {whole: (whole, 0, 64), f"e{short}": (whole, 0, 32),
                  short: (whole, 0, 16), f"{short}l": (whole, 0, 8)}
    for n in range(8, 16):
        whole = f"r{n}"
        found |= {whole: (whole, 0, 64), f"{whole}d": (whole, 0, 32),
                  f"{whole}w": (whole, 0, 16), f"{whole}b": (whole, 0, 8)}
    return found


_REGISTERS = _parts()


class X86(Interpreter):
    stack_pointer = "rsp"
    arguments = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
    preserved = ("rax", "rsp", "rbp", "rbx", "r12", "r13", "r14", "r15")
    full_fence = "mfence"
    futex = 202

    def enter(self, state):
        state.write("rsp", constant(self.stack))
        self.push(state, constant(RETURN))

    # -- Registers, numbers and memory ---------------------------------------

    def get(self, state, name):
        """A register in its own width, as a term."""
        whole, at, width = _REGISTERS[name]
        return z3.Extract(at + width - 1, at, state.read(whole).term)

    def put(self, state, name, term):
        """32 bits clear the upper ones, 8 and 16 leave them."""
        whole, at, width = _REGISTERS[name]
        term = low(term, width)
        if width < 32:
            old = state.read(whole).term
            mask = constant(((1 << width) - 1) << at)
            state.write(whole, (old & ~mask) | (zero_extended(term) << at))
        else:
            state.write(whole, zero_extended(term))

    def place(self, state, text, instruction):
        """(address, bytes or None) of a memory operand, or None."""
        match = _MEMORY.match(text)
        if not match:
            return None
        term = constant(self.thread if match[2] else 0)
        for sign, part in re.findall(r"([-+]?)([^-+]+)", match[3]):
            name, _, scale = part.partition("*")
            if name == "rip":
                value = constant(instruction.after)
            elif name in _REGISTERS:
                value = self.get(state, name) * int(scale or "1")
            else:
                value = constant(int(name, 0))
            term = term - value if sign == "-" else term + value
        return Value(z3.simplify(term)), _SIZES.get(match[1])

    def values(self, state, text, width, instruction):
        """(state, term) of a register, a number or what a load yields."""
        if text in _REGISTERS:
            yield state, self.get(state, text)
        elif place := self.place(state, text, instruction):
            for other, value in self.load(state, place[0], place[1],
                                          instruction):
                yield other, value.term
        else:
            yield state, constant(int(text, 0), width)

    def puts(self, state, text, term, instruction):
        """States after a register or memory got a value."""
        if text in _REGISTERS:
            self.put(state, text, term)
            yield state
            return
        address, size = self.place(state, text, instruction)
        value = Value(zero_extended(term))
        yield from self.store(state, address, value, size, instruction)

    def width(self, text):
        if text in _REGISTERS:
            return _REGISTERS[text][2]
        return 8 * _SIZES[text.split()[0]]

    # -- The stack and the flags ---------------------------------------------

    def push(self, state, term):
        top = z3.simplify(state.read("rsp").term - 8)
        state.write("rsp", top)
        store_stack(state, top.as_long(), Value(term), 8)

    def pop(self, state):
        top = state.read("rsp").term
        value = load_stack(state, top.as_long(), 8)
        state.write("rsp", top + 8)
        return value.term

    def flags(self, state, result, carry, over):
        """Zero, sign, carry and overflow, as four bits."""
        bits = (z3.If(flag, constant(1, 1), constant(0, 1))
                for flag in (result == 0, result < 0, carry, over))
        state.write("flags", z3.Concat(*bits))

    def flags_of(self, state, name, x, y, result):
        if name in ("sub", "cmp"):
            over = z3.And((x < 0) != (y < 0), (result < 0) != (x < 0))
            self.flags(state, result, z3.ULT(x, y), over)
        elif name == "add":
            over = z3.And((x < 0) == (y < 0), (result < 0) != (x < 0))
            self.flags(state, result, z3.ULT(result, x), over)
        elif name in ("and", "or", "xor", "test"):
            no = z3.BoolVal(False)
            self.flags(state, result, no, no)
        elif name in ("inc", "dec"):
            carry = z3.Extract(1, 1, state.read("flags").term) == 1
            over = (result < 0) == (name == "inc")
            self.flags(state, result, carry, z3.And((x < 0) != (result < 0),
                                                    over))
        elif name == "neg":
            self.flags(state, result, x != 0, z3.And(x < 0, result < 0))
        elif name != "not":
            # A shift or a product: both may be anything.
            self.counter += 1
            carry, over = z3.Bools(f"carry_{self.cpu}_{self.counter} "
                                   f"over_{self.cpu}_{self.counter}")
            self.flags(state, result, carry, over)

    def condition(self, state, name):
        bits = state.read("flags").term
        zero, sign, carry, over = (
            z3.Extract(n, n, bits) == 1 for n in (3, 2, 1, 0))
        meanings = {
            "e": zero, "z": zero, "s": sign, "b": carry, "c": carry, "o": over,
            "be": z3.Or(carry, zero), "l": sign != over,
            "le": z3.Or(zero, sign != over),
        }
        opposites = {"ne": "e", "nz": "z", "ns": "s", "ae": "b", "nc": "c",
                     "no": "o", "a": "be", "ge": "l", "g": "le"}
        if name in meanings:
            return meanings[name]
        if name in opposites:
            return z3.Not(meanings[opposites[name]])
        raise Unknown(f"condition {name}")

    # -- Instructions --------------------------------------------------------

    def execute(self, state, instruction):
        name = instruction.name
        text = _BARE.sub(r"\1:[\2]", instruction.operands)
        words = [word.strip() for word in _OPERANDS.split(text)]
        here = copy.copy(state)
        here.pc = instruction.after
        if name.split()[-1] in _IGNORED or f"{name} {text}" in _IGNORED:
            return [here]
        if name == "mfence":
            here.add(Fence("mfence"))
            return [here]
        if name == "syscall":
            self.calls_system(here, instruction)
            return [here]
        branches = self.branch(here, name, words)
        if branches is not None:
            return branches
        if name.startswith("lock ") or (name == "xchg" and "[" in text):
            return list(self.locked(here, name.removeprefix("lock "), words,
                                    instruction))
        return list(self.plain(here, name, words, instruction))

    def calls_system(self, state, instruction):
        number, *arguments = (self.get(state, name)
                              for name in ("rax", "rdi", "rsi", "rdx"))
        self.system_call(state, number, arguments, instruction)
        for name in ("rax", "rcx", "r11"):
            self._forget(state, name)

    def branch(self, state, name, words):
        """The states behind a branch, or None if it is none."""
        after = state.pc
        if name == "ret":
            term = z3.simplify(self.pop(state))
            if not z3.is_bv_value(term):
                raise Unknown("return to an address that is loaded")
            state.pc = term.as_long()
            state.calls = state.calls[:-1]
            return [state]
        if name == "call":
            self.push(state, constant(after))
            state.calls = state.calls + (after,)
            state.pc = self.target(state, words[0])
            return [state]
        if name == "jmp":
            state.pc = self.target(state, words[0])
            return [state]
        if name[0] != "j":
            return None
        condition = self.condition(state, name[1:])
        return list(self.fork(state, condition, frozenset(), int(words[0], 16),
                              after))

    def target(self, state, word):
        """Where a jump goes: a number, or a register that holds one."""
        if word not in _REGISTERS:
            return int(word, 16)
        term = z3.simplify(self.get(state, word))
        if not z3.is_bv_value(term):
            raise Unknown("jump to an address that is loaded")
        return term.as_long()

    def locked(self, state, name, words, instruction):
        """One event, which loads and stores."""
        if name == "xchg" and "[" not in words[0]:
            words = [words[1], words[0]]
        address, size = self.place(state, words[0], instruction)
        width = 8 * size
        if name == "or" and words[1] == "0x0" and words[0].endswith("[rsp]"):
            state.add(Fence("mfence"))  # compilers' full fence
            yield state
            return
        if name == "cmpxchg":
            yield from self.compares(state, address, size, words, instruction)
            return
        if name in _UNARY:
            by = constant(0, width)
            new = _UNARY[name]
        else:
            number = words[1] not in _REGISTERS
            by = (constant(int(words[1], 0), width) if number else
                  self.get(state, words[1]))
            change = {"xchg": lambda old, by: by, "xadd": _BINARY["add"]}
            change = change.get(name) or _BINARY.get(name)
            if not change:
                raise Unknown(f"{instruction}")
            new = lambda old: change(old, by)
        for other, old in self.update(state, address, size, new, frozenset(),
                                      instruction, locked=True):
            if name in ("xadd", "xchg"):
                self.put(other, words[1], old.term)
            if name != "xchg":
                kind = "add" if name == "xadd" else name
                self.flags_of(other, kind, old.term, by, new(old.term))
            yield other

    def compares(self, state, address, size, words, instruction):
        """CMPXCHG: if it fails, a load that orders as a locked instruction."""
        width = 8 * size
        accumulator = {8: "al", 16: "ax", 32: "eax", 64: "rax"}[width]
        expected = self.get(state, accumulator)
        new = self.get(state, words[1])
        for other, old in self.load(state, address, size, instruction,
                                    locked=True):
            other.conditions += (old.term != expected,)
            if self.possible(other.conditions):
                self.put(other, accumulator, old.term)
                self.flags_of(other, "cmp", expected, old.term,
                              expected - old.term)
                yield other
        for other, old in self.update(state, address, size, lambda _: new,
                                      frozenset(), instruction, locked=True):
            other.conditions += (old.term == expected,)
            if self.possible(other.conditions):
                self.flags_of(other, "cmp", expected, old.term,
                              expected - old.term)
                yield other

    def plain(self, state, name, words, instruction):
        """Without a lock prefix: a load, then a store."""
        if name in ("mov", "movabs"):
            width = self.width(words[0])
            for other, term in self.values(state, words[1], width, instruction):
                yield from self.puts(other, words[0], term, instruction)
        elif name in ("movzx", "movsx", "movsxd"):
            extend = zero_extended if name == "movzx" else sign_extended
            for other, term in self.values(state, words[1], 0, instruction):
                self.put(other, words[0], extend(term))
                yield other
        elif name == "lea":
            address, _ = self.place(state, words[1], instruction)
            self.put(state, words[0], address.term)
            yield state
        elif name == "push":
            for other, term in self.values(state, words[0], 64, instruction):
                self.push(other, zero_extended(term))
                yield other
        elif name in ("pushf", "pushfq"):
            self.push(state, constant(_INTERRUPTS_ON))
            yield state
        elif name == "pop":
            self.put(state, words[0], self.pop(state))
            yield state
        elif name == "rdtsc":
            self._forget(state, "rax")
            self._forget(state, "rdx")
            yield state
        elif name.startswith("set"):
            bit = z3.If(self.condition(state, name[3:]), constant(1, 8),
                        constant(0, 8))
            yield from self.puts(state, words[0], bit, instruction)
        elif name.startswith("cmov"):
            width = self.width(words[0])
            for other, term in self.values(state, words[1], width, instruction):
                chosen = z3.If(self.condition(other, name[4:]), term,
                               self.get(other, words[0]))
                self.put(other, words[0], chosen)
                yield other
        elif name in ("cdqe", "cwde"):
            narrow = "eax" if name == "cdqe" else "ax"
            term = sign_extended(self.get(state, narrow))
            self.put(state, "rax" if name == "cdqe" else "eax", term)
            yield state
        elif name in ("cmp", "test"):
            yield from self.tests(state, name, words, instruction)
        elif name in _UNARY:
            width = self.width(words[0])
            for other, x in self.values(state, words[0], width, instruction):
                result = _UNARY[name](x)
                self.flags_of(other, name, x, x, result)
                yield from self.puts(other, words[0], result, instruction)
        elif name == "sbb":
            width = self.width(words[0])
            carry = z3.If(self.condition(state, "c"), constant(1, width),
                          constant(0, width))
            for other, x, y in self.both(state, words, width, instruction):
                result = x - y - carry
                self.flags_of(other, "shl", x, y, result)
                yield from self.puts(other, words[0], result, instruction)
        elif name in ("xchg", "xadd", "cmpxchg"):
            yield from self.exchanges(state, name, words, instruction)
        elif name in _BINARY:
            yield from self.combines(state, name, words, instruction)
        else:
            raise Unknown(f"instruction {instruction}")

    def both(self, state, words, width, instruction):
        """(state, x, y) of two operands. A number has the width of the first;
        the count of a shift is narrower."""
        for middle, x in self.values(state, words[0], width, instruction):
            for other, y in self.values(middle, words[1], width, instruction):
                yield other, x, zero_extended(y, width)

    def tests(self, state, name, words, instruction):
        width = self.width(words[0])
        for other, x, y in self.both(state, words, width, instruction):
            result = x - y if name == "cmp" else x & y
            self.flags_of(other, name, x, y, result)
            yield other

    def combines(self, state, name, words, instruction):
        width = self.width(words[0])
        if len(words) == 1 and name in _SHIFTS:
            words = words + ["1"]
        if words[0] == words[1] and name in ("xor", "sub"):
            zero = constant(0, width)
            self.flags_of(state, "xor", zero, zero, zero)
            self.put(state, words[0], zero)
            yield state
            return
        for other, x, y in self.both(state, words[-2:], width, instruction):
            if name in _SHIFTS:
                y = y & (63 if width == 64 else 31)
            result = _BINARY[name](x, y)
            self.flags_of(other, name, x, y, result)
            yield from self.puts(other, words[0], result, instruction)

    def exchanges(self, state, name, words, instruction):
        """XCHG of registers; XADD and CMPXCHG that lack their prefix."""
        width = self.width(words[0])
        for other, x, y in self.both(state, words, width, instruction):
            if name == "xchg":
                self.put(other, words[0], y)
                self.put(other, words[1], x)
                yield other
            elif name == "xadd":
                self.flags_of(other, "add", x, y, x + y)
                for last in self.puts(other, words[0], x + y, instruction):
                    self.put(last, words[1], x)
                    yield last
            else:
                yield from self.compares_plainly(other, words, x, y,
                                                 instruction)

    def compares_plainly(self, state, words, old, new, instruction):
        accumulator = {8: "al", 16: "ax", 32: "eax", 64: "rax"}[old.size()]
        expected = self.get(state, accumulator)
        self.flags_of(state, "cmp", expected, old, expected - old)
        failed = copy.copy(state)
        failed.conditions += (old != expected,)
        if self.possible(failed.conditions):
            self.put(failed, accumulator, old)
            yield failed
        state.conditions += (old == expected,)
        if self.possible(state.conditions):
            yield from self.puts(state, words[0], new, instruction)


# -- The order that a CPU keeps ------------------------------------------------


def before(items):
    """The events of items[:-1] that are ordered before items[-1]: all but a
    store before a load."""
    last = items[-1]
    found = set()
    fenced = False
    for event in reversed(items[:-1]):
        if isinstance(event, Fence):
            fenced = True
            continue
        buffered = event.stores and not event.locked
        if fenced or last.locked or last.stores or not buffered:
            found.add(event)
    return found
