#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plots.py draws pictures that a stranger can read. Boots nothing: redraws from
the CSV files in fixture/, a run that was cut down.

	plots_selftest.py FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

import rows

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "toolchain"))
import curves_selftest as look  # pylint: disable=wrong-import-position

SKIP = 77       # of CTest

# picture: its CSV, whose rows it shows, words that it must hold
PICTURES = {
    "throughput": ("contention", "rows", ("million", "per second", "CPUs", "32")),
    "fairness": ("greed", "rows", ("Jain's index", "CPUs")),
    "latency": ("contention", "hists", ("CDF", "handoff time, ns", "%")),
}
# These lie on each other in the fixture, and so are named together.
TOGETHER = {"fairness": "tas_lock, ttas_lock, backoff_ttas_lock"}


def locks(folder, csv, kind):
    report = rows.parse((folder / f"{csv}.csv").read_text(encoding="utf-8"))
    return {row["lock"] if kind == "rows" else row[0]
            for row in getattr(report, kind)}


def wrong(folder, name, csv, kind, words):
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    yield from look.wrong(svg)
    shown, measured = set(look.lines(svg)), locks(folder, csv, kind)
    if shown != measured:
        yield f"curves of {shown}, but measured: {measured}"
    said = [text.words for text in look.texts(svg)]
    for word in words:
        if not any(word in text for text in said):
            yield f"'{word}' stands nowhere"
    if name in TOGETHER and TOGETHER[name] not in said:
        yield f"'{TOGETHER[name]}' are not named together"


def colours(folder):
    """A lock has one colour in all pictures, or is grey."""
    worn = {}
    for name in PICTURES:
        svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
        for lock, (colour, _) in look.lines(svg).items():
            if colour != look.curves.GREY:
                worn.setdefault(lock, {}).setdefault(colour, name)
    for lock, where in worn.items():
        # Named together with another, it has that one's colour there.
        if len(where) > 1 and not any(lock in t for t in TOGETHER.values()):
            yield f"{lock} has {len(where)} colours"


def main():
    if not shutil.which("gnuplot"):
        print("gnuplot not found")
        return SKIP
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "fixture", folder)
    subprocess.run([sys.executable, HERE / "plots.py", "--redraw",
                    "--out", folder], check=True)
    failures = [f"{name}: {what}" for name, expected in PICTURES.items()
                for what in wrong(folder, name, *expected)]
    failures += colours(folder)
    print("\n".join(failures) or "all pictures can be read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
