# SPDX-License-Identifier: MIT
"""Where the code of one function may go: what runs again, what lies between."""

import re

# Nothing follows: AArch64's, and RISC-V's without aliases.
_ENDS = re.compile(r"(?:b|br|ret|udf|c\.jr?|(?:c\.)?ebreak|unimp) |jalr? zero,")


def after(code):
    """{offset: the offsets that may come next}"""
    found = {}
    for i, here in enumerate(code):
        ends = _ENDS.match(f"{here.name} {here.operands}") and not here.other
        found[here.offset] = {here.target} if here.target >= 0 else set()
        if not ends and i + 1 < len(code):
            found[here.offset].add(code[i + 1].offset)
    return found


def before(code):
    """{offset: the offsets that may have been before}"""
    found = {i.offset: set() for i in code}
    for here, there in after(code).items():
        for offset in there:
            found.setdefault(offset, set()).add(here)
    return found


def reached(starts, steps, stops=()):
    """What the steps lead to from the starts, the starts and stops included;
    no further than the stops."""
    found, todo = set(), list(starts)
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            if at not in stops:
                todo += steps.get(at, ())
    return found


def repeated(code):
    """The instructions that can run again in one call."""
    steps = after(code)
    return [i for i in code if i.offset in reached(steps[i.offset], steps)]


def between(code, first, last, but):
    """The instructions on a way from one of first to one of last that passes
    neither another of them nor one of but."""
    steps, back = after(code), before(code)
    ends = {*first, *last, *but}
    there = reached({o for f in first for o in steps[f]}, steps, ends)
    here = reached({o for l in last for o in back[l]}, back, ends)
    return [i for i in code if i.offset in (there & here) - ends]


def leads_to(code, last, but):
    """Whether one of last can be reached from the top past all of but."""
    top = code[0].offset
    return bool(reached({top}, after(code), {*but, *last}) & {*last})
