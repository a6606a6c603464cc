# SPDX-License-Identifier: MIT
"""Texts that are written twice agree. Run: repeated.py --root DIR

families   lib/README.md's table of headers by family holds each header once, so
           that a stranger sees in one look which are to include
sources    lib/c/sources lists each lib/c/*.cpp, for builds without CMake
versions   who repeats the version says that of lib/klock/version.hpp:
           meson.build cannot read it, and CHANGELOG.md must have a heading
licence    LICENSES/MIT.txt, for REUSE, is LICENSE
wrapped    every public member of every lock stands in checked_lock's drop-in
           test, which compares what compiles with a lock and with the checked
           one: code that uses a new member would compile in a release alone
"""

import re

import common
import cxx
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


TEST = "tests_host/unit/test_checked_lock.cpp"

_LOCK = re.compile(r"^struct (?:\[\[.*?\]\] )?(\w+_lock)\b[^;{]*\{", re.M)
_CONSTANT = re.compile(r"^\tstatic constexpr [\w:<>]+ (\w+)\s*=", re.M)
_TYPE = re.compile(r"^\tusing (\w+)\s*=", re.M)


def _members(code):
    """(offset, name) of what a header's locks show, less their constructors."""
    for lock in _LOCK.finditer(code):
        begin = lock.end()
        end = cxx.closing(code, begin - 1)
        private = re.search(r"^\s+(?:private|protected):", code[begin:end],
                            re.M)
        public = code[begin:begin + private.start() if private else end]
        for pattern in (_CONSTANT, _TYPE):
            yield from ((begin + found.start(1), found[1])
                        for found in pattern.finditer(public))
        yield from ((begin + function.start, function.name)
                    for function in cxx.functions(public)
                    if function.name != lock[1])


def check_wrapped(root):
    headers = [path for path in common.lock_headers(root)
               if path.name not in common.WRAPPERS + common.UNLISTED]
    if not headers:
        return common.nothing_found("no lib/klock/*_lock.hpp")
    test = root / TEST
    text = cxx.without_comments(test.read_text()) if test.is_file() else ""
    listed = set(re.findall(r"\w+", text))
    found = []
    for path in headers:
        code = cxx.code_only(path.read_text())
        found += [Finding(common.relative(path, root),
                          common.line_of(code, offset),
                          f"'{name}' is not in {TEST}: list it there, and let "
                          "checked_lock have it")
                  for offset, name in _members(code) if name not in listed]
    return found


def check(root):
    return (check_families(root) + check_sources(root) + check_versions(root) +
            check_licence(root) + check_wrapped(root))


if __name__ == "__main__":
    common.main(check, __doc__)
