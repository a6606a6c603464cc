# SPDX-License-Identifier: MIT
"""How long the host waits for a guest that says nothing: by the guest's plan.

The guest's own watchdog ends a run that stands still. The host's is for a guest
that is gone; it must never end one that is slow. Each line that comes begins
the time anew, so that only the longest row counts and not how many there are.
"""
import dataclasses
import os
import re
import threading
import time

# lab/report.cpp: what a row is at most
PLAN = re.compile(r"# plan: rows=(\d+) acquisitions=(\d+) seconds=(\d+) "
                  r"patience=(\d+)$")

BOOT = 120          # seconds: until the plan comes, and in each row besides
ICOUNT = 60         # of the host, for one of a guest that counts instructions
TURNS = 0.001       # an acquisition where vCPUs take turns: 1 us when idle
TIME_SLICES = 0.25  # where they share cores, each handoff waits for the host
SLOW = 10           # a second of others; the guest's watchdog asks 8 times


@dataclasses.dataclass
class Plan:
    rows: int
    acquisitions: int   # of a row, at most
    seconds: int        # of a row
    patience: int       # ms; the guest's own watchdog's


def plan_of(line):
    match = PLAN.match(line)
    return Plan(*map(int, match.groups())) if match else None


def shares_cores(accelerator, cpus):
    """Whether vCPUs are host threads, more of them than can run at once."""
    return (accelerator in ("parallel", "kvm")
            and cpus > len(os.sched_getaffinity(0)))


def silence_for(plan, accelerator, cpus):
    """Seconds without a line, and why so many: the work at its slowest, the
    guest's own watchdog, and what a busy host takes."""
    each = TIME_SLICES if shares_cores(accelerator, cpus) else TURNS
    times = ICOUNT if accelerator == "icount" else SLOW
    inside = plan.seconds + plan.patience / 1000
    limit = BOOT + plan.acquisitions * each + inside * times
    work = [f"{plan.acquisitions} acquisitions"] * bool(plan.acquisitions)
    work += [f"{plan.seconds} s"] * bool(plan.seconds)
    return limit, (f"{limit:.0f} s without a line, because a row is "
                   + " or ".join(work or ["short"]))


class Watchdog:
    """Calls kill() once when the time is over; a with statement ends it."""

    def __init__(self, kill, total=None):
        self.kill = kill
        self.total = total
        self.limit = total or BOOT
        self.why = (f"{total:g} s in all, by --timeout" if total else
                    f"{BOOT} s without a line, before a plan came")
        self.expired = ""
        self.ended = threading.Event()
        self.last = time.monotonic()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while True:
            left = self.last + self.limit - time.monotonic()
            if left <= 0:
                self.expired = self.why
                self.kill()
                return
            if self.ended.wait(min(left, 1)):
                return

    def came(self):
        """Something came from the guest."""
        if not self.total:
            self.last = time.monotonic()

    def follow(self, plan, accelerator, cpus):
        """Returns what it will wait for now, in words."""
        if not self.total:
            self.limit, self.why = silence_for(plan, accelerator, cpus)
        return f"host time-out: {self.why}"
