# SPDX-License-Identifier: MIT
"""Every public member function of every lock is called by a unit test.

The functions are read from the headers; what is called is in the tests'
programs, as they are compiled without optimisation: a function that nobody
calls is not in them. Not of seq_lock, whose tests step through what is
optimised. Run: members.py --root DIR PROGRAM...
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import common
import cxx
from common import Finding

_STRUCT = re.compile(r"^struct\s+(?:\[\[.*?\]\]\s*|alignas\([^)]*\)\s*)*"
                     r"(\w+)(?:[^;{]*|\s*:[^;]*?)\{\n", re.M)
_ACCESS = re.compile(r"^ {6}(public|protected|private):", re.M)


def public_members(text):
    """(type, function, line) of what the types of a header offer."""
    code = cxx.code_only(text)
    for struct in _STRUCT.finditer(code):
        name, start = struct[1], struct.end() - 2
        end = cxx.closing(code, start)
        body = code[start:end]
        access = [(0, "public")] + [(m.start(), m[1])
                                    for m in _ACCESS.finditer(body)]
        for function in cxx.functions(body[1:]):
            at = function.start + 1
            inner = body[1:at]
            depth = inner.count("{") - inner.count("}")
            if depth or function.name.lstrip("~") in (name, "operator") or \
                    f"using {function.name} =" in body:
                continue
            if [a for offset, a in access if offset < at][-1] == "public":
                yield name, function.name, common.line_of(code, start + at)


def without_arguments(symbol):
    """Of templates: klock::lock<4u>::look<int>(..) is klock::lock::look(..)."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", symbol)
        if shorter == symbol:
            return symbol
        symbol = shorter


def called(programs):
    """(type, function) of each function of klock's that is in a program."""
    found = set()
    for program in programs:
        symbols = subprocess.run(["nm", "-C", program], check=True,
                                 capture_output=True, text=True).stdout
        for symbol in set(symbols.splitlines()):
            if "klock::" in symbol:
                found |= set(re.findall(
                    r"\bklock::(?:\w+::)*(\w+)::(\w+)\(",
                    without_arguments(symbol[19:])))
    return found


def check(root, programs):
    seen = called(programs)
    members = [(path, *member)
               for path in common.lock_headers(root)
               if path.name not in common.UNLISTED
               for member in public_members(path.read_text())]
    if len(members) < 150 or len(seen) < 100:
        return common.nothing_found("too few functions")
    return [Finding(common.relative(path, root), line, f"{name}::{function}() "
                    "is called by no unit test")
            for path, name, function, line in members
            if (name, function) not in seen]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    sys.exit(common.report(check(args.root.resolve(), args.programs)))
