# SPDX-License-Identifier: MIT
"""operations.py and programs.py find what they are for.

Each fault is planted in a copy of lib, alone; what is said of it must name the
operation, whose probe alone is compiled. Run: faults.py --cxx g++ --lib lib
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import objects
import operations
import programs

SKIPPED = 77
ATOMIC, BUILTIN = "klock/atomic.hpp", "klock/detail/builtin_ops.hpp"
IRQ, CPU = "arch/x86/klock/arch/irq.hpp", "arch/x86/klock/arch/cpu.hpp"
RELAX = "arch/x86/klock/arch/relax.hpp"

_AWAIT = """		const T v = load<O>(at, s);
		if (done(v))
			return v;
		cpu_relax();
"""
_PATIENT = """			return last;
		cpu_relax();
"""
_UNTIL = """		if (done(v) || cycles() >= deadline)
			return v;
		cpu_relax();
"""
_EXCHANGE = """		const T v = exchange<O>(at, desired, s);
		if (done(v))
			return v;
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

# where, what stands there, what it is made; what is found, in these words
ORDERS = [
    (ATOMIC, "arch::fetch_and<order::relaxed>", "arch::fetch_or<order::relaxed>",
     "probe_fetch_and_relaxed__u8 is"),
    (ATOMIC, "arch::fetch_or<order::acq_rel>", "arch::fetch_or<order::relaxed>",
     "probe_fetch_or_acq_rel__u8 is"),
    (ATOMIC, "arch::exchange<order::seq_cst>", "arch::exchange<order::relaxed>",
     "probe_exchange_seq_cst__u8 is"),
    (ATOMIC, "arch::fetch_add<order::acquire>",
     "arch::fetch_add<order::release>", "probe_fetch_add_acquire__u8 is"),
    (ATOMIC, "arch::fence<order::release>", "arch::fence<order::relaxed>",
     "probe_fence_release is"),
    (ATOMIC, "arch::fence<order::seq_cst>", "arch::fence<order::acq_rel>",
     "probe_fence_seq_cst: no full fence"),
    (BUILTIN, _FENCE, "if (O != order::release) " + _FENCE,
     "probe_fence_release is"),
    (BUILTIN, "to_stored(desired), false,\n\t\tstatic_cast<int>(O), "
     "static_cast<int>(without_store(O)));",
     f"to_stored(desired), false, {_RELAXED}, {_RELAXED});",
     "probe_compare_exchange_acq_rel__u8 is"),
    (ATOMIC, "arch::compare_exchange_fields<order::acquire>(\n\t\t\tat, both(",
     "arch::compare_exchange_fields<order::relaxed>(\n\t\t\tat, both(",
     "probe_pair_compare_exchange_acquire__u8 is"),
    (BUILTIN, "word_from(desired), false,\n\t\tstatic_cast<int>(O), "
     "static_cast<int>(without_store(O)));",
     f"word_from(desired), false, {_RELAXED}, {_RELAXED});",
     "probe_pair_compare_exchange_acquire__u8 is"),
    (ATOMIC, "arch::exchange_field<place<I>, order::acq_rel>",
     "arch::exchange_field<place<I>, order::acquire>",
     "probe_pair_exchange_acq_rel__u8_second is"),
    (ATOMIC, "arch::exchange_field<place<I>, order::acq_rel>",
     "arch::exchange_field<place<I>, order::release>",
     "probe_fields_exchange_acq_rel__u8_3 is"),
    (ATOMIC, "arch::advance_fields<order::release>",
     "arch::advance_fields<order::relaxed>",
     "probe_fields_advance_release__u8_3 is"),
    (ATOMIC, "arch::await_either<order::acquire>",
     "arch::await_either<order::relaxed>",
     "probe_await_either_acquire__u8 is"),
    (BUILTIN, _AWAIT, _AWAIT.replace("		cpu_relax();\n", ""),
     "probe_await_eq_acquire__u8: its loop has no PAUSE"),
    (BUILTIN, _EXCHANGE, _EXCHANGE.replace("		cpu_relax();\n", ""),
     "probe_await_exchange_acquire__u8: its loop has no PAUSE"),
    (BUILTIN, _EITHER, "			return;\n",
     "probe_await_either_acquire__u8: its loop has no PAUSE"),
    (BUILTIN, "u32 spins = pace(v);", "u32 spins = ((void)pace, 1);",
     "probe_await_paced_acquire__u8: its loop does not ask the pace"),
    (BUILTIN, _PATIENT, "			return last;\n",
     "probe_await_patient_acquire__u8: its loop has no PAUSE"),
    (ATOMIC, "arch::await_patient<order::acquire>",
     "arch::await_patient<order::relaxed>",
     "probe_await_patient_acquire__u8 is"),
    (BUILTIN, _UNTIL, _UNTIL.replace("		cpu_relax();\n", ""),
     "probe_await_until_acquire__u8: its loop has no PAUSE"),
    (ATOMIC, "arch::await_until<order::acquire>",
     "arch::await_until<order::relaxed>",
     "probe_await_until_acquire__u8 is"),
    (IRQ, 'asm volatile("cli" ::: "memory")', 'asm volatile("cli")',
     'probe_irq_save: asm "cli" does not clobber memory'),
    (IRQ, 'asm volatile("sti" ::: "memory")', 'asm volatile("sti")',
     'probe_irq_restore: asm "sti" does not clobber memory'),
    (IRQ, '	else\n		asm volatile("" ::: "memory");\n', "",
     "probe_irq_restore: no barrier where it does not enable"),
    (RELAX, 'asm volatile("pause" ::: "memory")', 'asm volatile("pause")',
     'asm "pause" does not clobber memory'),
    (CPU, "(0x80000001) >> 27", "(0x80000001) >> 26",
     "probe_cycles_usable does not look at bit 27"),
    (CPU, "(0x80000001) >> 27", "(0x80000007) >> 27",
     "probe_cycles_usable does not ask CPUID"),
]

VALUES = [
    (BUILTIN, "	expected = from_stored<T>(found);\n", "",
     "values: compare_exchange"),
    (BUILTIN, "__atomic_fetch_sub(&", "__atomic_fetch_add(&",
     "values: fetch_sub"),
    (BUILTIN, "__atomic_fetch_xor(", "__atomic_fetch_or(",
     "values: fetch_xor"),
    (BUILTIN, "return fetch_add<O>(at.at[I], v, s);",
     "return fetch_add<O>(at.at[0], v, s);", "values: fetch_add"),
    (BUILTIN, "return exchange<O>(at.at[I], v, s);",
     "return exchange<O>(at.at[0], v, s);", "values: exchange_acq_rel"),
    (BUILTIN, "return await_exchange<O>(at.at[I], desired, done, s);",
     "return await_exchange<O>(at.at[I], T(desired + 1), done, s);",
     "values: await_exchange_acquire"),
]

RED_ZONE = [
    (IRQ, _PUSHES, '	asm volatile("pushf\\n\\tpop %0"\n',
     "red zone: -O1: a leaf function loses a local"),
]


def planted(lib, scratch, fault):
    """A copy of lib with this fault in it."""
    where, old, new, _ = fault
    bad = Path(scratch) / "lib"
    shutil.rmtree(bad, ignore_errors=True)
    for part in ("klock", "arch/x86"):
        shutil.copytree(Path(lib) / part, bad / part)
    path = bad / where
    text = path.read_text()
    if text.count(old) != 1:
        raise objects.Failed(f"{where} holds {text.count(old)} times: {old}\n")
    path.write_text(text.replace(old, new))
    return bad


def run(cxx, lib, scratch):
    for faults, look in (
            (ORDERS, lambda compiler, bad, words: operations.check(
                compiler, bad, scratch, words)),
            (VALUES, lambda compiler, bad, _: [
                *programs.values(compiler, scratch, "bytes_alone")]),
            (RED_ZONE, lambda compiler, bad, _: [
                *programs.red_zone(compiler, scratch)])):
        if faults is not ORDERS and not programs.runs_here():
            continue
        for fault in faults:
            bad = planted(lib, scratch, fault)
            try:
                said = look(objects.Compiler(cxx, 64, bad), bad, fault[3])
            except objects.Failed as broken:
                said = [str(broken)]
            yield fault, [] if any(fault[3] in text for text in said) \
                else said or ["nothing"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--lib", type=Path, required=True)
    args = parser.parse_args()
    failed = count = 0
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for (where, _, new, words), said in run(args.cxx, args.lib,
                                                    scratch):
                count += 1
                failed += bool(said)
                for text in said[:5]:
                    print(f"FAIL {where}, '{new.strip()}': not '{words}' but: "
                          f"{text}")
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
