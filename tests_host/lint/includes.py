# SPDX-License-Identifier: MIT
"""Checks who includes whom, which follows from the folder.

The first row of the table whose pattern fits a file decides; a file of lib that
no row fits is an error. Run: includes.py --root DIR
"""

import fnmatch
import re

import common
import cxx
from common import Finding

SOURCES = {".hpp", ".cpp", ".h", ".c", ".S"}

BLOCKS = ("klock/types.hpp klock/concepts.hpp klock/os.hpp klock/atomic.hpp "
          "klock/plain.hpp klock/cpu.hpp klock/irq.hpp ")
PORT = ("klock/types.hpp klock/detail/builtin_ops.hpp "
        "klock/detail/one_version.hpp klock/arch/*.hpp ")
HEADERS = "klock/*.hpp klock/detail/*.hpp klock/order/*.hpp "

# file                          may include (patterns of what stands in <>)
RULES = [
    ("lib/klock/types.hpp",     "klock/arch/port.hpp stddef.h stdint.h"),
    ("lib/klock/os.hpp",        BLOCKS + "klock/detail/unordered.hpp"),
    (f"lib/{BLOCKS.replace(' ', ' lib/')}lib/klock/calibrate.hpp",
                                BLOCKS + "klock/arch/*.hpp"),
    ("lib/klock/*_lock.hpp",    BLOCKS + "klock/detail/*.hpp klock/*_lock.hpp"),
    ("lib/klock/detail/one_version.hpp", "klock/version.hpp"),
    ("lib/klock/detail/*",      BLOCKS + "klock/detail/*.hpp klock/tas_lock.hpp "
                                "klock/preemptable_ticket_lock.hpp "
                                "klock/arch/*.hpp"),
    ("lib/klock/order/*",       BLOCKS + "klock/detail/*.hpp klock/tas_lock.hpp "
                                "klock/order/*.hpp"),
    ("lib/klock/selftest/*",    "klock/*.hpp klock/selftest/*.hpp "
                                "klock/detail/unparked.hpp"),
    ("lib/klock/*",             HEADERS),
    ("lib/c/klock/*.h",         "klock/*.h"),
    ("lib/c/*",                 HEADERS + "klock/*.h klock/arch/irq.hpp"),
    ("lib/analysis/*",          "klock/*.hpp"),
    ("lib/preempted/*",         'klock/types.hpp '
                                '"../../../klock/detail/taking.hpp"'),
    ("lib/unparked/*",          "klock/irq.hpp klock/os.hpp"),
    ("lib/arch/hosted/klock/host_parking.hpp",
                                "klock/*.hpp klock/detail/unparked.hpp *.h"),
    ("lib/arch/hosted/*",       PORT + "*.h"),
    ("lib/arch/*",              PORT + "stddef.h stdint.h"),
]

# Hosted code: libraries for a host, with all of its standard library, and
# headers of their own beside them. The freestanding rule is not theirs.
#
# folder          may include of klock
HOSTED = [
    ("lib/model/",  "klock/*.hpp klock/arch/engine.hpp "
                    "klock/arch/atomic_ops.hpp model/*.hpp fiber/fiber.hpp"),
    ("lib/model_std/", "klock/*.hpp klock/arch/engine.hpp "
                    "klock/arch/atomic_ops.hpp model/*.hpp"),
    ("lib/sim/",    "klock/*.hpp klock/selftest/*.hpp "
                    "klock/arch/engine.hpp sim/*.hpp fiber/fiber.hpp"),
    ("lib/fiber/",  ""),
]
PRODUCTS = "klock/* model/* sim/* fiber/*"

# folder        must not include (patterns, in <> or "")       because
FORBIDDEN = [
    ("boot",       "*tests_* *selftest/* *catch*", "boot knows no test"),
    ("lib/model",  "*tests_* *catch*", "a library knows no test"),
    ("lib/sim",    "*tests_* *catch*", "a library knows no test"),
    ("tests_host", "*tests_qemu*", "the host's tests do not need the lab's"),
]


def fits(name, patterns):
    """fnmatch, but a '*' stops at a '/' unless it ends the pattern."""
    for pattern in patterns.split():
        if pattern.startswith("*") or pattern.endswith("/*"):
            if fnmatch.fnmatchcase(name, pattern):
                return True
        elif re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), name):
            return True
    return False


def _check_lib(name, text):
    allowed = next((may for pattern, may in RULES if fits(name, pattern)), None)
    if allowed is None:
        yield Finding(name, 0, "no row for this file in the table of "
                      "tests_host/lint/includes.py: say there who it may "
                      "include")
        return
    for offset, target in cxx.includes(text):
        line = common.line_of(text, offset)
        if target.startswith('"') and not fits(target, allowed):
            yield Finding(name, line, f"#include {target}: lib includes by "
                          "<klock/...> alone")
        elif not fits(target.strip("<>"), allowed):
            yield Finding(name, line, f"must not include {target}; may: "
                          f"{allowed}")


def _check_hosted(name, text, allowed):
    for offset, target in cxx.includes(text):
        if target.startswith('"') and ".." not in target:
            continue  # its own
        if target.startswith('"') or (fits(target[1:-1], PRODUCTS)
                                      and not fits(target[1:-1], allowed)):
            yield Finding(name, common.line_of(text, offset), f"must not "
                          f"include {target}; of klock it may: {allowed}")


def _check_built_from(path, name, text):
    """A lock includes another lock only if it is made of it."""
    code = re.sub(r"^#.*", "", cxx.code_only(text), flags=re.M)
    for offset, target in cxx.includes(text):
        if not fits(target[1:-1], "klock/*_lock.hpp"):
            continue
        other = path.parent / target[1:-1].removeprefix("klock/")
        if not other.is_file():
            continue  # the compiler says it better
        if not any(re.search(rf"\b{lock}\b", code)
                   for lock in cxx.defined_types(other.read_text())):
            yield Finding(name, common.line_of(text, offset), f"includes "
                          f"{target}, but uses none of its types: a lock "
                          "includes only a lock that it is built from")


def _check_forbidden(name, text):
    for folder, patterns, reason in FORBIDDEN:
        if not name.startswith(folder + "/"):
            continue
        for offset, target in cxx.includes(text):
            if any(fnmatch.fnmatchcase(target[1:-1], p)
                   for p in patterns.split()):
                yield Finding(name, common.line_of(text, offset),
                              f"must not include {target}: {reason}")


def check(root):
    found = []
    if not common.files(root, "lib", SOURCES):
        return common.nothing_found("no sources in lib")
    for path in common.files(root, "lib", SOURCES):
        name, text = common.relative(path, root), path.read_text()
        hosted = next((may for folder, may in HOSTED
                       if name.startswith(folder)), None)
        if hosted is not None:
            found += _check_hosted(name, text, hosted)
            continue
        found += _check_lib(name, text)
        if fits(name, "lib/klock/*_lock.hpp"):
            found += _check_built_from(path, name, text)
    for folder, _, _ in FORBIDDEN:
        for path in common.files(root, folder, SOURCES):
            found += _check_forbidden(common.relative(path, root),
                                      path.read_text())
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
