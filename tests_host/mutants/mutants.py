# SPDX-License-Identifier: MIT
"""Plants mutants, and has the test that each row of a table names find them.

A mutant is a fault on purpose (rows.py). Whole, the test must pass; with the
mutant in it, it must fail, and say what the row says that it does.

    mutants.py match               each text of each table is there once
    mutants.py plant TABLE --out DIR    copies of the files, all mutants asleep
    mutants.py run TABLE [...]     asks the tests
"""

import concurrent.futures
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import rows
from rows import ROOT, tool

HERE = Path(__file__).resolve().parent


class Ran(NamedTuple):
    passed: bool
    said: str


# -- Tests that find them ---------------------------------------------------------

# The CPU's time counts, not the wall's: the machine may be busy.
PATIENCE = 120


def _be_patient():
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))


def call(command, **more):
    """A program's end; what never ends fails."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True,
                             errors="replace", check=False,
                             timeout=10 * PATIENCE, preexec_fn=_be_patient,
                             **more)
    except subprocess.TimeoutExpired:
        return Ran(False, "it does not end")
    return Ran(ran.returncode == 0, ran.stdout + ran.stderr)


def in_program(program, test, number=0):
    """A Catch2 program's test case, with this mutant in force; 0: with none."""
    spec = re.sub(r'([\\,\[\]*"~])', r"\\\1", test)
    ran = call([program, spec], env={**os.environ,
                                     "KLOCK_MUTANT": str(number)})
    missing = "No test cases matched" in ran.said
    return ran._replace(passed=ran.passed and not missing)


class Programs:
    """Finders whose mutants sleep: {name: the program}."""

    def __init__(self, programs):
        self.programs = programs

    def whole(self, test):
        return in_program(self.programs[test.finder], test.argument)

    def mutated(self, row, test):
        return in_program(self.programs[test.finder], test.argument, row.number)


def finder_of(test, args):
    if test.finder in args.programs:
        return Programs(args.programs)
    raise tool.Trouble(f"there is no finder '{test.finder}'")


# -- The three commands -----------------------------------------------------------

def says(ran, test):
    """Whether each text of the row is in a line of what was printed."""
    return all(any(re.search(".*".join(map(re.escape, text.split(" ... "))),
                             line) for line in ran.said.splitlines())
               for text in test.says)


def last_of(said):
    return "".join(f"\n    {line}" for line in said.splitlines()[-15:])


def whole_fault(test, args):
    """What is wrong with a test where no mutant is, or None."""
    ran = finder_of(test, args).whole(test)
    return None if ran.passed else (
        f"no mutant: '{test.argument}' fails: {last_of(ran.said)}")


def fault(row, test, args):
    """What is wrong with the row, or None."""
    ran = finder_of(test, args).mutated(row, test)
    if ran.passed == test.finds:
        return (f"{row.at}: {row.name}: {'not ' if test.finds else ''}"
                f"found by '{test.argument}'")
    if not says(ran, test):
        return (f"{row.at}: {row.name}: '{test.argument}' fails, but does not "
                f"say {test.says}: {last_of(ran.said)}")
    return None


def run(args):
    found = [row for row in rows.read(args.tables / f"{args.table}.mutants")
             if row.level == args.level]
    pairs = [(row, test) for row in found for test in row.tests]
    tests = {test[:2]: test for _, test in pairs}.values()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        whole = pool.map(lambda test: whole_fault(test, args), tests)
        each = pool.map(lambda pair: fault(*pair, args), pairs)
        faults = [text for text in (*whole, *each) if text]
    print("\n".join([*faults, f"{len(found)} mutants, {len(tests)} tests, "
                              f"{len(faults)} wrong"]))
    return 1 if faults or not found else 0


def match(args):
    """Prints each row whose text is not there once."""
    faults, number = [], 0
    for path in sorted(args.tables.glob("*.mutants")):
        for row in rows.read(path):
            number += 1
            for change in row.changes:
                try:
                    rows.places(row, change,
                                (args.root / change.file).read_text())
                except (tool.Trouble, OSError) as trouble:
                    faults.append(str(trouble))
    print("\n".join([*faults, f"{number} mutants, {len(faults)} wrong"]))
    return 1 if faults or not number else 0


def plant(args):
    """Writes what has changed, the switch last: all that is compiled includes
    it, and is compiled anew if anything has changed."""
    table = rows.read(args.tables / f"{args.table}.mutants")
    files = rows.asleep(table, args.root)
    changed = False
    for name, text in [*files.items(), ("switch.hpp", rows.SWITCH)]:
        path = args.out / name
        if path.is_file() and path.read_text() == text and not (
                changed and name == "switch.hpp"):
            continue
        changed = True
        path.parent.mkdir(parents=True, exist_ok=True)
        tool.write(path, text)
    tool.write(args.out / "planted.d", f"{args.out}/switch.hpp: " + " ".join(
        str(args.root / name) for name in files) + "\n")
    return 0


def program(text):
    name, _, path = text.partition("=")
    return name, tool.existing(path)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("command", choices=("match", "plant", "run"))
    parser.add_argument("table", nargs="?")
    parser.add_argument("--root", type=tool.tree, default=ROOT)
    parser.add_argument("--tables", type=tool.folder, default=HERE)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--level", choices=rows.LEVELS, default="test",
                        help="the rows of this level")
    parser.add_argument("--programs", type=program, nargs="*", default=[])
    args = parser.parse_args()
    args.programs = dict(args.programs)
    return {"match": match, "plant": plant, "run": run}[args.command](args)


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
