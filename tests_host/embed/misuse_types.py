#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must not compile of types that say who may do what: irq_lock,
thread_lock, synchronized, seq_lock; each with its message."""
import cases
import lines
from lines import Wrong

HEADERS = "".join(f"#include <klock/{name}.hpp>\n" for name in (
    "synchronized", "irq_lock", "irq_pair_guard", "pair_guard", "checked_lock",
    "seq_lock", "ticket_lock", "mcs_lock", "clh_lock", "shared_guard",
    "irq_shared_guard", "rw_ticket_lock", "reader_lock", "irq_shared_lock"))

# What each line below may use; compiles without a warning.
SCENE = HEADERS + """
using ticket = klock::ticket_lock<klock::u8>;
ticket plain;
klock::irq_lock<ticket> queue, other_queue;
klock::irq_lock<klock::mcs_lock> mcs_queue;
klock::irq_lock<klock::clh_lock> clh_queue;
klock::thread_lock<ticket> threads;
klock::mcs_node node;
klock::clh_node place;
struct table { int a, b; };
klock::synchronized<table, ticket> data;
klock::synchronized<table, klock::irq_lock<ticket>> shared;
klock::synchronized<table, klock::clh_lock> by_node;
using read_write = klock::rw_ticket_lock<klock::u8>;
read_write routes;
klock::reader_lock<4> names;
klock::irq_lock<read_write> handlers_routes;
klock::irq_shared_lock<read_write> readable_routes;
klock::thread_lock<read_write> threads_routes;
klock::synchronized<table, read_write> readable;
klock::synchronized<table, klock::irq_lock<read_write>> handlers_readable;
struct owner { owner(); ~owner(); int *it; };
int sum;

void user()
{
	LINE
}
"""

BY_IRQ_GUARD = ("an irq_lock is taken by irq_guard: an interrupt handler takes "
                "it, too")
BY_IRQ_TRY_GUARD = BY_IRQ_GUARD.replace("irq_guard", "irq_try_guard")
BY_IRQ_PAIR_GUARD = BY_IRQ_GUARD.replace("irq_guard", "irq_pair_guard")
BY_IRQ_SHARED_GUARD = ("an irq_lock is read by irq_shared_guard: an interrupt "
                       "handler takes it, too")
NOT_BY_HANDLERS = ("a handler reads an irq_shared_lock so: of any other, it may "
                   "wait for the reader that it interrupted")
NOT_SHARED = "this lock has no lock_shared(): one alone can hold it"
BRING_A_NODE = "this lock's node must outlive the guard, bring one"

WARNINGS = [
    Wrong("data.lock();", "what is held without a name is released at once"),
    Wrong("shared.try_lock();",
          "what is held without a name is released at once"),
    Wrong("klock::irq_guard{queue};",
          "a guard without a name releases at once"),
    Wrong("klock::shared_guard{routes};",
          "a guard without a name releases at once"),
    Wrong("klock::handler_shared_guard{readable_routes};",
          "a guard without a name releases at once"),
    Wrong("klock::irq_shared_guard{handlers_routes};",
          "a guard without a name releases at once"),
    Wrong("readable.lock_shared();",
          "what is held without a name is released at once"),
    Wrong("handlers_readable.try_lock_shared();",
          "what is held without a name is released at once"),
    Wrong("routes.try_lock_shared();", "nodiscard"),
    Wrong("names.try_lock_shared(0);", "nodiscard"),
]

ERRORS = [
    # Which guard: the type says it.
    Wrong("klock::guard held(queue);", BY_IRQ_GUARD),
    Wrong("klock::guard held(queue); sum++; held.unlock();", BY_IRQ_GUARD),
    Wrong("klock::guard held(queue, klock::adopt);", BY_IRQ_GUARD),
    Wrong("klock::guard held(mcs_queue);", BY_IRQ_GUARD),
    Wrong("klock::guard held(mcs_queue, node);", BY_IRQ_GUARD),
    Wrong("klock::guard held(clh_queue, place);", BY_IRQ_GUARD),
    Wrong("klock::guard<klock::irq_lock<ticket>> held(queue);", BY_IRQ_GUARD),
    Wrong("klock::try_guard held(queue);", BY_IRQ_TRY_GUARD),
    Wrong("if (klock::try_guard held{queue}) sum++;", BY_IRQ_TRY_GUARD),
    Wrong("klock::pair_guard held(queue, other_queue);", BY_IRQ_PAIR_GUARD),
    Wrong("klock::pair_guard held(plain, queue);", BY_IRQ_PAIR_GUARD),
    Wrong("klock::pair_guard held(klock::with(clh_queue, place), plain);",
          BY_IRQ_PAIR_GUARD),
    Wrong("klock::guard held(handlers_routes);", BY_IRQ_GUARD),
    Wrong("klock::shared_guard held(handlers_routes);", BY_IRQ_SHARED_GUARD),
    Wrong("klock::shared_guard held(handlers_routes); held.unlock();",
          BY_IRQ_SHARED_GUARD),
    Wrong("if (klock::shared_try_guard held{handlers_routes}) sum++;",
          BY_IRQ_SHARED_GUARD),
    # Readers in handlers.
    Wrong("klock::guard held(readable_routes);", BY_IRQ_GUARD),
    Wrong("klock::try_guard held(readable_routes);", BY_IRQ_TRY_GUARD),
    Wrong("readable_routes.lock_shared();", "no member named"),
    Wrong("klock::handler_shared_guard held(handlers_routes);",
          NOT_BY_HANDLERS),
    Wrong("klock::handler_shared_guard held(routes); held.unlock();",
          NOT_BY_HANDLERS),
    Wrong("if (klock::handler_shared_try_guard held{plain}) sum++;",
          NOT_BY_HANDLERS),
    Wrong("klock::handler_shared_guard held(readable_routes); auto copy = held;",
          "deleted function", "deleted constructor"),
    Wrong("if (klock::handler_shared_try_guard{readable_routes}) sum++;",
          "deleted function", "deleted"),
    # Readers, of a lock that has them.
    Wrong("klock::shared_guard held(plain);", NOT_SHARED),
    Wrong("klock::shared_guard held(queue);", NOT_SHARED),
    Wrong("klock::shared_try_guard held(plain);", NOT_SHARED),
    Wrong("klock::irq_shared_guard held(plain);", NOT_SHARED),
    Wrong("klock::irq_shared_guard held(queue);", NOT_SHARED),
    Wrong("if (klock::irq_shared_try_guard held{queue}) sum++;", NOT_SHARED),
    Wrong("klock::shared_guard held(routes, 1u);",
          "this lock takes neither a node nor a number"),
    Wrong("klock::shared_guard held(names, node);", "neither a CPU's number "
          "nor a function that returns one"),
    Wrong("klock::shared_guard held(routes); auto copy = held;",
          "deleted function", "deleted constructor"),
    Wrong("klock::irq_shared_guard held(routes); auto copy = held;",
          "deleted function", "deleted constructor"),
    Wrong("if (klock::shared_try_guard{routes}) sum++;", "deleted function",
          "deleted"),
    Wrong("if (klock::irq_shared_try_guard{routes}) sum++;",
          "deleted function", "deleted"),
    # ... and nothing by hand.
    Wrong("handlers_routes.lock_shared();", "no member named"),
    Wrong("handlers_routes.unlock_shared();", "no member named"),
    Wrong("sum = handlers_routes.try_lock_shared();", "no member named"),
    Wrong("queue.lock();", "no member named", "no member named 'lock'"),
    Wrong("queue.unlock();", "no member named", "no member named 'unlock'"),
    Wrong("sum = queue.try_lock();", "no member named"),
    Wrong("klock::irq_guard held(clh_queue);", BRING_A_NODE),
    # What cannot be both, or the other way round.
    Wrong("klock::irq_lock<klock::thread_lock<ticket>> both;",
          "a lock is for handlers too, or for threads alone"),
    Wrong("klock::thread_lock<klock::checked_lock<ticket>> checked;",
          "checked_lock<thread_lock<L>>: inside of it, checks know nothing of "
          "threads"),
    # Data, only while the lock is held.
    Wrong("data.lock()->a = 1;", "deleted function", "deleted"),
    Wrong("table &t = *data.lock(); t.a = 1;", "deleted function", "deleted"),
    Wrong("if (data.try_lock()) sum++;", "deleted function", "deleted"),
    Wrong("data.with([](table &t) -> int & { return t.a; });",
          "with() returns a value: a reference would be used after the lock "
          "is released"),
    Wrong("auto seen = readable.lock_shared(); seen->a = 1;",
          "in read-only object", "cannot assign to"),
    Wrong("auto seen = handlers_readable.lock_shared(); (*seen).a = 1;",
          "in read-only object", "cannot assign to"),
    Wrong("readable.with_shared([](const table &t) -> const int & { return "
          "t.a; });", "with() returns a value: a reference would be used after "
          "the lock is released"),
    Wrong("sum = readable.lock_shared()->a;", "deleted function", "deleted"),
    Wrong("if (readable.try_lock_shared()) sum++;", "deleted function",
          "deleted"),
    Wrong("auto seen = data.lock_shared();", NOT_SHARED),
    Wrong("auto seen = shared.try_lock_shared();", NOT_SHARED),
    Wrong("data.with_shared([](const table &t) { return t.a; });", NOT_SHARED),
    Wrong("auto held = data.lock(); auto copy = held;", "deleted function",
          "deleted constructor"),
    Wrong("auto copy = data;", "deleted function", "deleted constructor"),
    Wrong("sum = data.data.a;", "private within this context",
          "is a private member"),
    Wrong("auto held = by_node.lock();", BRING_A_NODE),
    # Copied word by word.
    Wrong("klock::seq_lock<owner> copied;", "a value that is copied word by "
          "word must be trivially copyable"),
]

# Refused with a list of what would do, so that no one line says it all.
REFUSED = [
    "klock::checked_lock<klock::irq_lock<ticket>> checked;",
    "klock::irq_lock<int> number;",
    "klock::synchronized<table, int> unlocked;",
    "data.with([](int t) { return t; });",
    "readable.with_shared([](table &t) { t.a = 1; });",
    "readable.with_shared([](auto &t) { t.a = 1; });",
]

RIGHT = [
    "klock::irq_guard held(queue); sum++; held.unlock();",
    "klock::irq_guard held(mcs_queue);",
    "klock::irq_guard held(mcs_queue, node);",
    "klock::irq_guard held(clh_queue, place);",
    "if (klock::irq_try_guard held{queue}) sum++;",
    "klock::irq_pair_guard held(queue, other_queue);",
    "klock::irq_pair_guard held(plain, klock::with(clh_queue, place));",
    "klock::guard held(threads); klock::irq_guard again(plain);",
    "klock::irq_shared_guard held(handlers_routes); held.unlock();",
    "klock::irq_guard held(handlers_routes);",
    "if (klock::irq_shared_try_guard held{handlers_routes}) sum++;",
    "klock::shared_guard held(threads_routes); klock::shared_guard a(names, 1);",
    "auto seen = readable.lock_shared(); sum = seen->a + (*seen).b;",
    "if (auto seen = handlers_readable.try_lock_shared()) sum = seen->a;",
    "sum = handlers_readable.with_shared([](const table &t) { return t.a; });",
    "auto held = data.lock(); held->a = (*held).b;",
    "if (auto held = shared.try_lock()) held->a = 1;",
    "if (auto held = data.try_lock(); held) held->a = 1;",
    "sum = shared.with([](table &t) { return t.a; });",
    "data.with([](auto &t) { t.a = 1; });",
    "by_node.with([](table &t) { t.a = 1; }, place);",
    "auto held = by_node.lock([]() -> klock::clh_node & { return place; });"
    " held->a = 1;",
]


def right_ones_are_silent(case):
    lines.right_ones_are_silent(case, SCENE, RIGHT)


def some_warn(case):
    lines.some_warn(case, SCENE, WARNINGS)


def some_are_errors(case):
    lines.some_are_errors(case, SCENE, ERRORS)


def some_are_refused(case):
    lines.some_are_refused(case, SCENE, REFUSED)


CASES = [right_ones_are_silent, some_warn, some_are_errors, some_are_refused]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
