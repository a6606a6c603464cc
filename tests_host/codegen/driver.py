# SPDX-License-Identifier: MIT
"""The command line that the checks of this folder share.

--cxx g++ --bits 64 --lib lib [--only STEP]; exit status: 0 as it should be, 1
not, 77 a tool is missing.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import objects

SKIPPED = 77


def main(doc, check, steps=()):
    """Runs check(compiler, scratch), or check(compiler, scratch, only) where
    there are steps: a line for each thing that is wrong. Ends the program."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--bits", type=int, choices=(32, 64), required=True)
    parser.add_argument("--lib", type=Path, required=True)
    if steps:
        parser.add_argument("--only", choices=steps)
    args = parser.parse_args()
    try:
        compiler = objects.Compiler(args.cxx, args.bits, args.lib)
        with tempfile.TemporaryDirectory() as scratch:
            found = check(compiler, scratch, *([args.only] if steps else []))
    except objects.Skip as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    except objects.Failed as failed:
        found = [str(failed)]
    for text in found:
        print(f"{args.cxx} -m{args.bits}: {text}")
    sys.exit(1 if found else 0)
