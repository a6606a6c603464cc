# SPDX-License-Identifier: MIT
"""The checks of this folder find what they are for.

Each fault is planted in a copy of lib, alone or with others that name another
operation, compiled, and must be named. Deliberately bad headers, symbols and locks
(bad_locks.cpp) go through the same functions as klock's own, and the good ones
beside them must not be named.

On RISC-V among them: the compiler's own compare-and-swap, which GCC 12 makes
without its release, and what it calls a library for.

Run: faults.py --target x86_64 --cxx g++ --lib lib
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import accesses
import architecture
import cross
import cross_locks
import facts
import headers
import objects
from objects import tool
import operations
import orders
from facts import COMPACT, EXPECTATIONS

HERE = Path(__file__).resolve().parent
SKIPPED = 77


class Fault(NamedTuple):
    where: str       # a file, or SHARED
    old: str
    new: str
    words: str       # what the check says of it
    look: str = "operations"
    told: list = []  # flags
    cxx: str = ""    # of one compiler alone
    until: int = 99  # of its versions below this


# Stands for whichever header of these names, which all ports share, has the
# text.
SHARED = "klock"
_SHARED_NAMES = ("atomic*.hpp", "builtin*.hpp")

# -- Faults in the headers, and in the ports ---------------------------------

QUEUED = "klock/queued_lock.hpp"
IRQ, CPU = "arch/x86/klock/arch/irq.hpp", "arch/x86/klock/arch/cpu.hpp"
RELAX = "arch/x86/klock/arch/relax.hpp"
_AWAIT = """			return sleep_until<O>(at, done);
		else
			cpu_relax();
"""
_PATIENT = """	cpu_relax();
	return load<O>(at, s);
"""
_UNTIL = """		if (done(v) || cycles() >= deadline)
			return v;
		cpu_relax();
"""
_EXCHANGE = """			(void)sleep_until<order::relaxed>(at, done);
		else
			cpu_relax();
"""
_EITHER = """			return;
		cpu_relax();
"""
_PUSHES = '''	asm volatile("lea -128(%%rsp), %%rsp\\n\\tpushf\\n\\tpop %0\\n\\t"
		     "sub $-128, %%rsp"
'''
_FENCE = "__atomic_thread_fence(static_cast<int>(O));"
_RELAXED = "__ATOMIC_RELAXED"

X86 = [
    Fault(SHARED, "arch::fetch_and<order::relaxed>",
          "arch::fetch_or<order::relaxed>", "probe_fetch_and_relaxed__u8 is"),
    Fault(SHARED, "arch::fetch_or<order::acq_rel>",
          "arch::fetch_or<order::relaxed>", "probe_fetch_or_acq_rel__u8 is"),
    Fault(SHARED, "arch::exchange<order::seq_cst>",
          "arch::exchange<order::relaxed>", "probe_exchange_seq_cst__u8 is"),
    Fault(SHARED, "arch::fetch_add<order::acquire>",
          "arch::fetch_add<order::release>", "probe_fetch_add_acquire__u8 is"),
    Fault(SHARED, "arch::fence<order::release>", "arch::fence<order::relaxed>",
          "probe_fence_release is"),
    Fault(SHARED, "arch::fence<order::seq_cst>", "arch::fence<order::acq_rel>",
          "probe_fence_seq_cst: no full fence"),
    Fault(SHARED, _FENCE, "if (O != order::release) " + _FENCE,
          "probe_fence_release is"),
    Fault(SHARED, "to_stored(desired), false,\n\t\tstatic_cast<int>(O), "
          "static_cast<int>(without_store(O)));",
          f"to_stored(desired), false, {_RELAXED}, {_RELAXED});",
          "probe_compare_exchange_acq_rel__u8 is"),
    Fault(SHARED,
          "arch::compare_exchange_fields<order::acquire>(\n\t\t\tat, both(",
          "arch::compare_exchange_fields<order::relaxed>(\n\t\t\tat, both(",
          "probe_pair_compare_exchange_acquire__u8 is"),
    Fault(SHARED, "word_from(desired), false,\n\t\tstatic_cast<int>(O), "
          "static_cast<int>(without_store(O)));",
          f"word_from(desired), false, {_RELAXED}, {_RELAXED});",
          "probe_pair_compare_exchange_acquire__u8 is"),
    Fault(SHARED, "arch::exchange_field<I, order::acq_rel>",
          "arch::exchange_field<I, order::acquire>",
          "probe_pair_exchange_acq_rel__u8_second is"),
    Fault(SHARED, "arch::exchange_field<I, order::acq_rel>",
          "arch::exchange_field<I, order::release>",
          "probe_fields_exchange_acq_rel__u8_3 is"),
    Fault(SHARED, "arch::advance_fields<order::release>",
          "arch::advance_fields<order::relaxed>",
          "probe_fields_advance_release__u8_3 is"),
    Fault(SHARED, "arch::await_either<order::acquire>",
          "arch::await_either<order::relaxed>",
          "probe_await_either_acquire__u8 is"),
    Fault(SHARED, _AWAIT, _AWAIT.replace("cpu_relax()", "(void)0"),
          "probe_await_eq_acquire__u8: its loop has no PAUSE"),
    Fault(SHARED, _EXCHANGE, _EXCHANGE.replace("cpu_relax()", "(void)0"),
          "probe_await_exchange_acquire__u8: its loop has no PAUSE"),
    Fault(SHARED, _EITHER, "			return;\n",
          "probe_await_either_acquire__u8: its loop has no PAUSE"),
    Fault(SHARED, "u32 spins = pace(v);", "u32 spins = ((void)pace, 1);",
          "probe_await_paced_acquire__u8: its loop does not ask the pace"),
    Fault(SHARED, _PATIENT, "	return load<O>(at, s);\n",
          "probe_await_patient_acquire__u8: its loop has no PAUSE"),
    Fault(SHARED, "arch::await_patient<order::acquire>",
          "arch::await_patient<order::relaxed>",
          "probe_await_patient_acquire__u8 is"),
    Fault(SHARED, _UNTIL, _UNTIL.replace("		cpu_relax();\n", ""),
          "probe_await_until_acquire__u8: its loop has no PAUSE"),
    Fault(SHARED, "arch::await_until<order::acquire>",
          "arch::await_until<order::relaxed>",
          "probe_await_until_acquire__u8 is"),
    Fault(IRQ, 'asm volatile("cli" ::: "memory")', 'asm volatile("cli")',
          'probe_irq_save: asm "cli" does not clobber memory'),
    Fault(IRQ, 'asm volatile("sti" ::: "memory")', 'asm volatile("sti")',
          'probe_irq_restore: asm "sti" does not clobber memory'),
    Fault(IRQ, '	else\n		asm volatile("" ::: "memory");\n', "",
          "probe_irq_restore: no barrier where it does not enable"),
    Fault(RELAX, 'asm volatile("pause" ::: "memory")', 'asm volatile("pause")',
          'asm "pause" does not clobber memory'),
    Fault(CPU, 'asm volatile("rdtsc"', 'asm("rdtsc"',
          "probe_cycles: two clocks may be made one"),
    Fault(CPU, '"=d"(high)::"memory");', '"=d"(high));',
          "probe_cycles_begin: no cpuid that clobbers memory"),
    Fault(CPU, '"edx",\n\t\t       "memory");', '"edx");',
          "probe_cycles_end: no cpuid that clobbers memory"),
    Fault(CPU, '::"eax", "ebx",', '::"eax",',
          "probe_cycles_end: cpuid changes ebx, unsaid"),
    Fault(CPU, "(0x80000001) >> 27", "(0x80000001) >> 26",
          "probe_cycles_usable does not look at bit 27"),
    Fault(CPU, "(0x80000001) >> 27", "(0x80000007) >> 27",
          "probe_cycles_usable does not ask CPUID"),
    Fault(SHARED, "	expected = from_stored<T>(found);\n", "",
          "values: compare_exchange", "values"),
    Fault(SHARED, "__atomic_fetch_sub(&", "__atomic_fetch_add(&",
          "values: fetch_sub", "values"),
    Fault(SHARED, "__atomic_fetch_xor(", "__atomic_fetch_or(",
          "values: fetch_xor", "values"),
    Fault(SHARED, "return fetch_add<O>(at.at[I], v, s);",
          "return fetch_add<O>(at.at[0], v, s);", "values: fetch_add",
          "values"),
    Fault(SHARED, "return exchange<O>(at.at[I], v, s);",
          "return exchange<O>(at.at[0], v, s);", "values: exchange_acq_rel",
          "values"),
    Fault(SHARED, "return await_exchange<O>(at.at[I], desired, done, s);",
          "return await_exchange<O>(at.at[I], T(desired + 1), done, s);",
          "values: await_exchange_acquire", "values"),
    # A load that is wider than its field; a reason for what is not so.
    Fault(QUEUED, "return tail.load_relaxed() == 0 &&",
          "return *reinterpret_cast<const volatile u32 *>(this) == 0 &&",
          "queued_lock: lock(): two sizes on the same bytes: r4@0 beside X2@0",
          "accesses"),
    Fault(QUEUED, " * Assumes: ", " * Sizes:       try_lock: none\n * Assumes: ",
          "queued_lock: Sizes says try_lock", "accesses"),
    Fault(IRQ, _PUSHES, '	asm volatile("pushf\\n\\tpop %0"\n',
          "red zone: -O1: a leaf function loses a local", "red zone"),
]

PARKING = "arch/hosted/klock/host_parking.hpp"
HOST = [
    Fault(PARKING, "mine.fetch_sub_acquire(", "mine.fetch_sub_relaxed(",
          "klock_os_park is", "parking"),
    Fault(PARKING, "mine.exchange_acquire(", "mine.exchange_relaxed(",
          "klock_os_park_until is", "parking"),
    Fault(PARKING, "word.exchange_release(", "word.exchange_relaxed(",
          "klock_os_unpark is", "parking"),
]

_A64 = "arch/aarch64/klock/arch/"
_OPS = _A64 + "atomic_ops.hpp"
_IRQ = _A64 + "irq.hpp"
AARCH64 = [
    Fault(SHARED, "arch::fetch_add<order::acquire>",
          "arch::fetch_add<order::release>", "probe_fetch_add_acquire__u8 is"),
    Fault(SHARED, "arch::exchange<order::seq_cst>",
          "arch::exchange<order::relaxed>", "probe_exchange_seq_cst__u16 is"),
    Fault(SHARED, "arch::fence<order::acquire>", "arch::fence<order::acq_rel>",
          "probe_fence_acquire is 'dmb-ish'"),
    Fault(SHARED, "arch::store<order::release>", "arch::store<order::relaxed>",
          "probe_store_release__u32 is 'store'"),
    Fault(SHARED, "to_stored(desired), false,\n\t\tstatic_cast<int>(O), "
          "static_cast<int>(without_store(O)));",
          "to_stored(desired), false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);",
          "probe_compare_exchange_acq_rel__u8 is"),
    Fault(SHARED, "(void)sleep_until<order::relaxed>(at, done)", "cpu_relax()",
          "probe_await_exchange_acquire__u8: wfe is missing"),
    # A bounded wait that sleeps; an endless one that does not.
    Fault(SHARED, "if (endlessly)", "if (true)",
          "probe_await_patient_acquire__u16: its loop has no pause"),
    Fault(SHARED, "if (endlessly)", "if (false)",
          "probe_await_patient_relaxed__u8: wfe is missing"),
    Fault(_OPS, '"wfe\\n\\tldaxrh', '"wfe\\n\\tldrh',
          "probe_await_acquire__u16 is 'ldar sevl wfe load'"),
    Fault(_OPS, '"wfe\\n\\tldaxrb', '"ldaxrb',
          "probe_await_acquire__u8 is 'ldar sevl ldaxr'"),
    Fault(_OPS, 'asm volatile("sevl" ::: "memory");', "",
          "probe_await_acquire__u8: wfe without a mark or an event before it"),
    Fault(_OPS, "wait_and_read(at.value));",
          "wait_and_read(at.value));\n"
          '(void)load<order::relaxed>(at, site("", 0));',
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
    Fault(SHARED, "arch::store<order::release>(at, v, s);",
          'arch::store<order::release>(at, v, s);\nasm("sev");',
          "SEV, where the store itself is the event", "locks"),
    *HOST,
]

_RV = "arch/riscv/klock/arch/"
_OPS, _CODE = _RV + "atomic_ops.hpp", _RV + "instructions.hpp"
_IRQ = _RV + "irq.hpp"
_OWN = "template <order O, typename T>\n\trequires atomic_value<T>\ninline "
RISCV = [
    # GCC 12: no release at all; and lr.aq sc for acq_rel.
    Fault(_OPS, _OWN + "bool compare_exchange(",
          "template <order O, typename T>\nrequires(sizeof(T) < 4)\n"
          "inline bool compare_exchange(",
          "probe_compare_exchange_release__u32 is", cxx="g++", until=13),
    Fault(_OPS, _OWN + "bool compare_exchange(",
          "template <order O, typename T>\nrequires(sizeof(T) < 4)\n"
          "inline bool compare_exchange(",
          "probe_compare_exchange_acq_rel__usize is", cxx="g++", until=13),
    Fault(_OPS, _OWN + "T fetch_add(", "template <order O, typename T>\n"
          "requires(sizeof(T) >= 4)\ninline T fetch_add(",
          "undefined symbol __atomic_fetch_add_", cxx="g++", until=14),
    Fault(_OPS, "template <order O, typename T>\n\trequires atomic_value<T>\n"
          "inline void store(", "template <order O, typename T>\n"
          "requires(sizeof(T) > 8)\ninline void store(",
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
    Fault(_OPS, "using flag_word = u32;", "",
          "probe_exchange_acquire__flag is 'lr.aq sc'"),
    Fault(_OPS, "if constexpr (__is_same(T, bool) && ", "if constexpr (false && ",
          "probe_exchange_acquire__true is 'lr.aq sc'"),
    Fault(_CODE, "v ? modify_register<amo::bit_or, O>(",
          "v ? modify_register<amo::bit_or, order::relaxed>(",
          "probe_exchange_release__bool is"),
    Fault(_OPS, "(I + 1) * sizeof(T) % 4 == 0", "(I + 1) * sizeof(T) % 8 == 0",
          "probe_pair_fetch_add_acq_rel__u16_second is"),
    Fault(_OPS, "		if (done(v))\n			return v;\n		riscv::",
          "		if (done(v))\n			return v;\n"
          '		(void)load<order::relaxed>(at, site("", 0));\n		riscv::',
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
    *HOST,
]


FAULTS = {"x86_64": X86, "aarch64": AARCH64, "riscv64": RISCV}


def _plant(lib, fault):
    """Into each file there that holds the text; once in each, and in one at
    least."""
    paths = [lib / fault.where] if fault.where != SHARED else \
        [path for name in _SHARED_NAMES for path in (lib / SHARED).rglob(name)]
    texts = {path: path.read_text() for path in paths}
    times = {path.name: text.count(fault.old) for path, text in texts.items()}
    if sorted(set(times.values()) | {0}) != [0, 1]:
        raise objects.Failed(f"{times}: {fault.old}\n")
    for path, text in texts.items():
        path.write_text(text.replace(fault.old, fault.new))


def planted(lib, scratch, faults):
    """A copy of lib with these faults in it."""
    bad = Path(scratch) / "lib"
    shutil.rmtree(bad, ignore_errors=True)
    for part in ("klock", "arch"):
        shutil.copytree(lib / part, bad / part)
    for fault in faults:
        _plant(bad, fault)
    return bad


def _probe_of(fault):
    """The probe that is to be named, or None."""
    named = re.search(r"probe_(?:fence_\w+|\w+?__\w+|\w+)", fault.words)
    return named[0] if named else None


def _operation_of(fault):
    """Its probe's, whatever the type and the order: "pair_exchange"."""
    probe = _probe_of(fault)
    return probe and re.sub(r"_(?:relaxed|acquire|release|acq_rel|seq_cst)"
                            r"(?:__\w+)?$", "", probe)


def together(faults):
    """In groups of which each names another operation, in another text, and
    is looked for in the same way; or is alone. So no fault is found for
    another's sake."""
    groups = []
    for fault in faults:
        operation = _operation_of(fault)
        for group in groups:
            if operation and fault.look == "operations" and all(
                    _operation_of(one) not in (None, operation) and
                    (one.look, one.told) == (fault.look, fault.told) and
                    one.old != fault.old
                    for one in group):
                group.append(fault)
                break
        else:
            groups.append([fault])
    return groups


def _said_of_x86(cxx, bad, faults, scratch):
    compiler = objects.Compiler(cxx, 64, bad)
    if faults[0].look == "values":
        return operations.values(compiler, scratch, "bytes_alone")
    if faults[0].look == "accesses":
        return accesses.check(accesses.of(compiler, HERE / "all_locks.cpp",
                                          scratch), bad)
    if faults[0].look == "red zone":
        return operations.red_zone(compiler, scratch)
    return operations.check(compiler, bad, scratch,
                            " ".join(fault.words for fault in faults))


def _said_of_cross(args, bad, faults, scratch):
    compiler, fault = cross.Cross(args.cxx, args.target, bad), faults[0]
    machine = orders.RiscV(fault.told) if fault.told else \
        orders.MACHINES[args.target]
    if fault.look == "locks":
        return cross_locks.check(compiler, machine, scratch, EXPECTATIONS)[0]
    if fault.look in ("flags", "parking"):
        return architecture.STEPS[fault.look](compiler, machine, scratch)
    named = "|".join(filter(None, map(_probe_of, faults)))
    return orders.check(
        compiler, machine, scratch,
        [f"-D__riscv_{name}=1000000" for name in fault.told],
        f"({named})$" if named else
        r"await_acquire__u|fetch_add_relaxed__u8$")


def _version(args):
    compiler = objects.Compiler(args.cxx, 64, args.lib) \
        if args.target == "x86_64" else \
        cross.Cross(args.cxx, args.target, args.lib)
    return int(objects.call([compiler.cxx, "-dumpversion"]).split(".")[0])


def _seeded(args, scratch):
    """(title, "" or what was said instead of its words) of each fault"""
    version = _version(args)
    faults = [fault for fault in FAULTS[args.target]
              if fault.cxx in ("", args.cxx) and version < fault.until]
    for group in together(faults):
        bad = planted(args.lib, scratch, group)
        try:
            said = list(_said_of_x86(args.cxx, bad, group, scratch)
                        if args.target == "x86_64" else
                        _said_of_cross(args, bad, group, scratch))
        except objects.Failed as broken:
            said = [str(broken)]
        for fault in group:
            yield (f"{fault.where}, '{fault.new.strip()}'",
                   "" if any(fault.words in text for text in said) else
                   f"not '{fault.words}' but: {said[:5]}")


def _outline(args, scratch):
    """Checks that the functions that GCC's default on AArch64 calls are named.
    """
    compiler = cross.Cross(args.cxx, args.target, args.lib)
    said = orders.check(compiler, orders.MACHINES[args.target], scratch,
                        ["-moutline-atomics"], r"fetch_add_relaxed__u8$")
    found = any("undefined symbol __aarch64_ldadd1_relax" in text
                for text in said)
    yield "-moutline-atomics", "" if found else f"said {said}"


# -- Bad headers, symbols, locks; instructions -------------------------------

# title                   header                           the finding says
BAD_HEADERS = [
    ("included twice", "struct twice {};",
     "compiles once, but not twice"),
    ("not self-contained", "#pragma once\nusing mine = klock::u8;",
     "does not compile alone"),
    ("a standard header", "#pragma once\n#include <atomic>",
     "does not compile alone"),
    ("an exception", "#pragma once\ninline void f() { throw 1; }",
     "does not compile alone"),
    ("RTTI", "#pragma once\nstruct a { virtual void f(); };\n"
     "inline bool f(a *x) { return dynamic_cast<void *>(x); }\n"
     "struct b : a {};\ninline b *g(a *x) { return dynamic_cast<b *>(x); }",
     "does not compile alone"),
    ("a warning", "#pragma once\ninline int f(int unused) { return 0; }",
     "does not compile alone"),
    ("a function that is not inline", "#pragma once\nint f() { return 0; }",
     "defines _Z1fv"),
    ("a variable that is not inline", "#pragma once\nint counter;",
     "defines counter"),
    ("a constructor before main",
     "#pragma once\nint f();\nstatic int early = f();", "code to be run"),
]
GOOD_HEADER = "#pragma once\ninline int f() { return 0; }\n"

# title                   source                            the finding says
BAD_SYMBOLS = [
    ("a static with a constructor", [],
     "int f();\nint g() { static int x = f(); return x; }", "symbol _ZGV"),
    ("a throw", ["-fexceptions"], "void f() { throw 1; }", "symbol __cxa_"),
    ("an unwinder", ["-fexceptions"],
     "struct s { ~s(); };\nvoid g();\nvoid f() { s x; g(); }",
     "symbol _Unwind_"),
    ("a table of handlers", ["-fexceptions"],
     "void g();\nvoid f() { try { g(); } catch (...) {} }",
     ".gcc_except_table"),
    ("a constructor before main", [], "int f();\nint x = f();",
     "section .init_array"),
    ("RTTI", ["-frtti"], "struct s { virtual ~s(); };\ns::~s() {}",
     "symbol _ZTI"),
    ("a library function", [],
     "void f(char *a, char *b, __SIZE_TYPE__ n) { __builtin_memcpy(a, b, n); }",
     "undefined symbol memcpy"),
    ("a kernel's function", [], "extern \"C\" void printk();\n"
     "void f() { printk(); }", "undefined symbol printk"),
]
GOOD_SYMBOLS = ("extern \"C\" unsigned klock_os_cpu_id();\n"
                "unsigned f() { return klock_os_cpu_id(); }\n")

# lock                      the finding says
BAD_LOCKS = [
    ("without_pause", "has a PAUSE"),
    ("pause_outside_the_loop", "has a PAUSE"),
    ("take_by_cmpxchg_loop", "has 1 locked instructions in a loop"),
    ("locked_unlock", "lock() + unlock() has 2 locked instructions"),
    ("locked_unlock", "unlock() has 1 locked instructions"),
    ("exchanging_unlock", "unlock() has 1 locked instructions"),
    ("fat", "bytes, at most 20 allowed"),
    ("fat", "instructions, at most 14 allowed"),  # with what lock() calls
    ("not_in_the_list", "but not in the list"),
    ("looks_at_both", "two sizes on the same bytes: r2@0 beside r1@1 w1@1"),
]

# as objdump writes it                 locked, fence, padding
INSTRUCTIONS = [
    ("lock xadd %al,(%rdi)", 1, 0, 0),
    ("lock cmpxchg %cx,(%rdi)", 1, 0, 0),
    ("lock cmpxchg8b (%esi)", 1, 0, 0),
    ("lock or %al,(%rdi)", 1, 0, 0),
    ("xchg   %al,(%rdi)", 1, 0, 0),
    ("xchg   %ax,%ax", 0, 0, 1),
    ("xchg   %eax,%edx", 0, 0, 0),
    ("mfence", 0, 1, 0),
    ("lock orq $0x0,(%rsp)", 0, 1, 0),
    ("lock orl $0x0,-0x40(%rsp)", 0, 1, 0),
    ("nop", 0, 0, 1),
    ("nopw   0x0(%rax,%rax,1)", 0, 0, 1),
    ("data16 cs nopw 0x0(%rax,%rax,1)", 0, 0, 1),
    ("cs nopw 0x0(%eax,%eax,1)", 0, 0, 1),
    ("lea    0x0(%esi,%eiz,1),%esi", 0, 0, 1),
    ("lea    0x0(%esi),%esi", 0, 0, 1),
    ("lea    0x1(%rax),%edx", 0, 0, 0),
    ("mov    %al,(%rdi)", 0, 0, 0),
    ("pause", 0, 0, 0),
]


def _names(findings, message):
    return any(message in text for text in findings)


def _bad_headers(cxx, bits, scratch):
    (scratch / "klock").mkdir()
    compiler = objects.Compiler(cxx, bits, scratch)
    path = scratch / "klock/tried.hpp"
    path.write_text(GOOD_HEADER)
    found = headers.check(compiler, ["klock/tried.hpp"], scratch)
    yield "a good header", "" if not found else f"said {found}"
    yield "no headers", "" if headers.check(compiler, [], scratch) else "passed"
    for title, text, message in BAD_HEADERS:
        path.write_text(text + "\n")
        found = headers.check(compiler, ["klock/tried.hpp"], scratch)
        yield title, "" if _names(found, message) else f"said {found}"


def _bad_symbols(compiler, scratch):
    source, obj = scratch / "symbols.cpp", scratch / "symbols.o"
    source.write_text(GOOD_SYMBOLS)
    found = headers.check_symbols(compiler.compile_as_kernel(source, obj))
    yield "good symbols", "" if not found else f"said {found}"
    for title, flags, text, message in BAD_SYMBOLS:
        source.write_text(text + "\n")
        compiler.compile_as_kernel(source, obj, flags)
        found = headers.check_symbols(obj)
        yield title, "" if _names(found, message) else f"said {found}"


def _bad_locks(compiler, scratch):
    obj = scratch / "bad.o"
    compiler.compile_as_kernel(HERE / "bad_locks.cpp", obj)
    rows = facts.read(obj, scratch)
    expected = {name: COMPACT for name, _ in BAD_LOCKS}
    expected["good"] = COMPACT
    expected["fat"] = COMPACT._replace(most_bytes=20, most_own=14)
    found = facts.check(rows, expected, compiler.bits)
    if compiler.bits == 64:
        # The good one's reason is in ticket_lock's header: try_lock alone.
        found += [text for text in accesses.check(
            accesses.read(obj, scratch), compiler.lib)
                  if not text.startswith("good: try_lock()")]
    wrong = [text for text in found if text.startswith("good:")]
    yield "the good lock", "" if not wrong else f"said {wrong}"
    for name, message in BAD_LOCKS:
        # Lengths and sizes are of 64 bits.
        if compiler.bits != 64 and ("allowed" in message or
                                    "bytes" in message):
            continue
        said = [text for text in found if text.startswith(name + ":")]
        yield f"{name}: {message}", "" if _names(said, message) else (
            f"said {said}\n{facts.table(rows)}")


def _instructions():
    for text, locked, fence, padding in INSTRUCTIONS:
        one = [objects.Instruction(0, 2, text, -1, "")]
        seen = (facts.count_locked(one), facts.count_fences(one),
                facts.code_bytes(one) == 0)
        yield f"'{text}'", "" if seen == (locked, fence, padding) else (
            f"taken for (locked, fence, padding) {seen}")


def _bad_ones(cxx, bits, lib):
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        compiler = objects.Compiler(cxx, bits, lib)
        yield from _bad_headers(cxx, bits, scratch)
        yield from _bad_symbols(compiler, scratch)
        yield from _bad_locks(compiler, scratch)


def run(args, scratch):
    if args.target == "x86_64":
        yield from _instructions()
        for bits in args.bits:
            yield from _bad_ones(args.cxx, bits, args.lib)
    if args.target == "aarch64":
        yield from _outline(args, scratch)
    if 64 in args.bits:
        yield from _seeded(args, scratch)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", choices=FAULTS, required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--lib", type=tool.library, required=True)
    parser.add_argument("--bits", type=int, choices=(32, 64), nargs="+",
                        default=[64], help="x86_64: of the bad ones")
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            outcomes = list(run(args, scratch))
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except objects.Failed as broken:
        print(broken)
        return 1
    failed = [(title, wrong) for title, wrong in outcomes if wrong]
    for title, wrong in failed:
        print(f"FAIL {title}: {wrong}")
    print(f"{len(outcomes)} faults, {len(failed)} not found")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
