#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each mutant of lock_order is found by the test that is named beside it.

A mutant is a header with one thing wrong. It stands in front of lib's own, and
the test is compiled and run as it is; unchanged it passes, or nothing would be
shown. Run: mutants.py --root DIR --cxx CXX [--engine LIBRARY ...]
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

from mutant_list import MUTANTS

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "toolchain"))
import tool

UNIT = "tests_host/unit"
MODEL = "tests_host/model"

# The headers that take a compiler longest, precompiled once for all.
STANDARD = "".join(f"#include <{name}>\n" for name in (
    "algorithm", "cstdio", "cstring", "fstream", "functional", "memory",
    "optional", "set", "stdexcept", "string", "utility", "vector"))


class Built(NamedTuple):
    status: int
    said: str


def _command(args, source, include, out):
    root = args.root
    folder = source.parent
    command = [*args.compiler, "-include", args.standard, f"-I{include}",
               f"-I{root}/{UNIT}/mutants", f"-I{folder}",
               f"-I{root}/tests_host", f"-I{root}/lib"]
    if MODEL in str(source):
        return command + [f"-I{root}/lib/model/include",
                          f"-I{root}/lib/arch/hooked", str(source),
                          *args.engine, "-o", str(out)]
    # The pretended kernel, in the one file that is compiled.
    return command + [f"-I{root}/lib/arch/hosted", str(source),
                      "-include", f"{root}/{UNIT}/order_kernel.cpp",
                      "-include", f"{root}/{UNIT}/pretended_kernel.cpp",
                      "-o", str(out)]


def run_test(args, scratch, headers, file, test, flags=()):
    """Compiles with these headers in front; the test's exit status."""
    include = scratch / "include"
    for name, text in headers.items():
        path = include / "klock" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = scratch / "test"
    built = subprocess.run([*_command(args, args.root / file, include, out),
                            *flags],
                           capture_output=True, text=True, check=False)
    if built.returncode:
        return Built(-1, built.stderr)
    try:
        ran = subprocess.run([out, test], capture_output=True, text=True,
                             check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return Built(1, "it does not end")
    return Built(ran.returncode, ran.stdout + ran.stderr)


def check_mutant(args, mutant):
    header = args.root / "lib/klock" / mutant.header
    text = header.read_text()
    if text.count(mutant.old) != 1:
        return (f"{mutant.name}: {mutant.header} has {text.count(mutant.old)} "
                f"times what it changes, not once:\n{mutant.old}")
    with tempfile.TemporaryDirectory() as scratch:
        ran = run_test(args, pathlib.Path(scratch), {
            mutant.header: text.replace(mutant.old, mutant.new)},
            mutant.file, mutant.test, [f'-DMUTANT_TEST="{mutant.test}"'])
    if ran.status == -1:
        return f"{mutant.name}: does not compile:\n{ran.said}"
    if ran.status == 4:
        return f"{mutant.name}: no test '{mutant.test}' in {mutant.file}"
    if ran.status == 0:
        return f"{mutant.name}: not found by '{mutant.test}'"
    return None


def check_whole(args, file, tests):
    """Each of these tests passes without a mutant."""
    with tempfile.TemporaryDirectory() as scratch:
        ran = run_test(args, pathlib.Path(scratch), {}, file, tests[0])
        if ran.status:
            return f"no mutant: '{tests[0]}' fails:\n{ran.said}"
        said = [f"no mutant: '{test}' fails" for test in tests[1:]
                if subprocess.run([pathlib.Path(scratch) / "test", test],
                                  check=False).returncode]
    return "\n".join(said) or None


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", required=True, type=tool.tree)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--engine", nargs="*", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return run_all(args, pathlib.Path(scratch))


def precompile(args, scratch):
    args.compiler = [args.cxx, "-std=c++20", "-O0", "-w", "-DNDEBUG",
                     "-DMUTANT_MAIN", f'-DKLOCK_LIB="{args.root}/lib"']
    args.standard = str(scratch / "standard.hpp")
    pathlib.Path(args.standard).write_text(STANDARD)
    subprocess.run([*args.compiler, "-x", "c++-header", args.standard, "-o",
                    args.standard + ".gch"], check=True)


def run_all(args, scratch):
    precompile(args, scratch)
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file in sorted({mutant.file for mutant in MUTANTS}):
            tests = sorted({m.test for m in MUTANTS if m.file == file})
            jobs.append(pool.submit(check_whole, args, file, tests))
        jobs += [pool.submit(check_mutant, args, m) for m in MUTANTS]
        found = [job.result() for job in jobs]
    wrong = [text for text in found if text]
    for text in wrong:
        print(text)
    print(f"{len(MUTANTS)} mutants, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
