# SPDX-License-Identifier: MIT
"""A guard of an unchecked lock is the instructions that one writes by hand.

Compares hand_NAME with guard_NAME in the object code of guards.cpp, however it
is optimised; finds the guards that are made wrong. near_NAME may have a few
instructions more than hand_NAME, and no locked one. In counted.cpp: what a lock
that counts does more.

Run: guards.py --cxx g++ --bits 64 --lib lib
"""

import re
from pathlib import Path

import driver
import facts
import objects

HERE = Path(__file__).resolve().parent

# How kernels are optimised; the last, as Linux is: null may be an object.
WAYS = (["-O1"], ["-O2"], ["-O3"], ["-Os"],
        ["-O2", "-fno-delete-null-pointer-checks"])
# More than by hand, at most: looks at the guard, and what they make of
# registers; a call where a counted lock waits.
SOURCES = (("guards.cpp", 16, WAYS),
           ("counted.cpp", 28, (["-O2"], ["-Os"])))


def shape(function):
    """Instructions, and who is called; the registers may be others."""
    found = []
    for i in function.code:
        words = i.text.split()
        if not facts.is_padding(i):
            found.append(" ".join(words[:1 + (words[0] == "lock")] +
                                  [i.other]).strip())
    return found


def _differs(name, hand, guard):
    if shape(hand) == shape(guard):
        return ""
    return (f"{name}: by hand {len(hand.code)} instructions, by guard "
            f"{len(guard.code)}:\n" + "\n".join(
                f"    {a:40}{b}" for a, b in zip(
                    shape(hand) + [""] * len(guard.code),
                    shape(guard) + [""] * (len(hand.code) -
                                           len(guard.code)))))


def _in_any_order(function):
    """The same of a function whose blocks may lie otherwise."""
    return sorted(re.sub(r"^j\w+", "j", one) for one in shape(function))


def _compare(name, kind, hand, guard, more_at_most):
    differs = _differs(name, hand, guard)
    if kind == "same":
        return "" if _in_any_order(hand) == _in_any_order(guard) else differs
    if kind == "guard":
        return differs
    if kind == "wrong":
        return "" if differs else f"{name}: the difference is not found"
    more = [len(f.code) for f in (guard, hand)]
    locked = [facts.count_locked(f.code) for f in (guard, hand)]
    if more[0] > more[1] + more_at_most or locked[0] != locked[1]:
        return f"{more[0]} instructions, by hand {more[1]}\n{differs}"
    return ""


def check(compiler, scratch):
    found, compared = [], 0
    for source, most, way in ((s, most, way) for s, most, ways in SOURCES
                              for way in ways):
        obj = Path(scratch) / "guards.o"
        compiler.compile_as_kernel(HERE / source, obj, way)
        code = objects.functions(obj)
        for name, guard in code.items():
            for kind in ("guard", "same", "near", "wrong"):
                if not name.startswith(kind + "_"):
                    continue
                hand = code["hand_" + name.removeprefix(kind + "_")]
                compared += 1
                wrong = _compare(name, kind, hand, guard, most)
                if kind == "near":
                    print(f"{compiler} {' '.join(way)}: {name}: "
                          f"{len(guard.code) - len(hand.code):+} instructions")
                if wrong:
                    found.append(f"{' '.join(way)}: {wrong}")
    print(f"{compiler}: {compared} pairs")
    if compared < 10 * len(WAYS):
        found.append(f"only {compared} pairs: guards.cpp has more")
    return found


if __name__ == "__main__":
    driver.main(__doc__, check)
