# SPDX-License-Identifier: MIT
"""Each order is needed in the instructions, and planted faults are found.

One instruction at a time is made weaker in the object code of a lock: an
acquire, a release or a fence is left out, a lock prefix, or the mark of a load
that a sleeping CPU waits by; or all of a wait's loads of two bytes get one of
them. Some client of locks.py must then go wrong. What goes wrong in none is on
the list below with its reason. A line of the list that does not hold is a
failure, too; and where either of two is enough, both are left out.

The table at the end has each order that a header's tags name (/* O1 */), and
whether the machines need it:

    needed   an instruction of it, made weaker, is found
    kept     it has no instruction that could be weaker: the machine keeps all
    not      made weaker, nothing goes wrong: the reason is in the lines above
    either   not, but if another is left out, too
    (blank)  no instruction has its line: optimised, or in no client

Run: weaken.py [--target aarch64] [--lock ticket_u8] [--slow]
"""

import fnmatch
import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import listing
from listing import tool
import locks
from models import MACHINES
import tags

SMALL = ["ticket_u8", "tas", "rw_ticket_u8"]
TARGETS = ["x86", "aarch64", "riscv64"]
# Their LSE instructions are in the others, too; mcs takes a minute and more.
NOT_LSE = ["ticket_u16", "padded_u8", "peterson", "ttas", "phase_fair_u8",
           "mcs", "clh", "once", "queued",
           "preemptable_u8"]
# Clients that take many seconds to say "not found", and find nothing more.
LEFT_OUT = [
    "phase_fair_u8 [ar]* {1,1}",
    "phase_fair_u8 [ar]* {2,1}",
    "phase_fair_u8 [ar]* {1,1,1}",
    "phase_fair_u8 [ar]* wrap *",
    "phase_fair_u8 [ar]* write, read, read",
    "phase_fair_u8 [ar]* upgrade, upgrade",
    "preemptable_u8 * {1,1}",
    "preemptable_u8 * wrap {1,1}",
    "barrier aarch64* twice, twice",
    "queued aarch64* *",
    "queued * {1,1}",
    "clh aarch64 {2,1}",
    "clh aarch64 {1,1,1}",
    "ttas aarch64 {1,1,1}",
]
# In level test: these find nothing more, either, and level full asks them.
LEFT_TO_FULL = [
    "tas * {1,1,1}",
    "rw_ticket_u8 * {2,1}",
    "rw_ticket_u8 * {1,1,1}",
    "rw_ticket_u8 * wrap lock, try",
    "rw_ticket_u8 * write, read, read",
    "rw_ticket_u8 * wrap write, read",
    "rw_ticket_u8 * try, try",
    "rw_ticket_u8 * try_write, try_read",
]


def takes(patterns, line):
    return any(fnmatch.fnmatchcase(line, pattern) for pattern in patterns)


class Fault(NamedTuple):
    tag: str       # "ticket_lock O2"; or "", where there is none
    function: str  # "lock"
    weaker: str    # "ldaxrb -> ldxrb"
    number: int    # of those with the same tag, function and change
    order: bool    # else it is no order that is left out
    changes: list  # (address, name, perhaps operands) of what is there then

    def __str__(self):
        tag = self.tag or "no order"
        return f"{tag} in {self.function}: {self.weaker}, {self.number}"


# -- Weaker instructions -------------------------------------------------------

def _aarch64(name, before):
    if match := re.match(r"(ldaxr|stlxr|ldar|ldapr|stlr)([bh]?)$", name):
        weaker = {"ldaxr": "ldxr", "stlxr": "stxr", "ldar": "ldr",
                  "ldapr": "ldr", "stlr": "str"}[match[1]]
        yield weaker + match[2]
        if before == "wfe":
            yield "ldar" + match[2]
    if match := re.match(r"((?:swp|cas|ld(?:add|set|clr|eor))|"
                         r"st(?:add|set|clr|eor))(a?)(l?)([bh]?)$", name):
        if match[2]:
            yield match[1] + match[3] + match[4]
        if match[3]:
            yield match[1] + match[2] + match[4]
        if match[2] and match[3]:
            yield match[1] + match[4]
    if name in ("dmb", "isb"):
        yield "nop"


def _riscv(name, before):
    if match := re.match(r"((?:lr|sc|amo\w+)\.[bhwd])\.(aqrl|aq|rl)$", name):
        if match[2] == "aqrl":
            yield match[1] + ".aq"
            yield match[1] + ".rl"
        yield match[1]
    if name in ("fence", "fence.tso"):
        yield "nop"


def _x86(name, before):
    if name.startswith("lock "):
        yield name.removeprefix("lock ")
    if name == "mfence":
        yield "nop"


WEAKER = {"aarch64": _aarch64, "riscv": _riscv, "x86": _x86}


def is_order(instruction, weaker):
    """Not the mark of an exclusive load; nor x86's prefix, but of a fence."""
    if instruction.name.startswith("lock "):
        return "[rsp]" in instruction.operands
    return not (instruction.name.startswith("ldax") and weaker[:4] == "ldar")


def half(instruction):
    """(name, operands) of a load of two bytes if it loads one, or None."""
    _, name, operands, _ = instruction
    if name in ("ldrh", "ldarh", "ldaprh", "ldxrh", "ldaxrh"):
        return name[:-1] + "b", operands
    if name in ("lh", "lhu"):
        return "lbu", operands
    if name == "movzx" and " WORD PTR" in operands.replace(",", ", "):
        return name, operands.replace("WORD PTR", "BYTE PTR")
    return None


def is_changed(code, address):
    """Whether a store exclusive is behind a load: half of it fits no load."""
    if not code.at[address].name.startswith(("ldx", "ldax")):
        return False
    while one := code.at.get(code.at[address].after):
        if one.name.startswith(("stx", "stlx")):
            return True
        if one.name.startswith(("ldx", "ldax", "wfe", "ret")):
            return False
        address = one.address
    return False


class Clients:
    """The clients of a lock, and what of the code each of them carries out."""

    def __init__(self, machine, target, code, name, slow):
        self.machine, self.name = machine, name
        left_out = LEFT_OUT if slow else LEFT_OUT + LEFT_TO_FULL
        self.visited, self.looks = {}, set()
        for client in locks.LOCKS[name].clients:
            line = f"{name} {target} {client}"
            if takes(left_out, line) or (name, target, client) in (
                    locks.TOO_LARGE):
                print(f"{line}: left out", flush=True)
                continue
            case = locks.Case(machine, code, name, client)
            self.visited[client] = case.visited
            self.looks |= {int(look.text.split()[0], 16)
                           for paths in case.paths for path in paths
                           for look in path.looks}

    def all_visited(self):
        return set().union(*self.visited.values())

    def first_wrong(self, code, changes):
        """(client, how it goes wrong) of the first that does, or None."""
        for change in changes:
            code = code.changed(*change)
        for client, visited in self.visited.items():
            if any(change[0] in visited for change in changes):
                case = locks.Case(self.machine, code, self.name, client)
                verdict, _ = case.verdict()
                if verdict != "right":
                    return client, verdict
        return None


def before(code, address):
    """The name of the instruction in front of another."""
    return next((one.name for one in code.at.values() if one.after == address),
                "")


def function_at(code, address):
    starts = [(start, name) for name, start in code.functions.items()
              if start <= address]
    name = max(starts)[1]
    if name.startswith("_Z"):
        name = re.findall(r"\d([a-z]\w*?)(?:I|E)", name)[-1]
    return name.split("_of_")[0]


def faults(machine, code, clients, tag_at):
    """Every weakening of the instructions that were carried out."""
    found, counts, loads = [], {}, {}
    visited = clients.all_visited()

    def add(tag, function, weaker, order, changes):
        key = tag, function, weaker
        counts[key] = counts.get(key, 0) + 1
        found.append(Fault(*key, counts[key], order, changes))

    for address in sorted(visited):
        instruction, tag = code.at[address], tag_at.get(address, "")
        function = function_at(code, address)
        if function == "many":
            continue  # no lock's
        for weaker in WEAKER[machine](instruction.name, before(code, address)):
            add(tag, function, f"{instruction.name} -> {weaker}",
                is_order(instruction, weaker), [(address, weaker)])
        if half(instruction) and not is_changed(code, address):
            loads.setdefault((tag, function), []).append(address)
    for key, addresses in loads.items():
        if clients.looks & set(addresses):
            add(*key, "waits for half", False, [(at, *half(code.at[at]))
                                                for at in addresses])
    return found


# -- Changes that need no finder -------------------------------------------------

WHOLE_WRAP = ("only against a count that is a whole wrap old: ticket_u8 alone "
              "has a client for that")
HALVES = "one half is enough: an LDAR is behind an STLXR, and all behind LDAXR"
WORD = "the add reads the whole word, so no later look finds an older owner"
STORES = ("the store of wants is before that of gives_way by either of O1 and "
          "O5; x86 needs neither")
BUFFER = "that a load-acquire is behind the store-release O5 is enough"
TRY = "of the look and the swap of try_lock() one is enough: O4 and O5"
LOW = "the other byte is not looked at"
LOOK = "a relaxed look: the port's wait acquires, the swap behind it does, too"
PAUSE = "an ISB is the port's pause of a spin, no order"
ADDRESS = ("the successor's address depends on the look, and O6 is behind all "
           "looks; C++ has no such dependency")
SWAP = "O1's swap is between what O2 releases and O2"
R = "the store of wants is before that of gives_way by O5, too: header, O1"
BUFFER = "a load-acquire waits for the store-release O5 by itself"
FENCES = "O1's fence is in front of it: header, O3"
ALONE = ("no reader comes beside it in this client, or none that writes; in "
         "write() it is found")
NOTHING = "of the two in upgrade() it is that of the write of nothing"
COUNT = "a reader's count is lost: no client has a writer behind it here"
NO_READER = "no reader has been in before it in this client: see try_read()"
EXACT = "it finds readers where none is, and fails; the swap decides"
TWO_WAIT = "it races with another waiter's alone, and no client has two"
READER = ("no client has two readers here and a writer behind them; in read() "
          "it is found")
WRITER = "no other writer is beside it in this client; elsewhere it is found"
READS = "O3's fence is behind O2, and orders all loads before it"
DMB = "O2's fence is behind it: a DMB orders what is read, too"
PREDECESSOR = ("the predecessor's address depends on the swap; C++ has no such "
               "dependency")
FAILS = "in fail() it is never done, and O3 is behind; found in call()"
TWO_QUEUE = "two queue only behind a third, and no client has so many"
RESET = ("O1 is in front of it; what O3 keeps there is the reset, which the "
         "next meeting needs: found in twice()")
QUIET = ("nobody writes between the first two meetings; found in meet() and at "
         "the other two")

# An order that one of these takes of a lock is found if it is left out
# together: one is enough, and any one.
EITHER = [
    "ticket_u8 aarch64 ticket_lock O1 in *: *",
    "ticket_u* * ticket_lock O[45] in *: *",
    "peterson * peterson_lock O[15] in *: *",
    "peterson aarch64* peterson_lock O[25] in *: *",
    "phase_fair_u8 riscv64 phase_fair_lock O[23] in lock: *",
]

# (what fnmatch takes of "lock target fault", the reason)
NOT_NEEDED = [
    ("ticket_u8 aarch64 ticket_lock O1 in *: *", HALVES),
    ("ticket_u8 aarch64-lse ticket_lock O1 in *: ldaddalb -> ldadd[al]b, 1",
     HALVES),
    ("ticket_u8 riscv64 ticket_lock O1 in *: *", WORD),
    ("ticket_u16 [ar]* ticket_lock O1 in *: *", WHOLE_WRAP),
    ("ticket_u* [ar]* ticket_lock O[45] in *: *", TRY),
    ("rw_ticket_u8 [ar]* rw_ticket_lock O[13] in *: *", WHOLE_WRAP),
    ("rw_ticket_u8 aarch64 rw_ticket_lock O[58] in *: stlxr -> *", WHOLE_WRAP),
    ("rw_ticket_u8 aarch64-lse rw_ticket_lock O[58] in *: casal -> casa, 1",
     WHOLE_WRAP),
    ("rw_ticket_u8 riscv64 rw_ticket_lock O[58] in *: sc.w.rl -> *",
     WHOLE_WRAP),
    ("rw_ticket_u8 * rw_ticket_lock O4 in *: waits for half, 1", LOW),
    ("rw_ticket_u8 x86 rw_ticket_lock O7 in note: *", READER),
    ("rw_ticket_u8 x86 rw_ticket_lock O7 in downgrade: *", READER),
    ("rw_ticket_u8 [ar]* rw_ticket_lock O5 in try_write: l[dr]*", WRITER),
    ("rw_ticket_u8 aarch64-lse rw_ticket_lock O5 in try_write: casal -> *",
     WRITER),
    ("tas aarch64 tas_lock O1 in *: ldaxrb -> ldxrb, 2", LOOK),
    ("tas aarch64-lse tas_lock O1 in *: ldaxrb -> ldxrb, 1", LOOK),
    ("ttas aarch64* no order in lock: ldaxrb -> ldxrb, 1", LOOK),
    ("padded_u8 [ar]* padded_ticket_lock O1 in *: *", WHOLE_WRAP),
    ("peterson * peterson_lock O1 in *: *", STORES),
    ("peterson aarch64* peterson_lock O5 in *: *", STORES),
    ("peterson riscv64 peterson_lock O5 in *: *", STORES),
    ("peterson aarch64* peterson_lock O2 in *: *", BUFFER),
    ("peterson aarch64* * isb -> nop, *", PAUSE),
    ("mcs [ar]* mcs_lock O5 in *: *", ADDRESS),
    ("mcs riscv64 mcs_lock O8 in *: *", ADDRESS),
    ("mcs aarch64* mcs_lock O8 in *: ldar -> ldr, 1", ADDRESS),
    ("mcs aarch64* mcs_lock O8 in *: ldaxr -> ldxr, 1", ADDRESS),
    ("mcs riscv64 mcs_lock O2 in *: *", SWAP),
    ("mcs aarch64-lse mcs_lock O2 in *: *", SWAP),
    ("preemptable_u8 x86 no order in lock_in_turn: *", TWO_WAIT),
    ("preemptable_u8 aarch64* no order in lock_in_turn: * -> ldxrb, 1", LOOK),
    ("preemptable_u8 aarch64* no order in lock_in_turn: isb -> nop, 1", PAUSE),
    ("phase_fair_u8 x86 phase_fair_lock O2 in [lu]*: *", ALONE),
    ("phase_fair_u8 x86 phase_fair_lock O5 in [dltu]*: *", ALONE),
    ("phase_fair_u8 x86 phase_fair_lock O8 in [dn]*: *", READER),
    ("phase_fair_u8 x86 no order in downgrade: lock add -> add, 1", COUNT),
    ("phase_fair_u8 x86 phase_fair_lock O12 in look: *", ALONE),
    ("phase_fair_u8 x86 phase_fair_lock O12 in try_upgrade: *", COUNT),
    ("phase_fair_u8 x86 phase_fair_lock O1 in try_upgrade: *", WRITER),
    ("phase_fair_u8 * phase_fair_lock O10 in *: waits for half, 1", LOW),
    ("phase_fair_u8 aarch64* phase_fair_lock O3 in [dlu]*: * -> ld[rx]*",
     ALONE),
    ("phase_fair_u8 aarch64* phase_fair_lock O[69] in *: stlxr* -> *",
     WHOLE_WRAP),
    ("phase_fair_u8 aarch64* no order in *: * -> ldxrh, 1", LOOK),
    ("phase_fair_u8 * no order in lock: waits for half, 1", LOW),
    ("phase_fair_u8 * no order in downgrade: waits for half, 1", LOW),
    ("phase_fair_u8 * no order in write: waits for half, 1", LOW),
    ("phase_fair_u8 * no order in look: waits for half, 1", NO_READER),
    ("phase_fair_u8 * no order in *upgrade: waits for half, 1", EXACT),
    ("phase_fair_u8 [ar]* phase_fair_lock O1 in *: *", WHOLE_WRAP),
    ("phase_fair_u8 riscv64 phase_fair_lock O2 in *: *", READS),
    ("phase_fair_u8 riscv64 phase_fair_lock O3 in [dlu]*: *", ALONE),
    ("phase_fair_u8 [ar]* phase_fair_lock O4 in try_write: *", WRITER),
    ("phase_fair_u8 riscv64 phase_fair_lock O5 in upgrade: *, 1", NOTHING),
    ("phase_fair_u8 aarch64 phase_fair_lock O5 in upgrade: *, 2", NOTHING),
    ("phase_fair_u8 aarch64 phase_fair_lock O2 in upgrade: *", WHOLE_WRAP),
    ("phase_fair_u8 riscv64 phase_fair_lock O1[02] in try_upgrade: * -> *",
     WRITER),
    ("phase_fair_u8 aarch64 phase_fair_lock O10 in try_upgrade: * -> ld[rx]*",
     WRITER),
    ("phase_fair_u8 aarch64 phase_fair_lock O12 in try_upgrade: *", WRITER),
    ("phase_fair_u8 [ar]* phase_fair_lock O13 in *: *", ALONE),
    ("phase_fair_u8 riscv64 phase_fair_lock O[69] in *: sc.w.rl -> *",
     WHOLE_WRAP),
    ("clh riscv64 clh_lock O1 in *: amoswap.d.aqrl -> amoswap.d.rl, 1",
     PREDECESSOR),
    ("clh aarch64 clh_lock O1 in *: ldaxr -> ldxr, 1", PREDECESSOR),
    ("seq aarch64* no order in write: ldaxr -> ldxr, 1", LOOK),
    ("seq aarch64* seq_lock O1 in write: *", DMB),
    ("once riscv64 once O[16] in fail: *", FAILS),
    ("once aarch64* once O[16] in fail: * -> ld[rx]*", FAILS),
    ("queued riscv64 queued_lock O[2357] in queue_up: * -> *", TWO_QUEUE),
    ("queued x86 no order in queue_up: lock cmpxchg -> cmpxchg, 1", TWO_QUEUE),
    ("queued * queued_lock O5 in queue_up: waits for half, 1", TWO_QUEUE),
    ("barrier riscv64 barrier O3 in [mo]*: *", RESET),
    ("barrier riscv64 barrier O3 in twice: *, 3", RESET),
    ("barrier aarch64-lse barrier O3 in *: *", RESET),
    ("barrier riscv64 barrier O1 in twice: *.rl, 2", QUIET),
    ("barrier riscv64 barrier O2 in twice: *, 3", QUIET),
]


def reason_for(line):
    for pattern, reason in NOT_NEEDED:
        if fnmatch.fnmatchcase(line, pattern):
            return pattern, reason
    return None, ""


# -- All faults of a lock ------------------------------------------------------

def misjudged(found, reason):
    """The text of what is wrong: an instruction made weaker was found, or not,
    and the list says why it is not."""
    says = f"{found[1]} in {found[0]}" if found else "not found"
    if found and found[1] in ("unknown", "never done"):
        return says
    if bool(found) == bool(reason):
        return f"{says}, and it is {'' if reason else 'not '}on the list"
    return ""


# found, the list's reason, what is wrong
JUDGED = [
    (("lock, lock", "overlap"), "", ""),
    (None, LOOK, ""),
    (None, "", "not found, and it is not on the list"),
    (("lock, lock", "overlap"), LOOK,
     "overlap in lock, lock, and it is on the list"),
    (("lock, lock", "unknown"), "", "unknown in lock, lock"),
    (("lock, lock", "never done"), "", "never done in lock, lock"),
]


def judge_is_right():
    """No fault of the instructions is one that passes: the judge is asked."""
    return [f"{found}, {reason!r}: judged {misjudged(found, reason)!r}"
            for found, reason, wrong in JUDGED
            if misjudged(found, reason) != wrong]


class Judge:
    """Asks for all faults; keeps what is not as listed, and each tag's fate."""

    def __init__(self, slow):
        self.slow = slow
        self.wrong = []
        self.used = set()   # patterns of the list
        self.asked = []     # "lock target"
        self.fates = {}     # (tag, target): as the table has it

    def fate(self, tag, target, now):
        """Keeps the strongest, of several instructions and locks."""
        order = ["needed", "either", "not", "kept"]
        before = self.fates.get((tag, target), "kept")
        self.fates[tag, target] = min(before, now, key=order.index)

    def lock(self, target, name, code, tag_at):
        machine = MACHINES[locks.machine_of(target)]
        clients = Clients(machine, target, code, name, self.slow)
        self.asked.append(f"{name} {target}")
        for address in clients.all_visited():
            if tag := tag_at.get(address):
                self.fate(tag, target, "kept")
        all_of = {f"{name} {target} {fault}": fault for fault in
                  faults(machine.name, code, clients, tag_at)}
        groups = {pattern: both for pattern in EITHER
                  if len(both := fnmatch.filter(all_of, pattern)) > 1}
        in_groups = sum(groups.values(), [])
        for line, fault in all_of.items():
            pattern, reason = reason_for(line)
            self.used.add(pattern)
            found = self.one(clients, code, line, fault.changes, reason)
            if fault.order:
                self.fate(fault.tag, target, "needed" if found else
                          "either" if line in in_groups else "not")
        for pattern, both in groups.items():
            changes = [change for line in both
                       for change in all_of[line].changes]
            self.one(clients, code, f"{pattern}: all left out", changes, "")

    def one(self, clients, code, line, changes, reason):
        found = clients.first_wrong(code, changes)
        says = f"{found[1]} in {found[0]}" if found else "not found"
        print(f"{line:62} {says:24} {reason}".rstrip(), flush=True)
        if wrong := misjudged(found, reason):
            self.wrong.append(f"{line}: {wrong}")
        return found

    def stale(self):
        """Lines of the list that have taken nothing."""
        return [f"{pattern}: nothing is so" for pattern, _ in NOT_NEEDED
                if pattern not in self.used and
                fnmatch.filter(self.asked, " ".join(pattern.split()[:2]))]

    def table(self, targets):
        rows = sorted({tag for tag, _ in self.fates if " O" in tag},
                      key=lambda tag: (tag.split()[0], int(tag.split("O")[1])))
        print(f"\n{'order':28}" + "".join(f"{target:13}"
                                          for target in targets))
        for tag in rows:
            fates = [self.fates.get((tag, target), "") for target in targets]
            nobody = "none of them needs it"
            if {"needed", "either"} & set(fates):
                nobody = ""
            print(f"{tag:28}" + "".join(f"{fate:13}" for fate in fates) +
                  nobody)

    def end(self, targets):
        """Returns what is wrong in all that was asked."""
        self.table(targets)
        return self.wrong + self.stale()


def check(target, args, judge):
    """Asks; what is wrong, the judge keeps."""
    with tempfile.TemporaryDirectory() as scratch:
        code = locks.compiled(target, "g++", scratch)
        tag_at = tags.of_code(locks.machine_of(target),
                              Path(scratch) / "locks", list(code.at))
    for name in args.lock or chosen(target, args.slow):
        judge.lock(target, name, code, tag_at)
    return []


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", *locks.cross.TARGETS])
    parser.add_argument("--lock", action="append", choices=list(locks.LOCKS))
    parser.add_argument("--slow", action="store_true",
                        help="the other locks, and all with LSE")
    args = parser.parse_args()
    if wrong := judge_is_right():
        return listing.status([lambda: wrong], "")
    judge = Judge(args.slow)
    targets = args.target or TARGETS + (["aarch64-lse"] if args.slow else [])
    return listing.status(
        [*(partial(check, target, args, judge) for target in targets),
         partial(judge.end, targets)], "each is found, or is on the list")


def chosen(target, slow):
    if not slow:
        return SMALL
    but = NOT_LSE if target == "aarch64-lse" else ["ticket_u8"]
    return [name for name in locks.LOCKS if name not in but]


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
