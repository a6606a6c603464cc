#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel for Limine, as a file: what the loader looks for is in it, where it
looks. No package brings Limine, so that no test boots it."""
import shutil
import struct

import cases

TOP_2_GIB = 0xffffffff80000000
COMMON = (0xc7b1dd30df4c8b88, 0x0a82e883a194f07b)
START = (0xf6b8f4b39de7d1ae, 0xfab91a6940fcb9cf, 0x785c6ed015d3e316,
         0x181e920a7852b9d9)
END = (0xadc0e0531bb10d03, 0x9572709f31764c62)
BASE = (0xf9562b2d5c95a6c8, 0x6a7b384944536bdc)
MP = (*COMMON, 0x95a67b819a1b857e, 0xa0b61b723b6a73e0)
READ, WRITE, EXECUTE = 4, 2, 1
LOAD, DYNAMIC, INTERPRETER, RELA, REL = 1, 2, 3, 4, 9

COMPILERS = (["CXX=g++", "LD=ld"],
             ["CXX=clang++ --target=x86_64-elf", "LD=ld.lld"])


def segments(elf):
    """(type, rights, offset, address, size in the file)"""
    at, size, count = struct.unpack_from("<Q14xHH", elf, 32)
    return [struct.unpack_from("<IIQQ8xQ", elf, at + i * size)
            for i in range(count)]


def sections(elf):
    at, size, count = struct.unpack_from("<Q10xHH", elf, 40)
    return [struct.unpack_from("<4xI", elf, at + i * size)[0]
            for i in range(count)]


def find(words, wanted):
    return [i for i in range(len(words)) if words[i:i + len(wanted)] == wanted]


def requests_between(words):
    """Returns the fault of the requests in a segment of 64-bit words, or None.
    """
    start, end = find(words, START), find(words, END)
    if len(start) != 1 or len(end) != 1 or end < start:
        return "not one start and one end behind it"
    inside = words[start[0] + len(START):end[0]]
    base, mp = find(inside, BASE), find(inside, MP)
    if len(base) != 1 or inside[base[0] + 2] != 3:
        return "no base revision 3"
    if len(mp) != 1 or any(inside[mp[0] + 4:mp[0] + 7]):
        return "no MP request: id, revision 0, no response, no flags"
    if find(inside, COMMON) != mp:
        return "a request that nobody knows"
    return ""


def faults(elf):
    loads = [s for s in segments(elf) if s[0] == LOAD]
    if any(s[0] in (DYNAMIC, INTERPRETER) for s in segments(elf)) or \
            {RELA, REL} & set(sections(elf)):
        yield "relocations are left"
    for _, rights, _, address, _ in loads:
        if address < TOP_2_GIB or address % 0x1000:
            yield f"a segment at {address:#x}"
        if rights & WRITE and rights & EXECUTE:
            yield "a segment that is written and executed"
    entry, = struct.unpack_from("<Q", elf, 24)
    if not any(rights & EXECUTE and address <= entry < address + size
               for _, rights, _, address, size in loads):
        yield "the entry is not in code"
    wrong = [requests_between(struct.unpack_from(f"<{size // 8}Q", elf, at))
             for _, rights, at, _, size in loads if rights & WRITE]
    if wrong != [""]:
        yield f"requests: {wrong}"


def make(case, *words):
    """(faults, what make said) of the kernel"""
    folder = case.scratch / "kernel"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(case.root / "tests_qemu/embed/kernel_limine", folder)
    lib = case.root / "lib"
    case.call("mkdir", "-p", folder / "klock/arch")
    case.call("ln", "-s", lib / "klock", folder / "klock/klock")
    case.call("ln", "-s", lib / "arch/x86", folder / "klock/arch/x86")
    status, said = case.call("make", "-C", folder, *words)
    if status:
        return ["not built"], said
    return list(faults((folder / "kernel.elf").read_bytes())), said


def is_what_limine_looks_for(case):
    for words in COMPILERS:
        found, said = make(case, *words)
        case.expect(not found, f"{words}: {found} {said}")
        for tool, wanted, words in (("objdump", "lock xadd", ["-d"]),
                                    ("nm", "lock_in_turn", [])):
            text = case.must(tool, *words, "kernel/kernel.elf")
            case.expect(wanted in text, f"{words}: klock's {wanted} is missing")
            case.expect("xmm" not in text, f"{words}: SSE")


CASES = [is_what_limine_looks_for]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
