# SPDX-License-Identifier: MIT
"""Each property of locks.py can fail: the locks of faulty.hpp are found.

Run: properties.py
"""

import sys
import tempfile

import listing
from listing import tool
import locks
from models import MACHINES

HEADER = listing.ROOT / "tests_host/machine/faulty.hpp"

# lock, client, verdict; on these targets alone
FAULTY = [
    ("looks_first", "{1,1}", "lost", ()),
    ("not_counted", "write, read", "torn", ()),
    ("skips_one", "{1,1}", "hangs", ()),
    ("not_watched", "{1,1}", "deaf", ("aarch64",)),
    ("writes_late", "{1,1}", "freed", ()),
    ("leads_nowhere", "{1,1}", "astray", ()),
    ("clears_more", "{1,1}", "outside", ()),
    ("never_free", "lock, try", "never done", ()),
]


def main():
    tool.Parser(__doc__).parse_args()
    locks.LOCKS = {name: locks.Lock(name, "faulty", [client])
                   for name, client, _, _ in FAULTY}
    text = locks.source().replace("<klock/faulty.hpp>", f'"{HEADER}"')
    wrong = []
    for target in ("x86", "aarch64", "riscv64"):
        try:
            with tempfile.TemporaryDirectory() as scratch:
                code = locks.compiled(target, "g++", scratch, clients=text)
        except listing.Skip as reason:
            return listing.skipped(reason)
        machine = MACHINES[locks.machine_of(target)]
        for name, client, wanted, targets in FAULTY:
            if targets and target not in targets:
                continue
            verdict, _ = locks.Case(machine, code, name, client).verdict()
            print(f"{target:8} {name:14} {client:12} {verdict}", flush=True)
            if verdict != wanted:
                wrong.append(f"{target} {name}: {verdict}, not {wanted}")
    print("\n".join(wrong or ["each fault is found for what it is"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
