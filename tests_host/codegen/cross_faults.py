# SPDX-License-Identifier: MIT
"""The checks of the code for AArch64 and RISC-V find faults in a port.

Each fault is planted in a copy of lib, alone, compiled, and must be named.
Among them: the compiler's own compare-and-swap on RISC-V, which GCC 12 makes
without its release, and what it calls a library for.

Run: cross_faults.py --target riscv64 --cxx g++ --lib lib
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import architecture
import cross
import cross_locks
import objects
import orders
import tables
from expectations import EXPECTATIONS

SKIPPED = 77
ATOMIC, BUILTIN = "klock/atomic.hpp", "klock/detail/builtin_ops.hpp"


class Fault(NamedTuple):
    where: str
    old: str
    new: str
    words: str       # what the check says of it
    look: str = "operations"
    told: list = []  # flags
    cxx: str = ""    # of one compiler alone
    until: int = 99  # of its versions below this


_A64 = "arch/aarch64/klock/arch/"
_OPS = _A64 + "atomic_ops.hpp"
_IRQ = _A64 + "irq.hpp"
AARCH64 = [
    Fault(ATOMIC, "arch::fetch_add<order::acquire>",
          "arch::fetch_add<order::release>", "probe_fetch_add_acquire__u8 is"),
    Fault(ATOMIC, "arch::exchange<order::seq_cst>",
          "arch::exchange<order::relaxed>", "probe_exchange_seq_cst__u16 is"),
    Fault(ATOMIC, "arch::fence<order::acquire>", "arch::fence<order::acq_rel>",
          "probe_fence_acquire is 'dmb-ish'"),
    Fault(ATOMIC, "arch::store<order::release>", "arch::store<order::relaxed>",
          "probe_store_release__u32 is 'store'"),
    Fault(BUILTIN, "to_stored(desired), false,\n\t\tstatic_cast<int>(O), "
          "static_cast<int>(without_store(O)));",
          "to_stored(desired), false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);",
          "probe_compare_exchange_acq_rel__u8 is"),
    Fault(_OPS, '"wfe\\n\\tldaxrh', '"wfe\\n\\tldrh',
          "probe_await_acquire__u16 is 'ldar sevl wfe load'"),
    Fault(_OPS, '"wfe\\n\\tldaxrb', '"ldaxrb',
          "probe_await_acquire__u8 is 'ldar sevl ldaxr'"),
    Fault(_OPS, 'asm volatile("sevl" ::: "memory");', "",
          "probe_await_acquire__u8: wfe without a mark or an event before it"),
    Fault(_OPS, "wait_and_read(at.value));",
          "wait_and_read(at.value));\n(void)load<order::relaxed>(at, s);",
          "probe_await_acquire__u32: ldr"),
    Fault(_OPS, "		if (done(v))\n			return v;\n	}",
          "		if (done(v))\n			return v;\n"
          'asm volatile("clrex\\n\\tldaxr x9, [sp]" ::: "x9");\n	}',
          "probe_await_acquire__u32 is"),
    Fault(_IRQ, 'daifset, #2"\n		     : "=r"(before)::"memory");',
          'daifset, #2"\n		     : "=r"(before));',
          "flag_section is", "flags", cxx="g++"),
    Fault(_IRQ, 'else\n		asm volatile("" ::: "memory");', "",
          "flag_restore: no barrier where it does not enable", "flags"),
    Fault(_IRQ, "daifset, #2", "daifset, #1", "flag_section is", "flags"),
    Fault(_A64 + "relax.hpp", '"isb" ::: "memory"', '"isb" :', "flag_relax is",
          "flags", cxx="g++"),
    Fault(_A64 + "cpu.hpp", "isb\\n\\tmrs %0, cntvct_el0\\n\\tisb",
          "mrs %0, cntvct_el0\\n\\tisb", "flag_clock is", "flags"),
    Fault(ATOMIC, "arch::store<order::release>(at, v, s);",
          'arch::store<order::release>(at, v, s);\nasm("sev");',
          "SEV, where the store itself is the event", "locks"),
]

_RV = "arch/riscv/klock/arch/"
_OPS, _CODE = _RV + "atomic_ops.hpp", _RV + "instructions.hpp"
_IRQ = _RV + "irq.hpp"
_OWN = "template <order O, typename T>\n\trequires atomic_value<T>\ninline "
RISCV = [
    # GCC 12: no release at all; and lr.aq sc for acq_rel.
    Fault(_OPS, _OWN + "bool compare_exchange(",
          "template <order O, typename T>\n\trequires(sizeof(T) < 4)\n"
          "inline bool compare_exchange(",
          "probe_compare_exchange_release__u32 is", cxx="g++", until=13),
    Fault(_OPS, _OWN + "bool compare_exchange(",
          "template <order O, typename T>\n\trequires(sizeof(T) < 4)\n"
          "inline bool compare_exchange(",
          "probe_compare_exchange_acq_rel__usize is", cxx="g++", until=13),
    Fault(_OPS, _OWN + "T fetch_add(", "template <order O, typename T>\n"
          "\trequires(sizeof(T) >= 4)\ninline T fetch_add(",
          "undefined symbol __atomic_fetch_add_", cxx="g++", until=14),
    Fault(_OPS, "template <order O, typename T>\n\trequires atomic_value<T>\n"
          "inline void store(", "template <order O, typename T>\n"
          "\trequires(sizeof(T) > 8)\ninline void store(",
          "probe_store_relaxed__u32 is 'amoswap'", cxx="g++", until=13),
    Fault(_CODE, "acquires(o) << 1 | releases(o);\n}",
          "releases(o) << 1 | acquires(o);\n}",
          "probe_fetch_add_acquire__u32 is 'amoadd.rl'"),
    Fault(_CODE, "load_reserved) << 2 | acquires(o) << 1", "load_reserved) << 2",
          "probe_exchange_acquire__u8 is 'lr sc'"),
    Fault(_CODE, "store_conditional) << 2 | releases(o)",
          "store_conditional) << 2 | (releases(o) && false)",
          "probe_compare_exchange_release__usize is"),
    Fault(_CODE, "	       (o == order::seq_cst);", "	       0;",
          "probe_exchange_seq_cst__u16 is 'lr.aq sc.rl'"),
    Fault(_OPS, "		fence<order::release>(s);\n	*static", "		(void)s;\n	*static",
          "probe_store_release__u16 is 'store'"),
    Fault(_OPS, "	if constexpr (O == order::seq_cst)\n"
          "		fence<order::seq_cst>(s);\n}", "}",
          "probe_store_seq_cst__u32 is 'fence-rw-w store'"),
    Fault(_OPS, "	if constexpr (O != order::relaxed)\n"
          "		fence<order::acquire>(s);\n	return v;", "	return v;",
          "probe_load_acquire__u8 is 'load'"),
    Fault(_OPS, '"fence.tso"', '"fence rw, w"', "probe_fence_acq_rel is"),
    Fault(_OPS, "(I + 1) * sizeof(T) % 4 == 0", "(I + 1) * sizeof(T) % 8 == 0",
          "probe_pair_fetch_add_acq_rel__u16_second is"),
    Fault(_OPS, "		if (done(v))\n			return v;\n		riscv::",
          "		if (done(v))\n			return v;\n"
          "		(void)load<order::relaxed>(at, s);\n		riscv::",
          "between the read that marks and wrs", told=["zawrs"]),
    Fault(_OPS, "riscv::wait_on_reservation();", "cpu_relax();",
          "probe_await_acquire__u32 is", told=["zawrs"]),
    Fault(_OPS, "riscv::read_and_reserve<O>(riscv::word_at(at))",
          "__atomic_load_n(riscv::word_at(at), __ATOMIC_ACQUIRE)",
          "wrs without a mark or an event before it", told=["zawrs"]),
    Fault(_CODE, '"i"(funct7(amo::compare_and_swap, O))',
          '"i"(funct7(amo::compare_and_swap, order::relaxed))',
          "probe_compare_exchange_release__u32 is", told=["zacas"]),
    Fault(_IRQ, '"i"(status_csr), "i"(irq_flag)\n		     : "memory");',
          '"i"(status_csr), "i"(irq_flag));', "flag_section is", "flags",
          cxx="g++"),
    Fault(_IRQ, 'else\n		asm volatile("" ::: "memory");', "",
          "flag_restore: no barrier where it does not enable", "flags"),
    Fault("arch/riscv/machine/klock/arch/irq_register.hpp", "irq_flag = 8;",
          "irq_flag = 2;", "flag_section is", "flags"),
    Fault(_RV + "relax.hpp", "0x0100000f", "0x00000013", "flag_relax is",
          "flags"),
    Fault(_RV + "relax.hpp", '0x0100000f" ::: "memory"', '0x0100000f" :',
          "flag_relax is", "flags", cxx="g++"),
    Fault(_RV + "relax.hpp", 'asm volatile(".4byte 0x0100000f" ::: "memory");',
          "", "neither sleeps nor pauses where it waits", "locks"),
]
FAULTS = {"aarch64": AARCH64, "riscv64": RISCV}




def planted(lib, scratch, fault):
    """A copy of lib with this fault in it."""
    bad = Path(scratch) / "lib"
    shutil.rmtree(bad, ignore_errors=True)
    for part in ("klock", "arch"):
        shutil.copytree(lib / part, bad / part)
    path = bad / fault.where
    text = path.read_text()
    if text.count(fault.old) != 1:
        raise objects.Failed(f"{fault.where} holds {text.count(fault.old)} "
                             f"times: {fault.old}\n")
    path.write_text(text.replace(fault.old, fault.new))
    return bad


def said_of(compiler, machine, fault, scratch):
    """What the check says of it, that is to find the fault."""
    told = [f"-D__riscv_{name}=1000000" for name in fault.told]
    if fault.told:
        machine = tables.RiscV(fault.told)
    if fault.look == "locks":
        return cross_locks.check(compiler, machine, scratch, EXPECTATIONS)[0]
    if fault.look == "flags":
        return list(architecture.STEPS["flags"](compiler, machine, scratch))
    named = re.search(r"probe_\w+?__\w+|probe_fence_\w+", fault.words)
    return orders.check(compiler, machine, scratch, told,
                        f"{named[0]}$" if named else
                        r"await_acquire__u|fetch_add_relaxed__u8$")


def run(args, scratch):
    """(fault, "" or what was said instead of its words)"""
    here = cross.Cross(args.cxx, args.target, args.lib)
    version = int(objects.call([here.cxx, "-dumpversion"]).split(".")[0])
    for fault in FAULTS[args.target]:
        if fault.cxx not in ("", args.cxx) or version >= fault.until:
            continue
        compiler = cross.Cross(args.cxx, args.target,
                               planted(args.lib, scratch, fault))
        try:
            said = said_of(compiler, tables.MACHINES[args.target], fault,
                           scratch)
        except objects.Failed as broken:
            said = [str(broken)]
        yield fault, "" if any(fault.words in text for text in said) \
            else said[:5] or "nothing"


def outline(args, scratch):
    """What GCC's default on AArch64 leaves undefined is named."""
    compiler = cross.Cross(args.cxx, args.target, args.lib)
    said = orders.check(compiler, tables.MACHINES[args.target], scratch,
                        ["-moutline-atomics"], r"fetch_add_relaxed__u8$")
    return any("undefined symbol __aarch64_ldadd1_relax" in text
               for text in said)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=FAULTS, required=True)
    parser.add_argument("--cxx", choices=("g++", "clang++"), required=True)
    parser.add_argument("--lib", type=Path, required=True)
    args = parser.parse_args()
    count = failed = 0
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for fault, said in run(args, scratch):
                count += 1
                failed += bool(said)
                if said:
                    print(f"FAIL {fault.where}, '{fault.new.strip()}': not "
                          f"'{fault.words}' but: {said}")
            if args.target == "aarch64" and not outline(args, scratch):
                failed += 1
                print("FAIL -moutline-atomics is not found")
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except objects.Failed as broken:
        print(broken)
        return 1
    print(f"{count} faults, {failed} not found")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
