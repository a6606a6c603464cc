# SPDX-License-Identifier: MIT
"""Runs this folder's checks on a lib with mutants in it.

Mutants that are looked for alike are planted together, if each names another
operation: so none is found for another's sake, and one compilation is enough.
"""

import re
from pathlib import Path

import accesses
import architecture
import cross
import cross_locks
import objects
import operations
import orders

HERE = Path(__file__).resolve().parent


def _probes_of(test):
    """The probes that are to be named."""
    return [match for text in test.says for match in
            re.findall(r"probe_(?:fence_\w+|\w+?__\w+|\w+)", text)]


def _operation_of(test):
    """Its probe's, whatever the type and the order: "pair_exchange"."""
    return re.sub(r"_(?:relaxed|acquire|release|acq_rel|seq_cst)(?:__\w+)?$",
                  "", "".join(_probes_of(test)))


def _texts(row):
    return [[text for sign, text in change.lines if sign != "+"]
            for change in row.changes]


def _fits(row, test, group):
    """Whether it is planted beside these, in other texts."""
    return all(test.argument == its.argument and _operation_of(its) and
               _operation_of(its) != _operation_of(test) and
               not any(text in _texts(row) for text in _texts(other))
               for other, its in group)


def groups(pairs):
    """[[(row, test)]]"""
    made = []
    for row, test in pairs:
        beside = next((group for group in made
                       if test.argument.startswith("operations") and
                       _operation_of(test) and _fits(row, test, group)), None)
        if beside is None:
            made.append(beside := [])
        beside.append((row, test))
    return made


def _of_x86(cxx, lib, look, tests, scratch):
    compiler = objects.Compiler(cxx, 64, lib)
    if look == "values":
        return operations.values(compiler, scratch, "bytes_alone")
    if look == "accesses":
        return accesses.check(accesses.of(compiler, HERE / "all_locks.cpp",
                                          scratch), lib)
    if look == "red zone":
        return operations.red_zone(compiler, scratch)
    return operations.check(compiler, lib, scratch,
                            " ".join(sum(map(_probes_of, tests), [])))


def _of_other(cxx, target, lib, look, tests, scratch):
    look, *extensions = look.split()
    compiler = cross.Cross(cxx, target, lib)
    machine = orders.RiscV(extensions) if extensions else \
        orders.MACHINES[target]
    if look == "locks":
        return cross_locks.check(compiler, machine, scratch)[0]
    if look in ("flags", "parking"):
        return architecture.STEPS[look](compiler, machine, scratch)
    named = "|".join(sum(map(_probes_of, tests), []))
    return orders.check(
        compiler, machine, scratch,
        [f"-D__riscv_{name}=1000000" for name in extensions],
        f"({named})$" if named else
        r"await_acquire__u|fetch_add_relaxed__u8$")


def said(cxx, target, lib, tests, scratch):
    """Returns the output of the one check of these tests."""
    look = tests[0].argument
    try:
        return list(_of_x86(cxx, lib, look, tests, scratch)
                    if target == "x86_64" else
                    _of_other(cxx, target, lib, look, tests, scratch))
    except objects.Failed as broken:
        return [str(broken)]


def version(cxx, target, lib):
    """Skip: there is no such compiler."""
    compiler = objects.Compiler(cxx, 64, lib) if target == "x86_64" else \
        cross.Cross(cxx, target, lib)
    return int(objects.call([compiler.cxx, "-dumpversion"]).split(".")[0])
