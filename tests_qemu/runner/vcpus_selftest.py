#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lib/README's picture vcpus.svg can be read, and shows what vcpus.csv says.
Boots nothing.

	vcpus_selftest.py FOLDER_OF_BOTH SCRATCH
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


def main():
    if not shutil.which("gnuplot"):
        print("gnuplot not found")
        return SKIP
    folder, scratch = map(pathlib.Path, sys.argv[1:])
    scratch.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "vcpus.csv", scratch)
    subprocess.run([sys.executable, "-B", vcpus.__file__, "--redraw", "--out",
                    scratch], check=True, stdout=subprocess.DEVNULL)
    svg, drawn = ((at / "vcpus.svg").read_text(encoding="utf-8")
                  for at in (folder, scratch))
    failures = [*look.wrong(svg),
                *differences(look.lines(svg), look.lines(drawn))]
    print("\n".join(failures) or "up to date, and can be read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
