# SPDX-License-Identifier: MIT
"""The locks whose waiters sleep, as locks.py does it for the others.

Also asked:

    freed   a CPU touches the lock, or a waiter's node, after that waiter is
            through

A park returns at once, as it may. So a waiter looks at `woken` again and again,
and hangs if that stays false. That a permit ends a sleep is asked in
permits.py.

Slow paths are followed: one CPU holds and leaves, another takes, and may queue,
sleep, and be told or be handed the lock. What a load may yield is narrowed
before: of hundreds of paths of a mutex' waiter that leaves 40 (interpreter.py,
Memory). Loops that store are not gone round. Left out, as there is no end of
it, and in C++'s model alone (tests_host/model):

    two CPUs that both lock and unlock; a third CPU; deadlines; a waiter that
    was told, finds the lock taken, and sleeps again; a downgrade that
    wakes; readers of patient_shared_mutex<0> that wait; inheriting_mutex' slow
    paths

The inner lock is a swap that acquires and a store that releases, as in the one
that ships: preemptable_ticket_lock, whose code is in locks.py. With that one a
waiter would have thousands of paths.

Run: sleepers.py [--target aarch64] [--cxx g++] [--lock mutex] [--show]
     sleepers.py --weaken
"""

import re
import sys
import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

from solver import z3
import listing
from listing import tool
import locks
import tags
import weaken
from locks import LOCK, TABLE, X, Y
from formula import Formula
from interpreter import Memory, Unknown
from models import MACHINES

FLAG, GUARD = 0x2080, 0x20c0  # what is waited for, and the caller's own lock
STACKS = 0x7f000000

PROLOGUE = """
#include <klock/atomic.hpp>
namespace test {
using namespace klock;
struct inner {
	static constexpr u64 max_contenders = ~u64{0};
	constexpr inner() = default;
	[[gnu::noinline]] void lock()
	{
		while (taken.exchange_acquire(true))
			;
	}
	[[gnu::noinline]] bool try_lock()
	{
		return !taken.exchange_acquire(true);
	}
	[[gnu::noinline]] void unlock() { taken.store_release(false); }
	bool is_locked() const { return taken.load_relaxed(); }
	atomic<bool> taken;
};
}
extern "C" klock::usize klock_os_thread(void) { return 1; }
extern "C" void klock_os_park(void) {}
extern "C" bool klock_os_park_until(klock::u64) { return false; }
extern "C" void klock_os_unpark(klock::usize) {}
using namespace klock;
using test::inner;
struct domain {
	static constexpr u32 max_chain = 64;
	static inline constinit inner lock;
};
static thread_local constinit inheriting_thread thread;
extern "C" {
inheriting_thread *klock_os_inheriting_thread(void) { return &thread; }
void klock_os_run_with_priority(inheriting_thread *, unsigned) {}
unsigned klock_os_cpu_id(void) { return 0; }
void *memset(void *at, int byte, usize size)
{
	for (usize i = 0; i < size; i++)
		static_cast<volatile char *>(at)[i] = static_cast<char>(byte);
	return at;
}
"""
ADD, BOTH = "x = x + 1;", "x = x + 1; y = y + 1;"
SEEN = "const u64 a = x, b = y;"
EXCLUSIVE = {
    "lock": f"l.lock(); {ADD} l.unlock(); return 0;",
    "try": f"if (!l.try_lock()) return 0; {ADD} l.unlock(); return 0;",
    "take": f"l.lock(); {ADD} return 0;",
    "leave": f"{ADD} l.unlock(); return 0;",
    "held": "return l.try_lock();",
}
SHARED = {
    "try": f"if (!l.try_lock()) return 0; {BOTH} l.unlock(); return 0;",
    "held": EXCLUSIVE["held"],
    "write": f"l.lock(); {BOTH} return 0;",
    "leave": f"{BOTH} l.unlock(); return 0;",
    "downgrade": f"{BOTH} l.downgrade(); return 0;",
    "look": f"if (!l.try_lock_shared()) return 0; {SEEN} l.unlock_shared(); "
            "return a ^ b;",
    "read": f"l.lock_shared(); {SEEN} return a ^ b;",
    "leave_read": f"{SEEN} l.unlock_shared(); return a ^ b;",
    "held_read": "return l.try_lock_shared();",
}
UNITS = {
    "unit": "return l.release();",
    "try": f"if (!l.try_acquire()) return 0; {ADD} l.release(); return 0;",
    "take": f"l.acquire(); {ADD} return 0;",
    "leave": f"{ADD} l.release(); return 0;",
}
DONE = {
    "try": f"if (!l.is_set()) return 0; {ADD} return 0;",
    "take": f"l.wait(); {ADD} return 0;",
    "leave": f"{ADD} l.set(); return 0;",
}
QUEUE = {
    "take": f"l.wait([&] {{ return flag != 0; }}); {ADD} return 0;",
    "leave": f"{ADD} l.wake_one([&] {{ flag = 1; }}); return 0;",
}
CONDITION = {
    "take": f"g.lock(); while (!flag) l.wait(g); {ADD} g.unlock(); return 0;",
    "leave": f"g.lock(); {ADD} flag = 1; g.unlock(); l.notify_one(); "
             "return 0;",
}
WAITS = ("take", "write", "read")  # who is through may free the lock

# Paths into these functions: there is no end of them in reasonable time.
LEFT_OUT = defaultdict(tuple, inheriting=("lock_for_ever", "unlock_slowly"))


class Sleeper(NamedTuple):
    type: str
    header: str
    sections: dict
    clients: dict  # name: (what comes before, the sections of each CPU)


def beside(*clients, before=""):
    return {client: (before, [[section] for section in client.split(", ")])
            for client in clients}


PAIRS = {**beside("try, try"),
         **beside("leave, try", "leave, take", before="held")}
BESIDE = beside("lock, try", "lock, lock")
FREE = beside("leave, try", "leave, take")
ONE = beside("leave, take")
SLEEPERS = {
    "mutex": Sleeper("patient_mutex<8, inner>", "mutex", EXCLUSIVE,
                     PAIRS | beside("lock, try")),
    "mutex_in_turn": Sleeper("patient_mutex<0, inner>", "mutex", EXCLUSIVE,
                             {"leave, take": PAIRS["leave, take"]}),
    "shared_mutex": Sleeper(
        "patient_shared_mutex<8, inner>", "shared_mutex", SHARED,
        {**beside("try, try", "try, look", "write, try", "write, look",
                  "read, try"),
         **beside("leave, try", "leave, write", "leave, look", "leave, read",
                  "downgrade, look", before="held"),
         **beside("leave_read, write", before="held_read")}),
    "shared_in_turn": Sleeper(
        "patient_shared_mutex<0, inner>", "shared_mutex", SHARED,
        beside("leave, write", before="held")),
    "semaphore": Sleeper("bounded_semaphore<3, inner>", "semaphore", UNITS,
                         {**FREE,
                          **beside("try, try", "take, try", before="unit")}),
    "completion": Sleeper("completion_with<inner>", "completion", DONE, FREE),
    "wait_queue": Sleeper("wait_queue_with<inner>", "wait_queue", QUEUE, ONE),
    "condition": Sleeper("condition_with<inner>", "condition", CONDITION, ONE),
    "inheriting": Sleeper("inheriting_mutex_in<domain>", "inheriting_mutex",
                          EXCLUSIVE, PAIRS | BESIDE),
}


def source():
    headers = sorted({one.header for one in SLEEPERS.values()})
    lines = [f"#include <klock/{header}.hpp>" for header in headers]
    lines.append(PROLOGUE)
    for name, one in SLEEPERS.items():
        lines.append(f"u64 size_of_{name}() {{ return sizeof({one.type}); }}")
        for section, body in one.sections.items():
            lines.append(f"u64 {section}_of_{name}({one.type} &l, "
                         "[[maybe_unused]] u64 &x, [[maybe_unused]] u64 &y, "
                         "[[maybe_unused]] u64 &flag, "
                         f"[[maybe_unused]] inner &g)\n{{ {body} }}")
    return "\n".join(lines + ["}", ""])


class Case(locks.Case):
    """A client of one of these locks, on a machine."""
    depth = 1

    def __init__(self, machine, code, name, client):
        self.machine, self.code, self.name = machine, code, name
        before, self.cpus = SLEEPERS[name].clients[client]
        self.size = locks.result_of(machine.interpreter(code),
                                    f"size_of_{name}")
        initial = self.neighbours()
        if before:
            initial |= self.after([before], initial)
        self.carry_out(Memory(initial, {X, Y}))

    def are_alike(self, one, two):
        """Each thread has a stack and variables of its own."""
        return False

    def interpreter(self, cpu):
        found = self.machine.interpreter(self.code, cpu, self.depth)
        found.stack = STACKS + 0x10000 * cpu
        if self.machine.name == "x86":  # its own address is there
            found.private = {found.thread + k: found.thread >> 8 * k & 0xff
                             for k in range(8)}
        found.left_out = {at for name, at in self.code.functions.items()
                          if any(part in name for part in LEFT_OUT[self.name])}
        return found

    def arguments(self):
        return LOCK, X, Y, FLAG, GUARD

    def run(self, cpu, sections, memory):
        interpreter = self.interpreter(cpu)
        interpreter.memory = memory
        calls = [(f"{section}_of_{self.name}", self.arguments())
                 for section in sections]
        return interpreter, *interpreter.paths(calls)

    def after(self, sections, initial):
        """Returns the bytes that a CPU alone leaves in memory."""
        _, ends, _ = self.run(0, sections, Memory(initial))
        formula = Formula(self.machine, [ends], initial)
        stored = {(e.address, e.size) for e in formula.events if e.stores}
        final = {place: formula.final(*place) for place in stored}
        _, model = formula.ask(True)
        return {at + k: model.eval(term).as_long() >> 8 * k & 0xff
                for (at, size), term in final.items() for k in range(size)}

    def carry_out(self, memory):
        while True:
            memory.grows = False
            runs = [self.run(cpu, sections, memory)
                    for cpu, sections in enumerate(self.cpus)]
            if not memory.grows:
                break
        self.memory = memory
        self.begin()
        for run in runs:
            self.keep(*run)
        self.formula = Formula(self.machine, self.paths, memory.initial)
        self._check_private([interpreter for interpreter, _, _ in runs])

    def _check_private(self, interpreters):
        """No CPU uses another's stack or variables, but what is shared."""
        for event in self.formula.events:
            for cpu, interpreter in enumerate(interpreters):
                if cpu != event.cpu and any(
                        interpreter.is_private(event.address + k)
                        for k in range(event.size)):
                    raise Unknown(f"{event}: CPU {cpu} alone uses this")

    def objects(self):
        threads = [self.interpreter(cpu).thread
                   for cpu in range(len(self.cpus))]
        return (range(LOCK, LOCK + self.size), range(X, X + 8),
                range(Y, Y + 8), range(FLAG, FLAG + 8), range(GUARD, GUARD + 1),
                range(TABLE, TABLE + 1), self.memory.shared,
                *(range(at - 0x100, at + 0x100) for at in threads))

    # -- The questions ---------------------------------------------------------

    def waits(self, cpu):
        """Also asleep in futex(2), and every wake comes before the look."""
        formula = self.formula
        found = []
        waiting = slice(self.ends[cpu], self.stuck[cpu])
        for taken, path in zip(formula.taken[cpu][waiting],
                               self.paths[cpu][waiting]):
            over = [formula.reads_newest(look, cell, path.looks)
                    for look in path.looks if not path.wakes
                    for cell in formula.cells_of(look)]
            over += [z3.Implies(formula.guards[event], formula.times[event] <
                                formula.times[path.looks[0]])
                     for event in formula.events
                     if path.wakes and event.address == path.wakes]
            found.append(z3.And(taken, *over))
        return z3.Or(found)

    def freed(self):
        """An access to the lock or a waiter's node, later than all of the CPU
        that took what another left, and may free it. A condition may be freed
        by who was notified, and not by who saw the flag without a wait."""
        formula = self.formula
        found = []
        for cpu, sections in enumerate(self.cpus):
            others = [one[-1] for one in self.cpus if one is not sections]
            if (sections[-1] not in WAITS or
                    not all(one.startswith("leave") for one in others)):
                continue
            own = [e for e in formula.events if e.cpu == cpu]
            waited = [formula.guards[e] for e in own
                      if e.address in self.memory.shared]
            may = z3.Or(waited) if self.name == "condition" else True
            for event in formula.events:
                if event.cpu == cpu or not self.is_of_lock(event.address):
                    continue
                later = [z3.Implies(formula.guards[mine], formula.times[mine] <
                                    formula.times[event]) for mine in own]
                found.append(z3.And(formula.guards[event], self.through(cpu),
                                    may, *later))
        return z3.Or(found)

    def is_of_lock(self, address):
        return (LOCK <= address < locks.LOCK_END or
                address in self.memory.shared)

    def done(self):
        """All are through; where one may sleep, one was woken."""
        formula = self.formula
        woken = [formula.guards[event] for event in formula.events
                 if event.stores and event.address in self.memory.shared and
                 not self.interpreter(event.cpu).is_stack(event.address)]
        through = [self.through(cpu) for cpu in range(len(self.cpus))]
        return z3.And(*through, z3.Or(woken) if self.memory.shared else True)


# -- Weaker instructions -------------------------------------------------------

INNER = {"_ZN4test5inner4lockEv": "inner.lock",
         "_ZN4test5inner6unlockEv": "inner.unlock"}

# As weaken.py's list.
BARGES = "by the inner lock, but for a third CPU that barged"
FLAGGED = "it races with a waiter's flag alone, whose path is left out"
PUBLISHES = ("a waiter reads the owner's object, which it publishes, on the slow "
             "path, left out here")
ALONE = "nobody else takes it in this client; `lock` needs it"
GIVEN_UP = "only if all waiters have given up: no client has deadlines"
WORD = "the swap of the word acquires, too; mutex_in_turn needs it"
NOT_NEEDED = [
    ("mutex aarch64 mutex O3 in lock_slowly*: ldaxrb -> ldxrb, 2", BARGES),
    ("mutex aarch64 mutex O6 in unlock_slowly*: stlrb -> strb, 1", BARGES),
    ("mutex aarch64 mutex O5 in unlock_slowly*: stlxrb -> stxrb, 1", GIVEN_UP),
    ("mutex aarch64 no order in inner.lock: ldaxrb -> ldxrb, 1", WORD),
    ("mutex aarch64 no order in lock_slowly*: isb -> nop, 1", weaken.PAUSE),
    ("inheriting x86 inheriting_mutex O4 in *: *", FLAGGED),
    ("inheriting x86 inheriting_mutex O1 in take: *", ALONE),
    ("inheriting aarch64 inheriting_mutex O[12] in *: stlxr -> *", PUBLISHES),
    ("inheriting riscv64 inheriting_mutex O[12] in *: sc.d.rl -> *", PUBLISHES),
]
# For the others that takes long, and nobody has read the list.
WEAKENED = ["completion", "wait_queue", "condition", "inheriting"]


class Clients(weaken.Clients):
    """As weaken.py's, of other cases: make(code, client)."""

    def __init__(self, code, clients, make):
        self.make = make
        self.visited, self.looks = {}, set()
        for client in clients:
            case = make(code, client)
            self.visited[client] = case.visited
            self.looks |= {int(look.text.split()[0], 16)
                           for paths in case.paths for path in paths
                           for look in path.looks}

    def first_wrong(self, code, changes):
        for change in changes:
            code = code.changed(*change)
        for client, visited in self.visited.items():
            if any(change[0] in visited for change in changes):
                verdict, _ = self.make(code, client).verdict()
                if verdict != "right":
                    return client, verdict
        return None


class Judge(weaken.Judge):
    """As weaken.py's, with another list."""

    def __init__(self, listed):
        self.listed, self.used = listed, set()
        self.wrong, self.asked, self.fates = [], [], {}

    def weakened(self, name, target, code, tag_at, clients):
        self.asked.append(f"{name} {target}")
        for tag in {tag_at[at] for at in clients.all_visited() if at in tag_at}:
            self.fate(tag, target, "kept")
        short, counts = with_short_names(code), {}
        for fault in weaken.faults(locks.machine_of(target), short, clients,
                                   tag_at):
            at = fault.changes[0][0]
            function = weaken.function_at(short, at).split("_of_")[0]
            tag = tag_at.get(at, "no order")
            place = f"{name} {target} {tag} in {function}: {fault.weaker}"
            counts[place] = counts.get(place, 0) + 1
            line = f"{place}, {counts[place]}"
            pattern, reason = next((one for one in self.listed
                                    if weaken.takes([one[0]], line)),
                                   (None, ""))
            self.used.add(pattern)
            found = self.one(clients, code, line, fault.changes, reason)
            if fault.order:
                self.fate(tag, target, "needed" if found else "not")

    def stale(self):
        return [f"{pattern}: nothing is so" for pattern, _ in self.listed
                if pattern not in self.used and
                " ".join(pattern.split()[:2]) in self.asked]


def with_short_names(code):
    """Mangled names are short: lock_slowly."""
    other = code.changed(*next((at, i.name) for at, i in code.at.items()))
    other.functions = {}
    for name, at in code.functions.items():
        parts = re.findall(r"\d+([a-z_]+)E", name)
        if name.startswith("_Z") and parts:
            name = INNER.get(name, parts[-1])
            while name in other.functions:
                name += "'"
        other.functions[name] = at
    return other


# -- The table -----------------------------------------------------------------

def check(target, cxx, args, judge):
    machine = MACHINES[locks.machine_of(target)]
    with tempfile.TemporaryDirectory() as scratch:
        code = locks.compiled(target, cxx, scratch, clients=source())
        tag_at = tags.of_code(machine.name, Path(scratch) / "locks",
                              list(code.at))
    wrong = []
    every = list(SLEEPERS)
    if args.weaken:
        every = WEAKENED + ["mutex"] * (target == "aarch64")
    for name in args.lock or every:
        def make(changed, client):
            return Case(machine, changed, name, client)

        clients = SLEEPERS[name].clients
        if args.weaken:
            judge.weakened(name, target, code, tag_at,
                           Clients(code, clients, make))
            continue
        for client in clients:
            wrong += locks.row(name, target, cxx, client,
                               lambda: make(code, client), args.show)
    return wrong


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", *locks.cross.TARGETS])
    parser.add_argument("--cxx", action="append")
    parser.add_argument("--lock", action="append", choices=list(SLEEPERS))
    parser.add_argument("--weaken", action="store_true",
                        help="each order is needed in the instructions")
    parser.add_argument("--show", action="store_true",
                        help="an execution of what is wrong")
    args = parser.parse_args()
    judge = Judge(NOT_NEEDED)
    targets = args.target or ["x86", "aarch64", "riscv64"]
    looks = [partial(check, target, cxx, args, judge) for target in targets
             for cxx in args.cxx or ["g++"]]
    if args.weaken:
        looks.append(partial(judge.end, targets))
    return listing.status(looks, "nothing is wrong in what was carried out")


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
