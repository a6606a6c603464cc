# SPDX-License-Identifier: MIT
"""The tests that find mutants: how each is asked, without one and with one.

Finders have whole(tests) and mutated(pairs), which return how a test ended;
pairs are (row, test), planted together as groups() has them.
"""

import contextlib
import importlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import rows
from rows import ROOT

sys.path.append(str(ROOT / "tests_host/lint"))
import common

# Seconds until a test counts as one that never ends. The CPU's, not the wall's:
# the machine may be busy.
PATIENCE = 120
# Folders that tests read.
FOLDERS = ("lib", "boot", "linker", "toolchain", "tests_host", "tests_qemu")
SKIPPED = 77


class Ran(NamedTuple):
    passed: bool
    said: str


class Skip(Exception):
    """A program is missing."""


def call(command, **more):
    """A program's end; what never ends fails."""
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace", **more) as program:
        with contextlib.suppress(OSError):  # it has ended
            resource.prlimit(program.pid, resource.RLIMIT_CPU,
                             (PATIENCE, PATIENCE))
        try:
            said, _ = program.communicate(timeout=10 * PATIENCE)
        except subprocess.TimeoutExpired:
            program.kill()
            return Ran(False, "it does not end")
    if program.returncode == SKIPPED:
        raise Skip(said)
    return Ran(program.returncode == 0, said)


def link(file, copy):
    """Saves a row the second that a copy of all files takes."""
    try:
        os.link(file, copy)
    except OSError:  # another file system
        shutil.copy2(file, copy)


def plant(changed_rows, root, folder, parts=FOLDERS):
    """A copy of the tree with these rows in it."""
    for part in parts:
        if (root / part).is_dir():
            shutil.copytree(root / part, folder / part, copy_function=link,
                            ignore=shutil.ignore_patterns("__pycache__"))
    for row in changed_rows:
        for change in row.changes:
            path = folder / change.file
            text = rows.changed(row, change, path.read_text())
            path.unlink()  # not the tree's own file
            path.write_text(text)


class Finder:
    """The base of all: each row is planted alone, in a file of the tree."""

    def __init__(self, args):
        self.root = args.root

    @staticmethod
    def text(root, file):
        """Returns the file's text, in which a row changes something."""
        return (root / file).read_text()

    def groups(self, pairs):
        return [[pair] for pair in pairs]

    def sees(self, row):
        """Whether one of the files of the row is in what it runs."""
        return True

    def planted(self, pairs, folder):
        plant([row for row, _ in pairs], self.root, folder)


class Program(Finder):
    """A test case of a program in which the mutants sleep."""

    def __init__(self, args, program):
        super().__init__(args)
        self.program = program

    def sees(self, row):
        code = Path(self.program).read_bytes()
        return any(rows.mark_of(change.file).encode() in code
                   for change in row.changes)

    def case(self, test, number=0):
        """Escapes what Catch2 takes for more than a name."""
        spec = re.sub(r'([\\,\[\]*"~])', r"\\\1", test.argument)
        ran = call([self.program, spec],
                   env={**os.environ, "KLOCK_MUTANT": str(number)})
        return ran._replace(passed=ran.passed and
                            "No test cases matched" not in ran.said)

    def whole(self, tests):
        return self.case(tests[0])

    def mutated(self, pairs):
        (row, test), = pairs
        return self.case(test, row.number)


class Script(Finder):
    """A script of the tree, in a copy that has the mutant: its path, and its
    arguments."""

    def script(self, test, root):
        return call([sys.executable, "-B", *test.argument.split()], cwd=root)

    def whole(self, tests):
        return self.script(tests[0], self.root)

    def mutated(self, pairs):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            folder = Path(folder).resolve()
            self.planted(pairs, folder)
            return self.script(pairs[0][1], folder)


class ObjectCode(Finder):
    """The checks of a compiler's object code for one target."""

    def __init__(self, args, target):
        super().__init__(args)
        # In front: a lint is called orders, too.
        sys.path.insert(0, str(ROOT / "tests_host/codegen"))
        self.checks = importlib.import_module("mutant_checks")
        self.cxx, self.target = args.cxx, target
        try:
            self.version = self.checks.version(args.cxx, target,
                                               self.root / "lib")
        except self.checks.objects.Skip as missing:
            raise Skip(f"skipped: {missing}") from missing

    def groups(self, pairs):
        return self.checks.groups(
            [(row, test) for row, test in pairs
             if row.is_for(Path(self.cxx).name, self.version)])

    def check(self, root, tests):
        with tempfile.TemporaryDirectory() as scratch:
            said = self.checks.said(self.cxx, self.target, root / "lib", tests,
                                    Path(scratch))
        return Ran(not said, "\n".join(said))

    def whole(self, tests):
        return self.check(self.root, tests)

    def mutated(self, pairs):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            folder = Path(folder).resolve()
            plant([row for row, _ in pairs], self.root, folder,
                  ("lib/klock", "lib/arch"))
            return self.check(folder, [test for _, test in pairs])


class Lint(Finder):
    """A lint, asked in this process: it prints `path: text`, and the line."""

    @staticmethod
    def text(root, file):
        return common.fixture().get(file, "")

    def lint(self, test, files):
        check = importlib.import_module(test.argument).check
        with tempfile.TemporaryDirectory() as folder:
            common.write_tree(files, Path(folder))
            found = [one for one in check(Path(folder)) if not one.note]
        lines = {name: ["", *text.splitlines()] for name, text in files.items()}
        said = [f"{one.path}: {' '.join(one.text.split())} "
                f"[{lines[one.path][one.line] if one.line else ''}]"
                for one in found if one.path in lines or not one.line]
        return Ran(not found, "\n".join(said))

    def whole(self, tests):
        return self.lint(tests[0], common.fixture())

    def mutated(self, pairs):
        (row, test), = pairs
        files = common.fixture()
        for change in row.changes:
            files[change.file] = rows.changed(row, change,
                                              files.get(change.file, ""))
        return self.lint(test, files)


def of(args):
    """{name in the rows: finder} of what the command line offers."""
    found = {name: Program(args, path) for name, path in args.programs}
    found |= {"script": Script(args), "lint": Lint(args)}
    if args.target:
        found[args.target] = ObjectCode(args, args.target)
    return found


def text_of(row, change, root):
    """Returns the text in which the change is made."""
    is_lints = {test.finder for test in row.tests} == {"lint"}
    return (Lint if is_lints else Finder).text(root, change.file)
