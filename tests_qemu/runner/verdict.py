# SPDX-License-Identifier: MIT
"""How a run ended: only an exact pass code with a whole report is a pass."""
import enum
import re

# boot/exit.hpp: QEMU's isa-debug-exit turns code v into status 2 * v + 1.
STATUS_PASS, STATUS_FAIL, STATUS_PANIC = 85, 87, 89

CPUS = re.compile(r"# boot: (\d+) CPUs?$")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(ok|not ok) (\d+) \S+( # SKIP .*)?$")


class Outcome(enum.Enum):
    """How a run ended; the value is what a test asks for by --expect."""
    PASS = "pass"
    FAIL = "fail"
    PANIC = "panic"
    RESET = "reset"
    TIMEOUT = "timeout"
    QEMU = "qemu"


def not_earned(machine, lines):
    """What a guest that says it has passed does not show; None: nothing."""
    if "PASS" not in lines:
        return "there is no line PASS"
    found = next((int(m[1]) for m in map(CPUS.match, lines) if m), 0)
    wanted = machine.boots or machine.cpus
    if wanted and found != wanted:
        return f"it found {found} CPUs of {wanted}"
    if "KTAP version 1" in lines or "mode=tap" in machine.append.split():
        return wrong_rows(lines)
    return None


def wrong_rows(lines):
    """What is wrong with the rows of a KTAP report; None: nothing."""
    plans = [int(m[1]) for m in map(PLAN.match, lines) if m]
    rows = [m for m in map(RESULT.match, lines) if m]
    if len(plans) != 1:
        return f"there are {len(plans)} plans"
    if [int(row[2]) for row in rows] != list(range(1, plans[0] + 1)):
        return f"of {plans[0]} rows that were planned there are {len(rows)}"
    if any(row[1] == "not ok" for row in rows):
        return "a row is not ok"
    if all(row[3] for row in rows):
        return f"none of its {len(rows)} rows was run"
    return None


def judge(machine, status, expired, lines, stderr):
    """The outcome, one sentence, and the guest's own line in it, or "".

    expired: which time-out has ended the run, in words, or ""."""
    last = next((line for line in reversed(lines) if line.strip()), "nothing")
    if expired:
        return Outcome.TIMEOUT, (
            f"host time-out: {expired}; the last line was: {last}"), ""
    if status == STATUS_PASS:
        why = not_earned(machine, lines)
        if why:
            return Outcome.FAIL, f"the guest passed, but {why}", ""
        return Outcome.PASS, "passed", ""
    if status == STATUS_FAIL:
        why = next((line for line in lines if line.startswith("FAIL")), last)
        return (Outcome.FAIL, "test failure: " + why.removeprefix("FAIL: "),
                why)
    if status == STATUS_PANIC:
        why = next((line for line in lines if "panic" in line.lower()), last)
        return Outcome.PANIC, f"kernel panic: {why}", why
    if status == 0:
        return Outcome.RESET, (
            "the guest reset or powered off without a verdict (triple "
            f"fault?); the last line was: {last}"), ""
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return Outcome.QEMU, f"QEMU failed with {how}: {stderr or last}", ""
