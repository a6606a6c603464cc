# SPDX-License-Identifier: MIT
"""The checks of this folder find what they are for.

Deliberately bad headers, symbols and locks (bad_locks.cpp) go through the same
functions as klock's own, and the good ones beside them must not be named. Faults
in klock's own headers: tests_host/mutants/object_code.mutants.

Run: selftest.py --target x86_64 --cxx g++ --lib lib
"""

import sys
import tempfile
from pathlib import Path

import accesses
import cross
import facts
import headers
import objects
from objects import tool
import orders
from facts import COMPACT

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def _outline(args, scratch):
    """Checks that the functions that GCC's default on AArch64 calls are named.
    """
    compiler = cross.Cross(args.cxx, args.target, args.lib)
    said = orders.check(compiler, orders.MACHINES[args.target], scratch,
                        ["-moutline-atomics"], r"fetch_add_relaxed__u8$")
    found = any("undefined symbol __aarch64_ldadd1_relax" in text
                for text in said)
    yield "-moutline-atomics", "" if found else f"said {said}"


# -- Bad headers, symbols, locks; instructions -------------------------------

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
    ("fat", "instructions, at most 14 allowed"),  # with what lock() calls
    ("not_in_the_list", "but not in the list"),
    ("unknown", "has no row in EXPECTATIONS"),
    ("looks_at_both", "two sizes on the same bytes: r2@0 beside r1@1 w1@1"),
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


def _names(findings, message):
    return any(message in text for text in findings)


def _bad_headers(cxx, bits, scratch):
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
        yield title, "" if _names(found, message) else f"said {found}"


def _bad_symbols(compiler, scratch):
    source, obj = scratch / "symbols.cpp", scratch / "symbols.o"
    source.write_text(GOOD_SYMBOLS)
    found = headers.check_symbols(compiler.compile_as_kernel(source, obj))
    yield "good symbols", "" if not found else f"said {found}"
    for title, flags, text, message in BAD_SYMBOLS:
        source.write_text(text + "\n")
        compiler.compile_as_kernel(source, obj, flags)
        found = headers.check_symbols(obj)
        yield title, "" if _names(found, message) else f"said {found}"


def _bad_locks(compiler, scratch):
    obj = scratch / "bad.o"
    compiler.compile_as_kernel(HERE / "bad_locks.cpp", obj)
    rows = facts.read(obj, scratch)
    expected = {name: COMPACT for name, _ in BAD_LOCKS if name != "unknown"}
    expected["good"] = COMPACT
    expected["fat"] = COMPACT._replace(most_bytes=20, most_own=14)
    found = facts.check(rows, expected, compiler.bits)
    if compiler.bits == 64:
        # The good one's reason is in ticket_lock's header: try_lock alone.
        found += [text for text in accesses.check(
            accesses.read(obj, scratch), compiler.lib)
                  if not text.startswith("good: try_lock()")]
    wrong = [text for text in found if text.startswith("good:")]
    yield "the good lock", "" if not wrong else f"said {wrong}"
    for name, message in BAD_LOCKS:
        # Lengths and sizes are of 64 bits.
        if compiler.bits != 64 and ("allowed" in message or
                                    "bytes" in message):
            continue
        said = [text for text in found if text.startswith(name + ":")]
        yield f"{name}: {message}", "" if _names(said, message) else (
            f"said {said}\n{facts.table(rows)}")


def _instructions():
    for text, locked, fence, padding in INSTRUCTIONS:
        one = [objects.Instruction(0, 2, text, -1, "")]
        seen = (facts.count_locked(one), facts.count_fences(one),
                facts.code_bytes(one) == 0)
        yield f"'{text}'", "" if seen == (locked, fence, padding) else (
            f"taken for (locked, fence, padding) {seen}")


def _bad_ones(cxx, bits, lib):
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        compiler = objects.Compiler(cxx, bits, lib)
        yield from _bad_headers(cxx, bits, scratch)
        yield from _bad_symbols(compiler, scratch)
        yield from _bad_locks(compiler, scratch)


def run(args, scratch):
    if args.target == "x86_64":
        yield from _instructions()
        for bits in args.bits:
            yield from _bad_ones(args.cxx, bits, args.lib)
    if args.target == "aarch64":
        yield from _outline(args, scratch)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", choices=("x86_64", "aarch64"),
                        required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--lib", type=tool.library, required=True)
    parser.add_argument("--bits", type=int, choices=(32, 64), nargs="+",
                        default=[64], help="x86_64: of the bad ones")
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            outcomes = list(run(args, scratch))
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except objects.Failed as broken:
        print(broken)
        return 1
    failed = [(title, wrong) for title, wrong in outcomes if wrong]
    for title, wrong in failed:
        print(f"FAIL {title}: {wrong}")
    print(f"{len(outcomes)} faults, {len(failed)} not found")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
