# SPDX-License-Identifier: MIT
"""The contract, lib/klock and the ports agree on the names of klock::arch.

Each arch::name that lib/klock uses is in lib/arch/CONTRACT.md, and each name of
CONTRACT's tables, or used by lib/klock, is defined by every port in lib/arch:
in its own headers, or in builtin_ops.hpp where the port includes that; or by
atomic.hpp for all ports, in namespace arch_defaults. The port that the guide
shows is one of them.

A header that stands in front of a port's, in an overlay, has each name that
CONTRACT's table of that header demands, but what "May be left out".
Run: ports.py --root DIR
"""

import re

import common
import cxx
from common import Finding

CONTRACT = "lib/arch/CONTRACT.md"
GUIDE = "lib/docs/add-a-port.md"

_SECTION = re.compile(r"^## (\w+\.hpp)$", re.M)
_ROW = re.compile(r"^\| *(`.*?) \|", re.M)
_SHOWN = re.compile(r"^`\S*/klock/arch/\w+\.hpp`:\n\n```cpp\n(.*?)^```$",
                    re.M | re.S)
_DEFAULTS = re.compile(r"^namespace arch_defaults \{$.*?^\}$", re.M | re.S)
_USE = re.compile(r"\barch\s*::\s*(?!cpu\b\s*::)([a-z_]\w*)")


def _declared(cell):
    """The names that the first column of a row of CONTRACT.md declares."""
    names = []
    for code in re.findall(r"`([^`]*)`", cell):
        code = re.sub(r"\(.*|=.*", "", code).strip()  # arguments, values
        code = re.sub(r"<[^>]*>$", "", code).strip()  # template arguments
        if code:
            names.append(re.findall(r"\w+", code)[-1])
    return names


def contract_names(text):
    """{name: line} of the tables' first columns; all words in backticks."""
    names = {}
    for row in _ROW.finditer(text):
        for name in _declared(row[1]):
            names.setdefault(name, common.line_of(text, row.start()))
    words = set()
    for code in re.findall(r"`([^`]*)`", text):
        words.update(re.findall(r"\w+", code))
    return names, words


def demanded_names(text, section):
    """{name: line} of the rows of a header's section that a port must have."""
    names = {}
    start = text.index(f"## {section}\n")
    end = text.find("\n## ", start)
    for row in re.finditer(r"^\| *`.*$", text[start:end], re.M):
        if "May be left out" in row[0]:
            continue
        for name in _declared(_ROW.match(row[0])[1]):
            names[name] = common.line_of(text, start + row.start())
    return names


def overlays(root):
    """Each header of klock/arch that is not a port's own."""
    for folder in ("lib/arch", "boot", "tests_host", "tests_qemu"):
        for path in common.files(root, folder, {".hpp"}):
            place = path.relative_to(root).parts
            if place[-3:-1] == ("klock", "arch") and \
                    not (folder == "lib/arch" and place[3] == "klock"):
                yield path


def _check_overlay(root, path, contract, sections, alone):
    if path.name not in sections:
        return
    code = cxx.code_only(path.read_text())
    for name, line in demanded_names(contract, path.name).items():
        if not defines(code, name):
            yield Finding(common.relative(path, root), 0,
                          f"'{name}' is not here, which {CONTRACT}:{line} "
                          "demands of the port's own: define it, or demand it "
                          "of a header that nothing stands in front of "
                          f"({', '.join(alone)})")


def used_names(root):
    """{name: (file, line)} of each arch::name in lib/klock's code."""
    used = {}
    for path in common.files(root, "lib/klock", {".hpp"}):
        text = path.read_text()
        for match in _USE.finditer(cxx.code_only(text)):
            used.setdefault(match[1], (common.relative(path, root),
                                       common.line_of(text, match.start())))
    return used


def _with_defaults(root, text):
    """The code of a port's headers, and what klock has for all ports."""
    builtin = root / "lib/klock/detail/builtin_ops.hpp"
    if "<klock/detail/builtin_ops.hpp>" in text and builtin.is_file():
        text += builtin.read_text()
    for path in common.files(root, "lib/klock", {".hpp"}):
        text += "".join(_DEFAULTS.findall(path.read_text()))
    return cxx.code_only(text)


def defines(code, name):
    """Whether the code defines a type, a constant or a function so called."""
    return re.search(
        rf"\b(?:struct|using)\b[^;{{=()]*\b{name}\b(?!\s*[;<])"   # a type
        rf"|\b(?:using)\s+(?:\w+::)+{name}\s*;"                    # taken over
        rf"|\bconstexpr\b[^;{{()]*\b{name}\s*[={{]"                # a constant
        rf"|^[^\n=;#]*\b\w[\w<>:]*[\s*&]+{name}\s*\([^;]*?\)[^;{{]*\{{",
        code, re.M) is not None


def _check_port(root, port, names, sections):
    folder = f"lib/arch/{port}"
    missing = [section for section in sections if not
               (root / folder / "klock/arch" / section).is_file()]
    for section in missing:
        yield Finding(folder, 0, f"the port has no klock/arch/{section}, "
                      "which CONTRACT.md demands")
    if missing:
        return
    yield from _check_names(root, folder, names, "".join(
        path.read_text() for path in common.files(root, folder, {".hpp"})))


def _check_names(root, port, names, headers):
    code = _with_defaults(root, headers)
    for name, (where, line) in sorted(names.items()):
        if not defines(code, name):
            yield Finding(where, line, f"'{name}' is not defined by the port "
                          f"{port}: define it there, or take it out here")


def check(root):
    contract = root / CONTRACT
    if not contract.is_file():
        return common.nothing_found(f"no {CONTRACT}")
    text = contract.read_text()
    names, words = contract_names(text)
    sections = _SECTION.findall(text)
    used = used_names(root)
    ports = sorted(folder.name for folder in (root / "lib/arch").iterdir()
                   if common.files(root, f"lib/arch/{folder.name}", {".hpp"}))
    if not names or not sections or not used or not ports:
        return common.nothing_found("no tables in CONTRACT.md, no arch:: in "
                                    "lib/klock, or no port")
    found = [Finding(where, line, f"arch::{name} is not in {CONTRACT}: a port "
                     "written from it would not have it")
             for name, (where, line) in sorted(used.items())
             if name not in words]
    needed = {name: (CONTRACT, line) for name, line in names.items()}
    for name, place in used.items():
        needed.setdefault(name, place)
    for port in ports:
        found += _check_port(root, port, needed, sections)
    guide = root / GUIDE
    shown = _SHOWN.findall(guide.read_text()) if guide.is_file() else []
    if not shown:
        return common.nothing_found(f"no port in {GUIDE}")
    found += _check_names(root, "of " + GUIDE, needed, "".join(shown))
    in_front = list(overlays(root))
    alone = [section for section in sections
             if section not in {path.name for path in in_front}]
    for path in in_front:
        found += _check_overlay(root, path, text, sections, alone)
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
