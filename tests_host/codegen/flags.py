# SPDX-License-Identifier: MIT
"""The interrupt flag, the pause and the clock of AArch64 and RISC-V.

Stores stand around each of them in section.cpp's functions. None may be left
out, joined with another or moved: whoever forgot to say that memory may change
there is found by the store that is missing.
"""

import re
from pathlib import Path

import objects

SOURCE = """
#include <klock/arch/cpu.hpp>
#include <klock/arch/irq.hpp>
#include <klock/arch/relax.hpp>

using namespace klock;

extern "C" void flag_section(int *p)
{
	*p = 1;
	const arch::irq_state before = arch::irq_save();
	*p = 2;
	arch::irq_restore(before);
	*p = 3;
}
extern "C" void flag_restore(arch::irq_state before)
{
	arch::irq_restore(before);
}
extern "C" bool flag_enabled(int *p)
{
	*p = 1;
	const bool enabled = arch::irqs_enabled();
	*p = 2;
	return enabled;
}
extern "C" void flag_relax(int *p)
{
	*p = 1;
	arch::cpu_relax();
	*p = 2;
}
extern "C" u64 flag_clock(int *p)
{
	*p = 1;
	const u64 begin = arch::cycles_begin();
	*p = 2;
	const u64 end = arch::cycles_end();
	*p = 3;
	return end - begin;
}
extern "C" u64 flag_cycles() { return arch::cycles(); }
"""

# The words of each function, as a pattern: a compiler may write down the end
# of the section once for each way there.
_CLOCK = "dsb isb cntvct isb"
AARCH64 = {
    "flag_section": "store daif daifset-2 store branch daifclr-2 "
                    "store(?: store)?",
    "flag_enabled": "store daif store",
    "flag_relax": "store isb store",
    "flag_clock": f"store {_CLOCK} store {_CLOCK} store",
    "flag_cycles": "isb cntvct",
}
_CLOCK = "fence time fence"


def _riscv(status, bit):
    return {
        "flag_section": f"store clear-{status}-{bit} store branch "
                        f"set-{status}-{bit} store(?: store)?",
        "flag_enabled": f"store {status} store",
        "flag_relax": "store pause store",
        "flag_clock": f"store {_CLOCK} store {_CLOCK} store",
        "flag_cycles": "time",
    }


RISCV = _riscv("sstatus", 2)
RISCV_MACHINE = _riscv("mstatus", 8)


def _aarch64_word(machine, i):
    if i.name in ("mrs", "msr"):
        return re.search(r"daif[-\w]*|cntvct",
                         re.sub(r", #(?:0x)?", "-", i.operands))[0]
    if i.name.startswith(("b.", "cb", "tb")):
        return "branch"
    return i.name if i.name in ("isb", "dsb") else machine.word(i)


def _riscv_word(machine, i):
    operands = i.operands.split(",")
    if i.name.startswith("csrr") and i.name[4] in "sc":
        status = operands[1]
        if operands[2] in ("0", "zero"):
            return status
        return {"s": "set", "c": "clear"}[i.name[4]] + f"-{status}-{operands[2]}"
    if i.name.startswith(("beq", "bne", "bge", "blt", "c.beq", "c.bne")):
        return "branch"
    word = machine.word(i)
    return "fence" if word.startswith("fence-iorw") else word


# An asm statement of no instruction: GCC's is seen in what its optimiser works
# on alone, clang's in the assembly that it writes.
_EMPTY = {False: r'__asm__ __volatile__\("" : *: *: "memory"\)',
          True: r"(?:#|//)APP\n\s*(?:#|//)NO_APP"}


def _check_barrier(compiler, path, scratch, extra):
    """An asm statement also where interrupts stay off: an empty one."""
    dump, out = Path(scratch) / "section.gimple", Path(scratch) / "section.s"
    compiler.compile(path, out, [*extra, "-S"] + (
        [] if compiler.is_clang else [f"-fdump-tree-optimized={dump}"]))
    text = (out if compiler.is_clang else dump).read_text()
    begin = re.search(r"^(?:;; Function |)flag_restore\b", text, re.M).end()
    if not re.search(_EMPTY[compiler.is_clang],
                     text[begin:text.index("flag_enabled", begin)]):
        yield "flag_restore: no barrier where it does not enable"


def check(compiler, machine, expected, scratch, extra=()):
    """One line for each function that is another than expected."""
    path = Path(scratch) / "section.cpp"
    path.write_text(SOURCE)
    obj = compiler.compile(path, Path(scratch) / "section.o", extra)
    yield from _check_barrier(compiler, path, scratch, extra)
    functions = compiler.functions(obj)
    say = _aarch64_word if machine.port == "aarch64" else _riscv_word
    for name, line in expected.items():
        if name not in functions:
            raise objects.Failed(f"no function {name}\n")
        has = " ".join(filter(None, (say(machine, i)
                                     for i in functions[name])))
        if not re.fullmatch(line, has):
            yield f"{name} is '{has}', expected '{line}'"
