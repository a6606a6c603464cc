#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cross toolchain with no library: clang for x86_64-elf and i686-elf, lld.

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


def compiles_and_links(case):
    own = case.must("clang++", "--print-resource-dir").strip() + "/include"
    lib = case.root / "lib"
    headers = [f"#include <klock/{path.name}>\n"
               for path in sorted((lib / "klock").glob("*.hpp"))
               if path.name != "builtin_ops.hpp"]
    case.expect(len(headers) > 15, f"only {len(headers)} headers")
    case.write("all.cpp", "".join(headers) + USE + KERNEL)
    for target, emulation in MACHINES:
        compiler = ["clang++", f"--target={target}", "-nostdinc", "-isystem",
                    own, "-std=c++20", *FREESTANDING, *STRICT,
                    *case.includes("x86", c=True), "-c"]
        case.must(*compiler, "all.cpp", "-o", "all.o")
        objects = []
        for name in (lib / "c/sources").read_text().split():
            case.must(*compiler, lib / f"c/{name}.cpp", "-o", f"{name}.o")
            objects.append(f"{name}.o")
        case.must("ld.lld", "-m", emulation, "-nostdlib", "-static",
                  "--no-undefined", "all.o", *objects, "-o", "kernel")


if __name__ == "__main__":
    cases.main([compiles_and_links], __doc__)
