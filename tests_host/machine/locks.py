# SPDX-License-Identifier: MIT
"""The locks' object code, under the memory model of the machine it is for.

Each lock is compiled as a kernel does it, linked, disassembled and carried out.
A client is some CPUs that each do some critical sections. z3 is asked for an
execution that the machine allows and in which

    lost    two sections read the same store to x, which each of them adds to
    torn    a reader finds two words that differ, which writers change together;
            or another section returns what is not zero, which says why
    hangs   all CPUs are through or wait, and what the waiters looked at last is
            the newest there will be
    deaf    a CPU sleeps until an event that nothing it watches would cause
    freed   a CPU touches the lock after another has done the last section and
            unlocked: whoever knows to be the last may free it
    astray  a CPU uses a pointer that leads to nothing, or panics
    outside a store changes a byte that is neither the lock's nor another
            object's: a neighbour's

and for one in which all sections are done: else the code might be unable to do
anything, and so nothing wrong.

Run: locks.py [--target aarch64] [--cxx g++] [--optimize -Os] [--lock ticket_u8]
               [--client "{1,1}"] [--slow] [--show]
"""

import itertools
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from solver import z3
import listing
from listing import tool
import cross
from formula import Formula
from interpreter import PANIC, STACK, Unknown, constant
from models import MACHINES

LIB = listing.ROOT / "lib"
LOCK, X, Y, Z, NODES = 0x1000, 0x2000, 0x2040, 0x2080, 0x3000
LOCK_END = LOCK + 0x800
TABLE = 0x800000  # where the linker puts what is zero at first

# -- The locks and clients -----------------------------------------------------

SECTIONS = {
    "lock": "l.lock(me); x = x + 1; l.unlock(me); return 0;",
    "try": "if (!l.try_lock()) return 0; x = x + 1; l.unlock(); return 0;",
    "write": "l.lock(); x = x + 1; y = y + 1; l.unlock(); return 0;",
    "read": "l.lock_shared(); const u64 a = x, b = y; l.unlock_shared(); "
            "return a ^ b;",
    "try_write": "if (!l.try_lock()) return 0; x = x + 1; y = y + 1; "
                 "l.unlock(); return 0;",
    "try_read": "if (!l.try_lock_shared()) return 0; const u64 a = x, b = y; "
                "l.unlock_shared(); return a ^ b;",
    # No writer comes between.
    "downgrade": "l.lock(); const u64 n = x + 1; x = n; y = y + 1; "
                 "l.downgrade(); const u64 a = x, b = y; l.unlock_shared(); "
                 "return (a ^ n) | (b ^ n);",
    "upgrade": "l.lock_upgradable(); const u64 n = x + 1; l.upgrade(); x = n; "
               "y = y + 1; l.unlock(); return 0;",
    "try_upgrade": "l.lock_upgradable(); const u64 n = x + 1; "
                   "if (!l.try_upgrade()) { l.unlock_upgradable(); return 0; } "
                   "x = n; y = y + 1; l.unlock(); return 0;",
    "look": "if (!l.try_lock_upgradable()) return 0; const u64 a = x, b = y; "
            "l.unlock_upgradable(); return a ^ b;",
    # A reader writes only what no other reader writes.
    "note": "l.lock_shared(); x = x + 1; l.unlock_shared(); return 0;",
    # 254 sections at once, of (owner, next): a whole wrap takes few CPUs.
    "many": "atomic<u8> *const at = reinterpret_cast<atomic<u8> *>(&l); "
            "const u8 mine = at[1].fetch_add_acq_rel(254); "
            "at[0].await_eq_acquire(mine); x = x + 1; "
            "at[0].store_release(static_cast<u8>(mine + 254)); return 0;",
}
# Sections that add nothing to x; and a section that adds in one call alone.
ONLY_READ = ("read", "try_read", "look", "is_done")
OF_ALL_ONE = ("call",)
# Each CPU's sections, one after the other.
CLIENTS = {
    "{1,1}": [["lock"], ["lock"]],
    "{2,1}": [["lock", "lock"], ["lock"]],
    "{1,1,1}": [["lock"], ["lock"], ["lock"]],
    "lock, try": [["lock"], ["try"]],
    "{2}, try": [["lock", "lock"], ["try"]],
    "lock, {2} try": [["lock"], ["try", "try"]],
    "try, try": [["try"], ["try"]],
    "write, read": [["write"], ["read"]],
    "write, write": [["write"], ["write"]],
    "write, read, read": [["write"], ["read"], ["read"]],
    "write, write, read": [["write"], ["write"], ["read"]],
    "try_write, read": [["try_write"], ["read"]],
    "write, try_read": [["write"], ["try_read"]],
    "try_write, try_read": [["try_write"], ["try_read"]],
    "{read, write}, try_read": [["read", "write"], ["try_read"]],
    "downgrade, read": [["downgrade"], ["read"]],
    "downgrade, write": [["downgrade"], ["write"]],
    "upgrade, read": [["upgrade"], ["read"]],
    "upgrade, write": [["upgrade"], ["write"]],
    "upgrade, upgrade": [["upgrade"], ["upgrade"]],
    "try_upgrade, read": [["try_upgrade"], ["read"]],
    "write, look": [["write"], ["look"]],
    "call, call": [["call"], ["call"]],
    "call, is_done": [["call"], ["is_done"]],
    "fail, fail": [["fail"], ["fail"]],
    "call, call, call": [["call"], ["call"], ["call"]],
    "meet, meet": [["meet"], ["meet"]],
    "twice, twice": [["twice"], ["twice"]],
    "three meet": [["of_3"], ["of_3"], ["of_3"]],
    "{2} write, read": [["write", "write"], ["read"]],
    "{2} write, note": [["write", "write"], ["note"]],
    "wrap {1,1}": [["lock"], ["lock"]],
    "wrap lock, try": [["lock"], ["try"]],
    "whole wrap": [["lock", "lock"], ["many"], ["lock"]],
    "wrap write, read": [["write"], ["read"]],
}
EXCLUSIVE = ["{1,1}", "{2,1}", "{1,1,1}", "lock, try", "try, try"]
WRAPS = ["wrap {1,1}", "wrap lock, try"]
SHARED = ["write, read", "write, write", "write, read, read",
          "{2} write, read", "{2} write, note", "wrap write, read"]
TRIES = ["try_write, read", "write, try_read", "try_write, try_read",
         "{read, write}, try_read"]
DOWNGRADES = ["downgrade, read", "downgrade, write"]
UPGRADES = ["upgrade, read", "upgrade, write", "upgrade, upgrade",
            "try_upgrade, read", "write, look"]


class Lock(NamedTuple):
    type: str
    header: str
    clients: list
    wrap: str = ""   # its bytes, just before its counters wrap
    me: str = ""     # what lock() takes: "u32", the CPU, or a type of node
    depth: int = 1   # of loops that store or count
    words: tuple = ()  # of a node, to which pointers lead
    cells: tuple = ()  # of the lock, likewise
    tables: tuple = ()  # of each CPU's entry in a table, likewise
    own: object = ()  # bytes of a node or entry that its CPU alone uses
    sections: dict = {}  # other bodies than those of SECTIONS
    initial: str = ""  # its bytes, if not all are zero
    nodes_too: bool = False  # are freed with it


LOCKS = {
    "ticket_u8": Lock("ticket_lock<u8>", "ticket_lock",
                      EXCLUSIVE + WRAPS + ["whole wrap"], "ffff"),
    "ticket_u16": Lock("ticket_lock<u16>", "ticket_lock", EXCLUSIVE + WRAPS,
                       "ffffffff"),
    "tas": Lock("tas_lock", "tas_lock", EXCLUSIVE, depth=2),
    "rw_ticket_u8": Lock("rw_ticket_lock<u8>", "rw_ticket_lock",
                         EXCLUSIVE + WRAPS + SHARED + TRIES + DOWNGRADES,
                         "ffffffff"),
    "ttas": Lock("ttas_lock", "ttas_lock", ["{1,1}", "lock, try", "{1,1,1}"],
                 depth=2),
    "narrow_4": Lock("narrow_ticket_lock<4>", "narrow_ticket_lock",
                     EXCLUSIVE + ["{2}, try"]),
    "padded_u8": Lock("padded_ticket_lock<u8>", "padded_ticket_lock",
                      ["{1,1}", "{2,1}", "{1,1,1}"]),
    "phase_fair_u8": Lock("phase_fair_lock<u8>", "phase_fair_lock",
                          EXCLUSIVE + WRAPS + SHARED + TRIES + DOWNGRADES +
                          UPGRADES, "fffcfffc"),
    "peterson": Lock("peterson_lock", "peterson_lock", ["{1,1}", "{2,1}"],
                     me="u32"),
    "mcs": Lock("mcs_lock", "mcs_lock", ["{1,1}"], me="mcs_node", words=(0, 8)),
    # The value is in the lock; x, beside it, is the writers' alone.
    "seq": Lock("seq_lock<words>", "seq_lock",
                ["write, read", "write, write", "write, write, read",
                 "write, try_read"],
                sections={
                    "write": "l.update([&](words &v) "
                             "{ x = x + 1; v.a++; v.b++; }); return 0;",
                    "read": "const words v = l.read(); return v.a ^ v.b;",
                    "try_read": "words v{}; (void)l.try_read(v); "
                                "return v.a ^ v.b;",
                }),
    # One writer: it is no lock of writers.
    "seq_count": Lock("seq_count", "seq_count", ["write, read",
                                                 "write, try_read"], sections={
        "write": "l.write_begin(); word(x).store_relaxed(1); "
                 "word(y).store_relaxed(1); l.write_end(); return 0;",
        "read": "u64 a, b; u32 began; do { began = l.read_begin(); "
                "a = word(x).load_relaxed(); b = word(y).load_relaxed(); "
                "} while (l.read_retry(began)); return a ^ b;",
        "try_read": "u32 began; if (!l.read_try_begin(began)) return 0; "
                    "const u64 a = word(x).load_relaxed(), "
                    "b = word(y).load_relaxed(); "
                    "return l.read_retry(began) ? 0 : a ^ b;",
    }),
    # x: how often what is to run once has run.
    "once": Lock("once", "once", ["call, call", "call, is_done", "fail, fail",
                                  "call, call, call"],
                 me="u32", sections={
        "call": "me_is(me); l.call([&] { x = x + 1; }); return x ^ 1;",
        "is_done": "return l.is_done() ? x ^ 1 : 0;",
        "fail": "me_is(me); l.call([&] { x = x + 1; return false; }); "
                "return 0;",
    }),
    # Each CPU has a word, x[8 * me], and the others' are as it left them.
    "barrier": Lock("spin_barrier", "barrier", ["meet, meet", "twice, twice",
                                                "three meet"],
                    me="u32", sections={
        "meet": "word((&x)[8 * me]).store_relaxed(1); l.arrive_and_wait(2); "
                "return word((&x)[8 - 8 * me]).load_relaxed() ^ 1;",
        "twice": "atomic<u64> &mine = word((&x)[8 * me]), "
                 "&other = word((&x)[8 - 8 * me]); "
                 "mine.store_relaxed(1); l.arrive_and_wait(2); "
                 "const u64 bad = other.load_relaxed() ^ 1; "
                 "l.arrive_and_wait(2); mine.store_relaxed(2); "
                 "l.arrive_and_wait(2); "
                 "return bad | (other.load_relaxed() ^ 2);",
        "of_3": "word((&x)[8 * me]).store_relaxed(1); l.arrive_and_wait(3); "
                "return 1 ^ (word(x).load_relaxed() & "
                "word((&x)[8]).load_relaxed() & "
                "word((&x)[16]).load_relaxed());",
    }),
    # Nodes are numbers, of a table that all such locks share.
    "queued": Lock("queued_lock<3>", "queued_lock",
                   ["{1,1}", "lock, try", "try, try"], me="u32",
                   sections={"lock": "l.lock_from(me); x = x + 1; l.unlock(); "
                                     "return 0;"},
                   tables=(0, 2), own=(16,)),
    # Its cells go round: tail points to the lock's own at first.
    "clh": Lock("clh_lock", "clh_lock", ["{1,1}", "{2,1}", "{1,1,1}"],
                me="clh_node", words=(0,), cells=(0x40,), own=range(0x40, 0x50),
                initial=(LOCK + 0x40).to_bytes(8, "little").hex(),
                nodes_too=True),
    "preemptable_u8": Lock("preemptable_ticket_lock<u8>",
                           "preemptable_ticket_lock",
                           ["lock, try", "lock, {2} try", "{1,1}",
                            "wrap {1,1}"], "fefe"),
}


QUICK = ("ticket_u8", "ticket_u16", "tas", "rw_ticket_u8", "preemptable_u8")


def is_slow(name, target, client, cxx="g++"):
    """Left to level full; what clang makes of preemptable's takes minutes."""
    return name not in QUICK or (
        name == "preemptable_u8" and client != "lock, try" and
        (target, client, cxx) != ("x86", "{1,1}", "g++"))


# Left out, as they do not end in minutes, or not in half of one: LL/SC has too
# many paths.
TOO_LARGE = [("queued", "aarch64", "{1,1}"), ("queued", "aarch64-lse", "{1,1}"),
             ("barrier", "aarch64", "twice, twice")]


# The kernel's part: the CPU's number is in memory of its own.
PRELUDE = [
    "using namespace klock;",
    f"static u32 &number = *reinterpret_cast<u32 *>({STACK + 64:#x});",
    "static inline void me_is(u32 me) { number = me; }",
    "struct words { u64 a, b; };",
    "static inline atomic<u64> &word(u64 &of)",
    "{ return reinterpret_cast<atomic<u64> &>(of); }",
    'extern "C" {',
    "unsigned klock_os_cpu_id() { return number; }",
    "unsigned long klock_os_owner_id() { return number; }",
]


def source():
    """A function for each lock and section, section_of_lock(lock, x, y), and
    the CPU's number or node where the lock needs one."""
    lines = [f"#include <klock/{header}.hpp>"
             for header in sorted({lock.header for lock in LOCKS.values()})]
    lines += PRELUDE
    for name, lock in LOCKS.items():
        used = {section for client in lock.clients
                for cpu in CLIENTS[client] for section in cpu}
        lines.append(f"u64 size_of_{name}() {{ return sizeof({lock.type}); }}")
        for section in sorted(used):
            me = lock.me if lock.me in ("", "u32") else lock.me + " &"
            body = lock.sections.get(section, SECTIONS.get(section))
            if not me:
                body = body.replace("(me)", "()")
            last = f", [[maybe_unused]] {me} me" if me else ""
            lines.append(f"u64 {section}_of_{name}({lock.type} &l, "
                         f"[[maybe_unused]] u64 &x, [[maybe_unused]] u64 &y"
                         f"{last})\n{{ {body} }}")
    return "\n".join(lines + ["}", ""])


# As kernels are built; cross.py has the flags for the other machines.
X86 = ["-fcf-protection=none", "-fno-asynchronous-unwind-tables",
       "-fno-pic", "-mno-red-zone", "-fno-stack-protector",
       "-mgeneral-regs-only", "-g"]


def compiled(target, cxx, scratch, optimize="-O2", clients=None):
    """The code of all clients for a target of cross.py, or x86. It has debug
    information: tags.py."""
    text, obj = Path(scratch) / "locks.cpp", Path(scratch) / "locks.o"
    text.write_text(clients or source())
    machine = machine_of(target)
    listing.BINUTILS[machine].missing()
    if target == "x86":
        if not shutil.which(cxx):
            raise listing.Skip(f"{cxx} not found")
        flags = ["-I", LIB, "-I", LIB / "arch/x86", *X86]
        listing.call([cxx, *listing.objects.FLAGS, *flags, optimize, "-c",
                      text, "-o", obj])
    else:
        cross.Cross(cxx, target, LIB).compile(text, obj, [optimize, "-g"])
    linked = listing.link(machine, [obj], Path(scratch) / "locks",
                          [f"--defsym=klock_os_panic={PANIC:#x}",
                           f"--section-start=.bss={TABLE:#x}"])
    return listing.disassemble(machine, linked)


def machine_of(target):
    return {"riscv64": "riscv", "aarch64-lse": "aarch64"}.get(target, target)


def arguments(lock, cpu):
    me = cpu if lock.me == "u32" else node(cpu)
    return LOCK, X, Y, me


def node(cpu):
    return NODES + 0x100 * cpu


def places(lock, cpus=3):
    """Returns the objects that a loaded pointer may point to."""
    return [LOCK + offset for offset in lock.cells] + [
        node(cpu) + offset for cpu in range(cpus) for offset in lock.words] + [
        TABLE + 64 * cpu + offset
        for cpu in range(cpus) for offset in lock.tables]


def own(lock, cpu):
    """The addresses that no other CPU uses."""
    entry = TABLE + 64 * cpu if lock.tables else node(cpu)
    return [entry + offset for offset in lock.own]


def result_of(interpreter, function):
    """The number that a function without arguments returns."""
    (end,), _ = interpreter.paths([(function, ())])
    result = end.registers[interpreter.preserved[0]]
    return z3.simplify(result.term).as_long()


# The places of a lock that names none: a word of a CPU's node.
PLACES = [node(cpu) + offset for cpu in range(3) for offset in (0, 8)]


# -- The questions -------------------------------------------------------------

class Case:
    """A lock's code and a client of it, on a machine."""

    def __init__(self, machine, code, name, client, initial=None):
        lock = LOCKS[name]
        self.machine, self.lock = machine, lock
        self.cpus = CLIENTS[client]
        begins = lock.wrap if client.startswith("wrap") else lock.initial
        initial = initial or dict(enumerate(bytes.fromhex(begins), LOCK))
        self.begin()
        for cpu, sections in enumerate(self.cpus):
            interpreter = machine.interpreter(code, cpu, lock.depth,
                                              places(lock, len(self.cpus)),
                                              own(lock, cpu))
            ends, stuck = interpreter.paths(
                [(f"{section}_of_{name}", arguments(lock, cpu))
                 for section in sections])
            self.keep(interpreter, ends, stuck)
        self.size = result_of(machine.interpreter(code), f"size_of_{name}")
        self.formula = Formula(machine, self.paths, self.neighbours() |
                               (initial or {}))
        self._check_own()

    def begin(self):
        """The first paths of each CPU end well, those up to `stuck` in a wait,
        and those up to `strays` astray. The others end at what is left out."""
        self.paths, self.ends, self.stuck, self.strays = [], [], [], []
        self.deepest, self.deaf, self.visited = set(), set(), set()

    def keep(self, interpreter, ends, stuck):
        """The paths of one CPU more."""
        paths = ends + stuck + interpreter.astray
        self.ends.append(len(ends))
        self.stuck.append(len(ends) + len(stuck))
        self.strays.append(len(paths))
        self.paths.append(paths + interpreter.left)
        self.deepest |= interpreter.deepest
        self.deaf |= interpreter.deaf
        self.visited |= interpreter.visited

    def neighbours(self):
        """Returns the bytes behind the lock that are not zero, by address."""
        return {LOCK + self.size + k: 0xa5 for k in range(8)}

    def _check_own(self):
        for cpu in range(len(self.cpus)):
            for event in self.formula.events:
                if event.cpu != cpu and event.address in own(self.lock, cpu):
                    raise Unknown(f"{event}: CPU {cpu} alone uses this")

    def counts(self):
        return "x".join(str(len(paths)) for paths in self.paths)

    def through(self, cpu):
        """The CPU has done all its sections."""
        return z3.Or(self.formula.taken[cpu][:self.ends[cpu]])

    def increments(self):
        """(load, store) of x, of each section that adds to it."""
        found = []
        for event in self.formula.events:
            if event.address == X and event.stores:
                earlier = self.formula.prefix[event]
                loads = [e for e in earlier if
                         getattr(e, "address", 0) == X and e.loads]
                if loads:
                    found.append((loads[-1], event))
        return found

    def lost(self):
        """Two sections read x from one store."""
        formula = self.formula
        pairs = itertools.combinations(self.increments(), 2)
        found = []
        for (one, _), (two, _) in pairs:
            if one is two or not formula.together(one, two):
                continue
            both = [formula.guards[one], formula.guards[two]]
            same = [formula.sources[one, cell] == formula.sources[two, cell]
                    for cell in formula.cells_of(one)]
            found.append(z3.And(both + same))
        return z3.Or(found)

    def torn(self):
        """Asks whether a CPU's last section returns other than zero."""
        found = []
        result = self.machine.interpreter.preserved[0]
        for cpu, ends in enumerate(self.ends):
            for taken, path in zip(self.formula.taken[cpu],
                                   self.paths[cpu][:ends]):
                differs = path.registers[result].term != constant(0)
                found.append(z3.And(taken, differs))
        return z3.Or(found)

    def waits(self, cpu):
        """The CPU waits, and its last looks have read the newest there is. What
        its own last round has stored is none of that."""
        formula = self.formula
        found = []
        for k in range(self.ends[cpu], self.stuck[cpu]):
            taken, path = formula.taken[cpu][k], self.paths[cpu][k]
            newest = [formula.reads_newest(look, cell, path.looks)
                      for look in path.looks
                      for cell in formula.cells_of(look)]
            found.append(z3.And(taken, *newest))
        return z3.Or(found)

    def hangs(self):
        """Nobody goes on: some wait, and for nothing that is yet to come."""
        through = [self.through(cpu) for cpu in range(len(self.cpus))]
        each = [z3.Or(end, self.waits(cpu)) for cpu, end in enumerate(through)]
        return z3.And(z3.Not(z3.And(through)), *each)

    def astray(self):
        """A CPU does what none may: what it did not do yet is left out."""
        return z3.Or([taken for cpu, paths in enumerate(self.formula.taken)
                      for taken in paths[self.stuck[cpu]:self.strays[cpu]]])

    def freed(self):
        """An access to the lock, later than all of the CPU that did the last
        section. Who else may touch a lock then, a reader or a try_lock(), is
        for the user to know: it is asked of lock() alone."""
        formula = self.formula
        if any(section != "lock" for cpu in self.cpus for section in cpu):
            return z3.BoolVal(False)
        of_lock = [event for event in formula.events
                   if LOCK <= event.address < LOCK_END or
                   (self.lock.nodes_too and event.address >= NODES)]
        found = []
        for cpu in range(len(self.cpus)):
            own = [event for event in of_lock if event.cpu == cpu]
            sections = [(load, z3.And([formula.is_last(store, cell)
                                       for cell in formula.cells_of(store)]))
                        for load, store in self.increments()
                        if store.cpu == cpu]
            for event in of_lock:
                if event.cpu == cpu:
                    continue
                last = [z3.And(is_last, formula.is_before(load, event))
                        for load, is_last in sections]
                found.append(z3.And(formula.guards[event], z3.Or(last), *(
                    formula.is_before(mine, event) for mine in own)))
        through = [self.through(cpu) for cpu in range(len(self.cpus))]
        return z3.And(z3.Or(found), *through)

    def objects(self):
        """Where the lock is, and all else that the code may change."""
        return (range(LOCK, LOCK + self.size), range(X, X + 8),
                range(Y, Y + 8), range(Z, Z + 8),
                range(NODES, NODES + 0x300), range(TABLE, TABLE + 0xc0))

    def outside(self):
        """A store to a byte that is no object's, which leaves another there
        than it, or the load of its pair, has read."""
        objects = self.objects()
        found = []
        for event in self.formula.events:
            if not event.stores:
                continue
            load = event if event.loads else event.pair
            for at in range(event.address, event.address + event.size):
                if any(at in an_object for an_object in objects):
                    continue
                byte = at, at + 1
                other = z3.BoolVal(True) if load is None else (
                    Formula.part(event, event.stored, byte) !=
                    Formula.part(load, load.loaded, byte))
                found.append(z3.And(self.formula.guards[event], other))
        return z3.Or(found)

    def done(self):
        """All sections are done, and each that may has added to x."""
        if not self.increments():
            return z3.And([self.through(cpu) for cpu in range(len(self.cpus))])
        stores = [store for _, store in self.increments()]
        all_of = [section for cpu in self.cpus for section in cpu]
        wanted = (1 if all_of[0] in OF_ALL_ONE else
                  sum(section not in ONLY_READ for section in all_of))
        added = z3.PbEq([(self.formula.guards[store], 1) for store in stores],
                        wanted)
        through = [self.through(cpu) for cpu in range(len(self.cpus))]
        return z3.And(added, *through)

    def are_alike(self, one, two):
        """CPUs that do the same, and take no argument of their own."""
        return self.cpus[one] == self.cpus[two] and not self.lock.me

    def in_one_order(self):
        """CPUs that are alike begin in the order of their numbers: else each
        execution is looked for again with the names of these CPUs exchanged."""
        times, firsts = self.formula.times, {}
        for event in self.formula.events:
            firsts.setdefault(event.cpu, event)
        return z3.And([times[firsts[one]] <= times[firsts[two]]
                       for one, two in itertools.pairwise(sorted(firsts))
                       if self.are_alike(one, two)])

    def verdict(self):
        """("right" or what is wrong, the events of an example)"""
        if self.deaf:
            return "deaf", sorted(f"waits at {pc:x}" for pc in self.deaf)
        wrongs = {"lost": self.lost(), "torn": self.torn(),
                  "hangs": self.hangs(), "freed": self.freed(),
                  "astray": self.astray(), "outside": self.outside()}
        answer, _ = self.formula.ask(
            z3.And(z3.Or(list(wrongs.values())), self.in_one_order()))
        if answer == "unknown":
            return "unknown", []
        if answer == "sat":
            for name, wrong in wrongs.items():
                answer, model = self.formula.ask(wrong)
                if answer == "sat":
                    return name, self.formula.show(model)
            return "unknown", []
        answer, _ = self.formula.ask(self.done())
        says = {"sat": "right", "unsat": "never done"}
        return says.get(answer, answer), []


# -- The table -----------------------------------------------------------------

def row(name, target, cxx, client, make, show):
    """Prints a line; returns what is wrong. make(): a Case."""
    begin = time.process_time()
    case = make()
    verdict, events = case.verdict()
    print(f"{name:15} {target:12} {cxx:8} {client:20} "
          f"{case.counts():>8} paths {len(case.formula.events):4} "
          f"events  {verdict:8} {time.process_time() - begin:6.1f} s"
          f"{'  cut at its depth' if case.deepest else ''}", flush=True)
    if verdict == "right":
        return []
    if show:
        print("\n".join("    " + event for event in events))
    return [f"{name} {target} {cxx} {client}: {verdict}"]


def check(target, cxx, args):
    """Prints a line for each client; returns those that are wrong."""
    machine = MACHINES[machine_of(target)]
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        code = compiled(target, cxx, scratch, args.optimize)
    for name in args.lock or LOCKS:
        for client in args.client or LOCKS[name].clients:
            if client not in LOCKS[name].clients or (
                    is_slow(name, target, client, cxx) and not args.slow):
                continue
            if (name, target, client) in TOO_LARGE:
                print(f"{name:15} {target:12} {cxx:8} {client:20} left out: "
                      "too large")
                continue
            wrong += row(name, target, cxx, client,
                         lambda: Case(machine, code, name, client), args.show)
    return wrong


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", *cross.TARGETS])
    parser.add_argument("--cxx", action="append")
    parser.add_argument("--lock", action="append", choices=list(LOCKS))
    parser.add_argument("--client", action="append", choices=list(CLIENTS))
    parser.add_argument("--optimize", default="-O2", choices=["-O2", "-Os"])
    parser.add_argument("--slow", action="store_true",
                        help="also what takes more than some seconds")
    parser.add_argument("--show", action="store_true",
                        help="an execution of what is wrong")
    args = parser.parse_args()
    return listing.status(
        [partial(check, target, cxx, args)
         for target in args.target or ["x86", "aarch64", "riscv64"]
         for cxx in args.cxx or ["g++"]],
        "nothing is wrong in what was carried out")


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
