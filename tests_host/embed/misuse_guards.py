#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must not compile, or must warn, of guards, each with its message; and
what a checked lock says of a guard."""
import cases
import lines
from lines import COMPILERS, Wrong

HEADERS = "".join(f"#include <klock/{name}.hpp>\n" for name in (
    "guard", "irq_guard", "try_guard", "irq_try_guard", "pair_guard",
    "irq_pair_guard", "rescue_guard", "ticket_lock", "mcs_lock", "clh_lock", "bakery_lock"))

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
    Wrong("klock::rescue_guard{lock};", UNNAMED),
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
    # In a panic.
    Wrong("klock::rescue_guard held(mcs);", "rescue_guard takes no queue of "
          "nodes: its unlock() may wait for a CPU that stands still"),
    Wrong("klock::rescue_guard held(bakery);", "this lock has no try_lock()"),
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
    "klock::rescue_guard held(lock); if (!held) work();",
]


def right_ones_are_silent(case):
    lines.right_ones_are_silent(case, SCENE, RIGHT)


def some_warn(case):
    lines.some_warn(case, SCENE, WARNINGS)


def some_are_errors(case):
    lines.some_are_errors(case, SCENE, ERRORS)


def some_are_refused(case):
    lines.some_are_refused(case, SCENE, REFUSED)


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
