# SPDX-License-Identifier: MIT
"""Every lint finds what it is for: a lint that cannot fail is a defect.

tests_host/mutants/lints.mutants has a row a rule; here is what is left: each
lint has a row, and fails on a tree in which it finds nothing to look at. Run:
selftest.py
"""

import importlib
import shutil
import sys
import tempfile
from pathlib import Path

import common
import format as clang_format
from tree import LINTS

sys.path.append(str(common.HERE.parent / "mutants"))
import rows


def check_rows(lint, _):
    table = rows.read(common.HERE.parent / "mutants/lints.mutants")
    arguments = {test.argument for row in table for test in row.tests}
    return None if lint in arguments else "no row breaks it"


def check_empty(lint, root):
    for folder in common.FOLDERS:
        (root / folder).mkdir()
    found = importlib.import_module(lint).check(root)
    return None if any(not one.note for one in found) else \
        "passes on an empty tree"


def check_format(_, root):
    """clang-format is asked, and heard."""
    program, reason = clang_format.find_program(None)
    if not program:
        print(f"format not tried: {reason}")
        return None
    common.write_tree(common.fixture(), root)
    shutil.copy(common.HERE.parent.parent / ".clang-format", root)
    paths = sorted(root.rglob("*.hpp"))
    if clang_format.misformatted(program, root, paths):
        return "the fixture is not formatted"
    paths[0].write_text(paths[0].read_text() + "int  x;\n")
    return None if clang_format.misformatted(program, root, paths) else \
        "an unformatted file passed"


def main():
    common.tool.Parser(__doc__).parse_args()
    failed = 0
    for lint, check in [*((lint, check) for lint in LINTS
                          for check in (check_rows, check_empty)),
                        ("format", check_format)]:
        with tempfile.TemporaryDirectory() as name:
            wrong = check(lint, Path(name))
        if wrong:
            failed += 1
            print(f"FAIL {lint}: {wrong}")
    print(f"{len(LINTS)} lints, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(common.tool.exit_status(main))
