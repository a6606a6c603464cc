# SPDX-License-Identifier: MIT
"""Compiles as a kernel does, and reads the result with binutils.

No test library, no simulator: what nm, objdump and objcopy say of the object
file is what a kernel would link.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import tool

FLAGS = ["-std=c++20", "-ffreestanding", "-nostdinc++", "-fno-exceptions",
         "-fno-rtti", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion",
         "-Werror"]
# As kernels are built, and so that functions hold their own code alone.
KERNEL = ["-O2", "-fcf-protection=none", "-fno-asynchronous-unwind-tables",
          "-fno-pic", "-mno-red-zone", "-fno-stack-protector"]
GCC_WARNINGS = ["-Wuseless-cast"]
GCC_ALONE = ["-fno-ipa-icf"]  # no function made a jump to an equal one


class Failed(Exception):
    """A tool failed; its text says how."""


class Skip(Exception):
    """A tool that is needed is not here."""


SKIPPED = 77


def report(who, findings):
    """Prints what a check finds; its exit status. The findings are made here:
    what they raise ends the check."""
    found = []
    try:
        for text in findings:
            found.append(text)
    except Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except Failed as failed:
        found.append(str(failed))
    for text in found:
        print(f"{who}: {text}")
    return 1 if found else 0


def call(command):
    done = subprocess.run([str(word) for word in command],
                          capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr or f"{command[0]}: {done.returncode}")
    return done.stdout


class Compiler:
    """A compiler for 32 or 64 bits, with the x86 port on its include path."""

    def __init__(self, cxx, bits, lib):
        for tool in (cxx, "nm", "objdump", "objcopy"):
            if not shutil.which(tool):
                raise Skip(f"{tool} not found")
        self.cxx, self.bits, self.lib = cxx, bits, lib
        self.paths = ["-I", lib, "-I", Path(lib) / "arch/x86"]
        self.is_clang = "clang" in call([cxx, "--version"])

    def __str__(self):
        return f"{Path(self.cxx).name} -m{self.bits}"

    def compile(self, source, obj, extra=()):
        """Compiles source to obj; Failed holds the compiler's words."""
        own = [] if self.is_clang else GCC_WARNINGS
        call([self.cxx, f"-m{self.bits}", *FLAGS, *own, *extra, *self.paths,
              "-c", source, "-o", obj])
        return obj

    def compile_as_kernel(self, source, obj, extra=()):
        return self.compile(source, obj, KERNEL + list(extra) +
                            ([] if self.is_clang else GCC_ALONE))


# -- Symbols and sections ----------------------------------------------------

def undefined(obj, nm="nm"):
    return [line.split()[-1] for line in
            call([nm, "--undefined-only", obj]).splitlines()]


def defined(obj):
    """[(name, type letter)], as nm has them."""
    found = []
    for line in call(["nm", "--defined-only", obj]).splitlines():
        _, letter, name = line.split(maxsplit=2)
        found.append((name, letter))
    return found


def of_each(objs):
    """{object: (undefined symbols, [(symbol, letter)] defined, sections)}, of
    many, by two processes."""
    found = {str(obj): ([], [], []) for obj in objs}
    if not found:
        return found  # nm would look for a.out
    for line in call(["nm", "-A", *found]).splitlines():
        obj, _, rest = line.partition(":")
        *_, letter, name = rest.split()
        if letter == "U" or (letter in "vw" and len(rest.split()) == 2):
            found[obj][0].append(name)
        else:
            found[obj][1].append((name, letter))
    for line in call(["objdump", "-hw", *found]).splitlines():
        if match := re.match(r"(.+):\s+file format ", line):
            obj = match[1]
        elif match := re.match(r" *\d+ (\S+)", line):
            found[obj][2].append(match[1])
    return found


def sizes(obj):
    """{symbol: bytes}"""
    found = {}
    for line in call(["nm", "-S", "--defined-only", obj]).splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = int(words[1], 16)
    return found


def section_text(obj, section, scratch, objcopy="objcopy"):
    """Returns the contents of a section as text."""
    out = Path(scratch) / "section"
    out.unlink(missing_ok=True)
    call([objcopy, f"--dump-section={section}={out}", obj,
          Path(scratch) / "copy.o"])
    return out.read_text()


def variables(obj):
    """{symbol: (section, offset, bytes)} of all data"""
    found = {}
    for line in call(["objdump", "-t", obj]).splitlines():
        if match := re.match(r"([0-9a-f]+) .*O (\S+)\t([0-9a-f]+) (\S+)$", line):
            found[match[4]] = (match[2], int(match[1], 16), int(match[3], 16))
    return found


def initial(obj, variable, address):
    """Returns the first contents of one of them at this address. It may point
    to itself, and to nothing else."""
    section, offset, size = variable
    if section.startswith(".bss"):
        return bytes(size)
    text = call(["objdump", "-sr", "-j", section, obj])
    data = bytearray.fromhex("".join(
        "".join(line[1:].split("  ")[0].split()[1:])
        for line in text.splitlines() if re.match(" [0-9a-f]{4,} ", line)))
    for at, addend in re.findall(r"^([0-9a-f]+) R_\w+_64 \S+\+(0x[0-9a-f]+)$",
                                 re.sub(" +", " ", text), re.M):
        value = address + int(addend, 16) - offset
        data[int(at, 16):int(at, 16) + 8] = value.to_bytes(8, "little")
    return bytes(data[offset:offset + size])


# -- Code --------------------------------------------------------------------

class Instruction(NamedTuple):
    offset: int
    length: int
    text: str    # "lock xadd %al,(%rdi)"
    target: int  # of a jump inside the function, or -1
    other: str   # the function it calls or jumps to, or ""


class Function(NamedTuple):
    name: str
    section: str
    offset: int
    code: list  # of Instruction


_SECTION = re.compile(r"^Disassembly of section (\S+):$")
_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(.*?)\s*$")
_RELOCATION = re.compile(r"^\s+[0-9a-f]+: R_\S+\s+(\S+)$")
_BRANCH = re.compile(r"^(?:j\w+|call[lqw]?|loop\w*)\s+([0-9a-f]+)\b"
                     r"(?: <([^>+]+)(?:\+0x[0-9a-f]+)?>)?")
_PLACE = re.compile(r"(.+?)(?:([-+])0x([0-9a-f]+))?$")


def _raw_functions(obj):
    """[name, section, [[offset, text, relocation]]] for each function."""
    found, section = [], ""
    for line in call(["objdump", "-dr", "--no-show-raw-insn",
                      obj]).splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        elif match := _LABEL.match(line):
            found.append([match[1], section, []])
        elif match := _RELOCATION.match(line):
            found[-1][2][-1][2] = match[1]
        elif match := _INSTRUCTION.match(line):
            found[-1][2].append([int(match[1], 16), match[2], ""])
    return [function for function in found if function[2]]


def _resolve(place, raw):
    """The function that a relocation's 'symbol+addend' lies in."""
    match = _PLACE.match(place)
    name = match[1]
    if any(function[0] == name for function in raw):
        return name
    addend = int(match[3] or "0", 16) * (-1 if match[2] == "-" else 1)
    inside = [f[0] for f in raw if f[1] == name and f[2][0][0] <= addend + 4]
    return inside[-1] if inside else name


def functions(obj):
    """{name: Function} of all the code in an object file."""
    raw, lengths = _raw_functions(obj), sizes(obj)
    found = {}
    for name, section, lines in raw:
        start = lines[0][0]
        end = start + lengths.get(name, lines[-1][0] + 1 - start)
        lines = [line for line in lines if line[0] < end]
        code = []
        for i, (offset, text, place) in enumerate(lines):
            after = lines[i + 1][0] if i + 1 < len(lines) else end
            target, other = -1, ""
            branch = _BRANCH.match(text)
            if branch and place:
                other = _resolve(place, raw)
            elif branch and branch[2] not in (None, name):
                other = branch[2]
            elif branch:
                target = int(branch[1], 16)
            code.append(Instruction(offset, after - offset, text, target,
                                    other))
        found[name] = Function(name, section, start, code)
    return found


def with_callees(found, name, but=None):
    """The function and all that it may go on to, in the same object, but for
    those of whose names `but` is a part."""
    reached, todo = {}, [name]
    while todo:
        at = todo.pop()
        if at in found and at not in reached and not (but and but in at):
            reached[at] = found[at]
            todo += [i.other for i in found[at].code if i.other]
    return list(reached.values())


_NO_NEXT = re.compile(r"^(?:jmp|ret|iret|ud2|hlt)")


def _in_own_loops(function):
    """Offsets of the instructions that can run again in one call."""
    after = {}
    for i in function.code:
        after[i.offset] = {i.target} if i.target >= 0 else set()
        if not _NO_NEXT.match(i.text):
            after[i.offset].add(i.offset + i.length)
    found = set()
    for start in after:
        reached, todo = set(), [start]
        while todo:
            new = after.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        if start in reached:
            found.add(start)
    return found


def repeated(found, name):
    """The instructions that one call of a function may run more than once,

    its own, and all of a function that it calls from a loop."""
    result, seen, todo = {}, set(), [(name, False)]
    while todo:
        at, from_loop = todo.pop()
        if at not in found or (at, from_loop) in seen:
            continue
        seen.add((at, from_loop))
        loops = _in_own_loops(found[at])
        for i in found[at].code:
            again = from_loop or i.offset in loops
            if again:
                result[at, i.offset] = i
            if i.other:
                todo.append((i.other, again))
    return list(result.values())
