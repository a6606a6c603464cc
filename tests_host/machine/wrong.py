# SPDX-License-Identifier: MIT
"""Locks that are wrong are found, each for what it is (wrong.hpp).

weaken.py makes instructions of our locks weaker; here the code is another, with
one lock at least for each verdict of locks.py. Each is wrong for one client, and
by the machine's order: what x86 keeps saves some.

Run: wrong.py [--target aarch64] [--lock no_acquire] [--short]
"""

import sys
import tempfile
from functools import partial
from typing import NamedTuple

import listing
from listing import tool
import locks
from models import MACHINES

HEADER = listing.ROOT / "tests_host/machine/wrong.hpp"


class Wrong(NamedTuple):
    client: str
    found: dict   # target: verdict; "right" where there is none
    depth: int = 1


def everywhere(verdict):
    return dict.fromkeys(("x86", "aarch64", "riscv64"), verdict)


def weak(verdict):
    return everywhere(verdict) | {"x86": "right"}


# The first of each verdict: --short.
WRONG = {
    "looks_first": Wrong("{1,1}", everywhere("lost")),
    "not_counted": Wrong("write, read", everywhere("torn")),
    "skips_one": Wrong("{1,1}", everywhere("hangs")),
    "not_watched": Wrong("{1,1}", {"aarch64": "deaf"}),
    "writes_late": Wrong("{1,1}", everywhere("freed")),
    "leads_nowhere": Wrong("{1,1}", everywhere("astray")),
    "clears_behind": Wrong("{1,1}", everywhere("outside")),
    "never_free": Wrong("lock, try", everywhere("never done")),
    "swap_lock": Wrong("{1,1}", everywhere("right"), 2),
    "no_acquire": Wrong("{1,1}", weak("lost"), 2),
    "no_release": Wrong("{1,1}", weak("lost"), 2),
    "other_fence": Wrong("{1,1}", weak("lost"), 2),
    "no_unlock": Wrong("{1,1}", everywhere("hangs"), 2),
    "reads_after": Wrong("{1,1}", everywhere("freed")),
    "clears_more": Wrong("{1,1}", everywhere("outside")),
    "try_not_atomic": Wrong("try, try", everywhere("lost")),
    "pauses": Wrong("{1,1}", everywhere("right")),
    "two_counters": Wrong("{2,1}", everywhere("right")),
    "take_not_atomic": Wrong("{1,1}", everywhere("lost")),
    "passes_over": Wrong("{1,1}", everywhere("hangs")),
    "reads_before": Wrong("{2,1}", everywhere("hangs")),
    "stores_both": Wrong("{2,1}", everywhere("lost")),
    "no_wrap": Wrong("wrap {1,1}", everywhere("lost")),
    "try_adds": Wrong("lock, try", everywhere("lost")),
    "byte_rw": Wrong("write, read", everywhere("right")),
    "writer_passes": Wrong("write, read", everywhere("torn")),
    "reader_leaves_early": Wrong("write, read", weak("torn")),
    "marks_late": Wrong("{1,1}", {"aarch64": "hangs"}),
}


def one_of_each():
    first = {}
    for name, wrong in WRONG.items():
        for verdict in wrong.found.values():
            first.setdefault(verdict, name)
    return list(dict.fromkeys(first.values()))


def compiled(target, scratch):
    """The code of these locks, as locks.py compiles its own."""
    source = locks.source
    locks.source = lambda: source().replace("<klock/wrong.hpp>",
                                            f'"{HEADER}"')
    locks.LOCKS = {name: locks.Lock(name, "wrong", [wrong.client], wrap="ffff",
                                    depth=wrong.depth)
                   for name, wrong in WRONG.items()}
    code = locks.compiled(target, "g++", scratch)
    locks.source = source
    return code


def check(target, names):
    """Prints a line for each; returns those that are not found, or falsely."""
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        code = compiled(target, scratch)
    for name in names:
        wrong = WRONG[name]
        if target not in wrong.found:
            continue
        case = locks.Case(MACHINES[locks.machine_of(target)], code, name,
                          wrong.client)
        verdict, _ = case.verdict()
        print(f"{name:20} {target:8} {wrong.client:12} {verdict}", flush=True)
        if verdict != wrong.found[target]:
            failed.append(f"{name} {target}: {verdict}, not "
                          f"{wrong.found[target]}")
    return failed


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", "aarch64", "riscv64"])
    parser.add_argument("--lock", action="append", choices=list(WRONG))
    parser.add_argument("--short", action="store_true",
                        help="one lock for each verdict")
    args = parser.parse_args()
    names = args.lock or (one_of_each() if args.short else list(WRONG))
    return listing.status(
        [partial(check, target, names)
         for target in args.target or ["x86", "aarch64", "riscv64"]],
        "each is found")


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
