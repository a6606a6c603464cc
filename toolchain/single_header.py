#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes all of klock, for one port, into one header.

    python3 toolchain/single_header.py x86 klock.hpp

The file replaces both include paths: #include "klock.hpp" is all. It holds
every header of lib/klock (less the self-tests) and of lib/arch/PORT/klock/arch,
each once, in an order in which each finds what it includes.
"""
import re
import sys
from pathlib import Path

import tool

# Only some ports are made of it, and those include it.
PORTS_ALONE = ("klock/detail/builtin_ops.hpp",)

LIB = Path(__file__).resolve().parent.parent / "lib"

_INCLUDE = re.compile(r"#include <([^>]+)>")
_LICENCE = re.compile(r"\A/\* SPDX-[\w-]+: \S+ \*/\n")


def headers(port):
    """{"klock/atomic.hpp": its path}"""
    found = {}
    for folder, pattern in ((LIB / "klock", "*.hpp"),
                            (LIB / "klock", "detail/*.hpp"),
                            (LIB / "klock", "order/*.hpp"),
                            (LIB / "arch" / port / "klock", "arch/*.hpp")):
        for path in sorted(folder.glob(pattern)):
            found["klock/" + path.relative_to(folder).as_posix()] = path
    return found


def version():
    text = (LIB / "klock/version.hpp").read_text()
    return ".".join(re.search(rf"version_{part} = (\d+)", text)[1]
                    for part in ("major", "minor", "patch"))


def write_header(name, known, done, out):
    """Writes the headers that this one includes, then itself, each once. An
    include under a condition stays under it."""
    if name in done:
        return
    done.add(name)
    lines, depth = [], 0
    text = _LICENCE.sub("", known[name].read_text())
    for line in text.splitlines():
        include = _INCLUDE.match(line)
        depth += line.startswith("#if") - line.startswith("#endif")
        if line == "#pragma once":
            continue
        if include and include[1] in known:
            write_header(include[1], known, done, lines if depth else out)
        else:
            lines.append(line)
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    out.append(f"/* ---- {name} ---- */\n\n{body}\n")


def single_header(port):
    known = headers(port)
    out = [f"""/* SPDX-License-Identifier: MIT */
/*
 * klock {version()}, all of it in one file, for the port: {port}
 *
 * Made by toolchain/single_header.py; change lib/, not this. One program uses
 * one port, in this form or as single headers, but not in both.
 */
#pragma once
"""]
    done = set()
    for name in ("klock/version.hpp", *known):
        if name not in PORTS_ALONE:
            write_header(name, known, done, out)
    return "\n".join(out)


def main():
    # Ports whose engine has headers that include klock's are left out.
    ports = sorted(path.name for path in (LIB / "arch").iterdir()
                   if (path / "klock/arch/atomic_ops.hpp").is_file()
                   and not (path / "klock/arch/engine.hpp").is_file())
    parser = tool.Parser(__doc__)
    parser.add_argument("port", choices=ports)
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    tool.write(args.output, single_header(args.port))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
