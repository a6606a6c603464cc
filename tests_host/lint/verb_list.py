# SPDX-License-Identifier: MIT
"""The list of verbs, klock/detail/verbs.hpp, and which of them each pass() of
a wrapper is for.
"""

import re
from typing import NamedTuple

import common
import cxx

LIST = "lib/klock/detail/verbs.hpp"
_ROW = re.compile(r"^struct (\w+) : row<effect::(\w+)> \{", re.M)
_MEMBER = re.compile(r"\b(void|bool|u32|wait_result) (\w+)\(([^()]*?),?\s*"
                     r"Site by = ", re.S)
_STRUCT = re.compile(r"^struct (\w+)", re.M)
_FORWARDS = re.compile(r"\{\s*(?:return )?(?:verb\.call|(?:detail::)?hand_on)"
                       r"\([^;]*;\s*\}")
# Readers in a handler have functions of their own: irq_shared_lock.hpp.
_HANDLER = "_in_handler"


class Pass(NamedTuple):
    type: str
    verbs: list
    line: int
    start: int
    forwards: bool


def rows(root):
    """{verb: its effect}, in their order."""
    path = root / LIST
    return dict(_ROW.findall(path.read_text())) if path.exists() else {}


def members(root):
    """{verb: (result, [the types and names of each form's arguments])}"""
    found = {}
    for result, verb, arguments in _MEMBER.findall((root / LIST).read_text()):
        form = [tuple(one.rsplit(None, 1)) for one in arguments.split(", ")
                if one.strip()]
        found.setdefault(verb, (result, []))[1].append(form)
    return found


def results(root):
    return {verb: result for verb, (result, _) in members(root).items()}


def passes(code, rows_):
    """Each pass() of a header's code_only() text. One that says nothing of
    verbs is for those that have no other."""
    types = [(m.start(), m[1]) for m in _STRUCT.finditer(code)]
    kept = "".join(re.findall(r"!is_one_of<Verb,([^>]*)>", code))
    kept_back = re.findall(r"\bverb::(\w+)", kept)
    for function in cxx.functions(code):
        if function.name != "pass":
            continue
        head = code[max(code.rfind("}", 0, function.start),
                        code.rfind(";", 0, function.start)) + 1:function.start]
        verbs = re.findall(r"\bverb::(\w+)", head)
        effects = re.findall(r"\beffect::(\w+)", head)
        yield Pass([name for at, name in types if at < function.start][-1],
                   verbs or [verb for verb, effect in rows_.items()
                             if effect in effects and
                             verb not in kept_back and
                             not verb.endswith(_HANDLER)],
                   common.line_of(code, function.start), function.start,
                   bool(_FORWARDS.fullmatch(
                       code[function.start:function.end])))
