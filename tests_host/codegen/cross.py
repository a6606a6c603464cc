# SPDX-License-Identifier: MIT
"""Compiles for another CPU as a kernel does there, and reads the result.

With GCC's cross compilers and with clang; both results by the GNU binutils of
that architecture, which come with its GCC. Of an architecture without them,
clang alone, and LLVM's tools.
"""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import objects

# As kernels are built there.
COMMON = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-pic",
          "-fno-stack-protector", "-fno-threadsafe-statics"]
AARCH64 = ["-mgeneral-regs-only", "-mstrict-align", "-mno-outline-atomics"]
RISCV = ["-mabi=lp64", "-mcmodel=medany"]
ARM = ["-mfloat-abi=soft", "-marm", "-fomit-frame-pointer"]


class Target(NamedTuple):
    port: str
    prefix: str  # of GCC and its binutils
    clang: list
    gcc: list    # what only GCC takes
    march: str
    flags: list
    tools: str = ""  # another prefix of objdump, nm and objcopy


_AARCH64 = Target("aarch64", "aarch64-linux-gnu-",
                  ["--target=aarch64-none-elf"], [], "armv8-a", AARCH64)
TARGETS = {
    "aarch64": _AARCH64,
    "aarch64-lse": _AARCH64._replace(march="armv8.1-a"),
    "riscv64": Target("riscv", "riscv64-linux-gnu-",
                      ["--target=riscv64-none-elf", "-mno-relax"], [],
                      "rv64imac_zicsr_zifencei", RISCV),
    "armv7a": Target("armv7a", "arm-none-eabi-", ["--target=arm-none-eabi"],
                     [], "armv7-a", ARM, "llvm-"),
}


class Cross:
    """A compiler for one target, with its port on the include path."""

    def __init__(self, cxx, target, lib):
        self.target, self.lib, self.name = TARGETS[target], Path(lib), target
        prefix = self.target.prefix
        self.is_clang = cxx == "clang++"
        self.cxx = cxx if self.is_clang else prefix + cxx
        tools = self.target.tools or prefix
        self.objdump, self.nm = tools + "objdump", tools + "nm"
        self.objcopy = tools + "objcopy"
        for tool in (self.cxx, self.objdump, self.nm, self.objcopy):
            if not shutil.which(tool):
                raise objects.Skip(f"{tool} not found: nothing is said of the "
                                   f"code for {target}")
        self.paths = ["-I", self.lib,
                      "-I", self.lib / "arch" / self.target.port]
        self.major = int(re.search(r"(\d+)\.\d+\.\d+",
                                   objects.call([self.cxx, "--version"]))[1])

    def __str__(self):
        return f"{'clang++' if self.is_clang else 'g++'} for {self.name}"

    def machine(self):
        """The flags that say which machine."""
        march = self.target.march
        if self.is_clang and self.major < 17:  # none knows _zicsr, or needs it
            march = march.split("_")[0]
        return [*(self.target.clang if self.is_clang else []),
                f"-march={march}", *self.target.flags]

    def compile(self, source, obj, extra=()):
        own = [] if self.is_clang else \
            objects.GCC_WARNINGS + objects.GCC_ALONE
        objects.call([self.cxx, *self.machine(), *objects.FLAGS, *own, *COMMON,
                      *extra, *self.paths, "-c", source, "-o", obj])
        return obj

    def undefined(self, obj):
        return sorted({*objects.undefined(obj, self.nm)})

    def functions(self, obj):
        """{name: [Instruction]} of all the code in an object file."""
        return _functions(objects.call([self.objdump, "-dr", "-M", "no-aliases",
                                        "--no-show-raw-insn", obj])
                          if self.target.port == "riscv" else objects.call(
                              [self.objdump, "-dr", "--no-show-raw-insn", obj]))

    def names(self, obj, scratch):
        """Returns the names that probe.hpp gives the locks."""
        return objects.section_text(obj, ".klock_names", scratch,
                                    self.objcopy).splitlines()


class Instruction(NamedTuple):
    offset: int
    name: str      # "ldaxrb"
    operands: str  # "w1, [x0]"
    target: int    # of a branch inside the function, or -1
    other: str     # the function that is called, or ""


_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_LOCAL = re.compile(r"^\.L")  # the assembler's, or the compiler's own
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\s+(\S+)\s*(.*?)\s*"
                          r"(?:<.*|//.*|# .*|@ .*)?$")
_RELOCATION = re.compile(
    r"^\s+[0-9a-f]+:\s+R_\w*?(?:CALL|JUMP)\w*\s+([\w.$]+)")
_TARGET = re.compile(r"(?:^|,)\s*(?:0x)?([0-9a-f]+)\s*$")
_BRANCHES = re.compile(r"^(?:c\.)?(?:b|b\..*|bl|cbn?z|tbn?z|j|jal|"
                       r"beqz?|bnez?|blt[uz]?|bge[uz]?|bgtz|blez|"
                       r"b(?:hs|lo|mi|pl|vs|vc|hi|ls|gt|le))$")


def _functions(listing):
    found, code = {}, []
    for line in listing.splitlines():
        if match := _LABEL.match(line):
            if not _LOCAL.match(match[1]):
                code = found.setdefault(match[1], [])
        elif match := _RELOCATION.match(line):
            if code and not _LOCAL.match(match[1]):
                code[-1] = code[-1]._replace(other=match[1], target=-1)
        elif match := _INSTRUCTION.match(line):
            name, operands = match[2], match[3].strip()
            place = _TARGET.search(operands) if _BRANCHES.match(name) else None
            code.append(Instruction(int(match[1], 16), name, operands,
                                    int(place[1], 16) if place else -1, ""))
    return {name: code for name, code in found.items() if code}


# -- Where the code of one function may go -----------------------------------

# Instructions that nothing follows: Arm's, and RISC-V's without aliases.
_ENDS = re.compile(r"(?:b|br|bx|ret|udf|c\.jr?|(?:c\.)?ebreak|unimp) |"
                   r"jalr? zero,|pop .*pc}")
_RETURNS = re.compile(r"ret |c\.jr ra|jalr zero,0\(ra\)|bx\w* lr|"
                      r"pop\w* .*pc}")


def returns(code):
    """The offsets of the returns, those under a condition included."""
    return {i.offset for i in code
            if _RETURNS.match(f"{i.name} {i.operands}")}


def after(code):
    """{offset: the offsets that may come next}"""
    found = {}
    for i, here in enumerate(code):
        ends = _ENDS.match(f"{here.name} {here.operands}") and not here.other
        found[here.offset] = {here.target} if here.target >= 0 else set()
        if not ends and i + 1 < len(code):
            found[here.offset].add(code[i + 1].offset)
    return found


def before(code):
    """{offset: the offsets that may have been before}"""
    found = {i.offset: set() for i in code}
    for here, there in after(code).items():
        for offset in there:
            found.setdefault(offset, set()).add(here)
    return found


def reached(starts, steps, stops=()):
    """Returns all that the steps reach from the starts, the starts and the
    stops included. No step leaves a stop."""
    found, todo = set(), list(starts)
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            if at not in stops:
                todo += steps.get(at, ())
    return found


def repeated(code):
    """The instructions that can run again in one call."""
    steps = after(code)
    return [i for i in code if i.offset in reached(steps[i.offset], steps)]


def between(code, first, last, but):
    """The instructions on a way from one of first to one of last that passes
    neither another of them nor one of but."""
    steps, back = after(code), before(code)
    ends = {*first, *last, *but}
    there = reached({o for f in first for o in steps[f]}, steps, ends)
    here = reached({o for l in last for o in back[l]}, back, ends)
    return [i for i in code if i.offset in (there & here) - ends]


def leads_to(code, last, but):
    """Whether one of last can be reached from the top past all of but."""
    top = code[0].offset
    return bool(reached({top}, after(code), {*but, *last}) & {*last})
