# SPDX-License-Identifier: MIT
"""Every lock header has the fields of STYLE's template, in its order; and
behind Size what zero bytes are, and when the lock's memory may be freed.

A user who reads one header can then read them all, and the "which lock?" table
can be made from them (lock_table.py). Run: fields.py --root DIR
"""

import common
import lock_header
from common import Finding

FIELDS = ("Algorithm", "Source", "Use when", "Size", "Zero bytes", "Lifetime",
          "Fairness", "Capacity", "Context", "Assumes", "State", "Ordering",
          "Cost")

# Those that claim something a test can read.
CHECKED = ("Size", "Zero bytes", "Lifetime", "Fairness", "Capacity", "Ordering",
           "Cost")


def _check_order(name, header):
    known = [field for field in header.fields if field.name in FIELDS]
    for before, after in zip(known, known[1:]):
        if FIELDS.index(before.name) == FIELDS.index(after.name):
            yield Finding(name, after.line, f"field '{after.name}:' a second "
                          "time: keep one")
        elif FIELDS.index(before.name) > FIELDS.index(after.name):
            yield Finding(name, after.line, f"field '{after.name}:' comes "
                          f"after '{before.name}:': the order is "
                          + ", ".join(FIELDS))


def _check_field(name, field):
    if field.name not in FIELDS:
        yield Finding(name, field.line, f"no field '{field.name}:' in the "
                      "template: say it in one of " + ", ".join(FIELDS))
        return
    if not field.text:
        yield Finding(name, field.line, f"field '{field.name}:' is empty")
    if field.name in CHECKED and not field.checked:
        yield Finding(name, field.line, f"field '{field.name}:' names no test: "
                      "add 'Checked: <world>/<test>'")


def check_header(path, root):
    name = common.relative(path, root)
    header = lock_header.parse(path.read_text())
    if not header.title.startswith(path.stem + " - "):
        yield Finding(name, header.title_line, "the top comment does not begin "
                      f"with '{path.stem} - what it is'")
    present = {field.name for field in header.fields}
    for missing in FIELDS:
        if missing not in present:
            yield Finding(name, header.title_line, f"field '{missing}:' is "
                          "missing from the top comment")
    yield from _check_order(name, header)
    for field in header.fields:
        yield from _check_field(name, field)


def check(root):
    headers = common.lock_headers(root)
    if not headers:
        return common.nothing_found("no lib/klock/*_lock.hpp")
    return [finding for path in headers for finding in check_header(path, root)]


if __name__ == "__main__":
    common.main(check, __doc__)
