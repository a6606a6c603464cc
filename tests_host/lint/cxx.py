# SPDX-License-Identifier: MIT
"""As much of C++ as the lints need: comments, strings, functions, calls.

Not a parser: it relies on the tree being formatted by clang-format and on the
style of this library (no macros, no raw strings in lib/klock).
"""

import re
from typing import NamedTuple

_LEXEMES = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.[^'\n]*|[^'\\\n])')""", re.S)

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"\n]+[>\"])", re.M)


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with its comments turned into spaces, so that offsets stay."""
    return _LEXEMES.sub(lambda m: _spaces(m[0]) if m["comment"] else m[0], text)


def code_only(text):
    """The text with comments, strings and characters turned into spaces."""
    return _LEXEMES.sub(lambda m: _spaces(m[0]), text)


def comments(text):
    """(offset, text) of each comment."""
    return [(m.start(), m[0]) for m in _LEXEMES.finditer(text) if m["comment"]]


def includes(text):
    """(offset, '<name>' or '"name"') of each #include line."""
    return [(m.start(1), m[1]) for m in _INCLUDE.finditer(without_comments(text))]


_TYPE = re.compile(r"^(?:struct|using)\s+(?:\[\[.*?\]\]\s*|alignas\(.*?\)\s*)*"
                   r"(\w+)\b(?!\s*;)", re.M)


def defined_types(text):
    """The names of the types that a header defines, in its order."""
    return _TYPE.findall(code_only(text))


class Function(NamedTuple):
    name: str
    start: int  # of the body, at its opening brace
    end: int    # behind its closing brace


_NOT_A_NAME = re.compile(r"\[\[.*?\]\]|\balignas\s*\(.*?\)|\brequires\b.*?\)"
                         r"|\btemplate\s*<.*?>", re.S)


def _function_name(head):
    """The name that head, the text before a brace, declares as a function."""
    head = _NOT_A_NAME.sub(lambda m: _spaces(m[0]), head)
    if re.search(r"\b(struct|class|union|enum|namespace|concept)\b", head):
        return None
    name = re.search(r"(operator[^\s\w(]+|~?\w+)\s*\(", head)
    return name[1] if name else None


def functions(code):
    """The functions that code_only() text defines, constructors included."""
    found = []
    open_blocks = []  # (name or None, offset of the brace)
    last = None       # the function that just ended: a(1), b{2} {} has three
    parens = 0
    head = 0
    for i, char in enumerate(code):
        inside = any(name for name, _ in open_blocks)
        if char in "([":
            parens += 1
        elif char in ")]":
            parens -= 1
        elif char == "{" and (parens == 0 or inside):
            text = code[head:i].strip()
            name = None if inside else _function_name(text)
            if not inside and last and (text == "" or text[0] == ","):
                name = last
            open_blocks.append((name, i))
            head = i + 1
        elif char == "}" and open_blocks and (parens == 0 or inside):
            name, start = open_blocks.pop()
            if name:
                found.append(Function(name, start, i + 1))
            last = name
            head = i + 1
        elif char == ";" and parens == 0:
            last = None
            head = i + 1
    return found


def enclosing(functions_, offset):
    for function in functions_:
        if function.start <= offset < function.end:
            return function
    return None


def reached_from(code, functions_, name):
    """Names of the functions that the function called name may run."""
    reached = set()
    todo = [name]
    while todo:
        at = todo.pop()
        if at in reached:
            continue
        reached.add(at)
        for function in functions_:
            if function.name == at:
                body = code[function.start:function.end]
                todo += re.findall(r"\b(\w+)\s*(?:<[^;(){}]*>)?\s*\(", body)
    return reached & {function.name for function in functions_}


_PAIRS = {"(": ")", "[": "]", "{": "}"}


def closing(code, start):
    """Offset of the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(code)):
        if code[i] in _PAIRS:
            depth += 1
        elif code[i] in _PAIRS.values():
            depth -= 1
            if depth == 0:
                return i
    return len(code) - 1


def statement_end(code, start):
    """End of the line on which the statement that goes on at start ends.

    It ends at a ';', or at the '{' that opens a body.
    """
    i = start
    while i < len(code) and code[i] not in ";{}":
        i = closing(code, i) + 1 if code[i] in "([" else i + 1
    end = code.find("\n", i)
    return len(code) if end < 0 else end
