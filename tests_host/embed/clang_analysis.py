#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clang's thread-safety analysis finds by klock/annotated.hpp, and that it
is silent, as GCC is, where all is right."""
import re

import cases
from cases import STRICT

SCENE = """
#include <klock/annotated.hpp>
#include <klock/checked_lock.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

#ifdef __clang__
#define GUARDED_BY(lock) __attribute__((guarded_by(lock)))
#else
#define GUARDED_BY(lock)
#endif

using namespace klock;
using ticket = ticket_lock<u8>;

annotated_lock<ticket> lock;
annotated_lock<checked_if<true, ticket, "queue">> queue;
annotated_lock<irq_lock<ticket>> disk;
annotated_lock<mcs_lock> list;
annotated_lock<rw_ticket_lock<u8>> table;
unsigned data GUARDED_BY(lock), waiting GUARDED_BY(queue);
unsigned blocks GUARDED_BY(disk), nodes GUARDED_BY(list);
unsigned rows GUARDED_BY(table);

static_assert(sizeof(lock) == sizeof(ticket));
static_assert(sizeof(annotated_guard<ticket>) == sizeof(guard<ticket>));
static_assert(sizeof(annotated_irq_guard<ticket>) ==
	      sizeof(irq_guard<ticket>));
"""

RIGHT = [
    "annotated_guard held(lock); data++;",
    "annotated_irq_guard held(lock); data++; held.unlock();",
    "annotated_guard held(queue); waiting++;",
    "annotated_irq_guard held(disk); blocks++;",
    "annotated_irq_guard held(list); nodes++;",
    "annotated_shared_guard held(table); (void)(rows + 1);",
    "annotated_irq_shared_guard held(table); (void)(rows + 1);",
    "annotated_guard held(table); rows++;",
    "lock.lock(); data++; lock.unlock();",
    "if (lock.try_lock()) { data++; lock.unlock(); }",
    "mcs_node mine; list.lock(mine); nodes++; list.unlock(mine);",
    "table.lock_shared(); (void)(rows + 1); table.unlock_shared();",
    "queue.assert_held(); waiting++;",
]

# a line                 what clang must say of it
WRONG = [
    ("data++;", "requires holding lock 'lock' exclusively"),
    ("(void)(data + 1);", "requires holding lock 'lock'"),
    ("annotated_guard held(queue); data++;", "requires holding lock 'lock'"),
    ("annotated_irq_guard held(lock); held.unlock(); data++;",
     "requires holding lock 'lock'"),
    ("annotated_shared_guard held(table); rows++;",
     "requires holding lock 'table' exclusively"),
    ("annotated_guard held(lock); annotated_guard again(lock);",
     "acquiring lock 'lock' that is already held"),
    ("lock.lock(); data++;", "'lock' is still held at the end"),
    ("lock.unlock();", "'lock' that was not held"),
    ("if (!lock.try_lock()) data++;", "requires holding lock 'lock'"),
]


def compiled(case, compiler, lines, *flags):
    """What it says: {number of the line in lines: its warnings}."""
    case.write("user.cpp", SCENE + "".join(
        f"void user_{i}() {{ {line} }}\n" for i, line in enumerate(lines)))
    _, said = case.call(compiler, "-std=c++20", *flags, "-fsyntax-only",
                        "-I", case.root / "lib/analysis",
                        *case.includes("x86"), "user.cpp")
    first = SCENE.count("\n") + 1
    found = {}
    for line, text in re.findall(r"user\.cpp:(\d+):\d+: \w+: (.*)", said):
        found.setdefault(int(line) - first, []).append(text)
    return said, found


def right_is_silent(case):
    for compiler, more in (("clang++", ["-Wthread-safety"]), ("g++", [])):
        said, _ = compiled(case, compiler, RIGHT, *STRICT, *more)
        case.expect(not said, f"{compiler}: {said}")


def wrong_is_found(case):
    _, found = compiled(case, "clang++", [line for line, _ in WRONG],
                        "-Wthread-safety")
    for i, (line, text) in enumerate(WRONG):
        case.expect(any(text in one for one in found.get(i, [])),
                    f"{line} {text}: {found.get(i)}")


def nothing_is_asked_of_others(case):
    """Without the warning, or by GCC, the wrong lines compile."""
    for compiler in ("clang++", "g++"):
        said, _ = compiled(case, compiler, [line for line, _ in WRONG],
                           "-Wno-unused-variable")
        case.expect(not said, f"{compiler}: {said}")


CASES = [right_is_silent, wrong_is_found, nothing_is_asked_of_others]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
