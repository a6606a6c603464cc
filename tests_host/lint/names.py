# SPDX-License-Identifier: MIT
"""A function that is named as a question returns bool and changes nothing.

is_, has_, can_ and may_ begin a question. A reader takes its call for free of
effects, so it returns bool, a member function of it is const or static, and no
parameter lets it change what it looks at. A notification is a verb in the past
(note_taken), an action a verb. Not seen: a lambda, and a const function that
writes through a pointer or a global. Run: names.py --root DIR
"""

import re

import common
import cxx
from common import Finding

SOURCES = {".hpp", ".cpp", ".h", ".c"}

_QUESTION = re.compile(r"\b(?:is|has|can|may)_\w+(?=\s*\()")
_NOT_A_TYPE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", re.S)
_SPECIFIERS = {"static", "inline", "constexpr", "consteval", "virtual",
               "friend", "extern", "explicit", "public", "private",
               "protected"}
_NO_TYPE = {"return", "else", "case", "goto", "throw", "new", "delete", "using",
            "co_return", "co_yield", "do", "not", "and", "or", "define"}
_TYPE = re.compile(r"[\w:]+(?:\s*<.*>)?(?:\s*(?:const|[*&]))*", re.S)
_RECORD = re.compile(r"\b(?:struct|class|union)\b(?![^<]*>\s*\w+\s*\()")
# A parameter through which its argument may change: T &x or T *x, but no T &&x
# and no pointer to a member.
_CHANGES = re.compile(r"(?!.*\bconst\b).*(?<!&)(?<!::)[&*]\s*(?:\w+\s*)?(?:=.*)?",
                      re.S)


# The start of a declaration, up to a bracket.
_CLAUSE = re.compile(r"\s*(?:template\s*(<)|(?:requires|&&|\|\|)\s*!?"
                     r"(?:(\()|[\w:]+\s*(<)|[\w:]+\s))")


def _without_template(head):
    """head behind each template<...> and its requires clause."""
    while found := _CLAUSE.match(head):
        at = found.end()
        opens = found[1] or found[2] or found[3]
        depth = 1 if opens else 0
        while at < len(head) and depth:
            depth += {opens: 1, {"<": ">", "(": ")"}[opens or "<"]: -1}.get(
                head[at], 0)
            at += 1
        head = head[at:]
    return head


def _scopes(code):
    """[(offset behind a brace or semicolon, whether it is in a struct's body)].
    """
    found, open_, head = [], [False], 0
    for brace in re.finditer(r"[{};]", code):
        if brace[0] == "{":
            text = _without_template(code[head:brace.start()])
            open_.append(bool(_RECORD.search(text)) and "(" not in
                         _NOT_A_TYPE.sub(" ", text))
        elif brace[0] == "}" and len(open_) > 1:
            open_.pop()
        head = brace.end()
        found.append((head, open_[-1]))
    return found


def _parameters(text):
    """Returns the parts between commas that no bracket encloses."""
    found, depth, begin = [], 0, 0
    for i, char in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, "<": 1,
                  ")": -1, "]": -1, "}": -1, ">": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append(text[begin:i])
            begin = i + 1
    return [*found, text[begin:]]


def questions(text):
    """(offset, name, what is wrong or None) of each that text declares."""
    code = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: re.sub(r"[^\n]", " ", m[0]),
                  cxx.code_only(text), flags=re.M | re.S)
    scopes, at = [(0, False), *_scopes(code)], 0
    for name in _QUESTION.finditer(code):
        while at + 1 < len(scopes) and scopes[at + 1][0] <= name.start():
            at += 1
        head, member = code[scopes[at][0]:name.start()], scopes[at][1]
        head = re.sub(r"^\s*(?:public|private|protected)\s*:(?!:)", "", head)
        head = _NOT_A_TYPE.sub(" ", _without_template(head))
        outside = re.search(r"[\w>]\s*::\s*$", head)
        words = re.sub(r"(?:\w+(?:<[^;{}]*>)?::)+\s*$", "", head).split()
        specifiers = {w for w in words if w in _SPECIFIERS}
        type_ = " ".join(w for w in words if w not in _SPECIFIERS)
        if not _TYPE.fullmatch(type_) or _NO_TYPE & {*words}:
            continue
        begin = code.index("(", name.end())
        end = cxx.closing(code, begin)
        tail = re.match(r"[^;{}=]*", code[end + 1:])[0]
        yield name.start(), name[0], _wrong(
            type_, code[begin + 1:end], tail,
            member and not outside and not specifiers & {"static", "friend"})


def _wrong(type_, parameters, tail, member):
    if type_ != "bool" and not (type_ == "auto" and "-> bool" in tail):
        return f"returns {type_}, and is named as a question"
    if member and not re.match(r"\s*const\b", tail):
        return "is named as a question, and is neither const nor static"
    for parameter in _parameters(parameters):
        if _CHANGES.fullmatch(parameter):
            return (f"is named as a question, and may change "
                    f"'{' '.join(parameter.split())}'")
    return None


def check(root):
    seen, found = 0, []
    for folder in common.FOLDERS:
        for path in common.files(root, folder, SOURCES):
            file, text = common.relative(path, root), path.read_text()
            for offset, name, wrong in questions(text):
                seen += 1
                if wrong:
                    found.append(Finding(
                        file, common.line_of(text, offset), f"{name}() {wrong}: "
                        "answer alone, or name it by what it does"))
    if not seen:
        return common.nothing_found("no function named as a question")
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
