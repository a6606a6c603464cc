# SPDX-License-Identifier: MIT
"""Runs clang-tidy on the library, the engines and the lab kernel's common
part, by the .clang-tidy at the top: nothing. First it must find a mutant.

Each part is one file that includes the others: four parse in the time of thirty.
Where clang-tidy is not installed, that is said. Run: tidy.py --root DIR
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import common
from common import Finding

PROGRAM = "clang-tidy"
KERNEL = ["-ffreestanding", "-fno-exceptions", "-fno-rtti"]
#  part       its files                                  its include path, flags
PARTS = [
    ("headers", ["lib/klock/*.hpp", "lib/klock/*/*.hpp"],
     ["lib", "lib/arch/x86"], KERNEL),
    ("c", ["lib/c/*.cpp"], ["lib/c", "lib", "lib/arch/hosted"], []),
    ("model", ["lib/fiber/*.cpp", "lib/model/engine/*.cpp"],
     ["lib", "lib/arch/hooked", "lib/model/include"], []),
    ("sim", ["lib/sim/engine/*.cpp"],
     ["lib", "lib/arch/hooked", "lib/sim/include"], []),
    ("boot", ["boot/*.cpp"], [".", "boot/x86", "lib", "lib/arch/x86"],
     KERNEL + ["-mgeneral-regs-only"]),
]
MUTANT = "inline void *nothing() { return 0; }\n"
# These two are a port's, and for those that are made of builtins alone.
LEFT_OUT = "builtin_ops.hpp"


def tidy(root, text, includes, flags):
    """Returns clang-tidy's messages on a file that holds the text."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "part.cpp"
        path.write_text(text)
        done = subprocess.run(
            [PROGRAM, "--quiet", f"--config-file={root}/.clang-tidy", path,
             "--", "-std=c++20", *flags]
            + [f"-I{root / folder}" for folder in includes],
            capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def check(root):
    if not shutil.which(PROGRAM):
        return [Finding(".", 0, f"not looked at: {PROGRAM} not found",
                        note=True)]
    if "modernize-use-nullptr" not in tidy(root, MUTANT, [], []):
        return [Finding(".clang-tidy", 0, "the mutant is not found")]
    found = []
    for part, patterns, includes, flags in PARTS:
        paths = [path for pattern in patterns
                 for path in sorted(root.glob(pattern))
                 if path.name != LEFT_OUT]
        if not paths:
            found += common.nothing_found(f"no files of part {part}")
        said = tidy(root, "".join(f'#include "{path}"\n' for path in paths),
                    includes, flags)
        if said:
            found.append(Finding(part, 0, said))
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
