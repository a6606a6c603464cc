# SPDX-License-Identifier: MIT
"""What the object code of a lock must be: one row per lock, by its name in the
list of klock/selftest/locks.hpp. Every lock, with a row or without, must have a
PAUSE in the wait loop of its lock(), and pass symbols.py.
"""

from typing import NamedTuple, Optional, Union


class Expected(NamedTuple):
    # Locked instructions in lock() + unlock(), or as many as one compiler and
    # another write down; None: not checked.
    locked: Union[int, tuple, None] = None
    # In unlock() alone: a holder that only stores pays no locked one.
    unlock_locked: Optional[int] = None
    # Those in a loop: a ticket is not taken twice, a test-and-set is.
    retried: Union[int, tuple, None] = None
    # Bytes of lock() + unlock(), as two functions and inlined, x86-64 at -O2.
    most_bytes: Optional[int] = None


# 29 to 34 bytes; peers have 35 to 41 (libvsync, frigg: tickets of 32 bits).
def is_one_of(number, expected):
    """Whether the number is what a row allows."""
    return expected is None or number == expected or \
        isinstance(expected, tuple) and number in expected


COMPACT = Expected(locked=1, unlock_locked=0, retried=0, most_bytes=34)
TICKET = Expected(locked=1, unlock_locked=0, retried=0)

EXPECTATIONS = {
    "ticket_lock<u8>": COMPACT,
    "ticket_lock<u16>": COMPACT,
    "ticket_lock<u32>": TICKET,
    "narrow_ticket_lock<2>": Expected(locked=2, unlock_locked=1, retried=0),
    "narrow_ticket_lock<3>": Expected(locked=2, unlock_locked=1, retried=0),
    "narrow_ticket_lock<4>": Expected(locked=2, unlock_locked=1, retried=0),
    "padded_ticket_lock<u8>": TICKET,
    "padded_ticket_lock<u32>": TICKET,
    "proportional_ticket_lock<u8>": TICKET,
    "proportional_ticket_lock<u32>": TICKET,
    # Without waiters its first; behind it a draw, and one to get in, which
    # clang writes down twice: for who seems late, and for who does not.
    "preemptable_ticket_lock<u8>": Expected(
        locked=(3, 4), unlock_locked=0, retried=(1, 2)),
    "preemptable_ticket_lock<u16>": Expected(
        locked=(3, 4), unlock_locked=0, retried=(1, 2)),
    "tas_lock": Expected(locked=1, unlock_locked=0, retried=1),
    "ttas_lock": Expected(locked=1, unlock_locked=0, retried=1),
    "backoff_ttas_lock": Expected(unlock_locked=0),
    # Its slot, and the add that keeps the counter in range.
    "anderson_lock": Expected(locked=2, unlock_locked=0, retried=0),
    "graunke_thakkar_lock": Expected(locked=1, unlock_locked=0, retried=0),
    # One to queue, one to leave an empty queue.
    "mcs_lock": Expected(locked=2, unlock_locked=1, retried=0),
    # lock(): 44 bytes by clang, 56 by g++; 34 were it not that zero bytes, and
    # copies, are unused nodes, whose cell is found by a test. g++ writes the
    # test's other side apart. Told that both are as likely it has 50, and a
    # jump that is taken each time: not worth it.
    "clh_lock": Expected(locked=1, unlock_locked=0, retried=0),
    # Without waiters its first. Behind it, one to queue and one to leave an
    # empty queue; in loops the wait of the first, and who has no node.
    "queued_lock": Expected(locked=5, unlock_locked=0, retried=2),
    # Made for CPUs that have no locked instruction.
    "peterson_lock": Expected(locked=0),
    # lock() of 4 CPUs: 140 bytes by g++, 36 of them await_left(): the root is
    # released last, so that its next holder may free the lock, and so a side
    # above the leaves may still be its last user's. No shorter way is known.
    "tournament_lock": Expected(locked=0),
    "bakery_lock": Expected(locked=0),
    "rw_ticket_lock<u8>": Expected(locked=1, unlock_locked=0, retried=0),
    "rw_ticket_lock<u16>": Expected(locked=1, unlock_locked=0, retried=0),
    # Two to come in: to the writers, and to the readers. The unlock is one
    # add.
    "phase_fair_lock<u8>": Expected(locked=3, unlock_locked=1, retried=0),
    "phase_fair_lock<u16>": Expected(locked=3, unlock_locked=1, retried=0),
    "wide_phase_fair_lock": Expected(locked=3, unlock_locked=1, retried=0),
    "reader_lock": Expected(locked=2, unlock_locked=1, retried=0),
}
