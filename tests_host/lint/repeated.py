# SPDX-License-Identifier: MIT
"""Texts that are written twice agree. Run: repeated.py --root DIR

families   lib/README.md's table of headers by family holds each header once, so
           that a stranger sees in one look which are to include
sources    lib/c/sources lists each lib/c/*.cpp, for builds without CMake
versions   who repeats the version says that of lib/klock/version.hpp:
           meson.build cannot read it, and CHANGELOG.md must have a heading
licence    LICENSES/MIT.txt, for REUSE, is LICENSE
"""

import re

import common
from common import Finding

README = "lib/README.md"
SECTION = "## The headers"


def check_families(root):
    headers = sorted((root / "lib/klock").glob("*.hpp"))
    if not headers:
        return common.nothing_found("no headers in lib/klock")
    path = root / README
    text = path.read_text() if path.is_file() else ""
    begin = text.find(SECTION + "\n")
    if begin < 0:
        return [Finding(README, 0, f"no section '{SECTION}': the table of "
                        "headers by family")]
    section = text[begin:].split("\n## ")[0]
    listed = re.findall(r"\]\(klock/([\w.]+)\)", section)
    line = common.line_of(text, begin)
    return [Finding(README, line, f"{header.name} stands "
                    f"{listed.count(header.name)} times in '{SECTION}': once, "
                    "in its family")
            for header in headers if listed.count(header.name) != 1]


SOURCES = "lib/c/sources"
# A host's alone: embed.md says when.
NO_SOURCES = {"host_parking"}


def check_sources(root):
    path = root / SOURCES
    listed = set(path.read_text().split()) if path.is_file() else set()
    files = {file.stem for file in (root / "lib/c").glob("*.cpp")} - NO_SOURCES
    return [Finding(SOURCES, 0, f"lib/c/{name}.cpp is in the "
                    f"{'list' if name in listed else 'folder'} alone")
            for name in sorted(listed ^ files)]


HOME = "lib/klock/version.hpp"
# file              what must stand in it, with the version
REPEATED = [
    ("meson.build",  r"\bversion: '{}'"),
    ("CHANGELOG.md", r"^## {}$"),
    ("CITATION.cff", r"^version: {}$"),
    ("lib/c/klock/verbs.h", r'built from version "{}"'),
]


def check_versions(root):
    home = root / HOME
    parts = re.findall(r"\bversion_\w+ = (\d+);",
                       home.read_text() if home.is_file() else "")
    if len(parts) != 3:
        return common.nothing_found(f"no version in {HOME}")
    version = ".".join(parts)
    found = []
    for name, pattern in REPEATED:
        path = root / name
        text = path.read_text() if path.is_file() else ""
        if not re.search(pattern.format(re.escape(version)), text, re.M):
            found.append(Finding(name, 0, f"does not say {version}, the "
                                 f"version of {HOME}"))
    return found


def check_licence(root):
    texts = [path.read_text() if path.is_file() else None for path in
             (root / "LICENSE", root / "LICENSES/MIT.txt")]
    return [] if texts[0] == texts[1] else [
        Finding("LICENSES/MIT.txt", 0, "is not LICENSE")]


def check(root):
    return (check_families(root) + check_sources(root) + check_versions(root) +
            check_licence(root))


if __name__ == "__main__":
    common.main(check, __doc__)
