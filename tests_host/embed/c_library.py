#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libklock.a: what a kernel gets of it, and that it works."""
import os
import re
from pathlib import Path

import cases
from cases import FREESTANDING, STRICT

BOTH = [("gcc", "g++"), ("clang", "clang++")]
HERE = "tests_host/embed/c"


def library(case, name, flags="-O2", port="x86", **more):
    """Built by the Makefile, as a kernel does it: the archive's path.
    families="tas ...": these alone, where more would show no more."""
    build = case.scratch / name
    words = [f"{key}={value}" for key, value in more.items()]
    case.must("make", "-s", "-j2", "-C", case.root / "lib/c", f"BUILD={build}",
              f"PORT={port}", f"CXXFLAGS={flags}", *words)
    return build / "libklock.a"


def in_one_file(case, cxx, *flags, names=None, port="hosted"):
    """All locks, or these, as one object: where the programs are what is
    looked at. In sections: what is not called asks for nothing."""
    built = case.scratch / f"{cxx}.o"
    case.must(cxx, "-std=c++20", "-O2", "-ffunction-sections", *flags,
              *case.includes(port, c=True), "-c", case.write_c(names), "-o",
              built)
    return built


def built_by_cmake(case, name, port):
    """By g++ with the tests, as who links klock::x86_c has it; where there is
    none, by the Makefile, which builds all in embed.md's way 6."""
    path = os.environ.get(f"KLOCK_{port.upper()}")
    return Path(path) if path else library(case, name, "-O2", port)


def sources(case):
    return (case.root / "lib/c/sources").read_text().split()


def says(case, cc, built, source, what, *flags):
    """A test of tests_host/embed, run on the host."""
    case.must(cc, "-std=c11", "-O2", *STRICT, "-pthread", *flags,
              *case.includes(None, c=True), case.root / source, built,
              "-Wl,--gc-sections", "-o", "program")
    said = case.must("./program")
    case.expect(what in said, f"{cc} {source}: {said}")


def programs_in_c(case):
    for cc, cxx in BOTH:
        built = (built_by_cmake(case, cxx, "hosted") if cxx == "g++" else
                 in_one_file(case, cxx))
        right = "all counts are right"
        says(case, cc, built, f"{HERE}/test_c.c", right)
        says(case, cc, built, f"{HERE}/test_c.c", right, "-DCHECKED")
        shared = "readers meet, writers are alone"
        says(case, cc, built, f"{HERE}/test_readers.c", shared)
        says(case, cc, built, f"{HERE}/test_readers.c", shared, "-DCHECKED")
        says(case, cc, built, f"{HERE}/test_checked.c", "every misuse is named")
        says(case, cc, built, f"{HERE}/test_lock_order.c",
             "every deadlock is named")
        says(case, cc, built, f"{HERE}/test_folder.c", "all is whole")
        says(case, cc, built, f"{HERE}/test_counted.c",
             "every wait is counted")
    unchecked = [name for name in sources(case)
                 if not name.startswith(("checked_", "order"))]
    built = in_one_file(case, "g++", f"-I{case.root / HERE / 'irq'}",
                        names=unchecked)
    says(case, "gcc", built, f"{HERE}/test_order.c", "off first, back last")


def c_and_cpp_share_one_lock(case):
    for cc, cxx in BOTH:
        for flags in (["-O2"], ["-O2", "-flto"]):
            built = library(case, cxx + flags[-1], " ".join(flags), "hosted",
                            CXX=cxx, families="tickets queue",
                            # lld needs no index of what clang made.
                            AR="gcc-ar" if cc == "gcc" else "ar")
            case.must(cc, "-std=c11", *flags, *STRICT,
                      *case.includes(None, c=True), "-c",
                      case.root / HERE / "shared.c", "-o", "c.o")
            case.must(cxx, "-std=c++20", *flags, *STRICT, "-pthread",
                      *([] if cc == "gcc" else ["-fuse-ld=lld"]),
                      *case.includes("hosted", c=True), "c.o",
                      case.root / HERE / "shared.cpp", built, "-o", "shared")
            said = case.must("./shared")
            case.expect("share one lock" in said, f"{cxx} {flags}: {said}")


# -- One object per family -------------------------------------------------------

# The port's word, which a linker keeps once (klock/arch/port.hpp).
PORT = {"klock_two_ports_in_one_program"}

# What asks the kernel, of names that do not say it.
ORDER = {"klock_might_wait_at", "klock_declare_before_at",
         "klock_declare_rank_at", "klock_print_held", "klock_usage_nest",
         "klock_usage_unnest"}


def declared_and_defined(case, built):
    """All that the headers declare, and nothing else."""
    text = case.must("nm", built)
    names = set(re.findall(r" T (\w+)", text)) - PORT
    case.write("all.c", "#include <klock/klock.h>\n")
    code = case.must("gcc", *case.includes(None, c=True), "-E", "-P", "all.c")
    declared = set(re.findall(r"\b(klock_\w+)\(", code))
    declared -= {"klock_os_cpu_id", "klock_os_context", "klock_os_owner_id",
                 "klock_os_panic", "klock_os_lock_order",
                 "klock_os_note"}  # the kernel's
    case.expect(names == declared, "not both declared and defined: "
                f"{sorted(names ^ declared)}")
    case.expect(len(names) > 350, f"only {len(names)} functions")


def one_object_a_family(case, built):
    files = {path.stem for path in (case.root / "lib/c").glob("*.cpp")}
    case.expect(set(sources(case)) == files, "lib/c/sources is not the "
                f"folder's *.cpp: {sorted(files ^ set(sources(case)))}")
    case.must("ar", "x", built)
    objects = {path.name.split(".")[0]: path
               for path in case.scratch.glob("*.o")}
    case.expect(set(objects) == files, "the archive has not the folder's "
                f"*.cpp: {sorted(files ^ set(objects))}")
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "void _start(void) { klock_tas_lock(&lock); }\n")
    case.must("gcc", "-O2", "-ffreestanding", *case.includes(None, c=True),
              "-c", "use.c", "-o", "use.o")
    case.must("ld", "--gc-sections", "use.o", built, "-o", "kernel")
    kernel = case.must("nm", "kernel")
    others = [symbol for symbol in re.findall(r" T (klock_\w+)", kernel)
              if not symbol.startswith("klock_tas_") and symbol not in PORT]
    case.expect(not others, f"a kernel with one lock got {others}")


# Sources that may ask for what klock/os.hpp names.
ASKS = r"checked_\w+|usage|once|queued(?:_\d+)?|order|lock_order_\d+"


def needs_no_runtime(case, built, whose):
    sections = case.must("objdump", "-h", built)
    for name in (".init_array", ".ctors", ".gcc_except_table"):
        case.expect(name not in sections, f"{whose}: {name}")


def archive_for_every_kernel(case):
    """Gives what is called, and asks for nothing: checked locks, once and
    queued locks alone for what klock/os.hpp names."""
    built = built_by_cmake(case, "gcc", "x86")
    declared_and_defined(case, built)
    one_object_a_family(case, built)
    for line in case.must("nm", "-A", "-u", built).splitlines():
        name = line.split()[-1] if " U " in line else ""
        asks = re.search(rf"({ASKS})(?:\.cpp)?\.o:", line)
        case.expect(not name or asks and name.startswith("klock_os_"),
                    f"undefined symbol {line}")
    needs_no_runtime(case, built, "gcc -m64")


def asks_for_nothing(case):
    """The same of the code that others make: where all that must ask for
    nothing is linked, there is nothing that it misses."""
    # Clang's for 32 bits: bare_toolchain.py, which links without a library.
    for cxx, bits, emulation in (("g++", "-m32", "elf_i386"),
                                 ("clang++", "-m64", "elf_x86_64")):
        built = in_one_file(case, cxx, bits, *FREESTANDING, *STRICT, port="x86")
        undefined = re.findall(r" U (\w+)", case.must("nm", built))
        case.expect(undefined, f"{cxx} {bits}: no lock asks for klock_os_...")
        case.expect(all(name.startswith("klock_os_") for name in undefined),
                    f"{cxx} {bits}: undefined symbols {undefined}")
        may_ask = "|".join(ORDER)
        calls = [name for name in
                 re.findall(r" T (klock_\w+)", case.must("nm", built))
                 if name not in PORT and not re.match(
                     rf"klock_(\w+_)?(?:{ASKS})(?:_|$)|(?:{may_ask})$", name)]
        case.expect(len(calls) > 200, f"{cxx} {bits}: only {len(calls)}")
        case.must("ld", "-m", emulation, "--gc-sections", "-e", calls[0],
                  *(f"-u{name}" for name in calls), built, "-o", "kernel")
        needs_no_runtime(case, built, f"{cxx} {bits}")


def a_pool_of_mcs_nodes(case):
    """The guide's: locks released on another stack, and out of order."""
    for cc, cxx in BOTH:
        built = library(case, cxx, "-O2", "hosted", CXX=cxx, families="queue")
        says(case, cc, built, "tests_host/embed/c_pool/test_spinlock.c",
             "no visit is lost", case.root / "tests_host/embed/c_pool/spinlock.c")


CASES = [programs_in_c, c_and_cpp_share_one_lock, a_pool_of_mcs_nodes,
         archive_for_every_kernel, asks_for_nothing]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
