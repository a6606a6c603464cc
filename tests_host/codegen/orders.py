# SPDX-License-Identifier: MIT
"""Every operation of a port, in the object code of another CPU than a PC's.

probes.py writes a function for each operation and type; the tables say of which
instructions it must be, from its order. A compiler that drops an order is found
here and nowhere else: an emulator on x86 has x86's orders.

A function's code is a line of words: the instructions that read or write
memory, order, wait or call, each by its name without its width, and none that
keeps a register on the stack.

    aarch64       ldaxr stlxr ...      the order is in the exclusive accesses
    aarch64-lse   ldaddal, casal ...   or in the one instruction
    riscv64       amoadd.aqrl, lr.aq sc.rl; fences beside loads and stores
    armv7a        ldrex strex; a dmb-ish for each order
"""

import re
from pathlib import Path

import cross
import probes

ACQUIRES = ("acquire", "acq_rel", "seq_cst")
RELEASES = ("release", "acq_rel", "seq_cst")

# -- The words -------------------------------------------------------------------

_A64_LOAD = re.compile(r"ldu?r(?:b|h|sb|sh|sw)?$|ldp$")
_A64_STORE = re.compile(r"stu?r[bh]?$|stp$")
_A64_ORDERED = re.compile(r"(ldaxr|ldxr|stlxr|stxr|ldar|ldapr|stlr|"
                          r"(?:cas|swp|(?:ld|st)(?:add|clr|set|eor))(?:al|a|l)?)"
                          r"[bh]?$")
_A64_OTHER = ("wfe", "sevl", "sev", "isb", "yield")


def _aarch64_width(i):
    """The bytes that an instruction reads or writes."""
    if match := re.search(r"([bh])$", i.name):
        return " bh".index(match[1])
    # In front of the value that a store-exclusive writes, its success.
    values = i.operands.split(",")[1 if re.match(r"stl?xr", i.name) else 0]
    return 4 if values.strip().startswith("w") else 8


def _aarch64_word(i):
    if i.name == "dmb":
        return f"dmb-{i.operands}"
    if match := _A64_ORDERED.match(i.name):
        # staddl is ldaddl whose result nobody wants
        return re.sub(r"^st(?=add|clr|set|eor)", "ld", match[1])
    if "[sp" in i.operands:
        return ""
    if _A64_LOAD.match(i.name):
        return "load"
    if _A64_STORE.match(i.name):
        return "store"
    if i.name in _A64_OTHER:
        return "pause" if i.name == "isb" else i.name
    return "call" if i.name in ("bl", "blr") or i.other else ""


_RV_LOAD = re.compile(r"(?:c\.)?l[bhwd]u?$")
_RV_STORE = re.compile(r"(?:c\.)?s[bhwd]$")
_RV_ORDERED = re.compile(r"(lr|sc|amo\w+)\.[bhwd](\.(?:aqrl|aq|rl))?$")
_RV_NUMBERS = {0x0100000f: "pause", 0x00d00073: "wrs"}
# Operations that binutils 2.40 does not decode: Zabha's widths, and Zacas.
_RV_AMO = {0: "amoadd", 1: "amoswap", 4: "amoxor", 5: "amocas", 8: "amoor",
           12: "amoand"}
_RV_BITS = ("", ".rl", ".aq", ".aqrl")


def _riscv_width(i):
    """The bytes that an instruction reads or writes."""
    if i.name in (".word", ".4byte", ".insn"):
        return 1 << (int(i.operands.split(",")[-1], 0) >> 12 & 7)
    return 1 << "bhwd".index(re.search(
        r"^(?:c\.)?[ls]([bhwd])u?$|\.([bhwd])(?:\.|$)", i.name).expand(
            r"\1\2"))


def _riscv_number(number):
    if number & 0x7f == 0x2f:
        return _RV_AMO.get(number >> 27, "?") + _RV_BITS[number >> 25 & 3]
    return _RV_NUMBERS.get(number, "")


def _riscv_word(i):
    if i.name == "fence" and i.operands.endswith("unknown"):
        return "pause"  # without aliases, what is a hint has no name
    if i.name == "fence":
        return "fence-" + i.operands.replace(",", "-")
    if i.name in ("fence.tso", "pause"):
        return i.name
    if i.name in (".word", ".4byte", ".insn"):
        return _riscv_number(int(i.operands.split(",")[-1], 0))
    if match := _RV_ORDERED.match(i.name):
        return match[1] + (match[2] or "")
    if "(sp)" in i.operands:
        return ""
    if _RV_LOAD.match(i.name):
        return "load"
    if _RV_STORE.match(i.name):
        return "store"
    return "call" if i.other else ""


_ARM_IF = r"(?:eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
_ARM_EXCLUSIVE = re.compile(rf"(ldrex|strex)[bhd]?{_ARM_IF}$")
_ARM_LOAD = re.compile(rf"(?:ldrs?[bhd]?|ldm\w*?){_ARM_IF}$")
_ARM_STORE = re.compile(rf"(?:str[bhd]?|stm\w*?){_ARM_IF}$")


def _arm_width(i):
    """The bytes that an instruction reads or writes."""
    match = re.match(rf"(?:ldr|str)(?:ex)?s?([bhd]?){_ARM_IF}$", i.name)
    return {"": 4, "b": 1, "h": 2, "d": 8}[match[1]]


def _arm_word(i):
    if i.name == "dmb":
        return f"dmb-{i.operands}"
    if match := _ARM_EXCLUSIVE.match(i.name):
        return match[1]
    if "[sp" in i.operands or "[pc" in i.operands:
        return ""
    if _ARM_LOAD.match(i.name):
        return "load"
    if _ARM_STORE.match(i.name):
        return "store"
    if i.name in ("wfe", "sev"):
        return i.name
    if i.name == "yield":
        return "pause"
    return "call" if i.name in ("bl", "blx") or i.other else ""


# Read-modify-write instructions: an operation has one.
_CHANGES = re.compile(r"st(l?)xr|strex|sc|amo|cas|swp|ld(?:add|clr|set|eor)")
_ACQUIRE = re.compile(r"lda|ld(?:add|clr|set|eor)a|(?:cas|swp)a|dmb-ish(?:ld)?$|"
                      r"(?:lr|amo\w+)\.aq|fence-rw?-rw|fence\.tso")
_RELEASE = re.compile(r"stl|ld(?:add|clr|set|eor)a?l|(?:cas|swp)a?l|dmb-ish$|"
                      r"(?:sc\.rl|amo\w+\.(?:aq)?rl)|fence-rw-r?w|fence\.tso")


def changes(line):
    """How many of the words are read-modify-writes."""
    return sum(bool(_CHANGES.match(word)) for word in line)


# Words that read or write the location.
_ACCESS = re.compile(r"load|store|ld|st|cas|swp|lr|sc|amo")


def acquires(line):
    return any(_ACQUIRE.match(word) for word in line)


def releases(line):
    return any(_RELEASE.match(word) for word in line)


# -- The tables ------------------------------------------------------------------

_LSE = {"exchange": "swp", "compare_exchange": "cas", "fetch_add": "ldadd",
        "fetch_sub": "ldadd", "fetch_or": "ldset", "fetch_and": "ldclr",
        "fetch_xor": "ldeor"}
_A64_FENCES = {"acquire": "dmb-ishld", "release": "dmb-ish",
               "acq_rel": "dmb-ish", "seq_cst": "dmb-ish"}
_A64_LOADS = {"relaxed": "load", "acquire": "(?:ldar|ldapr)", "seq_cst": "ldar"}
_A64_STORES = {"relaxed": "store", "release": "stlr", "seq_cst": "stlr"}

_ARM_FENCES = dict.fromkeys(_A64_FENCES, "dmb-ish")
_ARM_LOADS = {"relaxed": "load", "acquire": "load dmb-ish",
              "seq_cst": "load dmb-ish"}
_ARM_STORES = {"relaxed": "store", "release": "dmb-ish store",
               "seq_cst": "dmb-ish store dmb-ish"}

_RV_ORDER = {"relaxed": "", "acquire": ".aq", "release": ".rl",
             "acq_rel": ".aqrl", "seq_cst": ".aqrl"}
_RV_AMOS = {"exchange": "amoswap", "fetch_add": "amoadd", "fetch_sub": "amoadd",
            "fetch_or": "amoor", "fetch_and": "amoand", "fetch_xor": "amoxor"}
_RV_FENCES = {"acquire": "fence-r-rw", "release": "fence-rw-w",
              "acq_rel": "fence.tso", "seq_cst": "fence-rw-rw"}
_RV_LOADS = {"relaxed": "load", "acquire": "load fence-r-rw",
             "seq_cst": "fence-rw-rw load fence-r-rw"}
_RV_STORES = {"relaxed": "store", "release": "fence-rw-w store",
              "seq_cst": "fence-rw-w store fence-rw-rw"}


def _again(*parts):
    """Parts in any number and turn, as loops are laid out."""
    one = "|".join(f"(?:{part})" for part in parts)
    return f"(?:{one})(?: (?:{one}))*"


class AArch64:
    """AArch64's instructions, by exclusive accesses or by LSE's atomics."""

    port = "aarch64"
    pointer = 8
    loads, stores, fences = _A64_LOADS, _A64_STORES, _A64_FENCES
    word, width = staticmethod(_aarch64_word), staticmethod(_aarch64_width)
    # A sleep, the reads that mark what ends it, and what lets the first pass.
    fence = None
    sleep, marks, event = "wfe", ("ldaxr",), "sevl"
    sleeps = True

    def __init__(self, lse=False):
        self.lse = lse

    def width_of(self, word, probe):
        """The bytes that this word must access."""
        return probe.size

    def asleep(self, order):
        return "sevl wfe ldaxr"

    def wait(self, order):
        """A first look; then asleep between two others."""
        return f"{self.loads[order]} {self.asleep(order)}"

    def change(self, probe, order):
        """The words of one change, as a pattern."""
        if self.lse:
            return (_LSE[probe.change] + ("a" if order in ACQUIRES else "") +
                    ("l" if order in RELEASES else ""))
        return (("ldaxr" if order in ACQUIRES else "ldxr") +
                (" stlxr" if order in RELEASES else " stxr"))


class RiscV:
    """A, and of the later extensions those that a compiler was told of."""

    port = "riscv"
    pointer = 8
    loads, stores, fences = _RV_LOADS, _RV_STORES, _RV_FENCES
    word, width = staticmethod(_riscv_word), staticmethod(_riscv_width)
    fence = None
    sleep, marks, event = "wrs", ("lr", "lr.aq", "lr.aqrl"), None

    def __init__(self, extensions=()):
        self.cas = "zacas" in extensions
        self.narrow = "zabha" in extensions
        self.sleeps = "zawrs" in extensions

    def width_of(self, word, probe):
        """The bytes that this word must access."""
        is_narrow = word in ("load", "store") or (
            self.narrow and not word.startswith(("lr", "sc")) and
            probe.short != "flag")
        return probe.size if is_narrow else max(probe.size, 4)

    def change(self, probe, order):
        """The words of one change, as a pattern."""
        return self._change(probe, order).replace(".", r"\.")

    def _change(self, probe, order):
        # Flags are words (arch/riscv).
        is_word = probe.size >= 4 or self.narrow or probe.short == "flag"
        if probe.change == "compare_exchange":
            if self.cas and is_word:
                return "amocas" + _RV_ORDER[order]
        elif is_word or probe.at_the_top or \
                probe.change in ("fetch_or", "fetch_and", "fetch_xor"):
            return _RV_AMOS[probe.change] + _RV_ORDER[order]
        elif probe.change == "exchange" and probe.short in ("bool", "true"):
            to = [name + _RV_ORDER[order] for name in ("amoor", "amoand")]
            if probe.operation == "await_exchange":  # a loop for each, or one
                return f"(?:{'|'.join(to)})"
            return to[0] if probe.short == "true" else \
                f"(?:{' '.join(to)}|{' '.join(reversed(to))})"
        lr = ".aqrl" if order == "seq_cst" else \
            ".aq" if order in ACQUIRES else ""
        return f"lr{lr} sc" + (".rl" if order in RELEASES else "")

    def asleep(self, order):
        return _again("wrs", {"relaxed": "lr", "acquire": r"lr\.aq",
                              "seq_cst": r"lr\.aqrl"}[order])

    def wait(self, order):
        """A first look; then asleep between two others, or a pause."""
        look = self.loads[order]
        return f"{look} {self.asleep(order)}" if self.sleeps else \
            _again(look, "pause")


class ArmV7:
    """Exclusive accesses, and a fence for each order. No wait sleeps."""

    port = "armv7a"
    pointer = 4
    loads, stores, fences = _ARM_LOADS, _ARM_STORES, _ARM_FENCES
    word, width = staticmethod(_arm_word), staticmethod(_arm_width)
    fence = "dmb-ish"  # beside the access, not in it
    sleep, marks, event = None, (), None
    sleeps = False

    def width_of(self, word, probe):
        """The bytes that this word must access."""
        return probe.size

    def wait(self, order):
        fence = () if order == "relaxed" else ("dmb-ish",)
        return _again("load", "pause", *fence)

    def change(self, probe, order):
        """The words of one change, as a pattern: a fence may stand on each way,
        or where they meet. check_fences() looks at the ways."""
        words = "ldrex strex(?: ldrex(?: strex)?)?"
        if order in RELEASES:
            words = "(?:dmb-ish ldrex strex|ldrex dmb-ish strex ldrex)"
        if order in ACQUIRES:
            words += "(?: dmb-ish| ldrex| strex| pause)*"
        return words


MACHINES = {"aarch64": AArch64(), "aarch64-lse": AArch64(True),
            "riscv64": RiscV(), "armv7a": ArmV7()}


# -- Operations --------------------------------------------------------------

_SIZES = {"bool": 1, "true": 1, "u8": 1, "schar": 1, "u16": 2, "u32": 4, "int": 4,
          "word_enum": 4, "flag": 1}
_NAME = re.compile(r"probe_(?:(pair|fields)_)?(\w+?)_"
                   r"(relaxed|acquire|release|acq_rel|seq_cst)"
                   r"(?:__(word_enum|[a-z0-9]+)(?:_(first|second|\d))?)?$")


class Wanted:
    """The operation, order and type that a probe's name states."""

    def __init__(self, name, pointer):
        kind, self.operation, self.order, short, part = \
            _NAME.match(name).groups()
        self.short = short
        self.name = name
        self.change = {"await_exchange": "exchange", "advance": "fetch_add"} \
            .get(self.operation, self.operation)
        one = self.size = pointer if short in ("usize", "pointer") else \
            _SIZES.get(short, 0)
        fields = {None: 1, "pair": 2}.get(kind) or int(part)
        fields = 4 if fields == 3 else fields
        if self.operation in ("compare_exchange", "advance"):
            self.size *= fields
        # The probes use the last field, a pair's first, and the third of three.
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
        one = machine.change(wanted, order)
        return (_again(one, machine.asleep("relaxed")) if machine.sleeps else
                f"{one}(?: {one})*"), ("pause",)
    if operation == "await_patient" and machine.sleeps:
        return _again(machine.loads[order], machine.asleep(order)), (
            "pause", "call")
    if operation.startswith("await") and machine.fence:
        return machine.wait(order), ("call",)
    if operation.startswith("await"):
        one = machine.loads[order]
        return f"{one}(?: {one})*", ("pause", "call")
    # A compare_exchange reads what it expects, and writes what it found.
    return machine.change(wanted, order), (
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
    for i in cross.between(code, marks, sleeps, events):
        if named[i.offset]:
            yield (f"{name}: {i.name} {i.operands} between the read that marks "
                   f"and {machine.sleep}")
    if cross.leads_to(code, sleeps, marks + events):
        yield f"{name}: {machine.sleep} without a mark or an event before it"
    for at in sleeps:
        if not cross.reached({at}, cross.after(code)) & {*marks}:
            yield f"{name}: nothing is read after {machine.sleep}"


def check_fences(machine, wanted, code):
    """Where an order is a fence beside the access, no way passes by it."""
    named = {i.offset: machine.word(i) for i in code}
    fences = {at for at, word in named.items() if word == machine.fence}
    is_write = wanted.operation == "store"
    access = "store" if is_write else \
        "strex" if "strex" in named.values() else "load"
    accesses = {at for at, word in named.items() if word == access}
    if not machine.fence or not accesses:
        return
    if wanted.order in RELEASES and not wanted.operation.startswith("await") \
            and access != "load" and cross.leads_to(code, accesses, fences):
        yield f"{wanted.name}: a way to {access} without {machine.fence}"
    if wanted.order not in ACQUIRES:
        return
    steps = cross.after(code)
    behind = cross.reached({o for at in accesses for o in steps[at]}, steps,
                           fences)
    if behind & cross.returns(code):
        yield f"{wanted.name}: a way from {access} without {machine.fence}"


def check_width(machine, wanted, code):
    """Each access is of the location's bytes: of fewer, it could miss a change;
    of more, it would take others' for one."""
    for i in code:
        word = machine.word(i)
        # A compare_exchange reads what it expects, and writes what it found.
        if not _ACCESS.match(word) or wanted.change == "compare_exchange" and \
                word in ("load", "store"):
            continue
        expected = machine.width_of(word, wanted)
        if machine.width(i) != expected:
            yield (f"{wanted.name}: {i.name} {i.operands} is of "
                   f"{machine.width(i)} bytes, expected {expected}")


def check_operation(machine, wanted, code):
    """One line for each thing that is not as the operation's order demands."""
    line = words(machine, code)
    expected, ignored = pattern(machine, wanted)
    counted = " ".join(word for word in line if word not in ignored)
    if not re.fullmatch(expected, counted):
        yield f"{wanted.name} is '{' '.join(line)}', expected '{expected}'"
    yield from check_sleep(machine, wanted.name, code)
    yield from check_fences(machine, wanted, code)
    yield from check_width(machine, wanted, code)
    if not wanted.operation.startswith("await"):
        return
    if wanted.operation in ("await_patient", "await_exchange") and \
            machine.sleeps != (machine.sleep in line):
        yield (f"{wanted.name}: {machine.sleep} is "
               f"{'missing' if machine.sleeps else 'unexpected'}")
    if machine.sleep in line and wanted.operation != "await_patient":
        return
    again = words(machine, cross.repeated(code))
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
        found += check_operation(machine,
                                 Wanted(probe.name, machine.pointer),
                                 functions[probe.name])
    print(f"{compiler}: {len(wanted)} operations")
    return found
