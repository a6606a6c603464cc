# SPDX-License-Identifier: MIT
"""Hosted parking: the permits of host_parking.hpp, on three machines.

The header is compiled for Linux and carried out with its system calls. futex(2)
is all that is known of the kernel (interpreter.py, system_call). z3 is asked
for an execution in which

    hangs   a thread sleeps for ever, with a permit given
    lost    a park() has read a permit, or a later state of the word, and what
            was written before the unpark() is not seen after it

and for one that ends. Another system call is refused by name. Each weaker
instruction must be found; faults in the header: tests_host/mutants.

Run: permits.py [--target aarch64] [--show] [--weaken]
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

from solver import z3
import listing
from listing import tool
import locks
import sleepers
from locks import X, Y
from sleepers import FLAG
from interpreter import Memory, WAKES
from models import MACHINES

# glibc's syscall(), as far as futex(2) needs it.
SYSTEM_CALL = {
    "x86": "mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; "
           "mov %r8, %r10; syscall; ret",
    "aarch64": "mov x8, x0; mov x0, x1; mov x1, x2; mov x2, x3; mov x3, x4; "
               "svc #0; ret",
    "riscv": "mv a7, a0; mv a0, a1; mv a1, a2; mv a2, a3; mv a3, a4; "
             "ecall; ret",
}
TELL = "told.store_relaxed(true); klock_os_unpark(thread);"
SECTIONS = {
    "begin": "irq_restore(true); return 0;",
    "park": "klock_os_park(); return x + y;",
    "until": "while (!told.load_relaxed()) klock_os_park(); return x + y;",
    "give": "x = 1; klock_os_unpark(thread); return 0;",
    "give_too": "y = 1; klock_os_unpark(thread); return 0;",
    "tell": f"x = 1; {TELL} return 0;",
    "tell_inside": "x = 1; const irq_state before = irq_save(); "
                   f"{TELL} irq_restore(before); klock_os_unparked(); "
                   "return 0;",
}
CLIENTS = {
    "park | give": [["park"], ["give"]],
    "park | give | give": [["park"], ["give"], ["give_too"]],
    "until | tell": [["until"], ["tell"]],
    "until | tell inside": [["until"], ["tell_inside"]],
    "park, until | tell": [["park", "until"], ["tell"]],
}


def source(machine):
    lines = ["#include <klock/host_parking.hpp>", "using namespace klock;",
             f'asm(".globl syscall; syscall: {SYSTEM_CALL[machine]}");',
             'asm(".globl clock_gettime; clock_gettime: ret");',
             'extern "C" {']
    for section, body in SECTIONS.items():
        lines.append(f"u64 {section}_of_permit([[maybe_unused]] u64 &x, "
                     "[[maybe_unused]] u64 &y, [[maybe_unused]] atomic<u8> "
                     f"&told, [[maybe_unused]] usize thread)\n{{ {body} }}")
    return "\n".join(lines + ["}", ""])


def compiled(target, scratch):
    """The code of host_parking.hpp."""
    scratch = Path(scratch)
    machine = locks.machine_of(target)
    port = locks.LIB / "arch/hosted"
    text, obj = scratch / "permit.cpp", scratch / "permit.o"
    text.write_text(source(machine))
    if target == "x86":
        call = ["g++", *locks.X86, "-O2"]
    else:
        cross = locks.cross.Cross("g++", target, locks.LIB)
        call = [cross.cxx, *cross.machine(), *locks.cross.COMMON]
        if machine == "riscv":  # the ABI that Linux has there
            call += ["-march=rv64gc", "-mabi=lp64d"]
    listing.call([*call, "-std=c++20", "-I", locks.LIB, "-I", port,
                  "-c", text, "-o", obj])
    return listing.disassemble(machine, listing.link(machine, [obj],
                                                     scratch / "permit"))


class PermitCase(sleepers.Case):
    """Threads that give a permit to the first CPU's, which parks."""
    depth = 2

    def __init__(self, machine, code, client):
        self.machine, self.code, self.name = machine, code, "permit"
        self.cpus = [["begin", *cpu] for cpu in CLIENTS[client]]
        self.permit = 0
        self.permit = locks.result_of(self.interpreter(0), "klock_os_thread")
        self.carry_out(Memory(None, {X, Y}))

    def interpreter(self, cpu):
        """Thread-local variables are a CPU's own, but for the permit."""
        found = super().interpreter(cpu)
        variables = range(found.thread - 0x200, found.thread + 0x200)
        found.private = dict.fromkeys(variables, 0) | found.private
        for at in range(self.permit, self.permit + 4):
            found.private.pop(at, None)
        return found

    def arguments(self):
        return X, Y, FLAG, self.permit

    def lost(self):
        """A write before an unpark() is not seen after a park() that
        has read it, or a later state of the permit."""
        formula = self.formula
        found = []
        for given in formula.events:
            if (given.address != self.permit or given.cpu == 0 or
                    not given.stores):
                continue
            written = [event for event in formula.prefix[given]
                       if getattr(event, "address", 0) in (X, Y)]
            for load in formula.events:
                for event in written:
                    if load.cpu == 0 and load.address == event.address:
                        found.append(self.is_old(load, event, given))
        return z3.Or(found)

    def is_old(self, load, written, given):
        formula = self.formula
        cell, = formula.cells_of(load)
        permit, = formula.cells_of(given)
        taken = [formula.sources[event, permit] >= formula.times[given]
                 for event in formula.prefix[load]
                 if getattr(event, "address", 0) == self.permit and event.loads]
        return z3.And(formula.guards[load], formula.guards[given],
                      formula.sources[load, cell] < formula.times[written],
                      z3.Or(taken))

    def torn(self):
        return z3.BoolVal(False)

    def freed(self):
        return z3.BoolVal(False)

    def objects(self):
        permit = range(self.permit, self.permit + 4)
        return (range(X, X + 8), range(Y, Y + 8), range(FLAG, FLAG + 1), permit,
                range(self.permit + WAKES, self.permit + WAKES + 4))

    def done(self):
        return z3.And([self.through(cpu) for cpu in range(len(self.cpus))])


# -- The tables ----------------------------------------------------------------

def check(target, args):
    machine = MACHINES[locks.machine_of(target)]

    def make(code, client):
        return PermitCase(machine, code, client)

    with tempfile.TemporaryDirectory() as scratch:
        code = compiled(target, scratch)
    if args.weaken:
        judge = sleepers.Judge([])
        judge.weakened("permit", target, code, {},
                       sleepers.Clients(code, CLIENTS, make))
        return judge.wrong
    wrong = []
    for client in CLIENTS:
        wrong += locks.row("permit", target, "g++", client,
                           lambda: make(code, client), args.show)
    return wrong


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--target", action="append",
                        choices=["x86", *locks.cross.TARGETS])
    parser.add_argument("--weaken", action="store_true",
                        help="weaker instructions")
    parser.add_argument("--show", action="store_true",
                        help="an execution of what is wrong")
    args = parser.parse_args()
    return listing.status(
        [partial(check, target, args)
         for target in args.target or ["x86", "aarch64", "riscv64"]],
        "nothing is wrong in what was carried out")


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
