# SPDX-License-Identifier: MIT
"""The object code of klock for AArch64 or RISC-V, by one compiler.

    headers      the port's: each compiles alone and twice
    operations   each is of the instructions that its order demands (orders.py)
    flags        the interrupt flag, the pause and the clock (flags.py)
    locks        read-modify-writes, orders and waits of each (cross_locks.py);
                 the sizes that bench's README has of some (sizes.py)
    extensions   riscv64: what Zawrs, Zacas and Zabha make of it

Nothing may be left undefined but klock_os_*; where a lock is a table, what
every compiler may call in any kernel: memset and its like. All is compiled with the warnings
of objects.FLAGS, and none may appear.

Run: architecture.py --target riscv64 --cxx g++ --lib lib [--only STEP]
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cross
import cross_locks
import flags
import objects
import orders
import sizes
import tables
from expectations import EXPECTATIONS

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Told as the compiler tells it: none of ours knows them yet.
EXTENSIONS = (["zawrs"], ["zacas"], ["zabha"], ["zabha", "zacas"])


def _headers(compiler, machine, scratch):
    port = compiler.lib / "arch" / compiler.target.port
    source = Path(scratch) / "header.cpp"
    for path in sorted(port.rglob("*.hpp")):
        name = path.as_posix().rpartition("/klock/")[2]
        source.write_text(f"#include <klock/{name}>\n" * 2)
        try:
            compiler.compile(source, Path(scratch) / "header.o",
                             ["-I", str(path).rpartition("/klock/")[0]])
        except objects.Failed as failed:
            yield f"<klock/{name}> does not compile alone and twice: {failed}"


def _operations(compiler, machine, scratch):
    yield from orders.check(compiler, machine, scratch)


def _flags(compiler, machine, scratch):
    if machine.port == "aarch64":
        yield from flags.check(compiler, machine, flags.AARCH64, scratch)
        return
    yield from flags.check(compiler, machine, flags.RISCV, scratch)
    yield from flags.check(compiler, machine, flags.RISCV_MACHINE, scratch,
                           ["-I", compiler.lib / "arch/riscv/machine"])


def _locks(compiler, machine, scratch):
    obj = compiler.compile(HERE / "all_templates.cpp",
                           Path(scratch) / "templates.o")
    yield from cross_locks.undefined(compiler, obj, of_any_kernel=True)
    found, seen = cross_locks.check(compiler, machine, scratch, EXPECTATIONS)
    yield from found
    print(f"{compiler}: {len(seen)} locks")
    yield from sizes.stale(compiler, seen, sizes.README)


def _extensions(compiler, machine, scratch):
    if machine.port != "riscv":
        return
    for names in EXTENSIONS:
        told = [f"-D__riscv_{name}=1000000" for name in names]
        yield from (f"with {' and '.join(names)}: {text}"
                    for text in orders.check(
                        compiler, tables.RiscV(names), scratch, told))


STEPS = {"headers": _headers, "operations": _operations, "flags": _flags,
         "locks": _locks, "extensions": _extensions}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=tables.MACHINES, required=True)
    parser.add_argument("--cxx", choices=("g++", "clang++"), required=True)
    parser.add_argument("--lib", type=Path, required=True)
    parser.add_argument("--only", choices=STEPS)
    args = parser.parse_args()
    found = []
    try:
        compiler = cross.Cross(args.cxx, args.target, args.lib)
        with tempfile.TemporaryDirectory() as scratch:
            for name, step in STEPS.items():
                if args.only in (None, name):
                    found += step(compiler, tables.MACHINES[args.target], scratch)
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except objects.Failed as failed:
        found.append(str(failed))
    for text in found:
        print(f"{args.cxx} for {args.target}: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
