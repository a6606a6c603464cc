# SPDX-License-Identifier: MIT
"""Every operation of the x86 port, as the compiler understands it.

probes.py writes a function for each operation of atomic.hpp and each type.
What its name says is then looked for:

    order      in what the optimiser works on (GCC: GIMPLE, clang: LLVM's
               IR), where acquire, release and relaxed still differ, as they do
               not in x86's code
    locked     read-modify-writes and fences, in the object code
    pauses     a wait's loop has one, in the object code
    barriers   an asm statement that others must not pass clobbers memory
    clock      two reads of it are two; CPUID around what is measured clobbers
               memory
    bits       cycles_usable() and cycles_steady() look at theirs

And by programs that run, what object code alone does not show:

    values    every operation of every type computes what its name says
              (tests_host/operations), also where the host has no 32-bit library
    red_zone  a leaf function that turns interrupts off keeps its locals, with
              the red zone on, at every level of optimisation
"""

import errno
import platform
import re
import resource
import signal
import subprocess
from pathlib import Path

import facts
import objects
import probes

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "operations/table.hpp"

# -- The compiler's own code -----------------------------------------------------

_ORDERS = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]


def _gimple(dump):
    """{function: its text} of GCC's optimized dump."""
    parts = re.split(r"^;; Function .*?\((\w+), funcdef_no.*$",
                     dump.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


_GIMPLE_EVENT = re.compile(
    r"(?:__atomic_|\.ATOMIC_)(?P<what>load|store|exchange|"
    r"compare_exchange|COMPARE_EXCHANGE|fetch_\w+?|thread_fence)"
    r"(?:_\d+)? \((?P<arguments>.*?)\);")


def _gimple_events(text):
    found = []
    for match in _GIMPLE_EVENT.finditer(text):
        what = match["what"].lower().replace("thread_", "")
        count = 2 if what == "compare_exchange" else 1
        orders = match["arguments"].split(", ")[-count:]
        found.append((what, *(_ORDERS[int(order)] for order in orders)))
    return found


def _llvm(compiler, path, scratch):
    out = Path(scratch) / "operations.ll"
    compiler.compile(path, out, ["-O1", "-S", "-emit-llvm"])
    return {match[1]: match[2] for match in re.finditer(
        r"^define .*?@(\w+)\(.*?\{\n(.*?)^\}", out.read_text(),
        flags=re.M | re.S)}


_LLVM_EVENT = re.compile(
    r"(?P<what>load atomic|store atomic|atomicrmw (?:volatile )?\w+|cmpxchg"
    r"|\bfence) (?P<rest>.*)$", re.M)
_LLVM_ORDER = re.compile(r"\b(monotonic|acquire|release|acq_rel|seq_cst)\b")
_LLVM_NAMES = {"load atomic": "load", "store atomic": "store",
               "cmpxchg": "compare_exchange", "fence": "fence",
               "atomicrmw xchg": "exchange"}


def _llvm_events(text):
    found = []
    for match in _LLVM_EVENT.finditer(text):
        what = match["what"]
        what = _LLVM_NAMES.get(what) or "fetch_" + what.split()[-1]
        orders = [order.replace("monotonic", "relaxed")
                  for order in _LLVM_ORDER.findall(match["rest"])]
        found.append((what, *orders))
    return found


def _llvm_asm(text):
    """(instructions, constraints and clobbers) of each asm statement."""
    return re.findall(
        r'\basm (?:sideeffect )?(?:inteldialect )?"(.*?)", "(.*?)"', text)


def _gimple_asm(text):
    return re.findall(
        r'__asm__ ?(?:__volatile__)?\("([^"]*)"( : [^;]*)?\);', text)


def _changes(said, register):
    """Whether an asm statement says that it changes a register of x86: "=a",
    "eax", ={ax} or ~{eax}."""
    return re.search(rf'"=&?{register}"|"e{register}x"|'
                     rf'=&?{{{register}x}}|~{{e{register}x}}', said)


# Whatever these do, accesses of memory must not pass them.
_BARRIER = re.compile(r"pause|cli|sti|pushf|lock|^$")


def check_orders(compiler, path, wanted, scratch, dump):
    if compiler.is_clang:
        bodies, events, asm = (_llvm(compiler, path, scratch), _llvm_events,
                               _llvm_asm)
    else:
        bodies, events, asm = _gimple(dump), _gimple_events, _gimple_asm
    found = []
    for probe in wanted:
        text = bodies[probe.name]
        by_hand = [code for code, _ in asm(text) if "cmpxchg8b" in code]
        is_8_bytes = compiler.bits == 32 and re.match(
            r"probe_pair_compare\w*__u32$|"
            r"probe_fields_(?:compare|advance)\w*__(?:u16_[34]|u32_2)$",
            probe.name)
        # advance: what it begins with is a guess, read half by half
        seen = [event for event in events(text)
                if not (is_8_bytes and event == ("load", "relaxed"))]
        if is_8_bytes and by_hand and not seen:
            continue  # an asm statement: a full fence, whatever was asked
        # A compiler may read once before a wait's loop, and again in it.
        if seen != probe.events and not (
                probe.waits and set(seen) == set(probe.events)):
            found.append(f"{probe.name} is {seen}, expected {probe.events}")
    for name, text in bodies.items():
        for code, said in asm(text):
            if _BARRIER.search(code) and "memory" not in said:
                found.append(f"{name}: asm \"{code}\" does not clobber memory")
            lost = [f"e{one}x" for one in "abcd" if "cpuid" in code and
                    not _changes(said, one)]
            if lost:
                found.append(f"{name}: cpuid changes {' '.join(lost)}, unsaid")
    for name in ("probe_cycles_begin", "probe_cycles_end"):
        if not any("cpuid" in code and "memory" in said
                   for code, said in asm(bodies[name])):
            found.append(f"{name}: no cpuid that clobbers memory")
    if len(re.findall(r'(?:__volatile__\(|sideeffect )"rdtsc"',
                      bodies["probe_cycles"])) != 2:
        found.append("probe_cycles: two clocks may be made one: no volatile")
    for name, instruction in (("probe_irq_save", "cli"),
                              ("probe_irq_restore", "sti")):
        said = [code for code, _ in asm(bodies[name])]
        if instruction not in said:
            found.append(f"{name} has no {instruction}: {said}")
    # An empty one on the way where interrupts stay off.
    if "" not in [code for code, _ in asm(bodies["probe_irq_restore"])]:
        found.append("probe_irq_restore: no barrier where it does not enable")
    for name, leaf, bit in (("probe_cycles_usable", 0x80000001, 27),
                            ("probe_cycles_steady", 0x80000007, 8)):
        found += _check_bit(name, bodies[name], leaf, bit)
    return found


def _check_bit(name, text, leaf, bit):
    """A CPUID leaf and one bit of it are all that the function looks at."""
    numbers = {int(number) for number in re.findall(r"(?<![\w.%])-?\d+\b", text)}
    if not {leaf, leaf - 2**32} & numbers:
        yield f"{name} does not ask CPUID for leaf {leaf:#x}"
    if not {bit, 1 << bit} & numbers:
        yield f"{name} does not look at bit {bit}"


# -- The object code -------------------------------------------------------------

def _count(probe):
    """(locked instructions at least, fences and locked ones at least)"""
    locked = sum(event[0] not in ("load", "store", "fence")
                 for event in probe.events)
    full = sum(event[0] in ("store", "fence") and event[1] == "seq_cst"
               for event in probe.events)
    return locked, full


def check_code(obj, wanted):
    functions = objects.functions(obj)
    found = []
    for probe in wanted:
        code = functions[probe.name].code
        locked, full = _count(probe)
        has_locked = facts.count_locked(code)
        has = has_locked + facts.count_fences(code)
        if full and not has:
            found.append(f"{probe.name}: no full fence")
        if not full and has_locked < locked:
            found.append(f"{probe.name}: no locked instruction")
        if not full and not locked and has:
            found.append(f"{probe.name}: {has} locked instructions or fences "
                         "that it does not need")
        again = objects.repeated(functions, probe.name) if probe.waits else []
        if probe.waits and not any(i.text.startswith("pause") for i in again):
            found.append(f"{probe.name}: its loop has no PAUSE")
        for wait, what in (("await_paced", "pace"),
                           ("await_patient", "patience")):
            if wait in probe.name and not any(i.other == probes.PACE
                                              for i in again):
                found.append(f"{probe.name}: its loop does not ask the {what}")
    return found


# -- The table that the other tests read -----------------------------------------

# They take callables, and are written out in values.hpp and recorder.hpp.
_WRITTEN_OUT = ("await", "await_paced", "await_patient", "await_until",
                "await_exchange", "await_either")


def check_table(declared, table):
    """Every operation of the headers is in tests_host/operations/table.hpp."""
    found = []
    for struct, operations in declared.items():
        kind = {"atomic": "atomic<T>", "atomic_pair": "(?:X|atomic_pair<T>)",
                "atomic_fields": "(?:X|atomic_fields<T, N>)"}[struct]
        for operation, order in operations:
            name = f"{operation}_{order}"
            if operation not in _WRITTEN_OUT and not re.search(
                    rf'op<"{name}",\s*&(?:{kind}::(?:template )?)?{name}\b',
                    table):
                found.append(f"{struct}: {name} is not in operations/table.hpp")
    return found


def check(compiler, lib, scratch, words=None):
    """One line for each operation that is not what its name says; words: of
    those alone that they name."""
    declared = probes.names(lib)
    found = check_table(declared, TABLE.read_text())
    wanted = [probe for probe in probes.every(declared) if words is None or
              re.search(rf"\b{probe.name}\b", words)]
    path = Path(scratch) / "operations.cpp"
    path.write_text(probes.source(wanted))
    dump = Path(scratch) / "operations.gimple"
    obj = compiler.compile_as_kernel(
        path, Path(scratch) / "operations.o",
        [] if compiler.is_clang else [f"-fdump-tree-optimized={dump}"])
    found += check_orders(compiler, path, wanted, scratch, dump)
    found += check_code(obj, wanted)
    print(f"{compiler}: {len(wanted)} operations")
    return found


# -- Programs that run -------------------------------------------------------

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
BARE = ["-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-fno-exceptions",
        "-fno-rtti", "-fno-stack-protector"]
LIMIT = 20  # CPU seconds for a program that takes none: a wait without an end


def runs_here():
    return platform.machine() in ("x86_64", "amd64")


def build(compiler, source, program, flags):
    return objects.call(
        [compiler.cxx, f"-m{compiler.bits}", "-std=c++20", "-Wall", "-Wextra",
         "-Werror", *flags, *compiler.paths, "-I", HERE.parent, source, "-o",
         program])


def _end_in_time():
    """In the child. Of its own time, which no busy machine takes away."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))


def status_of(program):
    """Exit status and what was printed; None where it did not end."""
    done = subprocess.run([program], capture_output=True, text=True,
                          preexec_fn=_end_in_time)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, ""
    return done.returncode, done.stdout.strip()


def values(compiler, scratch, types="every_type"):
    """types: which of tests_host/operations/table.hpp"""
    program = Path(scratch) / "values"
    build(compiler, HERE.parent / "operations/program.cpp", program,
          ["-O1", f"-DKLOCK_TYPES={types}", *BARE])
    try:
        status, said = status_of(program)
    except OSError as error:
        # A kernel without 32-bit programs, as in some virtual machines.
        if error.errno != errno.ENOEXEC or compiler.bits != 32:
            raise
        print("not run: this host's kernel takes no 32-bit programs")
        return
    if status:
        yield f"values: {said or status}"
    if status is None:
        yield f"values: a wait does not end within {LIMIT} CPU s"


def red_zone(compiler, scratch):
    """One line for each level at which a local is lost."""
    if compiler.bits != 64:
        return  # no red zone
    program = Path(scratch) / "red_zone"
    for level in LEVELS:
        build(compiler, HERE / "red_zone.cpp", program, [level, "-mred-zone"])
        status, _ = status_of(program)
        if status:
            yield f"red zone: {level}: " + (
                "a leaf function loses a local" if status == 1 else
                f"status {status}")


def check_programs(compiler, scratch):
    if not runs_here():
        print("not run: programs for x86")
        return []
    return [*values(compiler, scratch), *red_zone(compiler, scratch)]
