# SPDX-License-Identifier: MIT
"""Published litmus tests, as object code, by the models of models.py.

../litmus has them, in herd's format. The assembler makes object code of them,
which is carried out as the locks' is. Each must get its published Verdict: a
model that forbids too much would pass all locks.

An outcome that is forbidden must be there on a machine whose CPUs keep no
order, as else a slip in the test would pass for a verdict. Those that are not
there even then are of coherence and atomicity, and called `never`.
"""

import re
import sys
import tempfile
from functools import partial

from solver import z3

import listing
from listing import tool
from formula import Formula
from interpreter import constant, low
from models import MACHINES

sys.path.append(str(listing.ROOT / "tests_host/litmus"))
import herd

FILES = {"x86": "x86_64", "aarch64": "aarch64", "riscv": "riscv"}
DIALECTS = {"x86": "X86_64", "aarch64": "AArch64", "riscv": "RISCV"}
DIRECTIVES = {"x86": ".att_syntax prefix", "aarch64": "", "riscv": ""}
PLACES = {"x": 0x1000, "y": 0x1040, "z": 0x1080}


def read(machine):
    """A test without a verdict, or for another machine, is an error."""
    tests = herd.read(herd.HERE / f"{FILES[machine]}.litmus")
    for test in tests:
        if test.dialect != DIALECTS[machine]:
            raise herd.Malformed(f"{test.where}: {test.dialect} is not "
                                 f"{DIALECTS[machine]}")
        if test.info.get("Verdict") not in ("allowed", "forbidden", "never"):
            raise herd.Malformed(f"{test.where}: Verdict= is expected: "
                                 "allowed, forbidden or never")
        if not set(test.locations) <= set(PLACES):
            raise herd.Malformed(f"{test.where}: locations are "
                                 f"{', '.join(PLACES)}")
    return tests


def assemble(machine, tests, scratch):
    """The code of all tests; CPU c of test t is the function test_t_c."""
    lines = [DIRECTIVES[machine], ".text"]
    for t, test in enumerate(tests):
        path, _, line = test.where.rpartition(":")
        for c, code in enumerate(test.code):
            lines += [f".globl test_{t}_{c}", f"test_{t}_{c}:"]
            for instruction in code:
                # The assembler's errors have the test's line.
                lines += [f'# {line} "{path}"',
                          re.sub(r"\bL(\d)\b", rf".L_{t}_{c}_\1", instruction)]
            lines.append("ret")
    return listing.assemble(machine, "\n".join(lines) + "\n", scratch)


def initial(test):
    """{address: byte}"""
    return {PLACES[name] + k: location.value >> 8 * k & 0xff
            for name, location in test.locations.items()
            for k in range(location.bytes)}


def outcome(formula, paths, test):
    """The condition of an execution that ends so."""
    wanted = []
    for clause in test.outcome:
        if clause.cpu is None:
            bytes_ = test.locations[clause.name].bytes
            last = formula.final(PLACES[clause.name], bytes_)
            wanted.append(last == clause.value)
            continue
        for taken, path in zip(formula.taken[clause.cpu], paths[clause.cpu]):
            if clause.name not in path.registers:
                raise herd.Malformed(f"{test.where}: {clause.name} is in no "
                                     f"instruction of P{clause.cpu}")
            term = low(path.registers[clause.name].term, 32)
            wanted.append(z3.Implies(taken, term == constant(clause.value, 32)))
    return z3.And(wanted)


def paths_of(machine, code, number, test, cpu):
    registers = test.registers.get(cpu, {})
    interpreter = machine.interpreter(code, cpu)
    interpreter.arguments = tuple(registers)
    ends, _ = interpreter.paths(
        [(f"test_{number}_{cpu}", tuple(map(PLACES.get, registers.values())))])
    return ends


def is_allowed(machine, code, number, test):
    paths = [paths_of(machine, code, number, test, cpu)
             for cpu in range(len(test.code))]
    formula = Formula(machine, paths, initial(test))
    answer, _ = formula.ask(outcome(formula, paths, test))
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
    mixed = sum(test.info.get("Variant") == "mixed" for test in tests)
    print(f"{name}: {len(tests)} tests, {mixed} with mixed sizes")
    for test, verdict_now in zip(tests, found):
        print(f"{name:8} {test.name:36} {verdict_now:10} "
              f"{test.info.get('Source', '')}")
    return [f"{test.where}: {test.name}: {verdict_now}, not "
            f"{test.info['Verdict']}"
            for test, verdict_now in zip(tests, found)
            if verdict_now != test.info["Verdict"]]


def check(name):
    tests = read(name)
    with tempfile.TemporaryDirectory() as scratch:
        code = assemble(name, tests, scratch)
    return judge(name, tests, [verdict(MACHINES[name], code, number, test)
                               for number, test in enumerate(tests)])


def main():
    tool.Parser(__doc__).parse_args()
    return listing.status([partial(check, name) for name in MACHINES],
                          "each has its published verdict")


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
