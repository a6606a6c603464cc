#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must not compile, or must warn, of guards, each with its message; and
what a checked lock says of a guard."""
from typing import NamedTuple

import cases

COMPILERS = ("g++", "clang++")

HEADERS = "".join(f"#include <klock/{name}.hpp>\n" for name in (
    "guard", "irq_guard", "try_guard", "irq_try_guard", "pair_guard",
    "irq_pair_guard", "ticket_lock", "mcs_lock", "clh_lock", "bakery_lock"))

# What each line below may use; compiles without a warning.
SCENE = HEADERS + """
klock::ticket_lock<klock::u8> lock, other;
klock::mcs_lock mcs;
klock::mcs_node node;
klock::clh_lock clh;
klock::clh_node places[4];
klock::bakery_lock<4> bakery;
klock::clh_node &my_place() { return places[klock::cpu_id()]; }
int counter;
void work() { counter++; }

void user()
{
	LINE
}
"""

UNNAMED = "a guard without a name releases at once"
TAKES_NOTHING = "this lock takes neither a node nor a number: guard held(lock)"
BRING_A_NODE = ("this lock's node must outlive the guard, bring one: "
                "guard held(lock, node)")
NO_NODE = ("not a node of this lock, nor a function that returns a reference "
           "to one")
OWN_NODE = ("not a node of this lock; to lend one, leave the guard's type out: "
            "guard held(lock, node)")
NO_ADOPTING = ("use of deleted function", "call to deleted constructor")


class Wrong(NamedTuple):
    line: str
    # What the one error or warning says; the second: clang, where it differs.
    says: str
    clang_says: str = ""


WARNINGS = [
    Wrong("klock::guard{lock};", UNNAMED),
    Wrong("klock::guard(lock, klock::adopt);", UNNAMED),
    Wrong("klock::guard{mcs, node};", UNNAMED),
    Wrong("klock::guard{mcs, node, klock::adopt};", UNNAMED),
    Wrong("klock::irq_guard{lock};", UNNAMED),
    Wrong("klock::irq_guard{clh, my_place};", UNNAMED),
    Wrong("klock::try_guard{lock};", UNNAMED),
    Wrong("klock::irq_try_guard{lock};", UNNAMED),
    Wrong("klock::pair_guard{lock, other};", UNNAMED),
    Wrong("klock::irq_pair_guard{lock, other};", UNNAMED),
    Wrong("lock.try_lock();", "nodiscard"),
    Wrong("klock::irq_save();", "nodiscard"),
    Wrong("klock::with(mcs, node);", "nodiscard"),
]

ERRORS = [
    # Released before the block begins.
    Wrong("if (klock::try_guard{lock}) work();", "deleted function"),
    Wrong("if (klock::irq_try_guard{lock}) work();", "deleted function"),
    # A guard stays where it is.
    Wrong("klock::guard held(lock); auto copy = held;", "deleted function",
          "deleted constructor"),
    Wrong("klock::irq_guard a(lock), b(other); a = b;", "deleted function",
          "deleted"),
    Wrong("klock::pair_guard a(lock, other); auto b = static_cast<decltype(a) "
          "&&>(a);", "deleted function", "deleted constructor"),
    # What a lock is taken with.
    Wrong("klock::guard held(clh);", BRING_A_NODE),
    Wrong("klock::irq_guard held(clh);", BRING_A_NODE),
    Wrong("klock::pair_guard held(lock, clh);", BRING_A_NODE),
    Wrong("klock::guard held(clh, klock::adopt);", BRING_A_NODE),
    Wrong("klock::irq_guard held(clh, klock::cpu_id());", NO_NODE),
    Wrong("klock::irq_guard held(clh, [] { return &places[0]; });", NO_NODE),
    Wrong("klock::guard held(clh, node);", NO_NODE),
    Wrong("klock::guard<klock::mcs_lock> held(mcs, node);", OWN_NODE),
    Wrong("klock::guard held(mcs, places[0]);", OWN_NODE),
    Wrong("klock::guard held(lock, 1);", TAKES_NOTHING),
    Wrong("klock::irq_guard held(lock, node);", TAKES_NOTHING),
    Wrong("klock::guard held(bakery, node);", "neither a CPU's number nor a "
          "function that returns one"),
    # Adopting.
    Wrong("klock::guard held(mcs, klock::adopt);", "guard held(lock, node, "
          "klock::adopt)"),
    # ... which only guard does.
    Wrong("klock::irq_guard held(lock, klock::adopt);", *NO_ADOPTING),
    Wrong("klock::irq_guard held(mcs, node, klock::adopt);", *NO_ADOPTING),
    Wrong("klock::try_guard held(lock, klock::adopt);", *NO_ADOPTING),
    Wrong("klock::irq_try_guard held(lock, klock::adopt);", *NO_ADOPTING),
    # Without waiting.
    Wrong("klock::try_guard held(clh, places[0]);", "this lock has no "
          "try_lock()"),
    Wrong("klock::irq_try_guard held(bakery);", "this lock has no try_lock()"),
]

# Refused with a list of what would do, so that no one line says it all.
REFUSED = [
    # No name, in parentheses: the declaration of another lock.
    "klock::guard(lock);",
    "klock::guard held(counter);",
    "klock::guard held(klock::ticket_lock<klock::u8>{});",
    "klock::guard held(static_cast<const klock::mcs_lock &>(mcs));",
    "klock::pair_guard held(lock, klock::ticket_lock<klock::u8>{});",
    "klock::pair_guard held(lock);",
    "klock::pair_guard held(lock, counter);",
    "klock::guard<int> *held = nullptr; (void)held;",
]

RIGHT = [
    "klock::guard a(lock); klock::irq_guard b(mcs, node); a.unlock();",
    "klock::irq_guard held(clh, my_place);",
    "klock::irq_guard held(bakery, klock::cpu_id);",
    "if (klock::try_guard held{lock}) work();",
    "if (klock::irq_try_guard held{mcs, node}; held) work();",
    "klock::irq_pair_guard held(lock, klock::with(clh, my_place));",
]


def _compile(case, cxx, line, flags=()):
    source = case.write("user.cpp", SCENE.replace("LINE", line))
    status, said = case.call(cxx, "-std=c++20", "-Wall", "-Wextra", *flags,
                             *case.includes("hosted"), "-fsyntax-only", source)
    return status, said, [text for text in said.splitlines()
                          if "user.cpp:" in text and "warning:" in text]


def _says(wrong, cxx):
    return wrong.clang_says if cxx != "g++" and wrong.clang_says else wrong.says


def right_ones_are_silent(case):
    strict = ["-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
              "-Werror"]
    for cxx in COMPILERS:
        for line in RIGHT:
            status, said, _ = _compile(case, cxx, line, strict)
            case.expect(status == 0 and not said, f"{cxx}: {line}\n{said}")


def some_warn(case):
    for cxx in COMPILERS:
        for wrong in WARNINGS:
            status, said, warnings = _compile(case, cxx, wrong.line)
            case.expect(status == 0 and len(warnings) == 1 and
                        _says(wrong, cxx) in warnings[0],
                        f"{cxx}: {wrong.line}: not one warning that says "
                        f"{_says(wrong, cxx)}:\n{said}")


def some_are_errors(case):
    for cxx in COMPILERS:
        for wrong in ERRORS:
            status, said, _ = _compile(case, cxx, wrong.line)
            # g++ says in a second line what it had to choose from.
            found = [text for text in cases.errors(said)
                     if "no matching function" not in text]
            case.expect(status != 0 and len(found) == 1 and
                        _says(wrong, cxx) in found[0],
                        f"{cxx}: {wrong.line}: not one error that says "
                        f"{_says(wrong, cxx)}:\n{said}")


def some_are_refused(case):
    for cxx in COMPILERS:
        for line in REFUSED:
            status, said, _ = _compile(case, cxx, line)
            case.expect(status != 0 and "user.cpp" in cases.errors(said)[0],
                        f"{cxx}: {line}: not refused in its own line:\n{said}")


# With checks on: a lock that is released behind its guard's back.
STRAY = """
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <stdio.h>
#include <stdlib.h>
extern "C" unsigned klock_os_cpu_id() { return 0; }
extern "C" int klock_os_context() { return 0; }
extern "C" void klock_os_panic(const char *, const void *, unsigned,
			       const char *what)
{
	puts(what);
	exit(0);
}
klock::checked_lock<klock::ticket_lock<klock::u8>> lock;
int main()
{
	klock::GUARD held(lock); /* the line to be named */
	lock.unlock();
}
"""


def stray_unlock_is_the_guards_line(case):
    line = 1 + STRAY[:STRAY.index("the line to be named")].count("\n")
    for cxx in COMPILERS:
        for guard in ("guard", "irq_guard"):
            source = case.write("stray.cpp", STRAY.replace("GUARD", guard))
            case.must(cxx, "-std=c++20", *case.includes("hosted"), source,
                      "-o", "stray")
            said = case.must("./stray")
            case.expect(f"stray.cpp:{line}" in said and
                        "guard.hpp" not in said,
                        f"{cxx}: {guard}: not line {line}: {said}")


CASES = [right_ones_are_silent, some_warn, some_are_errors, some_are_refused,
         stray_unlock_is_the_guards_line]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
