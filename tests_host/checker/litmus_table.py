# SPDX-License-Identifier: MIT
"""Makes C++ of ../litmus/c.litmus: the table of test_litmus.cpp.

A test names a verdict and a number of executions, for C++20 and for each other
rule of RULES that is known. Run: litmus_table.py --out FILE
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests_host/litmus"))
import herd
from herd import tool

RULES = ("cxx20", "rc11", "sc", "x86", "open")  # `rules` of test_litmus.cpp
VERDICTS = {"allowed": "true", "forbidden": "false"}


def by_rule(test, key, spelled):
    """Returns each rule's figures as C++ spells them, from "4, sc 3, x86 4"."""
    found = {}
    for part in test.info.get(key, "").split(", "):
        *rule, word = part.split(" ")
        name = " ".join(rule) or RULES[0]
        if name not in RULES or name in found or not spelled(word):
            raise herd.Malformed(f"{test.where}: {key}: {part or 'missing'}")
        found[name] = spelled(word)
    if RULES[0] not in found:
        raise herd.Malformed(f"{test.where}: {key} of C++20 is missing")
    return "{" + ", ".join(found.get(rule, "{}") for rule in RULES) + "}"


def operation(test, made, places):
    """An `op` of reference/rc11.hpp."""
    expected = test.locations[made.expected].value if made.expected else 0
    orders = [f"order::{order}" for order in made.orders]
    words = [f"action::{made.what}", str(places.get(made.location, 0)),
             orders[0], made.value, str(expected), *orders[1:]]
    return "{" + ", ".join(words) + "}"


def clause(test, wanted, places):
    """{CPU, which of its reads, value}; of a location: {-1, place, value}."""
    if wanted.cpu is None and wanted.name in places:
        return f"{{-1, {places[wanted.name]}, {wanted.value}}}"
    for cpu, code in enumerate(test.code):
        reads = [made.result or made.expected for made in code
                 if made.what not in ("store", "fence")]
        if wanted.name in reads and wanted.cpu in (None, cpu):
            return f"{{{cpu}, {reads.index(wanted.name)}, {wanted.value}}}"
    raise herd.Malformed(f"{test.where}: {wanted.name} is neither read nor "
                         "stored")


def row(test):
    """A `known` of test_litmus.cpp."""
    used = {made.location for code in test.code for made in code} - {""}
    places = {name: place for place, name in enumerate(sorted(used))}
    if any(test.locations[name].value for name in used):
        raise herd.Malformed(f"{test.where}: an atomic begins as 0 here")
    threads = ["{" + ", ".join(operation(test, made, places) for made in code) +
               "}" for code in test.code]
    outcome = [clause(test, wanted, places) for wanted in test.outcome]
    executions = by_rule(test, "Executions",
                         lambda word: word if word.isdecimal() else "")
    verdicts = by_rule(test, "Verdict", VERDICTS.get)
    return (f'{{"{Path(test.where).name}: {test.name}", '
            f"{{{len(places)}, {{{', '.join(threads)}}}}}, "
            f"{{{', '.join(outcome)}}}, {executions}, {verdicts}}},\n")


def table(path):
    """All rows."""
    tests = herd.read(path)
    for test in tests:
        if test.dialect != "C":
            raise herd.Malformed(f"{test.where}: {test.dialect} is not C")
    return "".join(row(test) for test in tests)


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    tool.write(arguments.out, table(herd.HERE / "c.litmus"))
    return 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
