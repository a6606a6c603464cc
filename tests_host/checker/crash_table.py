#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each kind of crash, by compiler, level of optimisation and library: a table.

crash_kinds.cpp is compiled in each way, with sanitizers, too. Each crash must be
found, with what was read and with its line in the code; with the right order
there must be none. Compilers that are not here are left out, and so are their
sanitizers. Run: crash_table.py --root DIR --libraries DIR CXX ...
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchain"))
import tool

LEVELS = ("-O0", "-O1", "-O2", "-O3")
PLAIN = {"g++": ["--param=tsan-distinguish-volatile=1", "-Wno-tsan"],
         "clang++": ["-mllvm", "-tsan-distinguish-volatile", "-mllvm",
                     "-tsan-instrument-read-before-write"]}
# Name; libraries, the last comes first; options.
LINKS = [
    ("model", ["model"], ["-DCRASH_KLOCK"]),
    ("model_std", ["model", "model_std"], []),
    ("model_plain", ["model", "model_std", "model_plain"],
     ["-fsanitize=thread", "-fno-builtin", "-DKLOCK_MODEL_OPTIMIZED",
      "-include", "model/as_shipped.h"]),
]
SANITIZERS = [
    ("address", ["-fsanitize=address", "-DCRASH_ADDRESSES"]),
    ("undefined", ["-fsanitize=undefined", "-DCRASH_UNDEFINED"]),
    ("undefined, not to go on", ["-fsanitize=undefined", "-DCRASH_UNDEFINED",
                                 "-fno-sanitize-recover=all"]),
]
# The report when AddressSanitizer's library ends the program.
LAST_WORDS = re.compile("the report above is of this:\n(cpu.*\n)*"
                        r"cpu1: load .* relaxed  crash_kinds.hpp:\d+\n")
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="alloc_dealloc_mismatch=0")


def kind_of(compiler):
    return "clang++" if "clang" in compiler else "g++"


def compiled(args, compiler, options, libraries, source, made):
    """An object file, which is seen by these libraries. A file in C has a
    compiler's name for C."""
    lib = args.root / "lib"
    folders = (["model_std/include"] if "model_std" in libraries else []) + [
        "model/include", "", "arch/hooked"]
    if "model_plain" in libraries:
        options = options + PLAIN[kind_of(compiler)]
    if "++" in compiler:
        options = ["-std=gnu++20", *options]
    subprocess.run(
        [compiler, "-gdwarf-4", "-g1", "-w", *options,
         *[f"-I{lib / name}" for name in folders], "-c", source, "-o", made],
        check=True)


def linked(args, compiler, options, libraries, objects, program):
    """Links, and returns the linker's words if it fails."""
    done = subprocess.run(
        [compiler, *options,
         f"-Wl,@{args.libraries}/klock_{libraries[-1]}.wrap", *objects,
         *[args.libraries / f"libklock_{name}.a"
           for name in [*reversed(libraries), "fiber"]],
         "-ldl", "-o", program], check=False, capture_output=True, text=True)
    return done.stderr if done.returncode else None


def built(args, compiler, options, libraries, folder):
    """The program; None, if the compiler has no such library to link."""
    program, made = folder / "program", folder / "program.o"
    compiled(args, compiler, options, libraries,
             pathlib.Path(__file__).with_name("crash_kinds.cpp"), made)
    shared = [option for option in options
              if option in ("-fsanitize=address", "-fsanitize=undefined")]
    # Linked into the program, what the library calls would be refused.
    if "-fsanitize=address" in shared and kind_of(compiler) == "clang++":
        runtime = subprocess.run(
            [compiler, "-print-file-name=libclang_rt.asan-x86_64.so"],
            check=True, capture_output=True, text=True).stdout.strip()
        shared += ["-shared-libsan",
                   f"-Wl,-rpath,{pathlib.Path(runtime).parent}"]
    wrong = linked(args, compiler, shared, libraries, [made], program)
    if wrong and shared and "cannot find" in wrong:
        return None
    if wrong:
        raise tool.Trouble(wrong)
    return program


def answers(args, compiler, options, libraries):
    """Each kind, and "found" or what is missing of it."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(args, compiler, options, libraries,
                        pathlib.Path(folder))
        if not program:
            return None
        ran = subprocess.run([program], timeout=60, check=False,
                             capture_output=True, text=True, env=ENVIRONMENT)
        died = "-DCRASH_ADDRESSES" in options and subprocess.run(
            [program, "dies"], timeout=60, check=False, capture_output=True,
            text=True, env=ENVIRONMENT)
    if died and (died.returncode != 1 or died.stdout or
                 not LAST_WORDS.search(died.stderr)):
        raise tool.Trouble(f"{compiler} {' '.join(options)}: status "
                           f"{died.returncode} after\n{died.stderr}")
    if ran.returncode:
        raise tool.Trouble(f"{compiler} {' '.join(options)}: status "
                           f"{ran.returncode} after\n{ran.stdout}{ran.stderr}")
    return dict(line.split("\t") for line in ran.stdout.splitlines())


def row(args, compiler, name, libraries, ways):
    """A line of the table, and what is missing in it."""
    cells, wrong = [], []

    for way in ways:
        found = answers(args, compiler, way, libraries)
        if found is None:
            cells.append("-")
            continue
        missing = {kind: said for kind, said in found.items()
                   if said != "found"}
        cells.append(f"{len(found) - len(missing)} of {len(found)}")
        wrong += [f"{compiler} {name} {' '.join(way)}: {kind}: {said}"
                  for kind, said in missing.items()]
    print(f"{compiler:<12} {name:<24}" +
          "".join(f"{cell:>10}" for cell in cells), flush=True)
    return wrong


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("compilers", nargs="+")
    args = parser.parse_args()
    wrong = []
    print(f"{'':<37}" + "".join(f"{level:>10}" for level in LEVELS))
    for compiler in filter(shutil.which, args.compilers):
        for name, libraries, options in LINKS:
            wrong += row(args, compiler, name, libraries,
                         [[level, *options] for level in LEVELS])
        for name, options in SANITIZERS:
            wrong += row(args, compiler, name, ["model", "model_std"],
                         [[level, *options] for level in LEVELS[:2]])
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
