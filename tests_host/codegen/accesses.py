# SPDX-License-Identifier: MIT
"""Lists the bytes of a lock that its uncontended verbs access, with their sizes.

The object code of x86-64 is carried out, instruction by instruction, on a lock
as it is at first: lock, unlock, lock and unlock again; the same by try_lock, and
as a reader. No CPU of a certain kind is asked, and no path is guessed.

A finding is two accesses that share a byte and are not of the same bytes: some
CPUs let the later one wait until the earlier is in the cache. The pairs are those
of all verbs together, so of an unlock and the lock after it, too; what is found
first with a verb is that verb's. A lock may keep what its header gives a reason
for, in a field that names the verbs, and no others:

    Sizes:       try_lock: the reason

X1@2 is a locked instruction on 1 byte at offset 2, r a load, w a store.
"""

import itertools
import re
from pathlib import Path
from typing import NamedTuple

import facts
import objects


class Access(NamedTuple):
    kind: str  # r, w, X, or fence
    size: int
    at: int    # offset in the lock

    def __str__(self):
        return self.kind + (f"{self.size}@{self.at}" if self.size else "")


# -- Instructions ------------------------------------------------------------

_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}
_NAMES = "ax cx dx bx sp bp si di".split()
# name: (number, bytes, the lowest bit)
_REGISTERS = {f"r{n}{end}": (n, size, 0) for n in range(8, 16)
              for end, size in {"": 8, "d": 4, "w": 2, "b": 1}.items()}
for _n, _name in enumerate(_NAMES):
    _REGISTERS |= {"r" + _name: (_n, 8, 0), "e" + _name: (_n, 4, 0),
                   _name: (_n, 2, 0),
                   (_name[0] if _n < 4 else _name) + "l": (_n, 1, 0)}
_REGISTERS |= {f"{_name[0]}h": (_n, 1, 8) for _n, _name in
               enumerate(_NAMES[:4])}
_STACK_POINTER, _TO, _BY = 4, 7, 6

_OPERAND = re.compile(r"\$?(?:[^,()]+|\([^)]*\))+")
_PLACE = re.compile(r"(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),(\d))?\)$")
_CONDITION = re.compile(r"(j|set|cmov)(n?)(e|b|ae|a|be|s|l|ge|g|le)$")
_EXTENDS = re.compile(r"mov([zs])([bwl])([wlq])$")

# dst, src, what was carried in: what the result is.
_BINARY = {
    "mov": lambda a, b, c: b, "add": lambda a, b, c: a + b,
    "adc": lambda a, b, c: a + b + c, "sub": lambda a, b, c: a - b,
    "sbb": lambda a, b, c: a - b - c, "cmp": lambda a, b, c: a - b,
    "and": lambda a, b, c: a & b, "test": lambda a, b, c: a & b,
    "or": lambda a, b, c: a | b, "xor": lambda a, b, c: a ^ b,
    "shl": lambda a, b, c: a << (b & 63), "shr": lambda a, b, c: a >> (b & 63),
    "imul": lambda a, b, c: a * b,
}
_UNARY = {"inc": lambda a: a + 1, "dec": lambda a: a - 1,
          "neg": lambda a: -a, "not": lambda a: ~a}
_WITHOUT_RESULT = ("cmp", "test")
# To the left, to the right. Of the flags they change the carry alone.
_ROTATIONS = {"rol": 1, "ror": -1}


def _register(operand):
    if operand[1:] not in _REGISTERS:
        raise objects.Failed(f"register {operand}\n")
    return _REGISTERS[operand[1:]]


def _rotated(value, by, size):
    """The value, moved to the left in a ring of so many bytes."""
    bits = 8 * size
    by %= bits
    return value << by | value >> bits - by


def _signed(value, size):
    return value - (1 << 8 * size) if value >> (8 * size - 1) & 1 else value


class _Machine:
    """A lock, whoever takes it, and a stack; what was accessed of the lock."""

    LOCK, BY, STACK = 0x100000, 0x200000, 0x300000
    NEAR = 0x1000  # bytes of a contender, and of a stack
    MOST_STEPS = 100_000

    def __init__(self, found, home):
        self.found, self.size, self.seen = found, len(home), []
        self.memory = dict(enumerate(home, self.LOCK))
        self.register, self.steps = [0] * 16, 0
        self.zero = self.negative = self.carry = self.overflow = False

    # -- Operands --

    def _address(self, operand):
        match = _PLACE.match(operand)
        if not match:
            raise objects.Failed(f"operand {operand}\n")
        value = int(match[1] or "0", 16)
        for name, times in ((match[2], 1), (match[3], int(match[4] or 0))):
            value += self._read(name, 8) * times if name else 0
        return value & (1 << 64) - 1

    def _touch(self, address, size, kind):
        if self.LOCK <= address < self.LOCK + self.size:
            if kind:
                self.seen.append(Access(kind, size, address - self.LOCK))
        elif not any(start - self.NEAR <= address < start + self.NEAR
                     for start in (self.BY, self.STACK)):
            raise objects.Failed(f"an access at {address:#x}\n")

    def _read(self, operand, size, kind="r"):
        if operand.startswith("$"):
            return int(operand[1:], 16) & (1 << 8 * size) - 1
        if operand.startswith("%"):
            number, own, low = _register(operand)
            return self.register[number] >> low & (1 << 8 * min(own, size)) - 1
        # g++ loads a word that it then overwrites, byte by byte.
        if operand.endswith("(%rip)"):
            return 0
        address = self._address(operand)
        self._touch(address, size, kind)
        return int.from_bytes((self.memory.get(address + i, 0)
                               for i in range(size)), "little")

    def _write(self, operand, value, size, kind="w"):
        value &= (1 << 8 * size) - 1
        if operand.startswith("%"):
            number, _, low = _register(operand)
            kept = ~((1 << 8 * size) - 1 << low) if size < 4 else 0
            self.register[number] = self.register[number] & kept | value << low
            return
        address = self._address(operand)
        self._touch(address, size, kind)
        self.memory.update(enumerate(value.to_bytes(size, "little"), address))

    # -- Flags --

    def _flags(self, word, a, b, result, size):
        top = 8 * size - 1
        self.zero = result & (1 << 8 * size) - 1 == 0
        self.negative = bool(result >> top & 1)
        if word not in ("inc", "dec"):
            self.carry = bool(result >> (top + 1) & 1)
        opposite = a ^ b if word in ("sub", "sbb", "cmp") else ~(a ^ b)
        self.overflow = word in ("add", "adc", "sub", "sbb", "cmp") and \
            bool(opposite & (a ^ result) & 1 << top)

    def _holds(self, word):
        _, negated, of = _CONDITION.match(word).groups()
        less = self.negative != self.overflow
        value = {"e": self.zero, "b": self.carry, "ae": not self.carry,
                 "be": self.carry or self.zero, "s": self.negative,
                 "a": not self.carry and not self.zero, "l": less,
                 "ge": not less, "le": less or self.zero,
                 "g": not less and not self.zero}[of]
        return value != bool(negated)

    # -- One instruction --

    def _exchange(self, word, src, dst, size):
        """xchg, xadd, cmpxchg: on memory, one access."""
        was, own = self._read(dst, size, "X"), self._read(src, size)
        if word == "cmpxchg":
            expected = self._read("%rax", size)
            self._flags("cmp", expected, was, expected - was, size)
            self._write(*((dst, own) if self.zero else ("%rax", was)), size,
                        None)
            return
        self._write(dst, own if word == "xchg" else own + was, size, None)
        self._write(src, was, size)

    def _move(self, word, operands):
        """True where the instruction only moves."""
        extends, condition = _EXTENDS.match(word), _CONDITION.match(word)
        if extends:
            size = _SIZES[extends[2]]
            value = self._read(operands[0], size)
            value = value if extends[1] == "z" else _signed(value, size)
            self._write(operands[1], value, _SIZES[extends[3]])
        elif condition and condition[1] == "set":
            self._write(operands[0], self._holds(word), 1)
        elif condition:
            size = _register(operands[1])[1]
            value = self._read(operands[0], size)
            self._write(operands[1], value if self._holds(word) else
                        self._read(operands[1], size), size)
        elif word == "lea":
            self._write(operands[1], self._address(operands[0]),
                        _register(operands[1])[1])
        elif word in ("push", "pop"):
            self._stack(word, operands[0])
        else:
            return False
        return True

    def _stack(self, word, operand):
        if word == "push":
            self.register[_STACK_POINTER] -= 8
            self._write("(%rsp)", self._read(operand, 8), 8)
        else:
            self._write(operand, self._read("(%rsp)", 8), 8)
            self.register[_STACK_POINTER] += 8

    def _step(self, instruction):
        text = instruction.text.partition("#")[0]
        if facts.is_padding(instruction) or text.startswith("pause"):
            return
        if facts.count_fences([instruction]):
            self.seen.append(Access("fence", 0, 0))
            return
        locked = text.startswith("lock ")
        word, _, rest = text.removeprefix("lock ").partition(" ")
        operands = _OPERAND.findall(rest.strip())
        if self._move(word, operands):
            return
        size = next((_register(one)[1] for one in reversed(operands)
                     if one.startswith("%")), None)
        known = (*_BINARY, *_UNARY, *_ROTATIONS,
                 "xchg", "xadd", "cmpxchg", "movabs")
        if word not in known and word[-1] in _SIZES:
            word, size = word[:-1], _SIZES[word[-1]]
        if word not in known:
            raise objects.Failed(f"instruction '{text}'\n")
        if word in ("xchg", "xadd", "cmpxchg"):
            self._exchange(word, *operands, size)
        else:
            self._compute(word.replace("movabs", "mov"), operands, size,
                          locked)

    def _compute(self, word, operands, size, locked):
        if word in _UNARY or len(operands) == 1:  # shl %eax: by 1
            operands = ["$0x1", operands[-1]]
        *src, dst = operands
        b = self._read(src[0], size)
        if word in _ROTATIONS:
            self._write(dst, _rotated(self._read(dst, size),
                                      _ROTATIONS[word] * b, size), size)
            return
        a = b if word == "mov" else self._read(src[1] if src[1:] else dst, size,
                                               "X" if locked else "r")
        result = _UNARY[word](a) if word in _UNARY else \
            _BINARY[word](a, b, self.carry)
        if word not in ("mov", "not"):
            self._flags(word, a, b, result, size)
        if word not in _WITHOUT_RESULT:
            self._write(dst, result, size, None if locked else "w")

    # -- Calls --

    def call(self, name):
        """The accesses of one verb of the lock, in order."""
        self.seen = []
        self.register[_TO], self.register[_BY] = self.LOCK, self.BY
        self.register[_STACK_POINTER] = self.STACK
        self._run(name)
        return self.seen

    def _run(self, name):
        if name not in self.found:
            raise objects.Failed(f"it goes on to {name}\n")
        code = {i.offset: i for i in self.found[name].code}
        at = self.found[name].code[0].offset
        while True:
            i = code[at]
            word = i.text.split()[0]
            at += i.length
            self.steps += 1
            if word == "ret" or self.steps > self.MOST_STEPS:
                break
            if word == "call":
                self._run(i.other)
            elif word.startswith("j") and (word == "jmp" or self._holds(word)):
                if i.other:
                    return self._run(i.other)
                at = i.target
            elif not word.startswith("j"):
                self._step(i)
        if self.steps > self.MOST_STEPS:
            raise objects.Failed("it waits\n")


# -- The table ---------------------------------------------------------------

_TURNS = [("lock", "unlock"), ("lock_shared", "unlock_shared"),
          ("try_lock", "unlock"), ("try_lock_shared", "unlock_shared")]


def _turns(found, home, verbs):
    """{verb: its accesses, of the first turn and the second}"""
    seen = {}
    for turn in _TURNS:
        if turn[0] not in verbs:
            continue
        machine = _Machine(found, home)
        for verb in 2 * turn:
            seen.setdefault(verb, []).append(machine.call(verbs[verb]))
    return seen


def read(obj, scratch):
    """{lock: {verb: [accesses]}} of each lock that the object has probes of."""
    names = objects.section_text(obj, ".klock_names", scratch).splitlines()
    found, variables, rows = objects.functions(obj), objects.variables(obj), {}
    for name, verbs in facts.probes(names, objects.sizes(obj)).items():
        home = objects.initial(obj, variables[verbs["home"]], _Machine.LOCK)
        try:
            rows[name] = _turns(found, home, verbs)
        except objects.Failed as failed:
            raise objects.Failed(f"{name}, uncontended: {failed}")
    return rows


def of(compiler, source, scratch):
    """read() of a source, which is compiled without vector registers."""
    return read(compiler.compile_as_kernel(
        source, Path(scratch) / "accesses.o", ["-mgeneral-regs-only"]), scratch)


def table(rows):
    """A line for each lock."""
    wide = max(map(len, rows))
    return "\n".join(name.ljust(wide) + "  " + "; ".join(
        f"{verb} " + " ".join(map(str, turns[0]))
        for verb, turns in seen.items()) for name, seen in rows.items())


def differ(seen):
    """{verb: {an access: [those that share a byte of it, of other bytes]}},
    the pair at the later of two verbs, and by the larger access"""
    before, found = set(), {}
    for verb, turns in seen.items():
        own = {one for turn in turns for one in turn if one.size}
        before |= own
        for one, other in itertools.product(sorted(before), repeat=2):
            if {one, other} & own and (one.size, one.at) > (other.size, other.at) \
                    and -one.size < one.at - other.at < other.size:
                found.setdefault(verb, {}).setdefault(one, []).append(other)
    return found


# -- Against the headers -----------------------------------------------------

_FIELD = re.compile(r"^ \* Sizes:\s+([\w, ]+):", re.M)


def _kept(lib, name):
    """The verbs that the lock's header gives a reason for."""
    of = re.compile(rf"^struct {name.partition('<')[0]} [{{:]", re.M)
    for path in sorted(lib.glob("klock/*.hpp")):
        text = path.read_text()
        if of.search(text):
            match = _FIELD.search(text)
            return match[1].split(", ") if match else []
    return []


def check(rows, lib):
    """A line for each verb that accesses other bytes than its header says."""
    for name, seen in rows.items():
        found, kept = differ(seen), _kept(lib, name)
        for verb, pairs in found.items():
            if verb not in kept:
                yield (f"{name}: {verb}(): two sizes on the same bytes: " +
                       "; ".join(f"{one} beside " + " ".join(map(str, others))
                                 for one, others in pairs.items()))
        for verb in kept:
            if verb not in found:
                yield f"{name}: Sizes says {verb}, which has one size a byte"
