# SPDX-License-Identifier: MIT
"""Each mistake in a litmus test is one error, with its line.

Each row of MISTAKES is made in a copy of the files. The error has to name the
line of the mistake or the next one, or the first one of its test. Run:
mistakes.py
"""

import shutil
import sys
import tempfile
from pathlib import Path

import herd
from herd import tool

sys.path.append(str(herd.HERE.parent / "checker"))
import litmus_table

C, X86, ARM = "c.litmus", "x86_64.litmus", "aarch64.litmus"

# file, text, what the first of it becomes, the error
MISTAKES = [
    (C, "C SB\n", "C++ SB\n", "a dialect and a name is expected"),
    (C, "C SB\n", "CPP SB\n", "no dialect of C, X86_64, AArch64, RISCV: CPP"),
    (C, "C SB+scs\n", "C SB\n", "SB again, as at "),
    (C, "Verdict=allowed\n", "", "Verdict: missing"),
    (C, "Verdict=allowed", "Verdict=maybe", "Verdict: maybe"),
    (C, "Executions=4, ", "Executions=", "Executions of C++20 is missing"),
    (C, ", sc 3", ", arm 3", "Executions: arm 3"),
    (C, ", x86 4", ", sc 4", "Executions: sc 4"),
    (C, "{ }\n", "", "{ } is expected, not: P0 ("),
    (C, "{ }", "{ x=1; }", "an atomic begins as 0 here"),
    (C, "{ }", "{ x=one; }", "no number: one"),
    (C, "{ }", "{ long x; }", "no initial value: long x"),
    (C, "{ }", "{ x=0; x=0; }", "x again"),
    (C, "{ }", "{ q=1; }", "q is in no thread"),
    (C, "{ }", "{ 0:r0=1; }", "0:r0 is in no instruction"),
    (C, "Verdict=", "Verdict=allowed\nVerdict=", "Verdict again"),
    (C, "\tint r0 =", "\tint r0 = atomic_load_explicit(y, "
     "memory_order_relaxed);\n\tint r0 =", "r0 again"),
    (C, "P1 (", "P2 (", "P2 is not P1"),
    (C, "P1 (atomic_int* x", "P1 (atomic_int x", "no parameter that is read"),
    (C, "explicit(y, memory_order_relaxed);\n}", "explicit(z, "
     "memory_order_relaxed);\n}", "z is no parameter of type atomic_int*"),
    (C, "atomic_load_explicit", "atomic_load", "no statement that is read"),
    (C, "\tint r0", "\tif (r0) int r0", "no statement that is read"),
    (C, "(x, 1, memory_order_relaxed)", "(x, 1, memory_order_consume)",
     "other arguments than atomic_store_explicit has"),
    (C, "(x, 1, memory_order_relaxed)", "(x, memory_order_relaxed)",
     "other arguments than atomic_store_explicit has"),
    (C, "(x, 1, ", "(x, one, ", "no number: one"),
    (C, "int r0 = atomic_load", "atomic_load", "its result is not used"),
    (C, "\tatomic_store", "\tint r1 = atomic_store", "is none to assign"),
    (C, "exists (0:r0=0", "forall (0:r0=0", "exists (...) is expected"),
    (C, "exists (0:r0=0 /\\", "exists (0:r0=0 \\/", "no outcome of this test"),
    (C, "exists (0:r0=0", "exists (0:r7=0", "r7 is neither read nor stored"),
    (C, "exists (0:r0=0", "exists (2:r0=0", "no outcome of this test: 2:r0"),
    (C, "exists (0:r0=0", "exists ([q]=0", "no outcome of this test: [q]=0"),
    (C, "exists (0:r0=0 /\\ 1:r0=0)\n", "", "exists (...) is expected"),
    (X86, "(%rsi), %eax ;", "(%rsi), %eax", "a row that ends by ; is"),
    (X86, " | mov (%rdi), %ecx ;", " ;", "1 columns, not 2"),
    (X86, " P0   ", " P1   ", "the first row is not P0 | P1 ;"),
    (X86, "exists (1:rax=1", "exists (2:rax=1", "no outcome of this test"),
    (X86, "1:rdi=x;", "2:rdi=x;", "2:rdi is in no instruction"),
    (X86, "1:rdi=x;", "1:rdi=x; 1:rdi=y;", "rdi again"),
    (X86, "1:rdi=x;", "1:rsp=x;", "1:rsp is in no instruction"),
    (ARM, "exists ([x]=2", "exists ([z]=2", "no outcome of this test: [z]=2"),
    (ARM, "uint16_t x;", "half x;", "no initial value: half x"),
]


def error_of(folder):
    """Returns what is said of the files in this folder."""
    try:
        litmus_table.table(folder / C)
        for name in (X86, ARM, "riscv.litmus"):
            herd.read(folder / name)
    except herd.Malformed as error:
        return str(error)
    return "nothing"


def mistaken(folder, mistake):
    """Returns what is wrong about this mistake's error, or None."""
    name, old, new, wanted = mistake
    text = (herd.HERE / name).read_text()
    if old not in text:
        return f"{name} has no {old!r}"
    (folder / name).write_text(text.replace(old, new, 1))
    before = text[:text.index(old)]
    line = before.count("\n") + 1
    head = before.rpartition("\n\n")[0].count("\n") + 3
    error = error_of(folder)
    (folder / name).write_text(text)
    if wanted in error and error.startswith(tuple(
            f"{folder / name}:{at}: " for at in (head, line, line + 1))):
        return ""
    return f"{name}:{line}: {old!r} as {new!r}: {error}"


def main():
    tool.Parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path in herd.HERE.glob("*.litmus"):
            shutil.copy(path, folder)
        wrong = [] if error_of(folder) == "nothing" else [error_of(folder)]
        wrong += filter(None, (mistaken(folder, mistake)
                               for mistake in MISTAKES))
    print("\n".join(wrong or [f"{len(MISTAKES)} mistakes, each an error"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
