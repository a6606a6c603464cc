# SPDX-License-Identifier: MIT
"""Plants mutants, and has the test that each row of a table names find them.

A mutant is a fault on purpose (rows.py). Whole, the test must pass; with the
mutant in it, it must fail, and say what the row says that it does.

    mutants.py match               each text of each table is there once, and
                                   each test that a row names is there
    mutants.py plant TABLE --out DIR    copies of the files, all mutants asleep
    mutants.py run TABLE [...]     asks the tests
    mutants.py boots --out FILE    the boots of lab.mutants, for CMake
"""

import concurrent.futures
import os
import re
import sys
from pathlib import Path

import finders
import rows
from rows import ROOT, tool

HERE = Path(__file__).resolve().parent
# The words of the lab's fault=.
FAULTS = "tests_qemu/lab/options.hpp"


# -- The commands -------------------------------------------------------------

def says(ran, test):
    """Whether each text of the row is in a line of what was printed."""
    return all(any(re.search(".*".join(map(re.escape, text.split(" ... "))),
                             line) for line in ran.said.splitlines())
               for text in test.says)


def last_of(said):
    return "".join(f"\n    {line}" for line in said.splitlines()[-15:])


def whole_faults(finder, tests):
    """Returns what is wrong with a test where no mutant is."""
    ran = finder.whole(tests)
    return [] if ran.passed else [
        f"no mutant: '{tests[0].argument}' fails: {last_of(ran.said)}"]


def row_faults(finder, pairs):
    """Returns what is wrong with rows that are planted together."""
    ran, faults = finder.mutated(pairs), []
    for row, test in pairs:
        title = f"{row.at}: {row.name}"
        if ran.passed == test.finds:
            faults.append(f"{title}: {'not ' if test.finds else ''}found by "
                          f"'{test.argument}'")
        elif not says(ran, test):
            faults.append(f"{title}: '{test.argument}' fails, but does not "
                          f"say {test.says}: {last_of(ran.said)}")
    return faults


def jobs_of(finder, pairs):
    """A job for each test without a mutant, and for each group with some."""
    tests = {}
    groups = finder.groups(pairs)
    for _, test in sum(groups, []):
        tests.setdefault(test.argument, []).append(test)
    return [*((whole_faults, finder, its) for its in tests.values()),
            *((row_faults, finder, group) for group in groups)]


def run(args):
    found = finders.of(args)
    pairs = [(row, test)
             for row in rows.read(args.tables / f"{args.table}.mutants")
             if row.level == args.level for test in row.tests
             if not args.only or test.finder in args.only]
    unknown = {test.finder for _, test in pairs} - {*found}
    if unknown:
        raise tool.Trouble(f"there is no finder {', '.join(sorted(unknown))}")
    jobs = sum((jobs_of(finder, [pair for pair in pairs
                                 if pair[1].finder == name])
                for name, finder in found.items()), [])
    faults = [f"{row.at}: {row.name}: {test.finder} includes none of its files"
              for row, test in pairs if not found[test.finder].sees(row)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults += sum(pool.map(lambda job: job[0](*job[1:]), jobs), [])
    number = len({row.name for row, _ in pairs})
    print("\n".join([*faults, f"{number} mutants, {len(jobs)} runs, "
                              f"{len(faults)} wrong"]))
    return 1 if faults or not number else 0


def misplaced(row, args):
    """Why a row can not be planted, of each of its texts."""
    if row.word and not re.search(rf"^\t{row.word},", (
            args.root / FAULTS).read_text(), re.M):
        yield f"{row.at}: {row.name}: {FAULTS} has no {row.word}"
    if not row.word and not row.changes:
        yield f"{row.at}: {row.name}: nothing is changed"
    for change in row.changes:
        try:
            rows.places(row, change, finders.text_of(row, change, args.root))
        except (tool.Trouble, OSError) as trouble:
            yield str(trouble)


def cases_in(sources):
    """The names of all test cases in these files."""
    text = "".join(path.read_text() for path in sources)
    return {"".join(re.findall(r'"(.*?)"', strings)) for strings in
            re.findall(r'TEST_CASE\(((?:\s*"(?:[^"\\]|\\.)*")+)', text)}


def without_test(table, args):
    """Why a test that a row names would not run, of each of them. A program
    without test cases is given worlds, not names."""
    cases = {name: found for name, sources in args.sources
             if (found := cases_in(sources))}
    for row in table:
        for test in row.tests:
            name = test.argument
            if test.finder in cases:
                is_there = name in cases[test.finder]
            elif test.finder == "lint":
                is_there = (args.root / f"tests_host/lint/{name}.py").is_file()
            elif test.finder == "script":
                is_there = (args.root / name.split()[0]).is_file()
            else:
                continue
            if not is_there:
                yield f"{row.at}: {row.name}: {test.finder} has no '{name}'"


def match(args):
    """Prints each row whose text is not there once, or whose test is not."""
    table = [row for path in sorted(args.tables.glob("*.mutants"))
             for row in rows.read(path)]
    faults = [text for row in table for text in misplaced(row, args)]
    faults += without_test(table, args)
    print("\n".join([*faults, f"{len(table)} mutants, {len(faults)} wrong"]))
    return 1 if faults or not table else 0


def boots(args):
    """Writes a klock_boot() for each row of the lab's, which must fail by the
    guest's own verdict and by the runner's sentence."""
    lines = []
    for row in rows.read(args.tables / "lab.mutants"):
        for _, argument, _, texts in row.tests:
            run, cpus, mode, words = argument.split(" ", 3)
            texts = " ".join(f'"{text}"' for text in texts)
            lines.append(
                f"klock_boot({row.level} seeded_{run}_{row.word} {cpus} {mode} "
                f'"{words} mode=tap fault={row.word}" fail "test failure: " '
                f"{texts})\n")
    tool.write(args.out, "".join(lines))
    return 0


def remove_stale(folder, files):
    """Removes the copies of files that have no row any more: a compiler would
    still find them in front of lib. The switch names what was planted."""
    switch = folder / "switch.hpp"
    before = switch.read_text() if switch.is_file() else ""
    for name in re.findall(r"^/\* (\S+) \*/$", before, re.M):
        if name not in files:
            (folder / name).unlink(missing_ok=True)


def plant(args):
    """Writes what has changed, the switch last: all that is compiled includes
    it, and is compiled anew if anything has changed. It names the files: where
    one more is in front of lib, ccache sees that by this alone."""
    table = rows.read(args.tables / f"{args.table}.mutants")
    files = rows.asleep(table, args.root)
    names = "".join(f"/* {name} */\n" for name in sorted(files))
    remove_stale(args.out, files)
    changed = False
    for name, text in [*files.items(), ("switch.hpp", rows.SWITCH + names)]:
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


def program_sources(text):
    name, _, paths = text.partition("=")
    return name, [tool.existing(path) for path in paths.split(":")]


COMMANDS = {"match": match, "plant": plant, "run": run, "boots": boots}


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("table", nargs="?")
    parser.add_argument("--root", type=tool.tree, default=ROOT)
    parser.add_argument("--tables", type=tool.folder, default=HERE)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--level", choices=rows.LEVELS, default="test",
                        help="the rows of this level")
    parser.add_argument("--only", nargs="*", help="these finders")
    parser.add_argument("--programs", type=program, nargs="*", default=[])
    parser.add_argument("--sources", type=program_sources, nargs="*",
                        default=[], help="of programs: NAME=FILE:FILE")
    parser.add_argument("--target", help="of object code")
    parser.add_argument("--cxx", default="g++")
    args = parser.parse_args()
    if args.target:
        args.only = [args.target]
    try:
        return COMMANDS[args.command](args)
    except finders.Skip as missing:
        print(missing)
        return finders.SKIPPED


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
