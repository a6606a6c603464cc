# SPDX-License-Identifier: MIT
"""The object code of klock for another CPU than a PC's, by one compiler.

    headers      the port's: each compiles alone and twice
    operations   each is of the instructions that its order demands (orders.py)
    flags        the interrupt flag, the pause and the clock
    locks        read-modify-writes, orders and waits of each (cross_locks.py);
                 the sizes that bench's README has of some
    parking      a thread's permit is given with release, taken with acquire:
                 klock/host_parking.hpp, for x86 takes any order for both
    uncontended  instructions of a section without a contender (uncontended.py)
    extensions   riscv64: what Zawrs, Zacas and Zabha make of it
    traps        riscv64: boot's way out of a trap ends a reservation; QEMU does
                 so by itself, and no boot can show it

Nothing may be left undefined but klock_os_*; where a lock is a table, what
every compiler may call in any kernel: memset and its like. All is compiled
with the warnings of objects.FLAGS, and none may appear.

Run: architecture.py --target riscv64 --cxx g++ --lib lib [--only STEP...]
"""

import re
import sys
import tempfile
from pathlib import Path

import cross
import cross_locks
import objects
from objects import tool
import orders
import uncontended

# -- The interrupt flag, the pause and the clock -----------------------------

# Stores stand around each of them in these functions. None may be left out,
# joined with another or moved: whoever forgot to say that memory may change
# there is found by the store that is missing.
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

/* What irq_save() has returned is known: one way is left. */
constexpr arch::irq_state none{0}, all = ~none;
#ifdef __riscv
constexpr arch::irq_state on = all, off = none;
#else
constexpr arch::irq_state on = none, off = all;
#endif

extern "C" void flag_on(int *p)
{
	*p = 1;
	arch::irq_restore(on);
	*p = 2;
}
extern "C" void flag_off(int *p)
{
	*p = 1;
	arch::irq_restore(off);
	*p = 2;
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
    "flag_on": "store daifclr-2 store",
    "flag_off": "store store",
    "flag_enabled": "store daif store",
    "flag_relax": "store isb store",
    "flag_clock": f"store {_CLOCK} store {_CLOCK} store",
    "flag_cycles": "isb cntvct",
}
ARMV7A = {
    "flag_section": "store cpsr cpsid-i store branch cpsie-i store(?: store)?",
    "flag_on": "store cpsie-i store",
    "flag_off": "store store",
    "flag_enabled": "store cpsr store",
    "flag_relax": "store pause store",
    "flag_clock": f"store {_CLOCK} store {_CLOCK} store",
    "flag_cycles": "isb cntvct",
}
_CLOCK = "fence time fence"


def _riscv(status, bit):
    return {
        "flag_section": f"store clear-{status}-{bit} store branch "
                        f"set-{status}-{bit} store(?: store)?",
        "flag_on": f"store set-{status}-{bit} store",
        "flag_off": "store store",
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


def _arm_word(machine, i):
    if i.name.startswith("cps"):
        return f"{i.name}-{i.operands}"
    if i.name == "mrs":
        return "cpsr"  # apsr, as some disassemblers have it
    if i.name == "mrrc":
        return "cntvct" if re.fullmatch(r"p15, #?1, \w+, \w+, c14",
                                        i.operands) else "mrrc"
    if i.target >= 0 and i.name != "b":
        return "branch"
    return i.name if i.name in ("isb", "dsb") else machine.word(i)


_WORDS = {"aarch64": _aarch64_word, "riscv": _riscv_word, "armv7a": _arm_word}


def check_flags(compiler, machine, expected, scratch, extra=()):
    """One line for each function that is another than expected."""
    path = Path(scratch) / "section.cpp"
    path.write_text(SOURCE)
    obj = compiler.compile(path, Path(scratch) / "section.o", extra)
    functions = compiler.functions(obj)
    say = _WORDS[machine.port]
    for name, line in expected.items():
        if name not in functions:
            raise objects.Failed(f"no function {name}\n")
        has = " ".join(filter(None, (say(machine, i)
                                     for i in functions[name])))
        if not re.fullmatch(line, has):
            yield f"{name} is '{has}', expected '{line}'"


# -- The host's permits ------------------------------------------------------

# As much as host_parking.hpp needs of Linux's headers: none comes with a bare
# target. The hosted port refuses one in its port.hpp.
SYSTEM = {
    "klock/arch/port.hpp": "",
    "time.h": """#pragma once
typedef long time_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCK_MONOTONIC 1
extern "C" int clock_gettime(int, timespec *);
""",
    "sched.h": 'extern "C" int sched_yield(void);\n',
    "unistd.h": 'extern "C" long syscall(long, ...);\n',
    "sys/syscall.h": "#define SYS_futex 98\n",
    "linux/futex.h": "#define FUTEX_WAIT_PRIVATE 128\n"
                     "#define FUTEX_WAKE_PRIVATE 129\n",
}
# The access of each function to the permit: os.hpp demands the orders.
_TAKES = ("fetch_sub_acquire", "exchange_acquire")
PARKING = {"klock_os_park": _TAKES, "klock_os_park_until": _TAKES,
           "klock_os_unpark": ("exchange_release",)}


def check_parking(compiler, machine, scratch):
    """One line for each function whose changes of the permit, or their orders,
    are others than os.hpp demands."""
    system = Path(scratch) / "system"
    for name, text in SYSTEM.items():
        path = system / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    source = Path(scratch) / "parking.cpp"
    source.write_text("#include <klock/host_parking.hpp>\n")
    # Linux's branch: elsewhere nobody looks at what unpark's exchange returns,
    # and clang before 19 makes a store of it.
    obj = compiler.compile(source, Path(scratch) / "parking.o", [
        "-D__linux__", "-w", "-I", system, "-I", compiler.lib / "arch/hosted"])
    functions = compiler.functions(obj)
    for name, operations in PARKING.items():
        wanted = [orders.Wanted(f"probe_{one}__int", machine.pointer)
                  for one in operations]
        expected = " ".join(machine.change(one, one.order) for one in wanted)
        # GCC 12's release on RISC-V, by its own builtin.
        expected = expected.replace(
            r"amoswap\.rl", r"(?:amoswap\.rl|fence-iorw-ow amoswap)")
        has = " ".join(word for word in orders.words(machine, functions[name])
                       if word not in ("load", "store", "call", "pause"))
        if not re.fullmatch(expected, has):
            yield f"{name} is '{has}', expected '{expected}'"


# -- Steps -------------------------------------------------------------------

HERE = Path(__file__).resolve().parent
# Told as the compiler tells it: none of ours knows them yet.
EXTENSIONS = (["zawrs"], ["zacas"], ["zabha"], ["zabha", "zacas"])


def _headers(compiler, machine, scratch):
    port = compiler.lib / "arch" / compiler.target.port
    source = Path(scratch) / "header.cpp"
    for path in sorted(port.rglob("*.hpp")):
        name = path.as_posix().rpartition("/klock/")[2]
        source.write_text(f"#include <klock/{name}>\n" * 2)
        try:
            compiler.compile(source, Path(scratch) / "header.o",
                             ["-I", str(path).rpartition("/klock/")[0]])
        except objects.Failed as failed:
            yield f"<klock/{name}> does not compile alone and twice: {failed}"


def _operations(compiler, machine, scratch):
    yield from orders.check(compiler, machine, scratch)


def _flags(compiler, machine, scratch):
    if machine.port != "riscv":
        yield from check_flags(compiler, machine, {
            "aarch64": AARCH64, "armv7a": ARMV7A}[machine.port], scratch)
        return
    yield from check_flags(compiler, machine, RISCV, scratch)
    yield from check_flags(compiler, machine, RISCV_MACHINE, scratch,
                           ["-I", compiler.lib / "arch/riscv/machine"])


def _locks(compiler, machine, scratch):
    obj = compiler.compile(HERE / "all_templates.cpp",
                           Path(scratch) / "templates.o")
    yield from cross_locks.undefined(compiler, obj, of_any_kernel=True)
    found, seen = cross_locks.check(compiler, machine, scratch)
    yield from found
    print(f"{compiler}: {len(seen)} locks")
    yield from cross_locks.stale(compiler, seen, cross_locks.README)


def _uncontended(compiler, machine, scratch):
    yield from uncontended.check(compiler, scratch)


def _extensions(compiler, machine, scratch):
    if machine.port != "riscv":
        return
    for names in EXTENSIONS:
        told = [f"-D__riscv_{name}=1000000" for name in names]
        yield from (f"with {' and '.join(names)}: {text}"
                    for text in orders.check(
                        compiler, orders.RiscV(names), scratch, told))


def _traps(compiler, machine, scratch):
    if machine.port != "riscv":
        return
    boot = compiler.lib.parent / "boot/riscv64"
    for mode in ("machine_mode", "supervisor_mode"):
        obj = compiler.compile(boot / "traps.S", Path(scratch) / "traps.o",
                               ["-I", boot, "-I", boot / mode])
        names = [i.name for code in compiler.functions(obj).values()
                 for i in code]
        returns = [at for at, name in enumerate(names)
                   if name in ("mret", "sret")]
        if not returns:
            yield f"{mode}: traps.S has no return"
        begin = 0
        for at in returns:
            if not any(name.startswith("sc.") for name in names[begin:at]):
                yield (f"{mode}: traps.S returns without an SC: what the "
                       "handler reserved stays reserved")
            begin = at + 1


STEPS = {"headers": _headers, "operations": _operations, "flags": _flags,
         "locks": _locks, "parking": check_parking,
         "uncontended": _uncontended, "extensions": _extensions,
         "traps": _traps}


def _findings(args):
    compiler = cross.Cross(args.cxx, args.target, args.lib)
    with tempfile.TemporaryDirectory() as scratch:
        for name, step in STEPS.items():
            if name in args.only:
                yield from step(compiler, orders.MACHINES[args.target], scratch)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", choices=orders.MACHINES, required=True)
    parser.add_argument("--cxx", choices=("g++", "clang++"), required=True)
    parser.add_argument("--lib", type=tool.library, required=True)
    parser.add_argument("--only", choices=STEPS, nargs="+", default=[*STEPS])
    args = parser.parse_args()
    return objects.report(f"{args.cxx} for {args.target}", _findings(args))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
