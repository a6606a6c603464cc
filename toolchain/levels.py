#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests and their seconds by kind and level, of a build tree.

The seconds are those that ctest measured when each test ran last (two run at
once); a test that has not run counts as none.
"""

import collections
import json
import pathlib
import subprocess
import sys

import tool

LEVELS = ("check", "test", "full")


def costs(build):
    """{test: seconds}, as ctest keeps them to start the longest first."""
    path = build / "Testing/Temporary/CTestCostData.txt"
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line == "---":
            break
        name, runs, seconds = line.split()
        if int(runs):
            found[name] = float(seconds)
    return found


def tests(build):
    """[(test, its labels)]"""
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build,
                            check=True, capture_output=True, text=True).stdout
    for test in json.loads(listed)["tests"]:
        labels = next((p["value"] for p in test.get("properties", [])
                       if p["name"] == "LABELS"), [])
        yield test["name"], labels


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD_FOLDER")
    build = parser.parse_args().build
    if not (build / "CTestTestfile.cmake").is_file():
        raise tool.Trouble(f"{build}: no build tree that has tests")
    seconds = costs(build)
    cells = collections.defaultdict(lambda: [0, 0.0])
    for name, labels in tests(build):
        level = next(label for label in labels if label in LEVELS)
        for kind in [label for label in labels if label not in LEVELS] + ["all"]:
            cell = cells[kind, level]
            cell[0] += 1
            cell[1] += seconds.get(name, 0)
    print("tests and their seconds; each level has those of the ones before\n")
    print(f"{'':10}" + "".join(f"{level:>16}" for level in LEVELS))
    for kind in sorted({kind for kind, _ in cells}, key=lambda k: (k == "all", k)):
        count, time, row = 0, 0.0, f"{kind:10}"
        for level in LEVELS:
            count += cells[kind, level][0]
            time += cells[kind, level][1]
            row += f"{count:8}{time:7.0f}s"
        print(row)


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
