#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A part of the checker's front end that is dropped is missed by a test.

What the checker does not see, it would call ok: so each part of what makes it
see is taken away, one at a time, and the test that is named must fail. Whole,
all of them pass. Run: front_end.py --root DIR --cxx CXX --wraps FILE
--tests OBJECTS --main LIBRARY LIBRARY ...
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchain"))
import tool

PLAIN, HEAP = "model_std/plain.cpp", "model_std/heap.cpp"
RUNS, OBJECTS = "model/engine/run.cpp", "model/engine/objects.cpp"
EXPLORES = "model/engine/explorer.cpp"
STACKS = "model/engine/plain_data.cpp"
ACCESS = "model/include/model/access.hpp"
IMPORTS, ASSEMBLY = "model_std/imports.cpp", "model_std/assembly.cpp"

# Name; a file in lib, and what changes there; which test finds it.
MUTANTS = [
    ("reads", PLAIN, "if (model::detail::in_body)\n\t\tmodel::detail::plain_a",
     "if (model::detail::in_body && writes)\n\t\tmodel::detail::plain_a",
     "no access is lost on its way"),
    ("writes", PLAIN, "if (model::detail::in_body)\n\t\tmodel::detail::plain_a",
     "if (model::detail::in_body && !writes)\n\t\tmodel::detail::plain_a",
     "no access is lost on its way"),
    ("memcpy", PLAIN, "\tcopies(to, of, bytes, KLOCK_CALLER);\n"
     "\treturn __real_memcpy", "\treturn __real_memcpy",
     "no access is lost on its way"),
    ("memset", PLAIN, "\ttouched(to, bytes, true, KLOCK_CALLER, access_of::statement);\n"
     "\treturn __real_memset", "\treturn __real_memset",
     "no access is lost on its way"),
    ("strcpy", PLAIN,
     "\tcopies_text(to, of, length(of, ~usize{0}) + 1, KLOCK_CALLER);\n"
     "\treturn __real_strcpy", "\treturn __real_strcpy",
     "no access is lost on its way"),
    ("--wrap", None, "--wrap=memcpy\n", "",
     "what is published is there"),
    ("places", PLAIN, "return model::detail::place_of_return(caller);",
     "return {nullptr, 0};", "one that cannot be cut is named"),
    ("orders", PLAIN, "static_cast<order>(o);", "order::seq_cst;",
     "each operation arrives as it was written"),
    ("subtraction", PLAIN, "fetch_sub, subtract)", "fetch_sub, add)",
     "each operation arrives as it was written"),
    ("a weak swap", PLAIN, "weak, true)", "weak, false)",
     "each operation arrives as it was written"),
    ("fences", PLAIN, "access::fence(from(o), place(KLOCK_CALLER));", ";",
     "a fence is as strong as it is written"),
    ("a relaxed fence", ACCESS, "else if (o != order::relaxed)\n\t\thooked::"
     "running->fence(o, s);", "else\n\t\thooked::running->fence("
     "order::seq_cst, s);", "a fence is as strong as it is written"),
    ("unknown calls", PLAIN,
     "void NAME() { model::detail::refuse(#NAME, KLOCK_CALLER); }",
     "void NAME() {}", "what is not seen is refused by name"),
    ("atomics of no word", PLAIN,
     'model::detail::refuse("an atomic that is no word',
     '(void)("an atomic that is no word',
     "what is not seen is refused by name"),
    ("refused functions", IMPORTS,
     "model::detail::refuse(r->in_source, caller);", ";",
     "a function that is not known is refused by name"),
    ("threads of the host", IMPORTS,
     "model::detail::refuse(r->in_source, caller);", ";",
     "what is of the host's threads is refused"),
    ("looks before calls", IMPORTS, "r->looks->at(a, caller);", ";",
     "no access is lost on its way"),
    ("a library's calls of what is seen", IMPORTS, "if (w && !p.name.empty())",
     "if (false)", "a shared library that is compiled for the checker"),
    ("addresses of functions", IMPORTS, "!calls && kind != is_of_table",
     "!calls", "a function that is not known is refused by name"),
    ("traps", ASSEMBLY, "put(i, trap);", ";", "inline assembly is refused"),
    ("functions that tell of nothing", ASSEMBLY, "add_trap(start, evidence);",
     ";", "inline assembly is refused"),
    ("traps that were lifted", RUNS,
     "if (detail::trap_lifted)\n\t\tdetail::set_traps();", "",
     "a trap that was lifted is set again"),
    ("malloc", HEAP, "return model::detail::in_body ? take(bytes, usual)\n",
     "return false ? take(bytes, usual)\n",
     "malloc() and its like are as new and delete"),
    ("calloc's zeros", HEAP,
     "model::detail::plain_access(p, all, true, KLOCK_CALLER);", "",
     "malloc() and its like are as new and delete"),
    ("free", HEAP, "model::detail::storage_ends(p, f.at->bytes, caller);", "",
     "malloc() and its like are as new and delete"),
    ("freed twice", HEAP, "!f.at || f.at->freed", "!f.at",
     "malloc() and its like are as new and delete"),
    ("a mutex's unlock", HEAP, "update::exchange, 0,\n\t\t\t      order::rel"
     "ease", "update::exchange, 0,\n\t\t\t      order::relaxed",
     "mutexes are locks"),
    ("who holds a mutex", HEAP, "if (wrong)\n\t\tmodel::detail::misuse",
     "if (false)\n\t\tmodel::detail::misuse", "mutexes are locks"),
    ("statics", HEAP, "if (model::detail::cpu_runs())\n\t\tmodel::detail::ref"
     "use(\n\t\t\t\"a function's", "if (false)\n\t\tmodel::detail::refuse(\n"
     "\t\t\t\"a function's", "what is of the host's threads is refused"),
    ("stacks", STACKS, "if (!own.told())", "if (true)",
     "what lies on a stack"),
    ("ends of frames", PLAIN, "frame(__builtin_frame_address(0), nullptr,",
     "frame(__builtin_frame_address(0), KLOCK_CALLER,",
     "what lies on a stack"),
    ("thread_local", EXPLORES, "thread_locals = find_thread_locals();",
     "thread_locals = {};", "a thread_local is refused"),
    ("overlaps", OBJECTS, "found = overlap(o, bytes, by);", ";",
     "locations that overlap are refused"),
]


def built(args, folder, name, old, new):
    """The tests' program, with this changed."""
    root, wraps, sources = args.root, args.wraps.read_text(), []
    include = [f"-I{folder}", f"-I{root}/lib/model_std/include",
               f"-I{root}/lib/model/include", f"-I{root}/lib",
               f"-I{root}/lib/arch/hooked"]
    if name is None: # the linker's options
        wraps = wraps.replace(old, new)
    elif name: # else it is whole
        text = (root / "lib" / name).read_text()
        if text.count(old) != 1:
            raise LookupError(f"{name} does not have it once:\n{old}")
        header = name.endswith(".hpp")
        out = folder / ("model" if header else "") / pathlib.Path(name).name
        out.parent.mkdir(exist_ok=True)
        out.write_text(text.replace(old, new))
        sources = ([root / "lib" / PLAIN, root / "lib" / HEAP] if header
                   else [out])
        if not header:
            include.append(f"-I{(root / 'lib' / name).parent}")
    (folder / "wraps").write_text(wraps)
    objects = [folder / (source.stem + ".o") for source in sources]
    for source, made in zip(sources, objects):
        subprocess.run([args.cxx, "-std=gnu++20", "-O0", "-w", "-fno-builtin",
                        *include, "-c", source, "-o", made], check=True)
    # A header's in front: of what it has in the tests' objects, too, the first
    # is taken.
    tests = args.tests.split(";")
    both = objects + tests if name == ACCESS else tests + objects
    program = folder / "program"
    shared = [f"-Wl,-rpath,{pathlib.Path(library).resolve().parent}"
              for library in args.libraries if library.endswith(".so")]
    subprocess.run([args.cxx, *both, args.main, *args.libraries, *shared,
                    f"-Wl,@{folder}/wraps", "-ldl", "-pthread", "-o", program],
                   check=True)
    return program


def passes(program, test):
    try:
        ran = subprocess.run([program, f"*{test}*"], timeout=60, check=False,
                             capture_output=True, cwd=program.parent)
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0 and b"No test cases" not in ran.stdout


def wrong(args, mutant):
    name, file, old, new, test = mutant
    with tempfile.TemporaryDirectory() as folder:
        program = built(args, pathlib.Path(folder), file, old, new)
        return f"{name}: '{test}' does not miss it" if passes(
            program, test) else None


def main():
    parser = tool.Parser(__doc__)
    for option in ("--root", "--wraps", "--main"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--tests", required=True)
    parser.add_argument("libraries", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = built(args, pathlib.Path(folder), "", "", "")
        said = [f"nothing is dropped: '{test}' fails"
                for test in sorted({m[4] for m in MUTANTS})
                if not passes(whole, test)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said += filter(None, pool.map(lambda m: wrong(args, m), MUTANTS))
    print("\n".join(said))
    print(f"{len(MUTANTS)} parts dropped, {len(said)} wrong")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
