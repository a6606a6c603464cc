# SPDX-License-Identifier: MIT
"""Compares the figures of each lock's object code with those it must have: a row per
lock (EXPECTATIONS), by its name in the list of klock/selftest/locks.hpp. A lock
without a row has as many locked instructions as its header's Cost has RMWs.
Every lock must have a PAUSE in the wait loop of its lock().

Bytes are those of the functions themselves and of what they call, without the
padding that aligns loops. The verbs are called as the self-tests call them: a
lock that takes a node or a CPU's number pays for reading it from there.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple, Optional, Union

import objects

LINTS = Path(__file__).resolve().parents[1] / "lint"

# -- The wanted figures ------------------------------------------------------


class Expected(NamedTuple):
    # Locked instructions in lock() + unlock(), or as many as one compiler and
    # another write down; None: not checked.
    locked: Union[int, tuple, None] = None
    # Locked instructions in unlock(): a holder that only stores needs none.
    unlock_locked: Optional[int] = None
    # Locked instructions in a loop: a ticket lock retries none, a test-and-set
    # lock does.
    retried: Union[int, tuple, None] = None
    # Bytes of lock() + unlock(), as two functions and inlined, x86-64 at -O2.
    most_bytes: Optional[int] = None
    # Instructions of the two functions and what they call, without SLOW,
    # x86-64 at -O2.
    most_own: Optional[int] = None


# The function that a lock enters where somebody waits.
SLOW = "lock_in_turn"


def is_one_of(number, expected):
    """Whether the number is what a row allows."""
    return expected is None or number == expected or \
        isinstance(expected, tuple) and number in expected


# 29 to 34 bytes; peers have 35 to 41 (libvsync, frigg: tickets of 32 bits).
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
        locked=(3, 4), unlock_locked=0, retried=(1, 2), most_own=15),
    "preemptable_ticket_lock<u16>": Expected(
        locked=(3, 4), unlock_locked=0, retried=(1, 2), most_own=15),
    "tas_lock": Expected(locked=1, unlock_locked=0, retried=1),
    "ttas_lock": Expected(locked=1, unlock_locked=0, retried=1),
    "backoff_ttas_lock": Expected(unlock_locked=0),
    # Its slot, and the add that keeps the counter in range.
    "anderson_lock": Expected(locked=2, unlock_locked=0, retried=0),
    "graunke_thakkar_lock": Expected(locked=1, unlock_locked=0, retried=0),
    # A ticket; a CPU that gave up may come back to its slot; unlock() passes
    # slots that were given up.
    "timeout_lock": Expected(locked=5, unlock_locked=2, retried=2),
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
    "reader_lock": Expected(locked=2, unlock_locked=1, retried=0),
}


def _cost(lib, name):
    """The Cost in the header of a lock's list name; "": there is none."""
    # Not in front: a lint is called orders, too.
    if str(LINTS) not in sys.path:
        sys.path.append(str(LINTS))
    import fields
    path = Path(lib) / f"klock/{name.partition('<')[0]}.hpp"
    cost = path.is_file() and fields.parse(path.read_text()).field("Cost")
    return cost.text if cost else ""


def expectations(names, lib):
    """{lock: Expected} of the locks with a row, and of those among these
    names that have none but say their RMWs in the header. A compiler may
    write one down twice: before a loop, and in it."""
    found = dict(EXPECTATIONS)
    for name in names:
        rmws = re.search(r"\b(\d+|no) RMW", _cost(lib, name).partition(";")[0])
        if name not in found and rmws:
            number = 0 if rmws[1] == "no" else int(rmws[1])
            found[name] = Expected(locked=tuple(range(number, 2 * number + 1)))
    return found


# -- The figures -------------------------------------------------------------

# Locks and fences in an instruction of objdump's; %ax,%ax is a no-op.
_LOCKED = re.compile(r"^lock\b|^xchg[bwlq]?\b.*\(")
_FENCE = re.compile(r"^mfence\b|^lock (?:or|add)[bwlq]?\s+\$0x0,.*\(%[re]sp\)")
_PAUSE = re.compile(r"^pause\b")
_PADDING = re.compile(r"^(?:(?:data16|cs|ds|es) )*nop|^xchg\s+%ax,%ax"
                      r"|^lea[lw]?\s+0x0\(%esi(?:,%eiz,1)?\),%esi")
_PROBE = re.compile(r"probe_(\w+?)ILj(\d+)E")


class Facts(NamedTuple):
    name: str
    size: int           # of the lock itself
    lock: int           # bytes of code
    unlock: int
    try_lock: int       # 0: the lock has none
    pair: int           # lock() and unlock() inlined
    locked: int         # locked instructions in that
    retried: int        # those of them that stand in a loop
    fences: int         # fences in that
    unlock_locked: int  # locked instructions in unlock() alone
    pauses: bool        # lock() waits in a loop that has a PAUSE
    own: int            # instructions of lock() and unlock(), without SLOW


def is_padding(instruction):
    return bool(_PADDING.match(instruction.text))


def code_bytes(code):
    return sum(i.length for i in code if not is_padding(i))


def count_fences(code):
    return sum(bool(_FENCE.match(i.text)) for i in code)


def count_locked(code):
    """Locked read-modify-writes: fences that are made of one do not count."""
    return sum(bool(_LOCKED.match(i.text) and not _FENCE.match(i.text))
               for i in code)


def probes(names, symbols):
    """{lock: {verb: symbol}}, in the list's order"""
    places = {}
    for symbol in symbols:
        match = _PROBE.search(symbol)
        if match and "." not in symbol:  # .cold and .part are parts of it
            places.setdefault(int(match[2]), {})[match[1]] = symbol
    if not names or sorted(places) != list(range(len(names))):
        raise objects.Failed(f"{len(names)} names, but probes of "
                             f"{sorted(places)}: probe.hpp and facts.py "
                             "disagree\n")
    return {name: places[place] for place, name in enumerate(names)}


def read(obj, scratch):
    """The Facts of each lock that the object file has a probe of, in order."""
    names = objects.section_text(obj, ".klock_names", scratch).splitlines()
    found, lengths = objects.functions(obj), objects.sizes(obj)
    rows = []
    for name, verbs in probes(names, lengths).items():
        code = {verb: [i for function in objects.with_callees(found, symbol)
                       for i in function.code]
                for verb, symbol in verbs.items()}
        loops = {verb: objects.repeated(found, verbs[verb])
                 for verb in ("lock", "pair")}
        rows.append(Facts(
            name, lengths[verbs["home"]], code_bytes(code["lock"]),
            code_bytes(code["unlock"]), code_bytes(code.get("try_lock", [])),
            code_bytes(code["pair"]), count_locked(code["pair"]),
            count_locked(loops["pair"]), count_fences(code["pair"]),
            count_locked(code["unlock"]),
            any(_PAUSE.match(i.text) for i in loops["lock"]),
            sum(not is_padding(i) for verb in ("lock", "unlock")
                for function in objects.with_callees(found, verbs[verb], SLOW)
                for i in function.code)))
    return rows


def _against(row, expected, bits):
    if not is_one_of(row.locked, expected.locked):
        yield (f"lock() + unlock() has {row.locked} locked instructions, "
               f"expected {expected.locked}")
    if not is_one_of(row.retried, expected.retried):
        yield (f"lock() + unlock() has {row.retried} locked instructions in a "
               f"loop, expected {expected.retried}")
    if expected.unlock_locked is not None and \
            row.unlock_locked != expected.unlock_locked:
        yield (f"unlock() has {row.unlock_locked} locked instructions, "
               f"expected {expected.unlock_locked}")
    if bits == 64 and expected.most_own and row.own > expected.most_own:
        yield (f"lock() and unlock() have {row.own} instructions, at most "
               f"{expected.most_own} allowed")
    if expected.most_bytes is None or bits != 64:
        return
    if row.lock + row.unlock > expected.most_bytes:
        yield (f"lock() and unlock() are {row.lock} + {row.unlock} bytes, at "
               f"most {expected.most_bytes} allowed")
    if row.pair > expected.most_bytes:
        yield (f"lock() + unlock() inlined is {row.pair} bytes, at most "
               f"{expected.most_bytes} allowed")


def check(rows, expectations, bits):
    """One line for each fact that is not as it should be."""
    found = []
    for row in rows:
        if not row.pauses:
            found.append(f"{row.name}: no wait loop of lock() has a PAUSE")
        if row.name in expectations:
            found += [f"{row.name}: {text}" for text in
                      _against(row, expectations[row.name], bits)]
        else:
            found.append(f"{row.name}: has no row in EXPECTATIONS, and the "
                         "Cost in its header no number of RMWs")
    for name in expectations:
        if name not in [row.name for row in rows]:
            found.append(f"{name}: is in EXPECTATIONS, but not in the list "
                         "of klock/selftest/locks.hpp")
    return found


def table(rows):
    """The facts as lines of text."""
    head = ("lock", "size", "lock", "unlock", "sum", "inlined", "try_lock",
            "locked", "in loop", "fences", "pause")
    lines = [head]
    for r in rows:
        lines.append((r.name, r.size, r.lock, r.unlock, r.lock + r.unlock,
                      r.pair, r.try_lock or "-", r.locked, r.retried, r.fences,
                      "yes" if r.pauses else "NO"))
    wide = max(len(line[0]) for line in lines)
    return "\n".join(line[0].ljust(wide) +
                     "".join(str(cell).rjust(9) for cell in line[1:])
                     for line in lines)
