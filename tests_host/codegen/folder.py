# SPDX-License-Identifier: MIT
"""What sequences, once and barrier are made of: no lock in the list has these.

folder.cpp calls each as a kernel does. Its code is compared with the table
below, and nothing is asked of the program but klock_os_* and what folder.cpp
calls itself. wrong_NAME must be found to differ from NAME's row.

Run: folder.py --cxx g++ --bits 64 --lib lib
"""

from pathlib import Path
from typing import NamedTuple

import driver
import facts
import objects
import symbols

HERE = Path(__file__).resolve().parent
# folder.cpp's own.
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


def _differs(code, name, row):
    """What is not as the row says, in words."""
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


def check(compiler, scratch):
    obj = Path(scratch) / "folder.o"
    compiler.compile_as_kernel(HERE / "folder.cpp", obj)
    code = objects.functions(obj)
    found = [text for text in symbols.check(obj)
             if not any(f"symbol {own}:" in text for own in OWN)]
    for name, row in ROWS.items():
        differs = _differs(code, name, row)
        if differs:
            found.append(f"{name}: {differs}")
        print(f"{compiler}: {name}: {facts.code_bytes(code[name].code)} bytes")
    wrong = [name for name in code if name.startswith("wrong_")]
    for name in wrong:
        if not _differs(code, name, ROWS[name.removeprefix("wrong_")]):
            found.append(f"{name}: the difference is not found")
    if len(wrong) < 4:
        found.append(f"only {len(wrong)} wrong ones: folder.cpp has more")
    return found


if __name__ == "__main__":
    driver.main(__doc__, check)
