# SPDX-License-Identifier: MIT
"""The object code of klock, by one compiler, for 32 or 64 bits.

    headers  each compiles alone and twice (headers.py)
    symbols  nothing is asked of the program but klock_os_* (symbols.py)
    operations   each has its order, its locked instruction (operations.py)
    programs     what needs to be run (programs.py)
    facts    bytes, locked instructions, PAUSE, of every lock (facts.py),
             against expectations.py; prints the table

All is compiled with the warnings of objects.FLAGS, and none may appear.

Run: check.py --cxx g++ --bits 64 --lib lib [--only STEP]
Step locks: symbols and facts, what a new lock may change.
"""

from pathlib import Path

import driver
import facts
import headers
import operations
import programs
import symbols
from expectations import EXPECTATIONS

HERE = Path(__file__).resolve().parent
STEPS = ("headers", "symbols", "facts", "locks", "operations", "programs")


def check(compiler, scratch, only):
    found, lib = [], compiler.lib
    if only in (None, "headers"):
        names = headers.all_headers(lib)
        found += headers.check(compiler, names, scratch)
        print(f"{compiler}: {len(names)} headers")
    if only in (None, "headers"):
        compiler.compile(HERE / "all_templates.cpp",
                         Path(scratch) / "templates.o", ["-O1"])
    if only in (None, "operations"):
        found += operations.check(compiler, lib, scratch)
    if only in (None, "programs"):
        found += programs.check(compiler, scratch)
    if only in ("headers", "operations", "programs"):
        return found
    obj = Path(scratch) / "all_locks.o"
    compiler.compile_as_kernel(HERE / "all_locks.cpp", obj)
    if only in (None, "locks", "symbols"):
        found += symbols.check(obj)
    if only in (None, "locks", "facts"):
        rows = facts.read(obj, scratch)
        found += facts.check(rows, EXPECTATIONS, compiler.bits)
        print(f"{compiler} -O2, bytes of code:\n{facts.table(rows)}")
    return found


if __name__ == "__main__":
    driver.main(__doc__, check, STEPS)
