# SPDX-License-Identifier: MIT
"""Object code: compiled or assembled, linked, and read by objdump."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "toolchain"), str(ROOT / "tests_host/codegen")]
import objects
from objects import Failed, Skip, call, tool


def skipped(reason):
    """The exit status where a tool is missing. Level full is run behind setup
    --full (CMakePresets.json)."""
    print(reason)
    return 1 if os.environ.get("KLOCK_LEVEL") == "full" else 77


def status(looks, right):
    """Prints what is wrong, which each of these functions returns, or that all
    is right; the exit status. A missing tool leaves out its own part alone."""
    wrong, missing = [], []
    for look in looks:
        try:
            wrong += look()
        except Skip as reason:
            missing.append(str(reason))
    print("\n".join(wrong or [right]))
    if missing and not wrong:
        return skipped("\n".join(missing))
    return 1 if wrong else 0


class Instruction(NamedTuple):
    address: int
    name: str      # "ldaxrb", "lock xadd"
    operands: str  # "w3, [x2]"
    after: int     # the address of the next one

    def __str__(self):
        return f"{self.address:x} {self.name} {self.operands}".strip()


class Binutils(NamedTuple):
    """The GNU binutils of a machine."""
    prefix: str
    assembler: list
    objdump: list

    def missing(self):
        for tool in ("as", "ld", "objdump"):
            if not shutil.which(self.prefix + tool):
                raise Skip(f"{self.prefix}{tool} not found: toolchain/setup")


BINUTILS = {
    "x86": Binutils("x86_64-linux-gnu-", ["--64", "-msyntax=intel",
                                          "-mnaked-reg"], ["-M", "intel"]),
    "aarch64": Binutils("aarch64-linux-gnu-", ["-march=armv8.5-a"], []),
    "riscv": Binutils("riscv64-linux-gnu-",
                      ["-march=rv64imac_zicsr_zifencei", "-mno-relax"], []),
}

_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
_LINE = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
_COMMENT = re.compile(r"\s*(?://|#\s|<).*$")
_PREFIXES = {"lock", "rep", "repz", "repnz", "cs", "ds", "data16", "bnd",
             "notrack"}


class Code:
    """The instructions of a linked file, by address, and its functions."""

    def __init__(self, listing):
        self.at = {}
        self.functions = {}
        self.data = []  # (address, bytes, "READONLY, DATA") of each section
        lines = []
        for line in listing.splitlines():
            if match := _LABEL.match(line):
                self.functions[match[2]] = int(match[1], 16)
            elif match := _LINE.match(line):
                lines.append((int(match[1], 16), match[2]))
        for i, (address, text) in enumerate(lines):
            after = lines[i + 1][0] if i + 1 < len(lines) else -1
            name, operands = _split(text)
            self.at[address] = Instruction(address, name, operands, after)
        self.targets = {target for i in self.at.values()
                        if (target := goes_to(i)) in self.at}

    def section(self, address):
        """(its bytes from there on, whether nobody writes them), or None."""
        for first, contents, flags in self.data:
            if first <= address < first + len(contents):
                return contents[address - first:], "READONLY" in flags
        return None

    def changed(self, address, name, operands=None):
        """A copy in which one instruction is another."""
        other = Code("")
        other.functions, other.targets = self.functions, self.targets
        other.data = self.data
        old = self.at[address]
        new = old._replace(name=name)
        if operands is not None:
            new = new._replace(operands=operands)
        other.at = {**self.at, address: new}
        return other


def goes_to(instruction):
    """Where a branch goes; for others, a number that is no address of code."""
    last = instruction.operands.split(",")[-1].strip()
    return int(last, 16) if re.fullmatch(r"[0-9a-f]+", last) else -1


def _split(text):
    words = _COMMENT.sub("", text).split()
    count = 1
    while count < len(words) and words[count - 1] in _PREFIXES:
        count += 1
    return " ".join(words[:count]), " ".join(words[count:])


def disassemble(machine, linked):
    tools = BINUTILS[machine]
    objdump = tools.prefix + "objdump"
    code = Code(call([objdump, "-d", "--no-show-raw-insn", *tools.objdump,
                      linked]))
    lines = call([objdump, "-h", linked]).splitlines()
    for line, flags in zip(lines, lines[1:]):
        if "LOAD" in flags:
            size, address, _, at = (int(word, 16) for word in line.split()[2:6])
            contents = Path(linked).read_bytes()[at:at + size]
            code.data.append((address, contents, flags))
    return code


def link(machine, objs, out, flags=()):
    """Fixes all addresses. Nothing may be left undefined, not weakly either: a
    call of such a function is none in the file."""
    prefix = BINUTILS[machine].prefix
    call([prefix + "ld", "-e", "0", *flags, *objs, "-o", out])
    weak = set(re.findall(r" [wv] (\S+)", call([prefix + "nm", "-u", *objs])))
    weak -= set(re.findall(r" \w (\S+)", call([prefix + "nm", out])))
    if weak:
        raise Failed(f"undefined: {' '.join(sorted(weak))}")
    return out


def assemble(machine, source, scratch):
    tools = BINUTILS[machine]
    tools.missing()
    text, obj = Path(scratch) / "code.s", Path(scratch) / "code.o"
    text.write_text(source)
    call([tools.prefix + "as", *tools.assembler, text, "-o", obj])
    return disassemble(machine, link(machine, [obj], Path(scratch) / "code"))
