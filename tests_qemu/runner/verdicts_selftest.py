#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the runner makes of a guest that says it has passed: only a report with
all its rows is a pass. Boots nothing."""
import sys

import qemu
import verdict

GOOD = ["# boot: 2 CPUs", "KTAP version 1", "1..3", "ok 1 a", "ok 2 b # SKIP c",
        "ok 3 d", "PASS"]


def without(line):
    return [other for other in GOOD if other != line]


def instead_of(line, other):
    return [other if one == line else one for one in GOOD]


# what the guest printed, what the message must hold ("": a pass)
CASES = [
    (GOOD, ""),
    (["# boot: 2 CPUs", "a table", "PASS"], ""),
    (without("PASS"), "no line PASS"),
    (instead_of("PASS", "PASSED by"), "no line PASS"),
    (without("# boot: 2 CPUs"), "0 CPUs of 2"),
    (instead_of("# boot: 2 CPUs", "# boot: 1 CPU"), "1 CPUs of 2"),
    (without("1..3"), "0 plans"),
    (GOOD + ["1..3"], "2 plans"),
    (without("ok 3 d"), "of 3 rows that were planned there are 2"),
    (instead_of("ok 3 d", "ok 2 d"), "there are 3"),
    (GOOD + ["ok 4 e"], "there are 4"),
    (instead_of("ok 3 d", "not ok 3 d"), "a row is not ok"),
    (["# boot: 2 CPUs", "KTAP version 1", "1..0", "PASS"], "none of its 0"),
    (["# boot: 2 CPUs", "KTAP version 1", "1..1", "ok 1 a # SKIP b", "PASS"],
     "none of its 1 rows was run"),
]


def main():
    failed = 0
    machine = qemu.Machine(image="none", cpus=2)
    for lines, expected in CASES:
        outcome, message, _ = verdict.judge(machine, verdict.STATUS_PASS, "",
                                            lines, "")
        passed = outcome is verdict.Outcome.PASS
        if passed != (not expected) or expected not in message:
            print(f"{lines}: {message!r} instead of {expected!r}")
            failed += 1
    tap = qemu.Machine(image="none", cpus=2, append="run=locks mode=tap")
    if verdict.not_earned(tap, ["# boot: 2 CPUs", "PASS"]) != "there are 0 plans":
        print("mode=tap without a report passes")
        failed += 1
    print(f"{len(CASES) + 1} cases, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
