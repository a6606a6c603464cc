# SPDX-License-Identifier: MIT
"""Published litmus tests, as object code, by the models of models.py.

The files in litmus/ have them: a name and a verdict with its source, the code
of each CPU, and the outcome that the verdict is about. The assembler makes
object code of them, which is carried out as the locks' is. Each must get its
published verdict: a model that forbids too much would pass all locks.

An outcome that is forbidden must be there on a machine whose CPUs keep no
order, as else a slip in the test would pass for a verdict. Those that are not
there even then are of coherence and atomicity, and called `never`.
"""

import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from solver import z3

import listing
from listing import tool
from formula import Formula
from interpreter import constant, low
from models import MACHINES

HERE = Path(__file__).resolve().parent
PLACES = {"x": 0x1000, "y": 0x1040, "z": 0x1080}
DIRECTIVES = {"x86": ".intel_syntax noprefix", "aarch64": "", "riscv": ""}

_HEAD = re.compile(r"(\S+) (allowed|forbidden|never): (.+)$")
_CPU = re.compile(r"(\d): (.*)$")
_REGISTER = re.compile(r"(\d):(\w+)=(\w+)$")
_MEMORY = re.compile(r"\[(\w)(\+\d+)?:(\d)\]=(\w+)$")


class Test(NamedTuple):
    name: str
    verdict: str
    source: str
    initial: list  # of clauses
    cpus: list     # the code of each
    clauses: list  # the outcome, "1:x3=1" or "[x:4]=2"

    @property
    def mixed(self):
        """Whether a byte of it is accessed by two sizes."""
        return self.source.startswith("mixed") or "byte" in self.name


def read(path):
    tests = []
    for line in path.read_text().splitlines():
        if match := _HEAD.match(line):
            tests.append(Test(*match.groups(), [], [], []))
        elif match := _CPU.match(line):
            tests[-1].cpus.append(match[2])
        elif line.startswith("init "):
            tests[-1].initial.extend(line.split()[1:])
        elif line.startswith("when "):
            tests[-1].clauses.extend(line.split()[1:])
        elif line and line[0] != "#":
            raise listing.Failed(f"{path.name}: {line}")
    return tests


def assemble(machine, tests, scratch):
    """The code of all tests; CPU c of test t is the function test_t_c."""
    lines = [DIRECTIVES[machine], ".text"]
    for t, test in enumerate(tests):
        for c, text in enumerate(test.cpus):
            lines += [f".globl test_{t}_{c}", f"test_{t}_{c}:"]
            lines += [text, "ret"]
    return listing.assemble(machine, "\n".join(lines) + "\n", scratch)


def place(match):
    """(address, size, value) of a clause on memory."""
    address = PLACES[match[1]] + int(match[2] or 0)
    return address, int(match[3]), int(match[4], 0)


def initial(test):
    found = {}
    for clause in test.initial:
        address, size, value = place(_MEMORY.match(clause))
        for k in range(size):
            found[address + k] = value >> 8 * k & 0xff
    return found


def outcome(formula, paths, clauses):
    """The condition of an execution that ends so."""
    wanted = []
    for clause in clauses:
        if match := _MEMORY.match(clause):
            address, size, value = place(match)
            wanted.append(formula.final(address, size) == value)
            continue
        cpu, register, value = _REGISTER.match(clause).groups()
        for taken, path in zip(formula.taken[int(cpu)], paths[int(cpu)]):
            term = low(path.registers[register].term, 32)
            holds = term == constant(int(value, 0), 32)
            wanted.append(z3.Implies(taken, holds))
    return z3.And(wanted)


def is_allowed(machine, code, number, test):
    paths = []
    for cpu in range(len(test.cpus)):
        interpreter = machine.interpreter(code, cpu)
        ends, _ = interpreter.paths(
            [(f"test_{number}_{cpu}", tuple(PLACES.values()))])
        paths.append(ends)
    formula = Formula(machine, paths, initial(test))
    answer, _ = formula.ask(outcome(formula, paths, test.clauses))
    if answer == "unknown":
        raise listing.Failed(f"{test.name}: z3 does not know")
    return answer == "sat"


def verdict(machine, code, number, test):
    if is_allowed(machine, code, number, test):
        return "allowed"
    no_order = machine._replace(before=lambda items: set())
    if is_allowed(no_order, code, number, test):
        return "forbidden"
    return "never"


def judge(name, tests, found):
    print(f"{name}: {len(tests)} tests, {sum(t.mixed for t in tests)} with "
          "mixed sizes")
    for test, verdict_now in zip(tests, found):
        print(f"{name:8} {test.name:36} {verdict_now:10} {test.source}")
    return [f"{name}: {test.name}: {verdict_now}, not {test.verdict}"
            for test, verdict_now in zip(tests, found)
            if verdict_now != test.verdict]


def main():
    tool.Parser(__doc__).parse_args()
    wrong = []
    try:
        for name, machine in MACHINES.items():
            tests = read(HERE / "litmus" / f"{name}.txt")
            with tempfile.TemporaryDirectory() as scratch:
                code = assemble(name, tests, scratch)
            found = [verdict(machine, code, number, test)
                     for number, test in enumerate(tests)]
            wrong += judge(name, tests, found)
    except listing.Skip as reason:
        return listing.skipped(reason)
    print("\n".join(wrong or ["each has its published verdict"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
