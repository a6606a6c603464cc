# SPDX-License-Identifier: MIT
"""lib/klock has nothing that fits one environment alone: a header serves all.

No #if and no macro, no standard library beyond <stdint.h> and <stddef.h>, no
order as an argument, no builtin outside builtin_ops.hpp and unordered.hpp
(selftest is free to: it looks at locks from outside, and breaks some); and no lock reaches past
atomic<T> to its port, or writes its own wait loop. Run: bans.py --root DIR
"""

import re

import common
import cxx
from common import Finding

STANDARD = ("stdint.h", "stddef.h")

# which files           pattern in the code (no comments, no strings)   instead
BANS = [
    ("*.hpp", r"\bmemory_order\w*",
     "an order is part of an operation's name: <klock/atomic.hpp>"),
    ("*.hpp", r"\bstd\s*::|\bnamespace\s+std\b",
     "lib/klock has no standard library: write what is needed, or do without"),
    ("*.hpp", r"\b(?:throw|try|catch|dynamic_cast|typeid)\b",
     "lib/klock is built without exceptions and RTTI"),
    ("*_lock.hpp", r"\barch\s*::\s*\w+",
     "a lock never knows its port: use <klock/atomic.hpp>, <klock/cpu.hpp>"),
    ("*_lock.hpp", r"\b(?:asm|__asm__|volatile)\b",
     "a lock is the same on every CPU: it belongs into the port"),
    ("*_lock.hpp", r"\b(?:cpu_relax|relax_for)\s*\(",
     "a lock never writes its own wait loop: use an await operation"),
    ("*_lock.hpp", r"\bwhile\s*\([^;{]*\bload_\w+",
     "a lock never writes its own wait loop: use an await operation"),
]

MAY_CALL = ("builtin_ops.hpp", "unordered.hpp")
_BUILTIN = re.compile(r"\b__(?:atomic|sync|ATOMIC)_\w+")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*([^\n]*)", re.M)
_ALLOWED_DIRECTIVE = re.compile(r"pragma once$|include\b")


def _check_preprocessor(name, text):
    code = cxx.without_comments(text)
    for match in _DIRECTIVE.finditer(code):
        directive = match[1].strip()
        if not _ALLOWED_DIRECTIVE.match(directive):
            yield Finding(name, common.line_of(text, match.start(1)),
                          f"'#{directive}': only '#pragma once' and #include "
                          "in lib/klock; what differs belongs into the port")
    if not re.search(r"^#pragma once$", code, re.M):
        yield Finding(name, 1, "no '#pragma once'")
    for offset, target in cxx.includes(text):
        if not target[1:-1].startswith("klock/") and \
                target[1:-1] not in STANDARD:
            yield Finding(name, common.line_of(text, offset), f"#include "
                          f"{target}: of the standard library only "
                          + ", ".join(f"<{h}>" for h in STANDARD))


def _check_code(path, name, text):
    code = cxx.code_only(text)
    for files, pattern, instead in BANS:
        if not path.match(files):
            continue
        for match in re.finditer(pattern, code):
            word = " ".join(match[0].split())
            yield Finding(name, common.line_of(text, match.start()),
                          f"'{word}': {instead}")
    if path.name not in MAY_CALL and path.parent.name != "selftest":
        for match in _BUILTIN.finditer(code):
            yield Finding(name, common.line_of(text, match.start()),
                          f"'{match[0]}': only {' and '.join(MAY_CALL)} call "
                          "builtins")


def check(root):
    headers = common.files(root, "lib/klock", {".hpp"})
    if not headers:
        return common.nothing_found("no headers in lib/klock")
    found = []
    for path in headers:
        name, text = common.relative(path, root), path.read_text()
        found += _check_preprocessor(name, text)
        found += _check_code(path, name, text)
    for path in common.files(root, "lib/klock"):
        if path.suffix != ".hpp":
            found.append(Finding(common.relative(path, root), 0,
                                 "lib/klock holds .hpp headers alone"))
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
