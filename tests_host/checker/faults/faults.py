#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Explores the programs of programs.faults: a table of verdicts by kind.

Each is compiled with its fault and repaired, by each compiler, as C and as
C++. A fault must be found or refused; the repaired program must not be called
wrong. Compilers that are not here are left out.

    faults.py --libraries DIR g++/c clang++-19/c++ [...]

LIBRARIES is the folder of the build in which libklock_model_plain.a lies.
With --all each verdict is printed, with the checker's words.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import crash_table
from crash_table import tool

LIBRARIES = ["model", "model_std", "model_plain"]
OPTIONS = ["-O0", "-fsanitize=thread", "-fno-builtin", "-msse3",
           "-include", "model/as_shipped.h"]
NAME = re.compile(r"\[(?P<name>.*)\] (?P<kind>[a-z+]+)(?P<only>; c\+\+)?"
                  r"(?:; silent: (?P<silent>.*))?")
LINE = re.compile(r"([gw012ae])([ +-]) (.*)")
OWN = re.compile(r"\$(?=[a-z])")
FUNCTIONS = ("0a", "1a", "2", "e")
# CPU seconds. The longest takes one.
PATIENCE = 60


class Program(NamedTuple):
    name: str
    kind: str
    languages: tuple
    silent: str     # by whom, and why
    lines: list     # (part, "-", "+" or " ", text, number)

    def variants(self):
        """The fault, and its repair if there is one."""
        return "-+" if any(line[1] != " " for line in self.lines) else "-"

    def has_gap(self, compiler):
        """Whether it is known not to be seen."""
        by = self.silent.partition(",")[0].split()
        return "all" in by or crash_table.kind_of(compiler) in by


def read(path):
    """All programs of the table."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, code = NAME.fullmatch(line), LINE.fullmatch(line)
        if name:
            languages = ("c++",) if name["only"] else ("c", "c++")
            found.append(Program(name["name"], name["kind"], languages,
                                 name["silent"] or "", []))
        elif code and found:
            found[-1].lines.append((*code.groups(), number))
        else:
            raise tool.Trouble(f"{path.name}:{number}: {line}: begins with no "
                               "part of a program")
    return found


def functions(program, variant, own):
    """Its functions as text, and their names."""
    def part(letters):
        return [f'#line {number} "programs.faults"\n{OWN.sub(own, text)}'
                for letter, sign, text, number in program.lines
                if letter in letters and sign in (" ", variant)]

    text = [*part("g"), f"struct {own}world {{", *part("w"), "};"]
    names = []
    for letters in FUNCTIONS:
        code = part(letters)
        names.append(f"{own}{letters[0]}" if code else "0")
        if code:
            text += [f"static void {names[-1]}(void *at_)", "{",
                     f"struct {own}world *w = (struct {own}world *)at_;",
                     *code, "(void)w;", "}"]
    return text, names


def source(programs, language):
    """A file of all programs; which program and variant has which number."""
    text, table, numbers = ['#include "programs.h"'], [], []
    for at, program in enumerate(programs):
        if language not in program.languages:
            continue
        for variant in program.variants():
            kind = "repaired" if variant == "+" else "fault"
            code, names = functions(program, variant, f"{kind}_{at}_")
            text += code
            table.append("{{%s, %s, %s}, %s}," % tuple(names))
            numbers.append((program, variant))
    text += ["extern const struct program programs[] = {", *table, "};",
             f"extern const int number_of_programs = {len(table)};"]
    return "\n".join(text) + "\n", numbers


def build(args, compiler, language, text, folder):
    """The program that explores them."""
    made = folder / ("programs.c" if language == "c" else "programs.cpp")
    made.write_text(text)
    by = compiler if language == "c++" else compiler.replace(
        "clang++", "clang").replace("g++", "gcc")
    plain = [*crash_table.PLAIN[crash_table.kind_of(compiler)], *OPTIONS,
             f"-I{HERE}"]
    own = plain if by == compiler else ["-std=gnu17", *plain]
    crash_table.compiled(args, by, own, LIBRARIES[:2], made, folder / "p.o")
    crash_table.compiled(args, compiler, plain, LIBRARIES[:2],
                         HERE / "explores.cpp", folder / "e.o")
    wrong = crash_table.linked(args, compiler, [], LIBRARIES,
                               [folder / "p.o", folder / "e.o"],
                               folder / "explores")
    if wrong:
        raise tool.Trouble(wrong)
    return folder / "explores"


def explore(program, count):
    """Each program's verdict, and the checker's words. One that ends the
    checker is passed over: the next is asked."""
    said = []
    while len(said) < count:
        done = subprocess.run(
            ["prlimit", f"--cpu={PATIENCE}", program, str(len(said))],
            check=False, capture_output=True, text=True, errors="replace")
        for line in done.stdout.splitlines():
            number, verdict, words = line.split("\t", 2)
            if int(number) != len(said):
                raise tool.Trouble(f"{number}: {line}")
            said.append((verdict, words))
        if len(said) < count:
            said.append((f"ended by {done.returncode}", done.stderr[-200:]))
    return said


def is_wrong(compiler, program, variant, verdict):
    if variant == "+":
        return verdict not in ("silent", "refused")
    gap = program.has_gap(compiler)
    return gap == (verdict in ("found", "refused"))


def answers(args, compiler, language, programs):
    """Prints a line for each kind. Returns what is not as it should be."""
    text, numbers = source(programs, language)
    with tempfile.TemporaryDirectory() as folder:
        made = build(args, compiler, language, text, pathlib.Path(folder))
        said = explore(made, len(numbers))
    counts, wrong = collections.defaultdict(collections.Counter), []
    for (program, variant), (verdict, words) in zip(numbers, said, strict=True):
        counts[program.kind][variant + verdict] += 1
        line = (f"{compiler} {language} [{program.name}]"
                f"{' repaired' if variant == '+' else ''}: {verdict}: {words}")
        if is_wrong(compiler, program, variant, verdict):
            wrong.append(line)
        elif args.all:
            print(line)
    total = sum(counts.values(), collections.Counter())
    for kind, of in [*counts.items(), ("all", total)]:
        of = collections.Counter(of)
        row = [of.pop(key, 0) for key in ("-found", "-refused", "-silent",
                                          "+silent", "+refused")]
        rest = sum(of.values())
        print(f"{compiler:<12}{language:<5}{kind:<12}" +
              "".join(f"{number:>9}" for number in [*row, rest]), flush=True)
    return wrong


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=pathlib.Path,
                        default=HERE.parents[2])
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("ways", nargs="+", metavar="COMPILER/LANGUAGE")
    args = parser.parse_args()
    programs = read(HERE / "programs.faults")
    print(f"{'':<29}{'the fault is':<27}{'repaired, it is':<18}")
    print(f"{'':<29}" + "".join(
        f"{word:>9}" for word in ("found", "refused", "silent", "right",
                                  "refused", "other")))
    wrong = []
    for way in args.ways:
        compiler, _, language = way.partition("/")
        if shutil.which(compiler):
            wrong += answers(args, compiler, language, programs)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
