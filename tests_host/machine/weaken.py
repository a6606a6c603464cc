# SPDX-License-Identifier: MIT
"""Each order is needed in the instructions, and planted faults are found.

One instruction at a time is made weaker in the object code of a lock: an
acquire, a release or a fence is left out, a lock prefix, or the mark of a load
that a sleeping CPU waits by; or all of a wait's loads get half of the bytes
that they wait for. Some client of locks.py must then go wrong. What goes wrong
in none is on the list below with its reason. An entry that is found after all is a
failure, too; and where either of two is enough, both are left out.

Run: weaken.py [--target aarch64] [--lock ticket_u8]
"""

import re
import sys
import tempfile
from typing import NamedTuple

import listing
from listing import tool
import locks
from models import MACHINES

SMALL = ["ticket_u8", "ticket_u16", "tas", "rw_ticket_u8"]


class Fault(NamedTuple):
    place: str     # "lock: 2 ldaxrb -> ldxrb", the second such in the function
    changes: list  # (address, the name of the instruction that is there then)

    @property
    def section(self):
        return self.place.partition(":")[0]


# -- Weaker instructions -------------------------------------------------------

def _aarch64(name, before):
    if match := re.match(r"(ldaxr|stlxr|ldar|ldapr|stlr)([bh]?)$", name):
        weaker = {"ldaxr": "ldxr", "stlxr": "stxr", "ldar": "ldr",
                  "ldapr": "ldr", "stlr": "str"}[match[1]]
        yield weaker + match[2]
        if before == "wfe":
            yield "ldar" + match[2]
    if match := re.match(r"(swp|cas|ldadd|ldset|ldclr|ldeor)(a?)(l?)([bh]?)$",
                         name):
        if match[2]:
            yield match[1] + match[3] + match[4]
        if match[3]:
            yield match[1] + match[2] + match[4]
    if name in ("dmb", "isb"):
        yield "nop"


def _riscv(name, before):
    if match := re.match(r"((?:lr|sc|amo\w+)\.[bhwd])\.(aqrl|aq|rl)$", name):
        if match[2] == "aqrl":
            yield match[1] + ".aq"
            yield match[1] + ".rl"
        else:
            yield match[1]
    if name in ("fence", "fence.tso"):
        yield "nop"


def _x86(name, before):
    if name.startswith("lock "):
        yield name.removeprefix("lock ")
    if name == "mfence":
        yield "nop"


WEAKER = {"aarch64": _aarch64, "riscv": _riscv, "x86": _x86}


def section_at(code, address):
    """The section whose function an instruction is in."""
    starts = [(start, name) for name, start in code.functions.items()
              if start <= address]
    return max(starts)[1].partition("_of_")[0]


def faults(machine, code, visited):
    """Every weakening of the instructions that were carried out."""
    found, counts, halves = [], {}, {}
    before = ""
    for address in sorted(code.at):
        name = code.at[address].name
        if address in visited:
            section = section_at(code, address)
            for weaker in WEAKER[machine](name, before):
                key = section, name, weaker
                counts[key] = counts.get(key, 0) + 1
                place = f"{section}: {counts[key]} {name} -> {weaker}"
                found.append(Fault(place, [(address, weaker)]))
            if name == "ldarh" or (name == "ldaxrh" and before == "wfe"):
                halves.setdefault(section, []).append((address,
                                                       name[:-1] + "b"))
        before = name
    halves.pop("try", None)  # it waits for nothing
    return found + [Fault(f"{section}: waits for half", changes)
                    for section, changes in halves.items()]


# -- What need not be found ----------------------------------------------------

WHOLE_WRAP = ("against a count that is a whole wrap old, in C++'s model of two "
              "counters: ticket_lock.hpp, O1. Bytes of one word are coherent.")
EITHER = "of the look and the swap of try_lock() one is enough: O4 and O5"
HALF = "a reader waits for the writers' byte alone"
LOOK = "only a look, the swap behind it acquires"


def _listed(reason, lines):
    return {line: reason for line in lines.split("\n") if line}


# "lock target place": reason
NOT_NEEDED = {
    **_listed(WHOLE_WRAP, """
ticket_u8 aarch64 lock: 1 ldaxrb -> ldxrb
ticket_u8 aarch64 lock: 1 stlxrb -> stxrb
ticket_u16 aarch64 lock: 1 ldaxrh -> ldxrh
ticket_u16 aarch64 lock: 1 stlxrh -> stxrh
rw_ticket_u8 aarch64 lock: 1 ldaxrh -> ldxrh
rw_ticket_u8 aarch64 lock: 1 stlxrh -> stxrh
rw_ticket_u8 aarch64 read: 1 ldaxrh -> ldxrh
rw_ticket_u8 aarch64 read: 1 stlxrh -> stxrh
rw_ticket_u8 aarch64 write: 1 ldaxrh -> ldxrh
rw_ticket_u8 aarch64 write: 1 stlxrh -> stxrh
rw_ticket_u8 aarch64 try: 1 stlxr -> stxr
ticket_u8 riscv64 lock: 1 lr.w.aq -> lr.w
ticket_u8 riscv64 lock: 1 sc.w.rl -> sc.w
ticket_u16 riscv64 lock: 1 amoadd.w.aqrl -> amoadd.w.aq
ticket_u16 riscv64 lock: 1 amoadd.w.aqrl -> amoadd.w.rl
rw_ticket_u8 riscv64 lock: 1 amoadd.w.aqrl -> amoadd.w.aq
rw_ticket_u8 riscv64 lock: 1 amoadd.w.aqrl -> amoadd.w.rl
rw_ticket_u8 riscv64 read: 1 amoadd.w.aqrl -> amoadd.w.aq
rw_ticket_u8 riscv64 read: 1 amoadd.w.aqrl -> amoadd.w.rl
rw_ticket_u8 riscv64 write: 1 amoadd.w.aqrl -> amoadd.w.aq
rw_ticket_u8 riscv64 write: 1 amoadd.w.aqrl -> amoadd.w.rl
rw_ticket_u8 riscv64 try: 1 sc.w.rl -> sc.w
"""),
    **_listed(EITHER, """
ticket_u8 aarch64 try: 1 ldarb -> ldrb
ticket_u8 aarch64 try: 1 ldaxrh -> ldxrh
ticket_u16 aarch64 try: 1 ldarh -> ldrh
ticket_u16 aarch64 try: 1 ldaxr -> ldxr
ticket_u8 riscv64 try: 1 fence -> nop
ticket_u8 riscv64 try: 1 lr.w.aq -> lr.w
ticket_u16 riscv64 try: 1 fence -> nop
ticket_u16 riscv64 try: 1 lr.w.aq -> lr.w
"""),
    **_listed(HALF, """
rw_ticket_u8 aarch64 read: waits for half
"""),
    **_listed(LOOK, """
tas aarch64 lock: 2 ldaxrb -> ldxrb
"""),
}


# -- All faults of a lock ------------------------------------------------------

def first_wrong(machine, code, name, section):
    """The first client with that section that goes wrong, and how."""
    for client in locks.LOCKS[name].clients:
        if not any(section in cpu for cpu in locks.CLIENTS[client]):
            continue
        verdict, _ = locks.Case(machine, code, name, client).verdict(60)
        if verdict == "unknown":
            raise listing.Failed(f"{name} {client}: z3 does not know")
        if verdict != "right":
            return client, verdict
    return None


def visited(machine, code, name):
    found = set()
    for client in locks.LOCKS[name].clients:
        for cpu, sections in enumerate(locks.CLIENTS[client]):
            interpreter = machine.interpreter(code, cpu, 1, locks.PLACES)
            lock = locks.LOCKS[name]
            interpreter.paths([(f"{section}_of_{name}",
                                locks.arguments(lock, cpu))
                               for section in dict.fromkeys(sections)])
            found |= interpreter.visited
    return found


def check(target, name, code):
    """Prints a line for each fault; returns those that are not as listed."""
    machine = MACHINES[locks.machine_of(target)]
    all_of = faults(machine.name, code, visited(machine, code, name))
    reasons = {fault.place: NOT_NEEDED.get(f"{name} {target} {fault.place}")
               for fault in all_of}
    either = [fault.changes[0] for fault in all_of
              if reasons[fault.place] == EITHER]
    if either:
        all_of.append(Fault("try: neither of look and swap", either))
    wrong = []
    for fault in all_of:
        changed = code
        for address, instruction in fault.changes:
            changed = changed.changed(address, instruction)
        found = first_wrong(machine, changed, name, fault.section)
        reason = reasons.get(fault.place)
        says = f"{found[1]} in {found[0]}" if found else "not found"
        print(f"{name:13} {target:8} {fault.place:40} {says:24}"
              f"{reason or ''}", flush=True)
        if bool(found) == bool(reason):
            wrong.append(f"{name} {target} {fault.place}: {says}, and it is "
                         f"{'' if reason else 'not '}on the list")
    stale = [line for line in NOT_NEEDED if line.startswith(
        f"{name} {target} ") and line.split(" ", 2)[2] not in reasons]
    return wrong + [f"{line}: there is no such instruction" for line in stale]


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", *locks.cross.TARGETS])
    parser.add_argument("--lock", action="append", choices=list(locks.LOCKS))
    args = parser.parse_args()
    wrong = []
    for target in args.target or ["x86", "aarch64", "riscv64"]:
        try:
            with tempfile.TemporaryDirectory() as scratch:
                code = locks.compiled(target, "g++", scratch)
        except listing.Skip as reason:
            return listing.skipped(reason)
        for name in args.lock or SMALL:
            wrong += check(target, name, code)
    print("\n".join(wrong or ["each is found, or is on the list"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
