#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What toolchain/setup would install, by what a pretended host lacks. Installs
nothing: --check."""
import argparse
import os
import pathlib
import subprocess
import sys

# packages that are not there, options, those that must be named, and no other
CASES = [
    ("", [], ""),
    ("g++ qemu-system-arm", [], "g++ qemu-system-arm"),
    ("g++-riscv64-linux-gnu", [], "g++-riscv64-linux-gnu"),
    ("g++ qemu-system-arm qemu-system-misc g++-aarch64-linux-gnu", ["--x86"],
     "g++"),
    ("psf-unifont ovmf meson", [], "psf-unifont"),
    ("psf-unifont ovmf z3 clang-tidy-14", ["--full"],
     "psf-unifont ovmf z3 clang-tidy-14"),
    ("python3-matplotlib", ["--full"], ""),
    ("python3-matplotlib ovmf", ["--all"], "python3-matplotlib ovmf"),
]


def named(script, absent, options):
    done = subprocess.run(
        [script, "--check", *options], capture_output=True, text=True,
        env={**os.environ, "KLOCK_SETUP_PRETEND_MISSING": absent})
    line = done.stdout.strip()
    found = line.partition("missing: ")[2].split()
    if bool(found) != bool(done.returncode):
        found.append(f"exit status {done.returncode}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    script = parser.parse_args().root / "toolchain/setup"
    # What this host lacks indeed is named in every case.
    lacking = {options: named(script, "", list(options))
               for options in ((), ("--x86",), ("--full",), ("--all",))}
    failed = 0
    for absent, options, expected in CASES:
        found = named(script, absent, options)
        right = set(expected.split()) | set(lacking[tuple(options)])
        if set(found) != right:
            print(f"without {absent or 'nothing'}, {options}: names {found}, "
                  f"not {sorted(right)}")
            failed = 1
    done = subprocess.run([script, "--no-such"], capture_output=True, text=True)
    if done.returncode == 0 or "the right ones" not in done.stderr:
        print(f"an unknown option: {done.returncode}: {done.stderr}")
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
