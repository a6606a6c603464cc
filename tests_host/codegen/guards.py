# SPDX-License-Identifier: MIT
"""A guard of klock costs as much as code written by hand.

    guards     a guard of an unchecked lock is the instructions that one writes
               by hand, however it is optimised; near_NAME may have a few more
               than hand_NAME, and no locked one; same_NAME has them in any order,
               but for a move or two.
               And what a lock that counts does more (guards.cpp)
    sequences  what sequences, once and barrier are made of (sequences.cpp)
    release    a release build is the same with klock's checks written down and
               without, byte by byte (release.cpp)

wrong_NAME must be found to differ, and so must a debug build. check.py runs
them.
"""

import re
from pathlib import Path
from typing import NamedTuple

import facts
import headers
import objects

# -- Guards ------------------------------------------------------------------

HERE = Path(__file__).resolve().parent

# How kernels are optimised; the last, as Linux is: null may be an object.
WAYS = (["-O1"], ["-O2"], ["-O3"], ["-Os"],
        ["-O2", "-fno-delete-null-pointer-checks"])
# More than by hand, at most: looks at the guard, and what they make of
# registers; a call where a counted lock waits.
MORE, MORE_COUNTED = 16, 28
COUNTED_WAYS = (["-O2"], ["-Os"])
MOVES = 2  # of same_NAME, more or fewer


def shape(function):
    """Instructions, and who is called; the registers may be others."""
    found = []
    for i in function.code:
        words = i.text.split()
        if not facts.is_padding(i):
            found.append(" ".join(words[:1 + (words[0] == "lock")] +
                                  [i.other]).strip())
    return found


def _shape_differs(name, hand, guard):
    if shape(hand) == shape(guard):
        return ""
    return (f"{name}: by hand {len(hand.code)} instructions, by guard "
            f"{len(guard.code)}:\n" + "\n".join(
                f"    {a:40}{b}" for a, b in zip(
                    shape(hand) + [""] * len(guard.code),
                    shape(guard) + [""] * (len(hand.code) -
                                           len(guard.code)))))


def _in_any_order(function):
    """A function's shape without the order of its blocks: the instructions that
    move a value (GCC 14 needs one lea more than by hand), and all others."""
    moves, others = [], []
    for one in sorted(shape(function)):
        moves_only = re.match(r"(mov|lea)", one)
        (moves if moves_only else others).append(re.sub(r"^j\w+", "j", one))
    return moves, others


def _same(hand, guard):
    hand, guard = _in_any_order(hand), _in_any_order(guard)
    return hand[1] == guard[1] and abs(len(hand[0]) - len(guard[0])) <= MOVES


def _compare(name, kind, hand, guard, more_at_most):
    differs = _shape_differs(name, hand, guard)
    if kind == "same":
        return "" if _same(hand, guard) else differs
    if kind == "guard":
        return differs
    if kind == "wrong":
        return "" if differs else f"{name}: the difference is not found"
    more = [len(f.code) for f in (guard, hand)]
    locked = [facts.count_locked(f.code) for f in (guard, hand)]
    if more[0] > more[1] + more_at_most or locked[0] != locked[1]:
        return f"{more[0]} instructions, by hand {more[1]}\n{differs}"
    return ""


def _by_hand(code, name):
    """hand_NAME; of NAME_MORE, where that is not there."""
    while f"hand_{name}" not in code:
        name = name.rpartition("_")[0]
        if not name:
            raise objects.Failed("guards.cpp: a guard without its hand_NAME")
    return code[f"hand_{name}"]


def check_guards(compiler, scratch, ways=(["-O2"],)):
    found, compared = [], 0
    for way in ways:
        obj = Path(scratch) / "guards.o"
        compiler.compile_as_kernel(HERE / "guards.cpp", obj, way)
        code = objects.functions(obj)
        for name, guard in code.items():
            for kind in ("guard", "same", "near", "wrong"):
                counts = "count" in name
                if not name.startswith(kind + "_") or \
                        counts and way not in COUNTED_WAYS:
                    continue
                hand = _by_hand(code, name.removeprefix(kind + "_"))
                compared += 1
                wrong = _compare(name, kind, hand, guard,
                                 MORE_COUNTED if counts else MORE)
                if kind == "near":
                    print(f"{compiler} {' '.join(way)}: {name}: "
                          f"{len(guard.code) - len(hand.code):+} instructions")
                if wrong:
                    found.append(f"{' '.join(way)}: {wrong}")
    print(f"{compiler}: {compared} pairs")
    if compared < 10 * len(ways):
        found.append(f"only {compared} pairs: guards.cpp has more")
    return found


def check_guards_every_way(compiler, scratch):
    return check_guards(compiler, scratch, WAYS)


# -- Sequences, once, barrier ------------------------------------------------

# sequences.cpp's own.
OWN = ("_Z4workv", "_Z11make_momentv")


class Row(NamedTuple):
    locked: int         # locked instructions, in what the call itself runs
    pauses: bool        # a loop in it has a PAUSE: it waits
    slowly: int = 0     # locked instructions in the slow path, beside those


ROWS = {
    "seq_read": Row(0, True),
    "seq_try_read": Row(0, False),
    "seq_write": Row(1, True),
    "seq_update": Row(1, True),
    "count_read_begin": Row(0, True),
    "count_read_retry": Row(0, False),
    "count_write": Row(0, False),
    "latch_read": Row(0, False),
    "latch_write": Row(0, False),
    "once_call": Row(0, False, 1),
    "once_is_done": Row(0, False),
    "lazy_get": Row(0, False, 1),
    "barrier_wait": Row(1, True),
}


def _row_differs(code, name, row):
    """Returns in words how the code differs from the row."""
    own = code[name].code
    everything = [i for function in objects.with_callees(code, name)
                  for i in function.code]
    again = objects.repeated(code, name)
    found = []
    locked = facts.count_locked(own)
    slowly = facts.count_locked(everything) - locked
    pauses = any(i.text.startswith("pause") for i in again if i in own)
    if locked != row.locked:
        found.append(f"{locked} locked instructions, not {row.locked}")
    if slowly != row.slowly:
        found.append(f"{slowly} in its slow path, not {row.slowly}")
    if facts.count_fences(everything):
        found.append("a full fence")
    if pauses != row.pauses:
        found.append("no PAUSE in a loop" if row.pauses else "it waits")
    return ", ".join(found)


def check_sequences(compiler, scratch):
    obj = Path(scratch) / "sequences.o"
    compiler.compile_as_kernel(HERE / "sequences.cpp", obj)
    code = objects.functions(obj)
    found = [text for text in headers.check_symbols(obj)
             if not any(f"symbol {own}:" in text for own in OWN)]
    for name, row in ROWS.items():
        differs = _row_differs(code, name, row)
        if differs:
            found.append(f"{name}: {differs}")
        print(f"{compiler}: {name}: {facts.code_bytes(code[name].code)} bytes")
    wrong = [name for name in code if name.startswith("wrong_")]
    for name in wrong:
        if not _row_differs(code, name, ROWS[name.removeprefix("wrong_")]):
            found.append(f"{name}: the difference is not found")
    if len(wrong) < 4:
        found.append(f"only {len(wrong)} wrong ones: sequences.cpp has more")
    return found


# -- Release builds ----------------------------------------------------------

SECTIONS = (".text", ".data", ".bss", ".rodata")
# A byte that a program has once: which port, version and overlays it has.
ONCE = ".text.klock_"


def _bytes(compiler, scratch, *flags):
    obj = compiler.compile_as_kernel(
        HERE / "release.cpp", Path(scratch) / "release.o", flags)
    raw = Path(scratch) / "raw"
    found = {}
    for line in objects.call(["objdump", "-h", "-w", obj]).splitlines():
        words = line.split()
        if len(words) < 3 or not words[0].isdigit() or \
                not words[1].startswith(SECTIONS) or words[1].startswith(ONCE):
            continue
        raw.unlink(missing_ok=True)
        objects.call(["objcopy", "-O", "binary", "-j", words[1],
                      "--set-section-flags", f"{words[1]}=alloc", obj, raw])
        found[words[1]] = (int(words[2], 16),
                           raw.read_bytes() if raw.is_file() else b"")
    needs = sorted(objects.undefined(obj))
    return {name: one for name, one in found.items() if one[0]}, needs


def check_release(compiler, scratch):
    plain = _bytes(compiler, scratch, "-DPLAIN")
    release = _bytes(compiler, scratch, "-DDEBUG=false")
    _, debug_needs = _bytes(compiler, scratch, "-DDEBUG=true", "-O0")
    found = []
    if not plain[0].get(".text"):
        found.append(f"{compiler}: release.cpp has no code")
    if release != plain:
        found.append(f"{compiler}: a release build differs from one without "
                     f"checks: {release}\nis not {plain}")
    if "klock_os_panic" not in debug_needs:
        found.append(f"{compiler}: a debug build is as one without checks: "
                     "nothing is shown")
    return found
