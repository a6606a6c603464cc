# SPDX-License-Identifier: MIT
"""Every public member function of lib/klock has a contract: a comment above it.

A contract is written once. It also holds for the functions of that name in
other types (a wrapper's acquire() is the semaphore's), for those that differ in
a memory order or in how long they wait (load_acquire, wait_for), and for those
that stand below it without an empty line between. The contract of a verb is its
row in detail/verbs.hpp and its section in concepts.hpp.
Run: contracts.py --root DIR
"""

import re

import common
import members
import verb_list
from common import Finding

_VARIANT = re.compile(r"_(?:relaxed|acquire|release|acq_rel|seq_cst|for|until|"
                      r"one|all)$")
_DETAIL = re.compile(r"^namespace detail \{$.*?^\} // namespace detail$",
                     re.M | re.S)
_ACCESS = re.compile(r"\s*(?:public|protected|private):")


def stem(name):
    """The name without what its variants differ in: load of load_acquire."""
    return _VARIANT.sub("", name)


def is_documented(lines, line):
    """Whether a comment ends above the declaration in this line, or above the
    ones before it that no empty line parts from it."""
    for text in reversed(lines[:line - 1]):
        if text.strip().endswith("*/"):
            return True
        if not text.strip() or _ACCESS.match(text):
            return False
    return False


def public_text(text):
    """The text without what is in namespace detail, line for line."""
    return _DETAIL.sub(lambda found: "\n" * found[0].count("\n"), text)


def check(root):
    headers = [path for path in common.files(root, "lib/klock", {".hpp"})
               if path.parent == root / "lib/klock"]
    documented = {stem(verb) for verb in verb_list.rows(root)}
    bare, seen = [], 0
    for path in headers:
        text = public_text(path.read_text())
        lines = text.split("\n")
        for of, name, line in members.public_members(text):
            seen += 1
            if is_documented(lines, line):
                documented.add(stem(name))
            else:
                bare.append((path, of, name, line))
    if not seen:
        return common.nothing_found("no public member in lib/klock")
    return [Finding(common.relative(path, root), line, f"{of}::{name}() has no "
                    "contract: say above it what it takes and returns, who may "
                    "call it, and what happens on misuse")
            for path, of, name, line in bare if stem(name) not in documented]


if __name__ == "__main__":
    common.main(check, __doc__)
