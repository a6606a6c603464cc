# SPDX-License-Identifier: MIT
"""A figure in a comment that the code has under a name is what the code says.

    told Patience (8) times     template <u32 Patience = 8>
    levels (4) waits            static constexpr unsigned levels = 4;

The names are the constants and the default arguments that a header gives a
number. Its comments say NAME (N), which is compared; comments of other headers
say struct::NAME (N). Two places must say so: the fields Fairness and Capacity,
where a number is a constant's; and a sentence that has both a number and its
name, if that is one like Patience or max_readers, no word of English. Numbers
below 3 count as words. Run: figures.py --root DIR
"""

import re

import common
import cxx
from common import Finding

BOUND = ("Fairness", "Capacity")
LEAST = 3

_NUMBER = r"(?:\w+\{)?(0x[\da-fA-F']+|\d[\d']*)u?\}?"
_CONSTANTS = re.compile(r"\bconstexpr\s+[\w:]+\s+(\w+\s*=[^;(]*);")
_TEMPLATE = re.compile(r"\btemplate\s*<([^;{}()]*)>")
_IS = re.compile(rf"\b(\w+)\s*=\s*{_NUMBER}\s*(?=[,;>]|$)")
_CLAIM = re.compile(r"\b(\w+::)?(\w+)\s+\((\d[\d,]*)\)")
_FIGURE = re.compile(r"(?<![\w.^,])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w,]\d|\w)")
_SENTENCE = re.compile(r"(?:[^.;]|[.;](?!\s))+")
_FIELD = re.compile(r"^ \* ([A-Z][a-z]+):.*\n(?: \*(?: {2}|\t).*\n)*", re.M)
_CHECKED = re.compile(r"Checked:.*?(?:,\n.*?)*$", re.M)


def constants(text):
    """{name: its numbers} of what the code of a header says."""
    code, found = cxx.code_only(text), {}
    for part in [*_CONSTANTS.findall(code), *_TEMPLATE.findall(code)]:
        for name, number in _IS.findall(part):
            found.setdefault(name, set()).add(int(number.replace("'", ""), 0))
    return found


def _value(figure):
    return int(figure.replace(",", ""))


def _prose(comment):
    """Returns the comment, the margin and the names of tests made blank."""
    text = _CHECKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), comment)
    return re.sub(r"\n[ \t]*\*?[ \t]*", lambda m: " " * len(m[0]), text)


def _parts(names, comment, prose):
    """(begin, end, names) of each part that must name its figures."""
    for field in _FIELD.finditer(comment):
        if field[1] in BOUND:
            yield *field.span(), names
    for sentence in _SENTENCE.finditer(prose):
        yield *sentence.span(), {
            name: values for name, values in names.items()
            if re.search(r"[A-Z_]", name)
            and re.search(rf"\b{name}\b", sentence[0])}


def _check_comment(names, everywhere, comment):
    """(offset, what is wrong), each offset once."""
    prose = _prose(comment)
    found, claimed = {}, set()
    for claim in _CLAIM.finditer(prose):
        known = (everywhere if claim[1] else names).get(claim[2])
        if known:
            claimed.add(claim.start(3))
        if known and _value(claim[3]) not in known:
            values = " or ".join(map(str, sorted(known)))
            found[claim.start(3)] = f"{claim[2]} is {values}, not {claim[3]}"
    for begin, end, here in _parts(names, comment, prose):
        for figure in _FIGURE.finditer(prose, begin, end):
            value, at = _value(figure[0]), figure.start()
            known = [f"'{n} ({figure[0]})'" for n, v in here.items()
                     if value in v]
            if known and value >= LEAST and at not in claimed:
                found[at] = f"a figure without its name: {' or '.join(known)}"
    return sorted(found.items())


def check(root):
    headers = common.files(root, "lib/klock", {".hpp"})
    if not headers:
        return common.nothing_found("no headers in lib/klock")
    texts = {path: path.read_text() for path in headers}
    by_header = {path: constants(text) for path, text in texts.items()}
    everywhere = {}
    for names in by_header.values():
        for name, values in names.items():
            everywhere.setdefault(name, set()).update(values)
    return [Finding(common.relative(path, root),
                    common.line_of(text, at + offset), what)
            for path, text in texts.items()
            for at, comment in cxx.comments(text)
            for offset, what in _check_comment(by_header[path], everywhere,
                                               comment)]


if __name__ == "__main__":
    common.main(check, __doc__)
