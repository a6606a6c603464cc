# SPDX-License-Identifier: MIT
"""Who may include whom: DESIGN's layers, over the #include lines.

The table below is the law. The first row whose pattern fits a file decides; a
file of lib that no row fits is an error, so that a new kind of header gets its
row before it gets its users. Run: includes.py --root DIR
"""

import fnmatch
import re

import common
import cxx
from common import Finding

SOURCES = {".hpp", ".cpp", ".h", ".c", ".S"}

# file                              may include (patterns of what stands in <>)
RULES = [
    ("lib/klock/types.hpp",         "klock/arch/port.hpp stddef.h stdint.h"),
    ("lib/klock/version.hpp",       ""),
    ("lib/klock/builtin_ops.hpp",   "klock/cpu.hpp klock/types.hpp"),
    ("lib/klock/concepts.hpp",      "klock/types.hpp"),
    ("lib/klock/os.hpp",            "klock/types.hpp"),
    ("lib/klock/atomic_waits.hpp",  "klock/arch/atomic_ops.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/atomic.hpp",        "klock/arch/atomic_ops.hpp "
                                    "klock/atomic_waits.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/atomic_pair.hpp",   "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/atomic_fields.hpp", "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/counter.hpp",       "klock/atomic.hpp klock/concepts.hpp"),
    ("lib/klock/plain.hpp",         "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/cpu.hpp",           "klock/arch/cpu.hpp "
                                    "klock/arch/relax.hpp klock/types.hpp"),
    ("lib/klock/calibrate.hpp",     "klock/arch/cpu.hpp klock/cpu.hpp "
                                    "klock/atomic.hpp klock/concepts.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/try_lock_until.hpp", "klock/concepts.hpp klock/cpu.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/irq.hpp",           "klock/arch/irq.hpp klock/types.hpp"),
    ("lib/klock/misuse_text.hpp",   "klock/types.hpp"),
    ("lib/klock/lent_nodes.hpp",    "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/lock_usage.hpp",    "klock/atomic.hpp klock/irq.hpp "
                                    "klock/misuse_text.hpp klock/os.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/checked_parts.hpp", "klock/concepts.hpp klock/types.hpp"),
    ("lib/klock/checked_core.hpp",  "klock/checked_parts.hpp "
                                    "klock/concepts.hpp klock/lent_nodes.hpp "
                                    "klock/lock_usage.hpp "
                                    "klock/order_hook.hpp "
                                    "klock/shared_usage.hpp klock/types.hpp"),
    # All that a checked lock has of what follows.
    ("lib/klock/order_hook.hpp",    "klock/misuse_text.hpp klock/os.hpp"),
    # What learns the order of locks: one of them guards it.
    ("lib/klock/order_learning.hpp", "klock/irq.hpp "
                                    "klock/lock_classes.hpp "
                                    "klock/order_graph.hpp "
                                    "klock/order_sites.hpp "
                                    "klock/tas_lock.hpp klock/types.hpp"),
    ("lib/klock/order_*.hpp",       "klock/atomic.hpp klock/concepts.hpp "
                                    "klock/declared_order.hpp "
                                    "klock/held_locks.hpp klock/irq.hpp "
                                    "klock/lock_order.hpp "
                                    "klock/misuse_text.hpp "
                                    "klock/order_*.hpp klock/os.hpp "
                                    "klock/plain.hpp klock/types.hpp"),
    ("lib/klock/lock_order.hpp",    "klock/declared_order.hpp "
                                    "klock/held_locks.hpp klock/order_*.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/declared_order.hpp", "klock/types.hpp"),
    ("lib/klock/print_held.hpp",    "klock/held_locks.hpp "
                                    "klock/lock_order.hpp "
                                    "klock/misuse_text.hpp klock/os.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/wide_count.hpp",    "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/lock_counts.hpp",   "klock/atomic.hpp klock/cpu.hpp "
                                    "klock/irq.hpp klock/misuse_text.hpp "
                                    "klock/plain.hpp klock/tas_lock.hpp "
                                    "klock/types.hpp klock/wide_count.hpp"),
    ("lib/klock/counted_lock.hpp",  "klock/checked_calls.hpp "
                                    "klock/checked_parts.hpp "
                                    "klock/concepts.hpp klock/cpu.hpp "
                                    "klock/lock_counts.hpp klock/types.hpp"),
    ("lib/klock/print_counts.hpp",  "klock/lock_counts.hpp "
                                    "klock/misuse_text.hpp klock/types.hpp"),
    ("lib/klock/lock_classes.hpp",  "klock/atomic.hpp klock/plain.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/held_locks.hpp",    "klock/atomic.hpp klock/cpu.hpp "
                                    "klock/misuse_text.hpp "
                                    "klock/order_hook.hpp klock/os.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/checked_calls.hpp", "klock/concepts.hpp klock/types.hpp"),
    ("lib/klock/checked_lock.hpp",  "klock/checked_calls.hpp "
                                    "klock/checked_core.hpp "
                                    "klock/checked_parts.hpp "
                                    "klock/concepts.hpp klock/types.hpp"),
    ("lib/klock/shared_usage.hpp",  "klock/atomic.hpp klock/concepts.hpp "
                                    "klock/lock_usage.hpp klock/os.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/seq_words.hpp",     "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/seq_count.hpp",     "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/seq_lock.hpp",      "klock/seq_words.hpp klock/types.hpp"),
    ("lib/klock/seq_latch.hpp",     "klock/seq_words.hpp klock/types.hpp"),
    ("lib/klock/once.hpp",          "klock/atomic.hpp klock/concepts.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/barrier.hpp",       "klock/atomic.hpp klock/types.hpp"),
    ("lib/klock/irq_lock.hpp",      "klock/concepts.hpp klock/types.hpp"),
    ("lib/klock/irq_shared_lock.hpp", "klock/acquisition.hpp klock/atomic.hpp "
                                    "klock/concepts.hpp klock/irq_lock.hpp"),
    ("lib/klock/synchronized.hpp",  "klock/*guard.hpp klock/concepts.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/*_lock.hpp",        "klock/atomic.hpp klock/atomic_pair.hpp "
                                    "klock/atomic_fields.hpp klock/plain.hpp "
                                    "klock/concepts.hpp klock/counter.hpp "
                                    "klock/os.hpp klock/cpu.hpp "
                                    "klock/types.hpp klock/*_lock.hpp"),
    ("lib/klock/brought.hpp",       "klock/concepts.hpp klock/os.hpp "
                                    "klock/types.hpp"),
    ("lib/klock/acquisition.hpp",   "klock/brought.hpp klock/concepts.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/rescue_guard.hpp",  "klock/acquisition.hpp klock/concepts.hpp "
                                    "klock/cpu.hpp klock/irq_guard.hpp"),
    ("lib/klock/irq*_guard.hpp",    "klock/irq.hpp klock/acquisition.hpp "
                                    "klock/*guard.hpp klock/concepts.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/*guard.hpp",        "klock/acquisition.hpp klock/concepts.hpp "
                                    "klock/os.hpp klock/types.hpp"),
    ("lib/klock/selftest/*",        "klock/*.hpp klock/selftest/*.hpp"),
    ("lib/c/klock/*.h",             "klock/*.h"),
    ("lib/c/*",                     "klock/*.h klock/*.hpp "
                                    "klock/arch/irq.hpp"),
    ("lib/analysis/*",              "klock/*.hpp"),
    ("lib/arch/hosted/*",           "klock/types.hpp klock/builtin_ops.hpp "
                                    "klock/arch/*.hpp *.h"),
    ("lib/arch/*",                  "klock/types.hpp klock/builtin_ops.hpp "
                                    "klock/arch/*.hpp stddef.h stdint.h"),
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
        if target.startswith('"'):
            yield Finding(name, line, f"#include {target}: lib includes by "
                          "<klock/...> alone")
        elif not fits(target[1:-1], allowed):
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
