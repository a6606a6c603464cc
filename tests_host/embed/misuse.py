#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a newcomer gets wrong ends in one error that says what to do."""
import re

import cases
from cases import FREESTANDING, STRICT

COMPILERS = ("g++", "clang++")

TICKET = "#include <klock/ticket_lock.hpp>\n"
IRQ = "#include <klock/irq_guard.hpp>\n" + TICKET


def one_error(case, text, command, words):
    """The command fails, with exactly one error, which holds the words."""
    source = case.write("user.cpp", text)
    status, said = case.call(*command, "-c", source, "-o", "user.o")
    found = cases.errors(said)
    case.expect(status != 0 and len(found) == 1 and
                all(word in found[0] for word in words),
                f"{command[0]}: not one error that says {words}:\n{said}")


def no_port(case):
    for cxx in COMPILERS:
        for text in (TICKET, IRQ):
            one_error(case, text, [cxx, "-std=c++20", *case.includes(None)],
                      ["klock/arch/"])


def hosted_port_in_a_kernel(case):
    for cxx in COMPILERS:
        for text in (TICKET, IRQ):
            one_error(case, text, [cxx, "-std=c++20", *FREESTANDING,
                                   *case.includes("hosted")],
                      ["error_the_hosted_port_in_a_freestanding_build"])


def x86_port_on_another_cpu(case):
    for text in (TICKET, IRQ):
        one_error(case, text,
                  ["clang++", "--target=aarch64-none-elf", "-std=c++20",
                   "-ffreestanding", *case.includes("x86")],
                  ["error_the_x86_port_on_another_cpu"])


def cxx17(case):
    for cxx in COMPILERS:
        for port in ("x86", "hosted", "hooked"):
            for text in (TICKET, IRQ):
                one_error(case, text,
                          [cxx, "-std=c++17", *case.includes(port)],
                          ["error_klock_needs_std=c++20"])


def too_many_contenders(case):
    huge = TICKET + "klock::ticket_lock_for<(1ull << 32) + 1> lock;\n"
    byte = TICKET + ("constexpr unsigned cpus = 200;\n"
                     "klock::ticket_lock<klock::u8> lock;\n"
                     "static_assert(2 * cpus <= decltype(lock)::"
                     "max_contenders, \"two contexts a CPU\");\n")
    for cxx in COMPILERS:
        command = [cxx, "-std=c++20", *case.includes("x86")]
        one_error(case, huge, command, ["over 2^32 contenders"])
        one_error(case, byte, command, ["two contexts a CPU"])
    one_error(case, "#include <klock/klock.h>\n_Static_assert(2 * 200 <= "
              "KLOCK_TICKET_U8_CONTENDERS, \"two contexts a CPU\");\n",
              ["gcc", "-x", "c", "-std=c11", *case.includes(None, c=True)],
              ["two contexts a CPU"])


REFUSED = "klock::atomic<T>: T is a bool, an enum, an integer or a pointer"

# flags      type and what is done with it                         the error says
ATOMICS = [
    ([], "klock::atomic<double> x;",
     REFUSED),
    ([], "struct s { int a, b; };\n"
     "s x(klock::atomic<s> &a) { return a.exchange_relaxed({1, 2}); }",
     REFUSED),
    ([], "int x(klock::atomic<const int> &a) { return a.load_relaxed(); }",
     REFUSED),
    (["-m32"], "void x(klock::atomic<klock::u64> &a)\n"
     "{ a.store_relaxed(a.fetch_add_relaxed(1) + 1); }", REFUSED),
    ([], "enum class e { a, b };\n"
     "e x(klock::atomic<e> &a) { return a.fetch_add_relaxed(e::b); }",
     "fetch_add"),
    ([], "bool x(klock::atomic<bool> &a) { return a.fetch_sub_relaxed(true); }",
     "fetch_sub"),
    ([], "int *x(klock::atomic<int *> &a) { return a.fetch_or_relaxed(0); }",
     "fetch_or"),
]


def atomic_of_what_it_cannot_do(case):
    for cxx in COMPILERS:
        for flags, text, words in ATOMICS:
            one_error(case, "#include <klock/atomic.hpp>\n" + text + "\n",
                      [cxx, "-std=c++20", *flags, *FREESTANDING,
                       *case.includes("x86")], [words])


def _objects(case, cxx, flags=()):
    """Three files of a program: two of one port, one of another."""
    text = TICKET + ("static klock::ticket_lock<klock::u8> lock;\n"
                     "int NAME() { lock.lock(); lock.unlock(); return 0; }\n")
    for name, port in (("one", "hosted"), ("same", "hosted"), ("other", "x86")):
        source = case.write(f"{name}.cpp", text.replace("NAME", name))
        case.must(cxx, "-std=c++20", "-O2", *flags, *case.includes(port), "-c",
                  source, "-o", f"{name}.o")
    case.write("main.cpp", "int one();\nint main() { return one(); }\n")
    case.must(cxx, *flags, "-c", "main.cpp", "-o", "main.o")


def two_ports_in_one_program(case):
    for cxx in COMPILERS:
        for flags, linkers in (
                ([], cases.linkers()),
                (["-flto"], [("its own", "-fuse-ld=bfd" if cxx == "g++"
                              else "-fuse-ld=lld")])):
            _objects(case, cxx, flags)
            for linker, choose in linkers:
                case.must(cxx, *flags, choose, "main.o", "one.o", "same.o",
                          "-o", "good")
                status, said = case.call(cxx, *flags, choose, "main.o",
                                         "one.o", "other.o", "-o", "bad")
                found = cases.errors(said)
                case.expect(status != 0 and len(found) == 1 and
                            "klock_two_ports_in_one_program" in found[0],
                            f"{cxx} {flags} {linker}: not one error: {said}")


def two_ports_in_cmake(case):
    """Also: the folder lib can be added alone."""
    case.write("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
add_subdirectory({case.root}/lib klock)
file(WRITE user.cpp "int main() {{}}")
add_library(part INTERFACE)
target_link_libraries(part INTERFACE klock::x86)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE part klock::hosted)
""")
    status, said = case.call("cmake", "-S", ".", "-B", "build")
    words = " ".join(said.split())
    case.expect(status != 0 and said.count("CMake Error") == 1 and
                "KLOCK_PORT" in words and '"klock_hosted"' in words,
                f"not one error that names the port: {said}")


def wrong_version(case):
    case.must("cmake", "-S", case.root, "-B", "build", "-D", "KLOCK_TESTS=OFF",
              "-D", "KLOCK_ENGINES=OFF")
    version = next(case.scratch.rglob("klockConfigVersion.cmake"))
    major, minor, _ = map(int, re.findall(
        r"version_\w+ = (\d+)",
        (case.root / "lib/klock/version.hpp").read_text()))
    for major, minor, fits in ((major, minor, "TRUE"),
                               (major, minor + 1, "FALSE"),
                               (major + 1, 0, "FALSE")):
        asked = f"{major}.{minor}"
        case.write("ask.cmake", f"""
set(PACKAGE_FIND_VERSION {asked})
set(PACKAGE_FIND_VERSION_MAJOR {major})
set(PACKAGE_FIND_VERSION_MINOR {minor})
include({version})
message(STATUS "fits: ${{PACKAGE_VERSION_COMPATIBLE}}")
""")
        said = case.must("cmake", "-P", "ask.cmake")
        case.expect(f"fits: {fits}" in said, f"asked for {asked}: {said}")


EXCEPTIONS = IRQ + """
#include <stdio.h>
static klock::ticket_lock<klock::u16> lock;
int main()
{
	try {
		klock::irq_guard held(lock);
		throw 1;
	} catch (int) {
	}
	return lock.is_locked() || !klock::arch::irqs_enabled();
}
"""

EVERY_VERB = IRQ + """
#include <klock/mcs_lock.hpp>
klock::ticket_lock<klock::u16> ticket;
klock::mcs_lock mcs;
unsigned shared;
void f() { klock::irq_guard held(ticket); shared++; }
void g() { klock::irq_guard held(mcs); shared++; }
"""


def exceptions_are_fine(case):
    """On: a guard unlocks as one passes. A kernel that has them on has the
    personality that a destructor may ask for; nothing else is asked."""
    for cxx in COMPILERS:
        source = case.write("user.cpp", EXCEPTIONS)
        case.must(cxx, "-std=c++20", *STRICT, *case.includes("hosted"), source,
                  "-o", "user")
        case.must("./user")
        source = case.write("kernel.cpp", EVERY_VERB)
        case.must(cxx, "-std=c++20", *FREESTANDING, "-fexceptions", "-frtti",
                  *case.includes("x86"), "-c", source, "-o", "kernel.o")
        undefined = set(case.must("nm", "-u", "kernel.o").split())
        undefined -= {"U", "__gxx_personality_v0"}
        case.expect(not undefined, f"{cxx} needs {undefined}")


CASES = [no_port, hosted_port_in_a_kernel, x86_port_on_another_cpu, cxx17,
         too_many_contenders, atomic_of_what_it_cannot_do,
         two_ports_in_one_program, two_ports_in_cmake, wrong_version,
         exceptions_are_fine]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
