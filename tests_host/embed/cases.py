# SPDX-License-Identifier: MIT
"""The scripts of this folder share this: run a tool, collect what is wrong."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import tool

# As kernels are compiled.
FREESTANDING = ["-O2", "-ffreestanding", "-nostdinc++", "-fno-exceptions",
                "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector",
                "-fno-pic", "-mno-red-zone", "-mgeneral-regs-only",
                "-fno-asynchronous-unwind-tables", "-fcf-protection=none"]
_ANYWHERE = [flag for flag in FREESTANDING
             if flag not in ("-mno-red-zone", "-mgeneral-regs-only",
                             "-fcf-protection=none")]
# Without any package for that CPU: port: (clang's target, flags, lld's name)
CLANG_ALONE = {
    "aarch64": ("aarch64-none-elf", [*_ANYWHERE, "-mgeneral-regs-only"],
                "aarch64elf"),
    "riscv": ("riscv64-none-elf", [*_ANYWHERE, "-march=rv64imac", "-mno-relax",
                                   "-mabi=lp64", "-mcmodel=medany"],
              "elf64lriscv"),
}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Case:
    """A temporary folder and the tree; keeps what was not as it should be."""

    def __init__(self, root, scratch, libraries=()):
        self.root, self.scratch, self.wrong = root, Path(scratch), []
        self.libraries = libraries

    def call(self, *command):
        try:
            done = subprocess.run([str(word) for word in command],
                                  cwd=self.scratch, capture_output=True,
                                  text=True)
        except FileNotFoundError as error:      # it was to be built before
            return 127, str(error)
        return done.returncode, done.stdout + done.stderr

    def write(self, name, text):
        path = self.scratch / name
        path.write_text(text)
        return path

    def includes(self, port, c=False):
        lib = self.root / "lib"
        return ["-I", lib] + (["-I", lib / "c"] if c else []) + (
            ["-I", lib / "arch" / port] if port else [])

    def write_c(self, names=None):
        """c.cpp: the functions for C, all or those of these sources, in one
        file, which is sooner compiled than one a family."""
        folder = self.root / "lib/c"
        names = names or (folder / "sources").read_text().split()
        return self.write("c.cpp", "".join(
            f'#include "{folder}/{name}.cpp"\n' for name in names))

    def must(self, *command):
        """The command works."""
        status, said = self.call(*command)
        if status:
            self.wrong.append(f"{command[0]} {command[-1]}: {said}")
        return said

    def expect(self, holds, text):
        if not holds:
            self.wrong.append(text)


def errors(said):
    """The lines in which a compiler or a linker complains."""
    return [line for line in said.splitlines()
            if re.search(r"\berror\b|multiple definition", line)
            and not re.search(r"returned 1 exit|ld returned|generated\.$|"
                              r"linker command failed|lto-wrapper", line)]


def run(cases, doc):
    """Runs each function(Case) that cases lists, those of one test, where it
    has them by test; 0 if none found a thing."""
    parser = tool.Parser(doc)
    parser.add_argument("--root", type=tool.tree, required=True)
    parser.add_argument("--only", help="one case, by name")
    parser.add_argument("--libraries", nargs="*", type=Path, default=(),
                        help="of the build, in a linker's order")
    if isinstance(cases, dict):
        parser.add_argument("--test", choices=cases, required=True)
    args = parser.parse_args()
    if isinstance(cases, dict):
        cases = cases[args.test]
    failed = 0
    for function in cases:
        if args.only not in (None, function.__name__):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            case = Case(args.root, scratch, args.libraries)
            function(case)
        failed += bool(case.wrong)
        print(f"{'not ok' if case.wrong else 'ok'} {function.__name__}")
        for text in case.wrong:
            print("    " + text.replace("\n", "\n    "))
    return 1 if failed else 0


def main(cases, doc):
    sys.exit(tool.exit_status(lambda: run(cases, doc)))


def linkers():
    """Returns those of GNU ld, lld and gold that this machine has: [(name,
    flag)]."""
    return [(name, f"-fuse-ld={name}") for name in ("bfd", "lld", "gold")
            if shutil.which(f"ld.{name}")]
