# SPDX-License-Identifier: MIT
"""The table of mutants: its rows, and what each of them changes in a text.

A row is a small diff that does not see blanks and comments:

    [a try is not held]
    in lib/klock/lock_order.hpp
      const held_place mine =
    - push(want, hold::trying)
    + held_place{owners.mine(), nullptr}
    found by order: lock_order: what a try_lock() has taken is held

Lines with two blanks are there before and after. With `+` alone, the text is
put in front of the file. There may be several files, and several tests, of
which each must find it; or not, where it says `not found by`: that is no fault.

    says TEXT           a line that the test prints has this text; " ... " in it
                        stands for anything
    level full          it is left out before
    with g++ below 13   with other compilers it is no mutant
    seeds WORD          the lab's fault=WORD, in place of a file and a diff
"""

import itertools
import re
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "toolchain"))
import tool

LEVELS = ("test", "full")


class Change(NamedTuple):
    file: str
    lines: list  # (" ", "-" or "+", text)


class Test(NamedTuple):
    finder: str     # "order"
    argument: str   # its test case, for example
    finds: bool     # must find it; else must not
    says: list


class Row(NamedTuple):
    name: str
    at: str         # table and line
    changes: list
    tests: list
    level: str
    cxx: str        # one compiler alone
    below: int      # of its versions
    word: str       # of fault=

    def is_for(self, cxx, version):
        return self.cxx in ("", cxx) and version < self.below

    @property
    def number(self):
        """Its own, whatever rows there are: what is compiled stays."""
        return zlib.crc32(self.name.encode())


def _row(name, at, lines):
    """The row of these lines."""
    changes, tests, level, cxx, below = [], [], "test", "", 99
    seeded = ""
    for line in lines:
        word, _, rest = line.partition(" ")
        if line[:2] in ("- ", "+ ", "  ") or line in ("-", "+"):
            if not changes:
                raise tool.Trouble(f"{at}: {name}: a text without a file")
            changes[-1].lines.append((line[0], line[2:]))
        elif word == "in":
            changes.append(Change(rest, []))
        elif match := re.match(r"(not )?found by (\S+): (.*)", line):
            tests.append(Test(match[2], match[3], not match[1], []))
        elif word == "says" and tests:
            tests[-1].says.append(rest)
        elif word == "level" and rest in LEVELS:
            level = rest
        elif word == "seeds":
            seeded = rest
        elif match := re.fullmatch(r"with (\S+)(?: below (\d+))?", line):
            cxx, below = match[1], int(match[2] or below)
        else:
            raise tool.Trouble(f"{at}: {name}: not understood: {line}")
    if not tests:
        raise tool.Trouble(f"{at}: {name}: found by nothing")
    return Row(name, at, changes, tests, level, cxx, below, seeded)


def read(path):
    """The rows of a table."""
    blocks = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("["):
            if not line.endswith("]"):
                raise tool.Trouble(f"{path.name}:{number}: no ]: {line}")
            blocks.append((line[1:-1], f"{path.name}:{number}", []))
        elif line.strip() and not line.startswith("#"):
            if not blocks:
                raise tool.Trouble(f"{path.name}:{number}: of no row: {line}")
            blocks[-1][2].append(line)
    rows = [_row(*block) for block in blocks]
    for i, row in enumerate(rows):
        if row.name in {other.name for other in rows[:i]}:
            raise tool.Trouble(f"{row.at}: a second row '{row.name}'")
    return rows


# -- Where a text stands ------------------------------------------------------

# Between two words: blanks, a comment, a macro's end of line.
GAP = r"(?:\s|\\\n|/\*(?:(?!\*/).)*\*/)*"
# No word goes on across it.
EDGE = r"(?:(?<!\w)|(?!\w))"


def _pattern(lines):
    """Finds the lines; a group for each hunk, which is of "-", of "+" or both.
    """
    parts = []
    for is_there, some in itertools.groupby(lines, lambda one: one[0] == " "):
        words = [GAP + re.escape(word) for sign, text in some if sign != "+"
                 for word in re.findall(r"\w+|[^\w\s]", text)]
        if not is_there:
            first = words[0].removeprefix(GAP) if words else ""
            words = [GAP if words else "", f"({first}", *words[1:], ")"]
        parts += words
    # From the first word to the last, whole.
    return re.compile("".join(parts).replace(GAP, EDGE, 1) + EDGE, re.S)


def _hunks(lines):
    """(removed, added) of each hunk."""
    found = []
    for i, (sign, text) in enumerate(lines):
        if sign == " ":
            continue
        if i == 0 or lines[i - 1][0] == " ":
            found.append(([], []))
        found[-1][sign == "+"].append(text)
    return [("\n".join(removed), "\n".join(added)) for removed, added in found]


class Place(NamedTuple):
    begin: int
    end: int
    removed: str
    added: str


def places(row, change, text):
    """Where in the text of a file each hunk of a change is. Trouble: it is not
    there exactly once."""
    hunks = _hunks(change.lines)
    if not hunks:
        raise tool.Trouble(f"{row.at}: {row.name}: nothing is changed in "
                           f"{change.file}")
    if all(sign == "+" for sign, _ in change.lines):
        return [Place(0, 0, *hunk) for hunk in hunks]
    found = list(_pattern(change.lines).finditer(text))
    if len(found) != 1:
        raise tool.Trouble(f"{row.at}: {row.name}: its text is there "
                           f"{len(found)} times, not once, in {change.file}")
    return [Place(*found[0].span(number), *hunk)
            for number, hunk in enumerate(hunks, 1)]


# -- Planted alone ------------------------------------------------------------

def changed(row, change, text):
    """The text with this change in it."""
    if all(sign == "+" for sign, _ in change.lines):
        return "".join(line + "\n" for _, line in change.lines) + text
    for begin, end, removed, added in reversed(places(row, change, text)):
        line = text.rfind("\n", 0, begin) + 1
        is_first = not text[line:begin].strip()
        if is_first:
            begin = line
        if not removed:
            end = begin
            added = f"{added}\n" if is_first else f"\n{added}\n"
        text = text[:begin] + added + text[end:]
    return text


# -- Planted asleep: all in one text, each behind its number ------------------

# The line of a file in whose stead it includes the switch.
LICENCE = "/* SPDX-License-Identifier: MIT */\n"

SWITCH = LICENCE + """/* Generated by mutants.py: $KLOCK_MUTANT is in force. */
#pragma once

#include <cstdlib>

namespace mutants {

/* The checker's own code reads it: no variable of the code under test. */
[[gnu::section("klock_mutants")]] alignas(4096) inline constinit unsigned
	in_force = 0;
/* What a CPU's mutant puts off. */
inline constinit unsigned long later[8] = {};

/* Never while a constant is made. */
constexpr bool is(unsigned number)
{
	return !__builtin_is_constant_evaluated() && in_force == number;
}

/* Before any constructor of a test's. */
[[gnu::constructor(101)]] inline void read_mutant()
{
	if (const char *number = std::getenv("KLOCK_MUTANT"))
		in_force = static_cast<unsigned>(std::atoll(number));
}

} // namespace mutants
"""


def _either(row, place, found):
    """Returns the text there and the mutant's text; in one line more or
    less, so that lines keep their numbers."""
    its = f"::mutants::is({row.number}u)"
    added = " ".join(place.added.split("\n"))
    if not place.removed:
        return f" if ({its}) {{ {added} }} "
    if found.endswith((";", "}")):
        # In braces: it may be what another `if` decides.
        return f"{{ if ({its}) {{ {added} }} else {{ {found} }} }}"
    if not added:
        raise tool.Trouble(f"{row.at}: {row.name}: an expression needs another")
    return f"({its} ? {added} : {found})"


def _rendered(text, begin, end, planted):
    """The text from begin to end, with what is planted there: (row, place), the
    outer one of two first."""
    parts, at = [], begin
    while planted:
        row, place = planted.pop(0)
        inside = [other for other in planted
                  if place.begin <= other[1].begin < place.end]
        del planted[:len(inside)]
        for other, its in inside:
            if its.end > place.end:
                raise tool.Trouble(f"{other.at}: {other.name}: half of it is "
                                   f"in '{row.name}'")
        parts.append(text[at:place.begin])
        parts.append(_either(row, place, _rendered(
            text, place.begin, place.end, inside)))
        at = place.end
    return "".join(parts) + text[at:end]


def _order(planted):
    """Sorts what is only added first, then the outer of two."""
    _, place = planted
    return place.begin, place.end > place.begin, -place.end


def asleep(rows, root):
    """{file: its text with all changes of the rows in it}"""
    planted = {}
    for row in rows:
        for change in row.changes:
            text = (root / change.file).read_text()
            planted.setdefault(change.file, (text, []))[1].extend(
                (row, place) for place in places(row, change, text))
    return {file: _rendered(text, 0, len(text), sorted(all_of, key=_order))
            .replace(LICENCE, "#include <switch.hpp>\n", 1) + _mark(file)
            for file, (text, all_of) in planted.items()}


def mark_of(file):
    """A text that is in each program which includes the planted copy."""
    return f"mutants of {file};"


def _mark(file):
    return ("namespace mutants { [[gnu::used]] static constexpr char "
            f'of_{zlib.crc32(file.encode())}[] = "{mark_of(file)}"; }}\n')
