# SPDX-License-Identifier: MIT
"""Instructions by the ordered operation of a header that they come from.

A header marks each of them by a tag, /* O1 */; the compiler's debug information
has the line of an instruction, and the lines that its function was inlined at.
"""

import re

import listing
from listing import call

HEADERS = listing.ROOT / "lib/klock"

_TAG = re.compile(r"/\* (O\d+) \*/")
_COMMENT = re.compile(r"/\*.*?\*/")
_ENDS = re.compile(r"(?:[;{}:]|\*/|^)\s*$")


def _first_line(lines, last):
    """The first line of the statement that ends in a line."""
    first, depth = last, 0
    while True:
        code = _COMMENT.sub("", lines[first])
        depth += code.count(")") - code.count("(")
        if depth <= 0 and _ENDS.search(_COMMENT.sub("", lines[first - 1])):
            return first
        first -= 1


def of_header(path):
    """{line: tag}, of all lines of each statement that has one."""
    lines = path.read_text().splitlines()
    found = {}
    for last, line in enumerate(lines):
        if match := _TAG.search(line):
            for at in range(_first_line(lines, last), last + 1):
                found.setdefault(at + 1, f"{path.stem} {match[1]}")
    return found


def of_headers():
    """{(header's path in lib/klock, line): tag}"""
    return {(str(path.relative_to(HEADERS)), line): tag
            for path in sorted(HEADERS.rglob("*.hpp"))
            for line, tag in of_header(path).items()}


def of_code(machine, linked, addresses):
    """{address: tag}, of those that come from a tagged statement. Of functions
    inlined one in the other the innermost that has a tag counts."""
    tagged = of_headers()
    tool = listing.BINUTILS[machine].prefix + "addr2line"
    found = {}
    address = None
    for line in call([tool, "-a", "-i", "-e", linked,
                      *(hex(address) for address in sorted(addresses))]
                     ).splitlines():
        if line.startswith("0x"):
            address = int(line, 16)
            continue
        path, _, number = line.split(" ")[0].rpartition(":")
        _, _, header = path.rpartition("lib/klock/")
        if number.isdigit() and (tag := tagged.get((header, int(number)))):
            found.setdefault(address, tag)
    return found
