#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The single header is lib/klock and the port, all of it, each once."""
import re

import cases
from cases import CLANG_ALONE, FREESTANDING, STRICT

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


CASES = [holds_everything_once, compiles_alone, says_what_it_is]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
