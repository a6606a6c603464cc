#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scaling.py draws what can be read, of more locks than there are colours.

	scaling_selftest.py FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

import scaling

sys.path.insert(0, str(scaling.TOOLCHAIN))
import curves_selftest as look  # pylint: disable=wrong-import-position

SKIP = 77       # of CTest
HEAD = "lock,kind,threads,section_cycles,rate_median\n"
THREADS = (1, 2, 3, 4, 8, 12, 16)
LOCKS = 24


def made_up(kind):
    """Each a line of its own; a lock with one row, and one with nothing."""
    for i in range(LOCKS):
        for n in THREADS:
            rate = 3e7 / (1 + (n - 1) * 1.3 ** (i - 6))
            yield f"{kind} lock {i:02},{kind},{n},50,{rate:.0f}\n"
    yield f"{kind} lock {LOCKS},{kind},16,50,40000\n"
    yield f"{kind} lock {LOCKS + 1},{kind},16,50,0\n"


def wrong(folder, name, kind):
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    yield from look.wrong(svg)
    found = look.lines(svg)
    if len(found) != LOCKS + 1:
        yield f"{len(found)} lines of {LOCKS + 1}"
    words = [text.words for text in look.texts(svg)]
    if str(max(THREADS)) not in words:
        yield "no number at the end of the axis"
    coloured = {colour for colour, _ in found.values()} - {look.curves.GREY}
    if len(coloured) < len(look.curves.COLOURS) - 1:
        yield f"{len(coloured)} colours only"
    last = f"{kind} lock {LOCKS}"
    if not any(last in text for text in words):
        yield f"{last} is not named"


def main():
    if not shutil.which("gnuplot"):
        print("gnuplot not found")
        return SKIP
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scaling.csv").write_text(
        HEAD + "".join(row for kind in scaling.TITLES for row in made_up(kind)),
        encoding="utf-8")
    subprocess.run([sys.executable, scaling.__file__, folder], check=True)
    failures = [f"{kind}: {what}" for kind, name
                in (("klock", "scaling_klock"), ("peer", "scaling_peers"))
                for what in wrong(folder, name, kind)]
    print("\n".join(failures) or "both pictures can be read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
