#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cross toolchain with no library: clang and lld, for x86_64-elf, i686-elf,
AArch64 and RISC-V, where no package for that CPU is.

Of headers there are the compiler's own alone; what is linked is klock.
"""
import cases
from cases import FREESTANDING, STRICT

MACHINES = (("x86_64-elf", "elf_x86_64"), ("i686-elf", "elf_i386"))

# What the kernel supplies (klock/os.hpp), and its entry.
KERNEL = """
extern "C" unsigned klock_os_cpu_id() { return 0; }
extern "C" int klock_os_context() { return 0; }
extern "C" [[noreturn]] void klock_os_panic(const char *, const void *, unsigned,
			       const char *)
{
	for (;;)
		;
}
extern "C" void _start() {}
"""

# What a compiler may call in any program (GCC's manual, "Standards").
MEMORY = """
extern "C" void *memset(void *at, int, __SIZE_TYPE__) { return at; }
extern "C" void *memcpy(void *at, const void *, __SIZE_TYPE__) { return at; }
"""

# One template of each kind made real: nothing of it may be missing.
USE = """
static klock::ticket_lock<klock::u32> ticket;
static klock::mcs_lock mcs;
static klock::bakery_lock<4> bakery;
void use() {
	klock::irq_guard a(ticket);
	klock::irq_guard b(mcs);
	klock::irq_guard c(bakery);
}
"""


def write_sources(case, more=""):
    """all.cpp: every header; c.cpp: the functions for C (c_library.py has one
    object a lock)."""
    lib = case.root / "lib"
    headers = [f"#include <klock/{path.name}>\n"
               for path in sorted((lib / "klock").glob("*.hpp"))
               if path.name != "builtin_ops.hpp"]
    case.expect(len(headers) > 15, f"only {len(headers)} headers")
    case.write("all.cpp", "".join(headers) + USE + KERNEL + more)
    names = (lib / "c/sources").read_text().split()
    case.expect(len(names) > 10, f"only {len(names)} sources")
    case.write_c()


def compile_and_link(case, target, flags, port, emulation):
    own = case.must("clang++", "--print-resource-dir").strip() + "/include"
    for name in ("all", "c"):
        case.must("clang++", f"--target={target}", "-nostdinc", "-isystem", own,
                  "-std=c++20", *STRICT, *flags, *case.includes(port, c=True),
                  "-c", f"{name}.cpp", "-o", f"{name}.o")
    case.must("ld.lld", "-m", emulation, "-nostdlib", "-static",
              "--no-undefined", "all.o", "c.o", "-o", "kernel")


def compiles_and_links(case):
    write_sources(case)
    for target, emulation in MACHINES:
        compile_and_link(case, target, FREESTANDING, "x86", emulation)


def needs_no_package_of_that_cpu(case):
    """As above, for other CPUs."""
    write_sources(case, MEMORY)
    for port, (target, flags, emulation) in cases.CLANG_ALONE.items():
        flags = [flag for flag in flags if flag != "-nostdinc++"]
        compile_and_link(case, target, flags, port, emulation)


if __name__ == "__main__":
    cases.main([compiles_and_links, needs_no_package_of_that_cpu], __doc__)
