# SPDX-License-Identifier: MIT
"""A table between two marks of a README, which a run makes anew.

<!-- NAME: begin --> and <!-- NAME: end -->, each a line, and ``` inside of them.
"""
import argparse

from output import Trouble


def arguments(description):
    """What a script that makes such a table is told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    parser.add_argument("--append", required=True,
                        help="the kernel's command line")
    parser.add_argument("--readme", required=True,
                        help="the file that holds the table")
    parser.add_argument("--write", action="store_true",
                        help="put this run's table into it")
    return parser


class Place:
    """Trouble, where the file has no such marks."""

    def __init__(self, path, name):
        self.path = path
        begin = f"<!-- {name}: begin -->\n```\n"
        end = f"```\n<!-- {name}: end -->\n"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(begin) != 1 or text.count(end) != 1:
            raise Trouble(f"{path}: not one place for the table {name!r}")
        before, _, rest = text.partition(begin)
        old, _, after = rest.partition(end)
        self.lines = old.splitlines()
        self._before, self._after = before + begin, end + after

    def put(self, lines):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self._before + "\n".join(lines) + "\n" + self._after)
