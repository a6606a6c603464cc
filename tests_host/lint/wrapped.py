# SPDX-License-Identifier: MIT
"""Every public member of every lock stands in checked_lock's drop-in test.

That test compares, for each expression that it lists, what compiles with a lock
and with the checked one. An expression that nobody listed is compared by nobody:
code that uses a new member would compile in a release build alone. Run:
wrapped.py --root DIR
"""

import re

import common
import cxx
from common import Finding

TEST = "tests_host/unit/test_checked_lock_drop_in.cpp"

_LOCK = re.compile(r"^struct (?:\[\[.*?\]\] )?(\w+_lock)\b[^;{]*\{", re.M)
_CONSTANT = re.compile(r"^\tstatic constexpr [\w:<>]+ (\w+)\s*=", re.M)
_TYPE = re.compile(r"^\tusing (\w+)\s*=", re.M)


def _members(code):
    """(offset, name) of what a header's locks show, less their constructors."""
    for lock in _LOCK.finditer(code):
        begin = lock.end()
        end = cxx.closing(code, begin - 1)
        private = re.search(r"^\s+(?:private|protected):", code[begin:end],
                            re.M)
        public = code[begin:begin + private.start() if private else end]
        for pattern in (_CONSTANT, _TYPE):
            yield from ((begin + found.start(1), found[1])
                        for found in pattern.finditer(public))
        yield from ((begin + function.start, function.name)
                    for function in cxx.functions(public)
                    if function.name != lock[1])


def check(root):
    headers = [path for path in common.lock_headers(root)
               if path.name not in common.WRAPPERS + common.UNLISTED]
    if not headers:
        return common.nothing_found("no lib/klock/*_lock.hpp")
    test = root / TEST
    text = cxx.without_comments(test.read_text()) if test.is_file() else ""
    listed = set(re.findall(r"\w+", text))
    found = []
    for path in headers:
        code = cxx.code_only(path.read_text())
        found += [Finding(common.relative(path, root),
                          common.line_of(code, offset),
                          f"'{name}' is not in {TEST}: list it there, and let "
                          "checked_lock have it")
                  for offset, name in _members(code) if name not in listed]
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
