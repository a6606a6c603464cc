#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the API reference by Doxygen: reference.py --root TOP --out FOLDER

A public name without a comment is an error. Without Doxygen: says so, and exits
with 77 (--optional: 0). --selftest: such a name is found.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
BAD = """#pragma once
namespace klock {

/* Has a comment. */
struct fine {
	int nothing_said;
};

} // namespace klock
"""


def doxygen(root, out, headers):
    """Status and words of one run over the folder with headers."""
    version = ".".join(re.findall(
        r"version_\w+ = (\d+)", (root / "lib/klock/version.hpp").read_text()))
    text = (root / "lib/docs/Doxyfile.in").read_text()
    for name, value in (("VERSION", version), ("OUT", out), ("ROOT", root),
                        ("HEADERS", headers), ("PYTHON", sys.executable)):
        text = text.replace(f"@{name}@", str(value))
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=text, capture_output=True,
                          text=True)
    return done.returncode, done.stdout + done.stderr


def selftest(root, out):
    """A name that nothing is said of must be found."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bad.hpp").write_text(BAD)
        status, said = doxygen(root, out, folder)
        index = Path(folder) / "out/html"
        index.mkdir(parents=True)
        for name in ("index", "structklock_1_1ticket__lock"):
            (index / f"{name}.html").write_text("`")
        pages = list(wrong_pages(root, Path(folder) / "out"))
    if len(pages) != 9:
        print(f"missed an empty page: {pages}")
        return 1
    if status == 0 or "nothing_said" not in said:
        print(f"missed a public name without a comment: {said}")
        return 1
    return 0


def wrong_pages(root, out):
    """What a reader would miss: README in front, a lock's whole text."""
    def words(name):
        text = (out / "html" / name).read_text()
        return " ".join(re.sub(r"<[^>]+>", " ", text).split())

    first = (root / "README.md").read_text().split("\n\n")[1].split(":")[0]
    if " ".join(first.split()) not in words("index.html"):
        yield "index.html is not README.md"
    page = words("structklock_1_1ticket__lock.html")
    for field in ("Algorithm", "Source", "Capacity", "Context", "Ordering",
                  "Cost"):
        if f" {field} " not in page:
            yield f"ticket_lock's page has no {field}"
    for path in sorted((out / "html").glob("*.html")):
        text = path.read_text()
        for raw in ("`", "&amp;#", "&amp;lt;"):
            if not path.stem.endswith("_source") and raw in text:
                yield f"{path.name} has a raw {raw}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--optional", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    args = parser.parse_args()
    if not shutil.which("doxygen"):
        print("skipped: doxygen not found; install it (an optional package) "
              "for the API reference")
        return 0 if args.optional else SKIPPED
    root, out = args.root.resolve(), args.out.resolve()
    if args.selftest:
        return selftest(root, out)
    status, said = doxygen(root, out, root / "lib/klock")
    print(said, end="")
    for wrong in wrong_pages(root, out) if status == 0 else []:
        print(wrong)
        status = 1
    if status == 0:
        print(f"{out}/html/index.html")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
