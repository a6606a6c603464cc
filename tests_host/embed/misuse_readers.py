#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must not compile, or must warn, of readers' locks, sequences, once and
barriers; each with its message."""
import cases
import lines
from lines import Wrong

HEADERS = "".join(f"#include <klock/{name}.hpp>\n" for name in (
    "rw_ticket_lock", "phase_fair_lock", "reader_lock", "seq_lock", "seq_latch",
    "seq_count", "once", "barrier", "guard", "try_guard", "rescue_guard",
    "shared_guard", "irq_shared_guard"))

# What each line below may use; compiles without a warning.
SCENE = HEADERS + """
klock::rw_ticket_lock<klock::u8> routes;
klock::phase_fair_lock<klock::u16> files;
klock::reader_lock<4> names;
klock::seq_lock<int> wall_clock;
klock::seq_latch<int> clock_for_nmis;
klock::seq_count count;
klock::once tables;
klock::lazy<int> made;
klock::spin_barrier all_are_up;
struct owner { owner(); ~owner(); int *it; };
klock::u32 began;
int sum;
bool ready();

void user()
{
	LINE
}
"""

TWO_SIZES = "u8 or u16, for 65536 contexts at most"
READ_SIZES = "u8 or u16, for 16383 readers at most"
TAKES_NOTHING = "this lock takes neither a node nor a number"
NO_TRY = "this lock has no try_lock()"
WORDS = "a value that is copied word by word must be trivially copyable"
ONE_FAILS = ("once: what is called returns a bool, false if it has failed, or "
             "nothing")

WARNINGS = [
    # Waited for, and thrown away.
    Wrong("wall_clock.read();", "nodiscard"),
    Wrong("wall_clock.try_read(sum);", "nodiscard"),
    Wrong("clock_for_nmis.read();", "nodiscard"),
    Wrong("count.read_begin();", "nodiscard"),
    Wrong("count.read_retry(began);", "nodiscard"),
    Wrong("count.read_try_begin(began);", "nodiscard"),
    Wrong("routes.try_lock();", "nodiscard"),
    Wrong("files.try_lock_shared();", "nodiscard"),
    Wrong("tables.is_done();", "nodiscard"),
    Wrong("made.peek();", "nodiscard"),
]

ERRORS = [
    Wrong("klock::reader_lock<0> nobody;", "a lock needs a CPU"),
    Wrong("klock::rw_ticket_lock_for<0> nobody;", "a lock needs a contender"),
    # What a reader gives.
    Wrong("klock::shared_guard held(files, 3u);", TAKES_NOTHING),
    Wrong("klock::shared_guard held(routes, klock::adopt);", TAKES_NOTHING),
    Wrong("klock::irq_shared_guard held(routes, klock::adopt);",
          TAKES_NOTHING),
    # A writer of a reader_lock waits, or does not come.
    Wrong("sum = names.try_lock();", "no member named"),
    Wrong("klock::try_guard held(names);", NO_TRY),
    Wrong("klock::rescue_guard held(names);", NO_TRY),
    # Data are copied, in and out, and never reached.
    Wrong("klock::seq_lock<owner> copied;", WORDS),
    Wrong("klock::seq_latch<owner> copied;", WORDS),
    Wrong("sum = wall_clock;", "cannot convert", "incompatible type"),
    Wrong("wall_clock = 3;", "no match for", "no viable overloaded '='"),
    # Who fails says so by a bool.
    Wrong("tables.call([] { return 0; });", ONE_FAILS),
    Wrong("tables.call([] { return &sum; });", ONE_FAILS),
    Wrong("made.get([] { return &sum; });", "could not convert",
          "cannot initialize"),
    Wrong("auto copy = made;", "deleted function", "deleted constructor"),
]

# Two errors, of which the first says what to do.
SIZES = [
    Wrong("klock::rw_ticket_lock<klock::u32> wide;", TWO_SIZES),
    Wrong("klock::rw_ticket_lock_for<65537> wide;", TWO_SIZES),
    Wrong("klock::phase_fair_lock<klock::u32> wide;", READ_SIZES),
]

# Refused with a list of what would do, or of members that cannot be copied.
REFUSED = [
    "klock::rw_ticket_lock<int> number;",
    "klock::phase_fair_lock<long> number;",
    "auto copy = routes;",
    "auto copy = files;",
    "auto copy = names;",
    "auto copy = wall_clock;",
    "auto copy = clock_for_nmis;",
    "auto copy = count;",
    "auto copy = tables;",
    "auto copy = all_are_up;",
    "names.lock_shared();",
    "names.unlock_shared();",
    "routes.lock_shared(3);",
    "files.unlock_shared(3);",
]

RIGHT = [
    "klock::rw_ticket_lock_for<65536> u16s; u16s.lock_shared(); "
    "u16s.unlock_shared();",
    "klock::shared_guard held(names, 3u); klock::guard other(files);",
    "if (klock::shared_try_guard held{names, 0}) sum++;",
    "if (tables.call(ready)) sum++;",
    "tables.call([] { sum++; });",
    "made.get([] { return 3; }) = sum;",
    "wall_clock.update([](int &now) { now++; }); sum = wall_clock.read();",
    "if (all_are_up.arrive_and_wait(1)) sum++;",
]


def right_ones_are_silent(case):
    lines.right_ones_are_silent(case, SCENE, RIGHT)


def some_warn(case):
    lines.some_warn(case, SCENE, WARNINGS)


def some_are_errors(case):
    lines.some_are_errors(case, SCENE, ERRORS)


def sizes_are_errors(case):
    lines.some_are_errors(case, SCENE, SIZES, at_most=2)


def some_are_refused(case):
    lines.some_are_refused(case, SCENE, REFUSED)


CASES = [right_ones_are_silent, some_warn, some_are_errors, sizes_are_errors,
         some_are_refused]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
