#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what the checker takes each function of the system's libraries for.

Of the C library, its mathematics, the C++ library and the compiler's: harmless,
seen, or refused, and nothing else. With --list, each name and what it is. 77:
another C library.
Run: scan.py --verdicts PROGRAM [--root ANOTHER_SYSTEM] [--list]
"""

import collections
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchain"))
import tool

SKIPPED = 77
LIBRARIES = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"]
# A part of each that must be as it says: the tables are read at all.
KNOWN = {"abs": "harmless", "memcpy": "seen", "strtok": "refused",
         "sinf": "harmless", "frexp": "refused", "_Znwm": "harmless",
         "_ZNSolsEi": "seen", "_ZNSt6thread4joinEv": "refused",
         "__udivti3": "harmless", "__asprintf": "refused", "__register_frame": "refused"}


def found(root, library):
    for folder in ("lib", "usr/lib", "lib64", "usr/lib64"):
        for path in sorted((root / folder).glob(f"*/{library}")) + [
                root / folder / library]:
            if path.exists():
                return path
    return None


def functions(path):
    """Names of the functions that a library offers, without versions."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    parts = [line.split() for line in lines]
    return {p[2].split("@")[0] for p in parts if len(p) == 3 and p[1] in "TWi"}


def verdicts(program, names):
    text = "".join(name + "\n" for name in sorted(names))
    lines = subprocess.run([program], input=text, check=True, text=True,
                           capture_output=True).stdout.splitlines()
    return dict(line.split() for line in lines)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--verdicts", required=True, type=pathlib.Path)
    parser.add_argument("--root", default="/", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    wrong, all_of_them = [], {}
    for library in LIBRARIES:
        path = found(args.root, library)
        if not path:
            print(f"{args.root} has no {library}")
            return SKIPPED
        names = functions(path)
        said = verdicts(args.verdicts, names)
        counts = collections.Counter(said.values())
        print(f"{library:16}" + "".join(
            f"{counts[word]:6} {word}" for word in
            ("harmless", "seen", "refused")) + f"{len(names):6} in all")
        if set(said) != names or set(counts) - {"harmless", "seen", "refused"}:
            wrong.append(f"{library}: not each function is something")
        if args.list:
            print("".join(f"    {n} {v}\n" for n, v in said.items()), end="")
        all_of_them |= said
    wrong += [f"{name} is {all_of_them.get(name)}, not {word}"
              for name, word in KNOWN.items()
              if all_of_them.get(name) != word]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
