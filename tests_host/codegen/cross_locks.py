# SPDX-License-Identifier: MIT
"""Every lock of the list in the object code of another CPU than a PC's.

    changes     as many read-modify-writes as facts.py has for x86
    orders      lock() acquires, unlock() releases
    waits       lock() sleeps or pauses where it waits; a sleep lies right
                behind the read that marks what ends it; nobody sends an event
    symbols     nothing is asked of the program but klock_os_*

As a program: code bytes and instructions of ticket, MCS and two other locks,
ours by both compilers, beside what packages bring of others', by GCC: Concurrency Kit's
headers (libck-dev) and Linux's generic ticket lock (linux-headers-*-common). A
cell is lock() + unlock(): bytes, instructions, less what only aligns.

Run: cross_locks.py --lib lib [--linux FOLDER] [--write]
"""

import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import cross
import facts
import objects
from objects import tool
import orders

HERE = Path(__file__).resolve().parent
OF_ANY_KERNEL = re.compile(r"mem(?:cmp|cpy|move|set)$|"
                           r"__aeabi_(?:mem(?:clr|cpy|move|set)[48]?|"
                           r"uidiv(?:mod)?)$")
_PADDING = ("nop", "c.nop")


class Row(NamedTuple):
    name: str
    lock: tuple    # (bytes, instructions)
    unlock: tuple
    changes: int   # read-modify-writes in lock() + unlock(), inlined
    unlock_changes: int
    acquires: bool # lock() does
    releases: bool # unlock() does
    waits: bool    # lock() sleeps, or pauses in a loop


def _with_callees(functions, name):
    reached, todo = {}, [name]
    while todo:
        at = todo.pop()
        if at in functions and at not in reached:
            reached[at] = functions[at]
            todo += [i.other for i in functions[at] if i.other]
    return reached


def size(code):
    """(bytes, instructions), less what only aligns."""
    code = [i for i in code if i.name not in _PADDING]
    return sum(2 if i.name.startswith("c.") else 4 for i in code), len(code)


def rows(compiler, machine, obj, scratch):
    """A Row for each lock that the object file has probes of, in order."""
    names, functions = compiler.names(obj, scratch), compiler.functions(obj)
    for name, verbs in facts.probes(names, functions).items():
        parts = {verb: _with_callees(functions, symbol)
                 for verb, symbol in verbs.items()}
        code = {verb: [i for one in found.values() for i in one]
                for verb, found in parts.items()}
        line = {verb: orders.words(machine, all_of_it)
                for verb, all_of_it in code.items()}
        again = [word for one in parts["lock"].values()
                 for word in orders.words(machine, cross.repeated(one))]
        yield Row(name, size(code["lock"]), size(code["unlock"]),
                  orders.changes(line["pair"]), orders.changes(line["unlock"]),
                  orders.acquires(line["lock"]),
                  orders.releases(line["unlock"]),
                  "pause" in again or machine.sleep in again)


def check_row(row, expected):
    if not row.acquires:
        yield f"{row.name}: lock() does not acquire"
    if not row.releases:
        yield f"{row.name}: unlock() does not release"
    if not row.waits:
        yield f"{row.name}: lock() neither sleeps nor pauses where it waits"
    for what, has, should in (
            ("lock() + unlock() has", row.changes, expected.locked),
            ("unlock() has", row.unlock_changes, expected.unlock_locked)):
        if isinstance(should, tuple):
            should = should[0]
        # A compiler may write one down twice: before a loop, and in it.
        if should is not None and (has < should or has > 2 * should):
            yield (f"{row.name}: {what} {has} read-modify-writes, expected "
                   f"{should}")


def check_all(machine, functions):
    for name, code in functions.items():
        yield from orders.check_sleep(machine, name, code)
        if "sev" in orders.words(machine, code):
            yield f"{name}: SEV, where the store itself is the event"


def undefined(compiler, obj, of_any_kernel=False):
    """Returns the symbols that a kernel would not have. A compiler may call the
    functions of OF_ANY_KERNEL in any program: for a large structure, on Arm
    where the CPU has no division."""
    return [f"undefined symbol {name}: a kernel has no library"
            for name in compiler.undefined(obj)
            if not name.startswith("klock_os_") and
            not (of_any_kernel and OF_ANY_KERNEL.match(name))]


def check(compiler, machine, scratch, extra=()):
    """(one line for each thing that is not as it should be, the rows)"""
    obj = compiler.compile(HERE / "all_locks.cpp", Path(scratch) / "locks.o",
                           extra)
    found = undefined(compiler, obj)
    found += check_all(machine, compiler.functions(obj))
    seen = list(rows(compiler, machine, obj, scratch))
    expected = facts.expectations([row.name for row in seen], compiler.lib)
    for row in seen:
        found += check_row(row, expected.get(row.name, facts.Expected()))
    return found, seen


# -- The sizes of some, in bench's README --------------------------------------

README = HERE.parent / "bench/README.md"
TARGETS = {"aarch64": "AArch64, LL/SC", "aarch64-lse": "AArch64, LSE",
           "riscv64": "RISC-V"}
COMPILERS = ("g++", "clang++")
OURS = ("ticket_lock<u8>", "ticket_lock<u16>", "ticket_lock<u32>", "mcs_lock",
        "preemptable_ticket_lock<u8>", "tas_lock")
START, END = "<!-- sizes: begin -->\n", "<!-- sizes: end -->\n"
MISSING = "-"

# ck_md.h is of the machine that the package was built for, a PC.
_CK = ["-DCK_MD_H", "-DCK_MD_RMO", "-DCK_MD_CACHELINE=64",
       "-DCK_MD_PAGESIZE=4096", "-DCK_MD_VMA_BITS=48",
       "-DCK_MD_POINTER_PACK_DISABLE", "-idirafter", "/usr/include"]
_LINUX_NAMES = {"aarch64": "arm64", "aarch64-lse": "arm64", "riscv64": "riscv"}
# Headers that the ticket lock does not need and a made-up configuration lacks.
_LEFT_OUT = ("qrwlock.h", "qrwlock_types.h")


def cell(code):
    return f"{sum(c[0] for c in code)}, {sum(c[1] for c in code)}"


def version(compiler):
    """Returns the compiler of the table: "g++ 12.2.0"."""
    said = objects.call([compiler.cxx, "--version"]).splitlines()[0]
    name = "clang++" if compiler.is_clang else "g++"
    return f"{name} {re.findall(r'[0-9]+[.][0-9.]+[0-9]', said)[-1]}"


def ours(seen):
    """{name: cell} of what rows() has found."""
    return {f"`{row.name}`": cell((row.lock, row.unlock)) for row in seen
            if row.name in OURS}


def stale(compiler, seen, readme):
    """A line for each cell that the README has otherwise."""
    if compiler.name not in TARGETS:
        return
    text = readme.read_text()
    if version(compiler) not in text:
        print(f"{readme.name} has the sizes of another compiler than "
              f"{version(compiler)}: not compared")
        return
    column = 2 + list(TARGETS).index(compiler.name)
    is_cxx = "clang++" if compiler.is_clang else "g++"
    written = {}
    for line in text.partition(START)[2].partition(END)[0].splitlines():
        words = [word.strip() for word in line.strip("|").split("|")]
        if len(words) == 2 + len(TARGETS) and words[1] == is_cxx:
            written[words[0]] = words[column]
    for name, now in ours(seen).items():
        if written.get(name) != now:
            yield (f"{readme} says {written.get(name)} of {name}, and it is "
                   f"{now}: build the target sizes_table")


def _of_peer(compiler, source, flags, scratch):
    """{verb: cell} by GCC; {} where the package's headers do not compile."""
    obj = Path(scratch) / "peer.o"
    gcc = compiler.cxx.removesuffix("g++") + "gcc"
    march = compiler.target.march
    # The headers of the C library know RISC-V with floating point alone.
    machine = [f"-march={march}", *compiler.target.flags] \
        if compiler.target.port == "aarch64" else ["-march=rv64gc"]
    try:
        objects.call([gcc, *machine, "-w", *cross.COMMON, *flags, "-c", source,
                      "-o", obj])
    except objects.Failed as failed:
        print(f"{source.name} for {compiler.name}: left out: "
              f"{str(failed).strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    code = compiler.functions(obj)
    return {verb: cell([size(code[f"{verb}_{part}"])
                        for part in ("lock", "unlock")])
            for verb in ("ticket", "mcs") if f"{verb}_lock" in code}


def _linux_flags(linux, target, scratch):
    """Its folders, with a header for each that a build would generate."""
    name = _LINUX_NAMES[target]
    own, made = linux / "arch" / name / "include", Path(scratch) / name
    (made / "asm").mkdir(parents=True)
    (made / "generated").mkdir()
    (made / "generated/autoconf.h").write_text("")
    for generic in ("include/asm-generic", "include/uapi/asm-generic"):
        for header in (linux / generic).glob("*.h"):
            places = (own / "asm", own / "uapi/asm", made / "asm")
            if not any((place / header.name).exists() for place in places):
                (made / "asm" / header.name).write_text(
                    f"#include <asm-generic/{header.name}>\n")
    for header in _LEFT_OUT:
        (made / "asm" / header).write_text("")
    include = linux / "include"
    return ["-nostdinc", "-std=gnu11", "-D__KERNEL__", "-DCONFIG_64BIT",
            "-DCONFIG_SMP", "-DCONFIG_PAGE_OFFSET=0",
            f"-DCONFIG_{name.upper()}", f"-I{own}", f"-I{made}",
            f"-I{include}", f"-I{own}/uapi", f"-I{include}/uapi",
            "-include", include / "linux/kconfig.h",
            "-include", include / "linux/compiler_types.h"]


def _our_cells(compiler, scratch):
    obj = compiler.compile(HERE / "all_locks.cpp", Path(scratch) / "locks.o")
    return ours(rows(compiler, orders.MACHINES[compiler.name], obj,
                     scratch))


def _peer_cells(gcc, linux, scratch):
    """Neither has LSE: ck refuses it, Linux patches it in at boot."""
    if gcc.name == "aarch64-lse":
        return {}
    found = {f"ck {verb}": text for verb, text in
             _of_peer(gcc, HERE / "peers.c", _CK, scratch).items()}
    if linux:
        flags = _linux_flags(linux, gcc.name, scratch)
        found.update((f"Linux {verb}", text) for verb, text in _of_peer(
            gcc, HERE / "peers.c", ["-DLINUX", *flags], scratch).items())
    return found


def table(lib, linux):
    """(the versions, the lines)"""
    cells, versions = {}, set()
    for target in TARGETS:
        for cxx in COMPILERS:
            compiler = cross.Cross(cxx, target, lib)
            versions.add(version(compiler))
            with tempfile.TemporaryDirectory() as scratch:
                found = _our_cells(compiler, scratch)
                if cxx == "g++":
                    found.update(_peer_cells(compiler, linux, scratch))
            for name, text in found.items():
                cells.setdefault((name, cxx), {})[target] = text
    lines = ["| lock | compiler | " + " | ".join(TARGETS.values()) + " |",
             "|---|---|" + "---|" * len(TARGETS)]
    for of in sorted(cells, key=lambda of: ("mcs" in of[0], of[0][0] != "`")):
        row = [cells[of].get(target, MISSING) for target in TARGETS]
        lines.append(f"| {of[0]} | {of[1]} | " + " | ".join(row) + " |")
    return ", ".join(sorted(versions, reverse=True)), "\n".join(lines) + "\n"


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--lib", type=tool.library, required=True)
    parser.add_argument("--linux", type=Path,
                        help="the folder of a linux-headers-*-common")
    parser.add_argument("--write", action="store_true",
                        help="puts the table between its marks in bench's "
                             "README")
    args = parser.parse_args()
    linux = args.linux or next(
        iter(sorted(Path("/usr/src").glob("linux-headers-*-common"))), None)
    versions, lines = table(args.lib, linux)
    if not args.write:
        print(f"{versions}\n\n{lines}", end="")
        return 0
    before, start, rest = README.read_text().partition(START)
    old, end, after = rest.partition(END)
    if not start or not end:
        print(f"{README}: no line {START.strip()}, or no {END.strip()}")
        return 1
    lost = [row for row in re.findall(r"^\| (\w+ \w+) \|", old, re.M)
            if f"| {row} |" not in lines]
    if lost:
        print(f"{README} has a row of {lost[0]}, and its headers are not here:"
              " install libck-dev, or give --linux")
        return 1
    tool.write(README, before + start + f"{versions}, -O2.\n\n{lines}" + end +
               after)
    return 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
