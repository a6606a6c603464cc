# SPDX-License-Identifier: MIT
"""The runner finds what is wrong with a table, with a test, and with a mutant.

A header of two functions, a test of each, and rows: those that are right pass,
and each of the others is named for what is wrong with it. Run:
selftest.py --cxx g++
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from rows import tool

MUTANTS = Path(__file__).resolve().parent / "mutants.py"

HEADER = """/* SPDX-License-Identifier: MIT */
#pragma once

/* One more, or (two) less. */
constexpr int next(int of)
{
	return of + 1; /* never less */
}

inline int twice(int of)
{
	int sum = 0;

	sum += of;
	sum += of;
	return sum;
}
/* No mutant is in force while a constant is made. */
static_assert(next(1) == 2);
"""

TEST = """#include <klock/toy.hpp>
#include <cstdio>
#include <cstring>

#define TEST_CASE(name) (!std::strcmp(test, name))

int main(int count, char **arguments)
{
	const char *const test = arguments[1];
	const int one = next(count - 2);

	std::printf("next is %d\\n", one);
	if (TEST_CASE("next"))
		return one != 1;
	if (TEST_CASE("twice"))
		return twice(3) != 6;
	return TEST_CASE("fails");
}
"""


def row(name, diff, test="toy: next"):
    return f"[{name}]\nin lib/klock/toy.hpp\n{diff}\nfound by {test}\n"


NEXT = "- of + 1\n+ of - 1\n  ;"
# Rows that are right, with all that a row may have.
RIGHT = "# A comment\n\n" + "\n".join((
    row("an expression", NEXT) + "says next is ... -1\n",
    row("over a comment", "  return\n- of + 1\n+ 3\n  ; }"),
    row("inside of another", "  of +\n- 1\n+ 2"),
    row("a statement", "  int sum = 0; sum += of;\n- sum += of;\n"
        "+ sum += 1;\n+ sum -= 1;", "toy: twice"),
    row("only more", "  int sum = 0;\n+ sum = 1;", "toy: twice"),
    row("only less", "  sum = 0;\n- sum += of;", "toy: twice"),
    row("two places", "  int sum =\n- 0\n+ 1\n  ; sum += of;\n- sum += of;",
        "toy: twice"),
    row("no fault", "  return\n- of + 1\n+ 1 + of\n  ; }")
    .replace("found by", "not found by"),
    row("found by one of two", NEXT) + "not found by toy: twice\n",
    row("in level full", NEXT, "toy: fails") + "level full\n"))

# command, what is wrong, the table, what is said of it
WRONG = [
    ("match", "a text that is not there", row("gone", "- of + 2\n+ of"),
     "gone: its text is there 0 times, not once, in lib/klock/toy.hpp"),
    ("match", "a text that is there twice", row("two", "- sum += of;"),
     "two: its text is there 2 times, not once, in lib/klock/toy.hpp"),
    ("match", "half of a word", row("half", "- in sum\n+ out"),
     "half: its text is there 0 times"),
    ("match", "no such file", row("far", NEXT).replace("toy.hpp", "far.hpp"),
     "far.hpp"),
    ("match", "no change", row("same", "  of + 1"), "same: nothing is changed"),
    ("match", "a name twice", row("one", NEXT) * 2, "a second row 'one'"),
    ("match", "no test", "[no test]\nin lib/klock/toy.hpp\n" + NEXT,
     "no test: found by nothing"),
    ("match", "a word that no row has", row("odd", NEXT) + "when it rains\n",
     "not understood: when it rains"),
    ("match", "a fault that the lab has not",
     "[lost]\nseeds lost_row\nfound by lab: a\n\n"
     "[gone]\nseeds gone\nfound by lab: a\n", "2 mutants, 1 wrong"),
    ("match", "no rows", "", "0 mutants"),
    ("match", "a test that its program has not", row("moved", NEXT, "toy: last"),
     "moved: toy has no 'last'"),
    ("match", "a lint that there is not", row("lint", NEXT, "lint: nothing"),
     "lint has no 'nothing'"),
    ("match", "no such script", row("script", NEXT, "script: none.py --all"),
     "script has no 'none.py --all'"),
    ("plant", "a half of another", row("whole", "- return of\n+ return 3") +
     row("the rest", NEXT), "the rest: half of it is in 'whole'"),
    ("plant", "an expression without another", row("bare", "- of + 1\n  ;"),
     "bare: an expression needs another"),
    ("run", "a mutant that no test finds", row("unseen", NEXT, "toy: twice"),
     "unseen: not found by 'twice'"),
    ("run", "a test that fails anyway", row("anyway", NEXT, "toy: fails"),
     "no mutant: 'fails' fails"),
    ("run", "a test that fails for another reason",
     row("other", NEXT) + "says next is 2\n", "does not say ['next is 2']"),
    ("run", "no such program", row("nobody", NEXT, "other: next"),
     "there is no finder other"),
    ("run", "a file that the program does not include",
     row("away", NEXT).replace("toy.hpp", "away.hpp"),
     "away: toy includes none of its files"),
    ("run", "what is no fault is found",
     row("found", NEXT).replace("found by", "not found by"),
     "found: found by 'next'"),
]


class Bench:
    """A tree with the header in it, and the test's program."""

    def __init__(self, folder, cxx):
        self.folder, self.cxx = folder, cxx
        (folder / "lib/klock").mkdir(parents=True)
        for name in ("toy", "away"):
            (folder / f"lib/klock/{name}.hpp").write_text(HEADER)
        (folder / "test.cpp").write_text(TEST)
        (folder / "tests_qemu/lab").mkdir(parents=True)
        (folder / "tests_qemu/lab/options.hpp").write_text("\tlost_row,\n")

    def call(self, command, table, *more):
        (self.folder / "table.mutants").write_text(table)
        ran = subprocess.run(
            [sys.executable, "-B", MUTANTS, command, "table",
             "--root", self.folder, "--tables", self.folder, *more],
            capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def outcome(self, command, table):
        """(status, what is printed) of a command, and of what goes before."""
        planted = self.folder / "planted"
        if command == "match":
            return self.call("match", table, "--sources",
                             f"toy={self.folder / 'test.cpp'}")
        ended = self.call("plant", table, "--out", planted)
        if command == "plant" or ended[0]:
            return ended
        subprocess.run([self.cxx, "-std=c++20", f"-I{planted}",
                        f"-I{planted}/lib", f"-I{self.folder}/lib",
                        self.folder / "test.cpp", "-o",
                        self.folder / "test"], check=True)
        return self.call("run", table, "--programs",
                         f"toy={self.folder / 'test'}")


def stale_copies(bench):
    """A copy goes with its last row; what nobody planted stays."""
    planted = bench.folder / "planted"
    other = bench.folder / "lib/klock/other.hpp"
    other.write_text(HEADER)
    bench.call("plant", row("here", NEXT) + row("there", NEXT).replace(
        "toy.hpp", "other.hpp"), "--out", planted)
    foreign = planted / "lib/klock/foreign.hpp"
    foreign.write_text("")
    bench.call("plant", row("here", NEXT), "--out", planted)
    left = {path.name for path in (planted / "lib/klock").iterdir()}
    return [] if left == {"toy.hpp", "foreign.hpp"} else [
        f"plant: a file without a row: {sorted(left)} are left"]


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--cxx", required=True)
    args = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), args.cxx)
        for command in ("match", "run"):
            status, said = bench.outcome(command, RIGHT)
            if status:
                faults.append(f"{command}: rows that are right: {said}")
        for command, title, table, wanted in WRONG:
            status, said = bench.outcome(command, table)
            if not status or wanted not in said:
                faults.append(f"{command}: {title}: not '{wanted}' but: {said}")
        faults += stale_copies(bench)
    print("\n".join([*faults,
                     f"{len(WRONG) + 1} mistakes, {len(faults)} not seen"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
