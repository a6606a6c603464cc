# SPDX-License-Identifier: MIT
"""The object code of klock, by one compiler, for 32 or 64 bits.

    headers     each compiles alone and twice, and defines nothing (headers.py)
    templates   what is a template and no lock compiles
    operations  each has its order, its locked instruction (operations.py)
    programs    what needs to be run (operations.py)
    locks       nothing is asked of the program but klock_os_* (headers.py);
                bytes, locked instructions, PAUSE, of every lock, against
                what they must be (facts.py); prints the table
    accesses    which bytes of a lock are accessed, in which sizes
                (accesses.py); 64 bits; prints the table
    guards, sequences, release      cost what one writes by hand (guards.py),
                guards_every_way by every option of the compiler
    uncontended     instructions of a section without a contender
                (uncontended.py); prints the table;
                uncontended_every_way by every option of the compiler

All is compiled with the warnings of objects.FLAGS, and none may appear. Exit
status: 0 as it should be, 1 not, 77 a tool is missing.

Run: check.py --cxx g++ --bits 64 --lib lib [--only STEP...]
"""

import sys
import tempfile
from pathlib import Path

import accesses
import facts
import guards
import headers
import objects
from objects import tool
import operations
import uncontended

HERE = Path(__file__).resolve().parent


def _headers(compiler, scratch):
    names = headers.all_headers(compiler.lib)
    print(f"{compiler}: {len(names)} headers")
    return headers.check(compiler, names, scratch)


def _templates(compiler, scratch):
    compiler.compile(HERE / "all_templates.cpp",
                     Path(scratch) / "templates.o", ["-O1"])
    return []


def _operations(compiler, scratch):
    return operations.check(compiler, compiler.lib, scratch)


def _locks(compiler, scratch):
    obj = Path(scratch) / "all_locks.o"
    compiler.compile_as_kernel(HERE / "all_locks.cpp", obj)
    rows = facts.read(obj, scratch)
    print(f"{compiler} -O2, bytes of code:\n{facts.table(rows)}")
    expected = facts.expectations([row.name for row in rows], compiler.lib)
    return headers.check_symbols(obj) + facts.check(rows, expected,
                                                    compiler.bits)


def _accesses(compiler, scratch):
    if compiler.bits != 64:
        return []
    rows = accesses.of(compiler, HERE / "all_locks.cpp", scratch)
    print(f"{compiler}, accesses of a lock:\n{accesses.table(rows)}")
    return list(accesses.check(rows, compiler.lib))


def _uncontended(compiler, scratch):
    return uncontended.check(compiler, scratch, ["-O2"])


STEPS = {"headers": _headers, "templates": _templates,
         "operations": _operations, "programs": operations.check_programs,
         "locks": _locks, "accesses": _accesses, "guards": guards.check_guards,
         "guards_every_way": guards.check_guards_every_way,
         "sequences": guards.check_sequences, "release": guards.check_release,
         "uncontended": _uncontended,
         "uncontended_every_way": uncontended.check}


def _findings(args):
    compiler = objects.Compiler(args.cxx, args.bits, args.lib)
    with tempfile.TemporaryDirectory() as scratch:
        for step in args.only:
            yield from STEPS[step](compiler, scratch)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--bits", type=int, choices=(32, 64), required=True)
    parser.add_argument("--lib", type=tool.library, required=True)
    parser.add_argument("--only", choices=STEPS, nargs="+", default=[*STEPS])
    args = parser.parse_args()
    return objects.report(f"{args.cxx} -m{args.bits}", _findings(args))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
