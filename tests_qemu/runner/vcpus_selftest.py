#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lib/README's picture vcpus.svg can be read, and shows what vcpus.csv says; so
does its table. Boots nothing.

	vcpus_selftest.py FOLDER_OF_BOTH README SCRATCH
"""
import pathlib
import shutil
import subprocess
import sys

import vcpus

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "toolchain"))
import curves_selftest as look  # pylint: disable=wrong-import-position

SKIP = 77       # of CTest
PIXELS = 3      # a gnuplot rounds as it likes


def differences(shown, told):
    if shown.keys() != set(vcpus.SHOWN):
        yield f"curves of {sorted(shown)}"
    for name in shown.keys() & told.keys():
        points = list(zip(shown[name][1], told[name][1]))
        if (len(points) != len(vcpus.PER_CORE)
                or any(max(abs(a - c), abs(b - d)) > PIXELS
                       for (a, b), (c, d) in points)):
            yield (f"{name} is not what vcpus.csv says: cmake --build BUILD "
                   "--target vcpus")


def wrong_in_table(rows, readme):
    lines, start = vcpus.lines_of_table(readme)
    for told, true in zip(lines[start:], vcpus.table(rows)):
        if told != true:
            yield f"{readme.name}: not what vcpus.csv says:\n{told}\n{true}"


def wrong_when_put(rows, readme, scratch):
    """Another run's figures go where the old ones were, and nothing else."""
    others = [dict(row, per_second=row["per_second"] + 1) for row in rows]
    copy = scratch / readme.name
    shutil.copy(readme, copy)
    if len(list(wrong_in_table(others, copy))) != len(vcpus.TOLD):
        yield "another run's figures are not told from these"
    vcpus.put_table(others, copy)
    yield from wrong_in_table(others, copy)
    vcpus.put_table(rows, copy)
    if copy.read_bytes() != readme.read_bytes():
        yield f"{readme.name}: more than the table is written"


def main():
    if not shutil.which("gnuplot"):
        print("gnuplot not found")
        return SKIP
    folder, readme, scratch = map(pathlib.Path, sys.argv[1:])
    scratch.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "vcpus.csv", scratch)
    subprocess.run([sys.executable, "-B", vcpus.__file__, "--redraw", "--out",
                    scratch], check=True, stdout=subprocess.DEVNULL)
    svg, drawn = ((at / "vcpus.svg").read_text(encoding="utf-8")
                  for at in (folder, scratch))
    rows = vcpus.rows_of(folder / "vcpus.csv")
    failures = [*look.wrong(svg),
                *differences(look.lines(svg), look.lines(drawn)),
                *wrong_in_table(rows, readme),
                *wrong_when_put(rows, readme, scratch)]
    print("\n".join(failures) or "up to date, and can be read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
