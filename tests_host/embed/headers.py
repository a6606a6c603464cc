#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The single header is lib/klock and the port, all of it, each once; and what
is linked with a cross toolchain with no library is klock alone: clang and lld,
for x86_64-elf, i686-elf, AArch64 and RISC-V, where no package for that CPU is.
"""
import re

import cases
from cases import CLANG_ALONE, FREESTANDING, STRICT

# -- The single header ---------------------------------------------------------

PORTS = ("x86", "aarch64", "riscv", "hosted")

USE = """\
#include "klock.hpp"
klock::ticket_lock<klock::u8> ticket;
klock::clh_lock clh;
void f();
void f()
{
	static klock::clh_node node;
	klock::irq_guard held(ticket);
	klock::guard other(clh, node);
}
"""


def _make(case, port):
    out = case.scratch / port / "klock.hpp"
    case.must("python3", "-B", case.root / "toolchain/single_header.py", port,
              out)
    return out.read_text()


def _code_lines(text):
    """What must not be lost: lines of code that stand once in their header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return {line for line in text.splitlines()
            if re.match(r"(struct|inline|constexpr|concept|using) \w", line)}


def holds_everything_once(case):
    for port in PORTS:
        text = _make(case, port)
        case.expect(text == _make(case, port), f"{port}: not the same twice")
        tops = (case.root / "lib/klock", case.root / f"lib/arch/{port}/klock")
        for top, path in [(t, p) for t in tops for p in t.rglob("*.hpp")]:
            name = path.relative_to(top).as_posix()
            if name.startswith("selftest/") or name == "builtin_ops.hpp":
                continue
            for line in _code_lines(path.read_text()):
                case.expect(line in text, f"{port}: lost from {name}: "
                            f"{line}")
            case.expect(text.count(f"/* ---- klock/{name} ---- */") == 1,
                        f"{port}: {name} is not there once")
        left = set(re.findall(r"#include (<klock/[^>]+>)", text))
        case.expect(all("arch/error_" in name for name in left),
                    f"{port}: still includes {sorted(left)}")


def compiles_alone(case):
    for port in PORTS:
        _make(case, port)
    case.write("use.cpp", USE)
    for cxx in ("g++", "clang++"):
        for bits in ("-m64", "-m32"):
            case.must(cxx, bits, "-std=c++20", *FREESTANDING, *STRICT,
                      "-Ix86", "-c", "use.cpp", "-o", "use.o")
            undefined = case.must("nm", "-u", "use.o").split()
            case.expect(not undefined, f"{cxx} {bits} needs {undefined}")
        case.must(cxx, "-std=c++20", *STRICT, "-Ihosted", "-c", "use.cpp")
    for port, (triple, flags, _) in CLANG_ALONE.items():
        case.must("clang++", f"--target={triple}", "-std=c++20", *flags,
                  *STRICT, f"-I{port}", "-c", "use.cpp")


def says_what_it_is(case):
    top = _make(case, "x86").partition("*/\n#pragma once")[0]
    text = (case.root / "lib/klock/version.hpp").read_text()
    version = ".".join(re.findall(r"version_\w+ = (\d+)", text))
    case.expect(f"klock {version}" in top and "x86" in top, f"its top: {top}")
    status, said = case.call("python3", case.root /
                             "toolchain/single_header.py", "vax", "klock.hpp")
    case.expect(status != 0 and "invalid choice: 'vax'" in said,
                f"a port that is none: {said}")


# -- A bare toolchain ----------------------------------------------------------

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
EACH_KIND = """
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
    case.write("all.cpp", "".join(headers) + EACH_KIND + KERNEL + more)
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
    for port, (target, flags, emulation) in CLANG_ALONE.items():
        flags = [flag for flag in flags if flag != "-nostdinc++"]
        compile_and_link(case, target, flags, port, emulation)


CASES = {
    "single_header_is_whole": [holds_everything_once, compiles_alone,
                               says_what_it_is],
    "bare_toolchain": [compiles_and_links, needs_no_package_of_that_cpu],
}

if __name__ == "__main__":
    cases.main(CASES, __doc__)
