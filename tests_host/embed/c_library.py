#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libklock.a: how it is built, what a kernel gets of it, and that it works."""
import re
import shutil

import cases
from cases import STRICT

BOTH = [("gcc", "g++"), ("clang", "clang++")]
HERE = "tests_host/embed/c"


def library(case, name, flags="-O2", port="x86", **more):
    """Built by the Makefile, as a kernel does it: the archive's path."""
    build = case.scratch / name
    words = [f"{key}={value}" for key, value in more.items()]
    case.must("make", "-s", "-j2", "-C", case.root / "lib/c", f"BUILD={build}",
              f"PORT={port}", f"CXXFLAGS={flags}", *words)
    return build / "libklock.a"


def program(case, cc, cxx, source, flags="", std="c11"):
    """A test of tests_host/embed/c, run on the host: what it prints."""
    built = library(case, f"for_{source}_{cxx}", f"-O2 {flags}", "hosted",
                    CXX=cxx)
    case.must(cc, f"-std={std}", "-O2", *STRICT, "-pthread",
              *case.includes(None, c=True), case.root / HERE / source, built,
              "-o", "program")
    return case.must("./program")


def every_verb_of_every_lock(case):
    for cc, cxx in BOTH:
        said = program(case, cc, cxx, "test_c.c")
        case.expect("all counts are right" in said, f"{cc}: {said}")


def interrupts_off_first_and_back_last(case):
    for cc, cxx in BOTH:
        said = program(case, cc, cxx, "test_order.c",
                       f"'-I{case.root / HERE / 'irq'}'")
        case.expect("off first, back last" in said, f"{cc}: {said}")


# -- One object a lock ---------------------------------------------------------

# The port's word, which a linker keeps once (klock/arch/port.hpp).
PORT = {"klock_two_ports_in_one_program"}

# What may lie together besides the verbs of one lock.
SHARED = {"irq": {"klock_irq_save", "klock_irq_restore", "klock_irqs_enabled"},
          "version": {"klock_version"}}


def asks_for_nothing(case):
    """The kernel gives what klock/os.hpp names, and only to checked locks."""
    for cc, cxx in BOTH:
        for bits in ("-m64", "-m32"):
            built = library(case, cc + bits, f"-O2 {bits} -Wall -Wextra "
                            "-Werror", CXX=cxx)
            for line in case.must("nm", "-A", "-u", built).splitlines():
                name = line.split()[-1] if " U " in line else ""
                case.expect(not name or (name.startswith("klock_os_") and
                                         "checked_" in line),
                            f"{cc} {bits}: undefined symbol {line}")
            sections = case.must("objdump", "-h", built)
            for name in (".init_array", ".ctors", ".gcc_except_table"):
                case.expect(name not in sections, f"{cc} {bits}: {name}")


def one_object_a_lock(case):
    built = library(case, "x86")
    names = (case.root / "lib/c/sources").read_text().split()
    sources = sorted(path.stem for path in (case.root / "lib/c").glob("*.cpp"))
    case.expect(sorted(names) == sources, "lib/c/sources is not the folder's "
                f"*.cpp: {sorted(set(names) ^ set(sources))}")
    for name in names:
        text = case.must("nm", built.parent / f"{name}.o")
        for symbol in re.findall(r" T (\w+)", text):
            case.expect(symbol in SHARED.get(name, ()) or symbol in PORT or
                        symbol.startswith(f"klock_{name}_"),
                        f"{name}.o has {symbol} as well")
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "void _start(void) { klock_tas_lock(&lock); }\n")
    case.must("gcc", "-O2", "-ffreestanding", *case.includes(None, c=True),
              "-c", "use.c", "-o", "use.o")
    case.must("ld", "use.o", built, "-o", "kernel")
    kernel = case.must("nm", "kernel")
    others = [symbol for symbol in re.findall(r" T (klock_\w+)", kernel)
              if not symbol.startswith("klock_tas_") and symbol not in PORT]
    case.expect(not others, f"a kernel with one lock got {others}")


def declared_and_defined(case):
    """All that the headers declare, and nothing else."""
    text = case.must("nm", library(case, "x86"))
    names = set(re.findall(r" T (\w+)", text)) - PORT
    case.write("all.c", "#include <klock/klock.h>\n")
    code = case.must("gcc", *case.includes(None, c=True), "-E", "-P", "all.c")
    declared = set(re.findall(r"\b(klock_\w+)\(", code))
    case.expect(names == declared, "not both declared and defined: "
                f"{sorted(names ^ declared)}")
    case.expect(len(names) > 180, f"only {len(names)} functions")


# -- The Makefile --------------------------------------------------------------

def make_notices_changed_flags(case):
    def machine():
        return re.findall(r"file format (\S+)", case.must(
            "objdump", "-a", case.scratch / "b" / "libklock.a"))

    library(case, "b", "-O2")
    case.expect(set(machine()) == {"elf64-x86-64"}, "not 64 bits")
    built = case.scratch / "b" / "libklock.a"
    before = built.stat().st_mtime_ns
    library(case, "b", "-O2")
    case.expect(built.stat().st_mtime_ns == before,
                "compiled again, and nothing had changed")
    library(case, "b", "-O2 -m32")
    case.expect(set(machine()) == {"elf32-i386"},
                "-m32 was not noticed: the objects are still 64 bits")


def make_works_with_blanks(case):
    """In its own path, in BUILD, and in a flag."""
    shutil.copytree(case.root / "lib", case.scratch / "my klock" / "lib")
    for build in (case.scratch / "my build", "../../relative build"):
        for _ in range(2):
            case.must("make", "-s", "-j2", "-C", case.scratch / "my klock/lib/c",
                      f"BUILD={build}", 'CXXFLAGS=-O2 -DTEXT="\\"a b\\""')
    for path in ("my build", "my klock/relative build"):
        case.must("nm", case.scratch / path / "libklock.a")
    header = case.scratch / "my klock/lib/klock/tas_lock.hpp"
    header.write_text(header.read_text() + "#error it was looked at\n")
    status, said = case.call("make", "-s", "-C",
                             case.scratch / "my klock/lib/c",
                             f"BUILD={case.scratch / 'my build'}",
                             'CXXFLAGS=-O2 -DTEXT="\\"a b\\""')
    case.expect(status != 0 and "it was looked at" in said,
                f"a changed header was not noticed: {said}")


# -- Mistakes ------------------------------------------------------------------

LINE = """\
#include <klock/klock.h>
static struct klock_clh lock = KLOCK_CLH_INIT(lock);
static struct klock_clh_node node = KLOCK_CLH_NODE_INIT(node);
int main(void)
{
	klock_clh_lock(&lock, &node);
	klock_clh_unlock(&lock, &node);
	return 0;
}
"""


def another_cache_line_is_an_error(case):
    built = library(case, "hosted", "-O2", "hosted")
    case.write("line.c", LINE)
    for cc, _ in BOTH:
        use = [cc, *case.includes(None, c=True), "line.c", built, "-o", "line"]
        case.must(*use)
        case.must("./line")
        status, said = case.call(*use, "-DKLOCK_CACHE_LINE=128")
        case.expect(status != 0 and said.count(" error: ") == 1 and
                    "KLOCK_CACHE_LINE is no parameter" in said,
                    f"{cc}: another line than the library's: status {status}, "
                    f"{said}")


def another_line_of_the_port_is_an_error(case):
    port = case.scratch / "port/klock/arch"
    shutil.copytree(case.root / "lib/arch/x86/klock/arch", port)
    header = port / "cpu.hpp"
    header.write_text(header.read_text().replace("cache_line = 64",
                                                 "cache_line = 128"))
    status, said = case.call("g++", "-std=c++20", "-I", case.scratch / "port",
                             *case.includes(None, c=True), "-c",
                             case.root / "lib/c/clh.cpp", "-o", "clh.o")
    case.expect(status != 0 and "another cache line than the port's" in said,
                f"a port with lines of 128 bytes: {said}")


def flto_and_plain_ld(case):
    """embed.md says what is seen, and what helps."""
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "void _start(void) { klock_tas_lock(&lock); }\n")
    case.must("gcc", "-O2", "-ffreestanding", *case.includes(None, c=True),
              "-c", "use.c", "-o", "use.o")
    lto = library(case, "lto", "-O2 -flto", AR="gcc-ar")
    status, said = case.call("ld", "use.o", lto, "-o", "kernel")
    words = "plugin needed to handle lto object"
    case.expect(status != 0 and words in said, f"plain ld says: {said}")
    guide = (case.root / "lib/docs/embed.md").read_text()
    case.expect(words in guide, f"embed.md does not know '{words}'")
    case.must("gcc", "-O2", "-flto", "-nostdlib", "-static", "use.o", lto,
              "-o", "kernel")
    fat = library(case, "fat", "-O2 -flto -ffat-lto-objects", AR="gcc-ar")
    case.must("ld", "use.o", fat, "-o", "kernel")


CASES = [every_verb_of_every_lock, interrupts_off_first_and_back_last,
         asks_for_nothing, one_object_a_lock, declared_and_defined,
         make_notices_changed_flags, make_works_with_blanks,
         another_cache_line_is_an_error, another_line_of_the_port_is_an_error,
         flto_and_plain_ld]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
