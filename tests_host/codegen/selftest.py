# SPDX-License-Identifier: MIT
"""Every check of this folder finds what it is for.

Deliberately bad headers, symbols and locks (bad_locks.cpp) go through the same
functions as klock's own, and each fault must be named; the good ones beside
them must not be. Run: selftest.py --cxx g++ --lib lib
"""

import argparse
import sys
import tempfile
from pathlib import Path

import facts
import headers
import objects
from expectations import COMPACT

HERE = Path(__file__).resolve().parent
SKIPPED = 77

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
    ("not_in_the_list", "but not in the list"),
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


def names(findings, message):
    return any(message in text for text in findings)


def check_headers(cxx, bits, scratch):
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
        yield title, "" if names(found, message) else f"said {found}"


def check_symbols(compiler, scratch):
    source, obj = scratch / "symbols.cpp", scratch / "symbols.o"
    source.write_text(GOOD_SYMBOLS)
    found = headers.check_symbols(compiler.compile_as_kernel(source, obj))
    yield "good symbols", "" if not found else f"said {found}"
    for title, flags, text, message in BAD_SYMBOLS:
        source.write_text(text + "\n")
        found = headers.check_symbols(compiler.compile_as_kernel(source, obj, flags))
        yield title, "" if names(found, message) else f"said {found}"


def check_locks(compiler, scratch):
    obj = scratch / "bad.o"
    compiler.compile_as_kernel(HERE / "bad_locks.cpp", obj)
    rows = facts.read(obj, scratch)
    expected = {name: COMPACT for name, _ in BAD_LOCKS}
    expected["good"] = COMPACT
    expected["fat"] = COMPACT._replace(most_bytes=20)
    found = facts.check(rows, expected, compiler.bits)
    wrong = [text for text in found if text.startswith("good:")]
    yield "the good lock", "" if not wrong else f"said {wrong}"
    for name, message in BAD_LOCKS:
        if "bytes" in message and compiler.bits != 64:
            continue
        said = [text for text in found if text.startswith(name + ":")]
        yield f"{name}: {message}", "" if names(said, message) else (
            f"said {said}\n{facts.table(rows)}")


def check_instructions():
    for text, locked, fence, padding in INSTRUCTIONS:
        one = [objects.Instruction(0, 2, text, -1, "")]
        seen = (facts.count_locked(one), facts.count_fences(one),
                facts.code_bytes(one) == 0)
        yield f"'{text}'", "" if seen == (locked, fence, padding) else (
            f"taken for (locked, fence, padding) {seen}")


def run(cxx, bits, lib):
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        compiler = objects.Compiler(cxx, bits, lib)
        outcomes = list(check_headers(cxx, bits, scratch))
        outcomes += check_symbols(compiler, scratch)
        outcomes += check_locks(compiler, scratch)
    return [(f"{compiler}: {title}", wrong) for title, wrong in outcomes]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--lib", type=Path, required=True)
    args = parser.parse_args()
    try:
        outcomes = list(check_instructions())
        for bits in (64, 32):
            outcomes += run(args.cxx, bits, args.lib)
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    failed = [(title, wrong) for title, wrong in outcomes if wrong]
    for title, wrong in failed:
        print(f"FAIL {title}: {wrong}")
    print(f"{len(outcomes)} cases, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
