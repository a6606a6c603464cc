# SPDX-License-Identifier: MIT
"""Every lint finds what it is for: a lint that cannot fail is a defect.

The tree in fixture/ is good: no lint says anything of it. Each case of
selftest_cases.py breaks one copy of it in one place, and its lint must say so,
in that file and that line. Run: selftest.py
"""

import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common
import format as clang_format
from selftest_cases import CASES

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
LINTS = ("fields", "orders", "includes", "bans", "proofs", "ports", "style",
         "lock_table", "provenance", "versions",
         "families", "wrapped")


def run(lint, root):
    return [finding for finding in importlib.import_module(lint).check(root)
            if not finding.note]


def matches(finding, case, text):
    """Whether a finding is the case's: its file, its line, its words."""
    if finding.path != (case.blames or case.path) or case.message not in finding.text:
        return False
    if not case.where:
        return True
    lines = text.splitlines()
    return 0 < finding.line <= len(lines) and \
        case.where in lines[finding.line - 1]


def broken_copy(case, into):
    """Copies the fixture and breaks it; the broken file's new text."""
    shutil.copytree(HERE / "fixture", into)
    path = into / case.path
    old = path.read_text() if path.is_file() else ""
    if case.old not in old:
        return None
    text = old.replace(case.old, case.new, 1) if case.old else case.new + old
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return text


def check_case(case, scratch):
    """What is wrong with the lint, or None."""
    root = scratch / "tree"
    text = broken_copy(case, root)
    if text is None:
        return f"the fixture's {case.path} has no {case.old!r}: mend the case"
    findings = run(case.lint, root)
    shutil.rmtree(root)
    if any(matches(finding, case, text) for finding in findings):
        return None
    said = "".join(f"\n    {finding}" for finding in findings) or " nothing"
    return (f"should say '{case.message}' of {case.blames or case.path}"
            f"{' at ' + repr(case.where) if case.where else ''}; said:{said}")


def check_good(lint):
    findings = run(lint, HERE / "fixture")
    return "".join(f"\n    {f}" for f in findings) or None


def check_empty(lint, scratch):
    """A lint that finds nothing to look at fails."""
    root = scratch / "empty"
    for folder in common.FOLDERS:
        (root / folder).mkdir(parents=True)
    findings = run(lint, root)
    shutil.rmtree(root)
    return None if findings else "passes on an empty tree"


def check_exit_status(scratch):
    """As CTest sees it: 0 on the good tree, 1 and file:line on a broken one."""
    root = scratch / "tree"
    shutil.copytree(HERE / "fixture", root)
    command = [sys.executable, "-B", HERE / "bans.py", "--root", root]
    good = subprocess.run(command, capture_output=True, text=True)
    with open(root / "lib/klock/types.hpp", "a") as file:
        file.write("#define BAD\n")
    bad = subprocess.run(command, capture_output=True, text=True)
    shutil.rmtree(root)
    if good.returncode != 0 or bad.returncode != 1 or \
            "lib/klock/types.hpp:6: '#define BAD'" not in bad.stdout:
        return (f"status {good.returncode}, {bad.returncode}; said "
                f"{bad.stdout!r}")
    return None


def check_format(scratch):
    """clang-format is asked, and heard."""
    program, reason = clang_format.find_program(None)
    if not program:
        print(f"format not tried: {reason}")
        return None
    root = scratch / "tree"
    shutil.copytree(HERE / "fixture", root)
    shutil.copy(TOP / ".clang-format", root)
    paths = sorted(root.rglob("*.hpp"))
    if clang_format.misformatted(program, root, paths):
        return "the fixture is not formatted: run clang-format -i on it"
    paths[0].write_text(paths[0].read_text() + "int  x;\n")
    said = clang_format.misformatted(program, root, paths)
    shutil.rmtree(root)
    return None if said else "an unformatted file passed"


def main():
    failed, tried = [], 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        outcomes = [(f"{lint}: the good tree", check_good(lint))
                    for lint in LINTS]
        outcomes += [(f"{lint}: an empty tree", check_empty(lint, scratch))
                     for lint in LINTS]
        outcomes += [(f"{case.lint}: {case.title}", check_case(case, scratch))
                     for case in CASES]
        outcomes.append(("exit status", check_exit_status(scratch)))
        outcomes.append(("format", check_format(scratch)))
    for title, wrong in outcomes:
        tried += 1
        if wrong:
            failed.append(title)
            print(f"FAIL {title}: {wrong}")
    untested = set(LINTS) - {case.lint for case in CASES}
    if untested:
        failed.append("coverage")
        print(f"FAIL no case breaks: {', '.join(sorted(untested))}")
    print(f"{tried} cases, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
