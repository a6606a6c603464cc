#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names the tests that the last run of a level has skipped, and why.

    python3 toolchain/skips.py build/default

0: none, or those alone that no package could change (ALLOWED). 1: others. CI
runs it behind each level: set-up has installed what tests need, and so a skip
is a package that its list lacks, or a test that looks for the wrong thing.
"""
import re
import sys
import xml.etree.ElementTree as xml

import tool

REPORT = "Testing/tests.xml"        # CMakePresets.json
# The reasons that a machine may have.
ALLOWED = re.compile(
    r"is by (g\+\+|clang|an unknown compiler).*, the tables"
    r"|/dev/kvm cannot be opened|one host core|gdb may not trace")


def skipped(path):
    """Yields name and reason, which is the last line that a test has printed.
    """
    try:
        cases = list(xml.parse(path).getroot().iter("testcase"))
    except xml.ParseError as error:
        raise tool.Trouble(f"{path}: {error}") from None
    if not cases:
        raise tool.Trouble(f"{path}: no test in it")
    for case in cases:
        if case.find("skipped") is not None:
            said = (case.findtext("system-out") or "").strip().splitlines()
            yield case.get("name"), said[-1] if said else "says nothing"


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("build", type=tool.folder)
    found = list(skipped(parser.parse_args().build / REPORT))
    wrong = [name for name, reason in found if not ALLOWED.search(reason)]
    for name, reason in found:
        print(f"{'SKIPPED' if name in wrong else 'skipped'} {name}: {reason}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
