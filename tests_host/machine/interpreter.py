# SPDX-License-Identifier: MIT
"""Carries object code out, one CPU by itself, along all its paths.

What a load from shared memory yields is a fresh unknown; a branch on it is
two paths, each with its condition. Which of them fit together, and in which
order, is for formula.py to say. Calls are followed. The stack is the CPU's own.
An instruction that is not known ends all: nothing is passed over.

Loops. A round that ends where it began has either stored nothing, as a failing
look of a wait and a failing exclusive store, and is left out: an execution
without these loads is one of the machine's, too, as loads only constrain it.
That holds if the next round finds all as this one did. So each register that
the round has changed must be written before it is read again (_check_cuts).
Where it is not, it may be a count of spin iterations: that may be anything in
each round, so there may have been any number before, and patience may be at its
end. Or it is the value seen last: that is right if the round's last look might
as well have been the one before the round (_takes_its_place). Other loops, and
loops that store, are carried out `depth` times, and the verdict has that depth.

A path that ends in a round left out is kept, too: a CPU that looks for ever, if
what it looked at is the newest there will be (locks.py, "hangs"). Only where a
count leads out of such a loop it is not (_stay). A CPU that sleeps until the
place that it has marked changes needs no other look: it sleeps for ever if that
one was of the newest. Kept is a path, too, that ends in what no CPU may do: a
panic, or a use of a pointer that is none of those that it may be ("astray").
"""

import copy
from typing import NamedTuple

from solver import z3

from events import Event, Fence, Path, Value

WIDTH = 64
STACK = 0x7fff0000       # where the stack pointer begins
STACK_SIZE = 0x1000
RETURN = 0x7eee0000      # the return address of the code under test
PANIC = 0x700000         # the address of klock_os_panic(), which has no code


class Unknown(Exception):
    """Object code that this interpreter cannot carry out."""


def constant(number, width=WIDTH):
    return z3.BitVecVal(number, width)


def low(term, bits):
    """The lowest bits of it, as a term of that width."""
    if bits == term.size():
        return term
    return z3.Extract(bits - 1, 0, term)


def zero_extended(term, width=WIDTH):
    missing = width - term.size()
    return z3.ZeroExt(missing, term) if missing > 0 else term


def sign_extended(term, width=WIDTH):
    missing = width - term.size()
    return z3.SignExt(missing, term) if missing > 0 else term


def known(number):
    return Value(constant(number))


class Visit(NamedTuple):
    """How a path found things when it was at an instruction before."""
    cells: dict
    items: int
    conditions: int
    failures: int
    rounds: int


class Cut(NamedTuple):
    place: tuple       # the instruction and the calls that lead to it
    changed: frozenset # registers that the round has left different
    counts: frozenset  # those of them in which there is nothing loaded
    trace: tuple
    stored: bool


class State:
    """A CPU on its way. All that it holds is replaced, never changed, so that a
    copy is a fork."""

    def __init__(self, cpu):
        self.cpu = cpu
        self.cells = {}         # registers, and ("stack", address): bytes
        self.items = ()
        self.conditions = ()
        self.control = frozenset()
        self.context = frozenset()
        self.marked = None      # the load exclusive that a store may pair with
        self.woken = False      # by SEVL: the next WFE does not sleep
        self.failures = 0       # exclusive stores that failed
        self.pc = 0
        self.calls = ()
        self.visits = {}
        self.trace = ()         # (kind, what, trace before)
        self.fresh = 0

    def note(self, kind, what):
        self.trace = (kind, what, self.trace)

    def read(self, name):
        self.note("read", name)
        if name not in self.cells:
            unknown = z3.BitVec(f"{self.cpu}_{name}", WIDTH)
            self.cells = {**self.cells, name: Value(unknown)}
        return self.cells[name]

    def write(self, name, term, sources=frozenset()):
        self.note("write", name)
        value = Value(z3.simplify(term), sources)
        self.cells = {**self.cells, name: value}

    def branches_on(self, sources):
        self.control = self.control | sources

    def add(self, item):
        self.items = self.items + (item,)

    def path(self, looks=()):
        registers = {name: value for name, value in self.cells.items()
                     if isinstance(name, str)}
        return Path(self.items, self.conditions, registers, looks)


class Interpreter:
    """The part that all machines share. A machine adds `execute`, which yields
    the states after an instruction."""

    stack_pointer = None
    arguments = ()      # the registers that arguments are passed in
    preserved = ()      # those that a caller may read after a return

    def __init__(self, code, cpu=0, depth=1, places=(), own=()):
        self.code = code
        self.cpu = cpu
        self.depth = depth
        self.places = places  # what a pointer that is loaded may be
        self.own = own        # addresses that no other CPU uses, zero at first
        self.counted = {}     # {loop that carries something on: counts in it}
        self.carried = {}     # {such a loop: what it reads of a round before}
        self.cuts = []
        self.stuck = []
        self.astray = []      # paths to a panic or along a wrong pointer
        self.alive = {}
        self.counter = 0
        self.counting = []    # (path into a wait, conditions before its round)
        self.deepest = set()  # loops that were cut at `depth`
        self.deep = []        # paths that were cut so and stored
        self.deaf = set()     # loops that sleep and watch nothing
        self.visited = set()  # addresses of all instructions carried out

    # -- All paths -----------------------------------------------------------

    def paths(self, sections):
        """Returns (paths to the end, paths into a wait). sections: (function,
        arguments), one after the other."""
        while True:
            self.cuts, self.stuck, self.alive = [], [], {}
            self.astray = []
            self.deepest, self.deep, self.counting = set(), [], []
            self.counter = 0
            states = [State(self.cpu)]
            for function, arguments in sections:
                states = [end for state in states
                          for end in self._section(state, function, arguments)]
            wrong = self._check_cuts(states)
            if not wrong:
                ends = [state.path() for state in states]
                return ends, self.stuck + self._stay(ends)
            self.counted = {**self.counted, **wrong}
            self.carried = self.alive

    def _section(self, state, function, arguments):
        if function not in self.code.functions:
            raise Unknown(f"function {function}")
        state = copy.copy(state)
        state.pc = self.code.functions[function]
        state.visits = {}
        state.calls = ()
        for name, number in zip(self.arguments, arguments):
            state.write(name, constant(number))
        self.enter(state)
        work, done = [state], []
        while work:
            state = work.pop()
            if state.pc == RETURN:
                done.append(state)
                continue
            if state.pc == PANIC:
                self.astray.append(state.path())
                continue
            if not self._goes_on(state):
                continue
            instruction = self.code.at.get(state.pc)
            if instruction is None:
                raise Unknown(f"no code at {state.pc:x}")
            work += self.execute(state, instruction)
        return done

    def _goes_on(self, state):
        """Notes where a path is, if it can get there by a branch. False if it
        has been there, and a round more is not for this run."""
        place = state.pc, state.calls
        self.visited.add(state.pc)
        if state.pc not in self.code.targets:
            return True
        last = state.visits.get(place)
        state.note("at", place)
        if last:
            items = state.items[last.items:]
            round_of = [item for item in items if isinstance(item, Event)]
            if (Fence("wfe") in items and
                    not any(event.marks for event in round_of)):
                self.deaf.add(state.pc)
            stored = any(event.stores for event in round_of)
            counted = place in self.counted
            past = counted and self._goes_past(place, last, state)
            limit = self.depth + past if counted or stored else 1
            if last.rounds >= limit:
                changed = _changed(last.cells, state.cells)
                counts = frozenset(name for name in changed
                                   if _is_count(name, state.cells[name].term))
                self.cuts.append(Cut(place, changed, counts, state.trace,
                                     stored))
                if stored or past or (counted and
                                      not self._takes_its_place(place, last,
                                                                state)):
                    self.deepest.add(state.pc)
                if stored:
                    self.deep.append(state.path())
                if state.failures == last.failures:
                    self._stays(state, last, place, stored)
                return False
        for name in self.counted.get(place, ()):
            self._forget(state, name)
        rounds = last.rounds + 1 if last else 1
        visit = Visit(state.cells, len(state.items), len(state.conditions),
                      state.failures, rounds)
        state.visits = {**state.visits, place: visit}
        return True

    def _stays(self, state, last, place, stored):
        """A path into a wait, from which there may be no way out."""
        items = state.items[last.items:]
        looks = tuple(item for item in items
                      if isinstance(item, Event) and item.loads)
        # Where the next round sleeps before it looks, the marked look decides.
        begins = [item for item in items
                  if item == Fence("wfe") or item in looks]
        if begins[:1] == [Fence("wfe")] and state.marked in looks:
            looks = (state.marked,)
        # What this round was decided by may be a look of the one before.
        names = self.carried.get(place) or _read_first(state.trace, place)
        _, swaps = self._swaps(place, last, state, names)
        looks += tuple(event for event in state.path().events()
                       if any(event.loaded.eq(one) for one, _ in swaps
                              if event.loads))
        if looks and place in self.counted and not stored:
            self.counting.append((state.path(looks), last.conditions))
        elif looks:
            self.stuck.append(state.path(looks))

    def _stay(self, ends):
        """The paths into a wait which no count ends: no path that leaves it
        parts from them where there is a count in a condition."""
        leaving = ends + self.stuck + self.astray + self.deep
        return [path for path, first in self.counting
                if not any(self._leaves(path, first, other)
                           for other in leaving)]

    def _leaves(self, path, first, other):
        """Whether another path leaves a wait by a count, though it looks at
        what the wait's looks saw."""
        at = _part_at(path.conditions, other.conditions)
        if not (first <= at < len(path.conditions) and
                "count_" in str(path.conditions[at])):
            return False
        seen = [(event.loaded, look.loaded)
                for event in other.events() if event not in path.items
                for look in path.looks if event.loads and
                (event.address, event.size) == (look.address, look.size)]
        conditions = [z3.substitute(condition, *seen)
                      for condition in other.conditions[at:]]
        return self.possible(path.conditions[:at] + path.conditions[at + 1:] +
                             tuple(conditions))

    def sleeps(self, state):
        """Until the marked place changes, if anything is marked and SEVL was
        not before it."""
        if state.marked and not state.woken:
            self.stuck.append(state.path((state.marked,)))
        state.woken = False

    def _takes_its_place(self, place, last, state):
        """Whether all is as before the round, but for counts; or with one look
        for another: the same bytes, and ordered as much or more. Then the
        execution without the look before the round is one, too."""
        terms, swaps = self._swaps(place, last, state)
        if not swaps:
            return all(before.eq(now) for before, now in terms)
        if len(swaps) != 1:
            return False
        one, two = swaps.pop()
        if one.size() != two.size():
            return False
        if not all(z3.simplify(z3.substitute(before, (one, two))).eq(now)
                   for before, now in terms):
            return False
        events = [event for event in state.items if isinstance(event, Event)]
        first, second = (next(event for event in events
                              if event.loads and event.loaded.eq(term))
                         for term in (one, two))
        same = (first.address, first.size) == (second.address, second.size)
        weaker = not (first.acquire or first.acquire_pc or first.stores or
                      first.marks) or second.acquire
        was = z3.And(state.conditions[:last.conditions])
        holds = z3.substitute(was, (one, two))
        return same and weaker and not self.possible(
            state.conditions + (z3.Not(holds),))

    def _goes_past(self, place, last, state):
        """Whether an access or a fence is between the look before the round and
        the round: none may take that look's place."""
        _, swaps = self._swaps(place, last, state)
        looks = [i for i, item in enumerate(state.items[:last.items])
                 if isinstance(item, Event) and item.loads and
                 any(item.loaded.eq(one) for one, _ in swaps)]
        return any(i + 1 < last.items for i in looks)

    def _swaps(self, place, last, state, names=None):
        """What the next round reads of this one, before and after it; and which
        loaded values are others in it."""
        terms = [(last.cells[name].term, state.cells[name].term)
                 for name in names or self.carried.get(place, ())
                 if name in last.cells and
                 name not in self.counted.get(place, ())]
        return terms, {(one, two) for before, now in terms
                       for one, two in zip(_loads(before), _loads(now))
                       if not before.eq(now)}

    def _forget(self, state, name):
        """A register may hold anything."""
        self.counter += 1
        width = state.cells[name].term.size() if name in state.cells else WIDTH
        unknown = z3.BitVec(f"count_{self.cpu}_{self.counter}", width)
        state.cells = {**state.cells, name: Value(unknown)}

    def _check_cuts(self, ends):
        """{place of a loop: counts}, of those whose rounds may not be left out
        and were: what a round has changed is read by the next."""
        preserved = frozenset(self.preserved)
        traces = [(end.trace, preserved) for end in ends]
        for trace, live in traces:
            self._note_alive(trace, live)
        grows = True
        while grows:
            grows = False
            for cut in self.cuts:
                live = self.alive.get(cut.place, frozenset())
                grows |= self._note_alive(cut.trace, live)
        found = {}
        for cut in self.cuts:
            carried = cut.changed & self.alive.get(cut.place, frozenset())
            if carried and not cut.stored and cut.place not in self.counted:
                found[cut.place] = found.get(cut.place, frozenset()) | (
                    carried & cut.counts)
        return found

    def _note_alive(self, trace, live):
        """Follows a path backwards: what is read later, not written before."""
        grows = False
        while trace:
            kind, what, trace = trace
            if kind == "read":
                live = live | {what}
            elif kind == "write":
                live = live - {what}
            else:
                before = self.alive.get(what, frozenset())
                if not live <= before:
                    self.alive[what] = before | live
                    grows = True
        return grows

    # -- What instructions are made of ---------------------------------------

    def enter(self, state):
        """Sets the return address and the stack pointer."""
        raise NotImplementedError

    def execute(self, state, instruction):
        raise NotImplementedError

    def possible(self, conditions):
        solver = z3.SimpleSolver()
        solver.add(*conditions)
        return solver.check() != z3.unsat

    def fork(self, state, condition, sources, yes, no):
        """Two states behind a branch: at yes if the condition holds."""
        condition = z3.simplify(condition)
        for taken, target in ((condition, yes),
                              (z3.simplify(z3.Not(condition)), no)):
            if z3.is_false(taken):
                continue
            other = copy.copy(state)
            other.branches_on(sources)
            other.pc = target
            if not z3.is_true(taken):
                other.conditions = state.conditions + (taken,)
                if not self.possible(other.conditions):
                    continue
            yield other

    def located(self, state, address):
        """(state, address) for each address that it can be. That it is none of
        `places` is a path of its own, which ends here."""
        term = z3.simplify(address.term)
        if z3.is_bv_value(term):
            yield state, term.as_long()
            return
        for place in self.places:
            other = copy.copy(state)
            other.conditions = state.conditions + (term == constant(place),)
            if self.possible(other.conditions):
                yield other, place
        other = copy.copy(state)
        other.conditions = state.conditions + tuple(
            term != constant(place) for place in self.places)
        if self.possible(other.conditions):
            self.astray.append(other.path())

    def event(self, state, address, size, at, instruction):
        event = Event(self.cpu, at, size, str(instruction))
        if at % size:
            raise Unknown(f"{instruction}: not aligned")
        if self.code.section(at):
            raise Unknown(f"{instruction}: what the linker put at {at:x}")
        event.address_from = address.sources
        event.control_from = state.control
        event.context_from = state.context
        state.add(event)
        return event

    def unknown_value(self, size):
        self.counter += 1
        return z3.BitVec(f"load_{self.cpu}_{self.counter}", 8 * size)

    def loaded(self, state, event):
        """An unknown; of the CPU's own memory, what it has stored there."""
        if event.address not in self.own:
            return self.unknown_value(event.size)
        stores = [item for item in state.items[:-1] if
                  isinstance(item, Event) and item.stores and
                  item.overlaps(event)]
        if not stores:
            return constant(0, 8 * event.size)
        last = stores[-1]
        if (last.address, last.size) != (event.address, event.size):
            raise Unknown(f"{event}: not as {last} stored it")
        return last.stored

    def load(self, state, address, size, instruction, **marks):
        """(state, Value of size bytes) of a load. marks: of its Event."""
        for other, at in self.located(copy.copy(state), address):
            if _is_stack(at):
                yield other, load_stack(other, at, size)
                continue
            contents, _ = self.code.section(at) or (b"", False)
            if contents:  # event() refuses to write there
                number = int.from_bytes(contents[:size], "little")
                yield other, Value(constant(number, 8 * size))
                continue
            event = self.event(other, address, size, at, instruction)
            event.loaded = self.loaded(other, event)
            vars(event).update(marks)
            if event.marks:
                other.marked = event
            yield other, Value(event.loaded, frozenset([event]))

    def store(self, state, address, value, size, instruction, **marks):
        """States after a store of the lowest bytes of a value."""
        for other, at in self.located(copy.copy(state), address):
            if _is_stack(at):
                store_stack(other, at, value, size)
                yield other
                continue
            event = self.event(other, address, size, at, instruction)
            event.stored = z3.simplify(low(value.term, 8 * size))
            event.data_from = value.sources
            vars(event).update(marks)
            yield other

    def update(self, state, address, size, new, sources, instruction, **marks):
        """(state, old Value) of a read-modify-write that is one event. new: a
        function of the old term."""
        for other, at in self.located(copy.copy(state), address):
            if _is_stack(at):
                raise Unknown(f"{instruction}: atomic on the stack")
            event = self.event(other, address, size, at, instruction)
            event.loaded = self.unknown_value(size)
            event.stored = z3.simplify(new(event.loaded))
            event.data_from = sources
            vars(event).update(marks)
            yield other, Value(event.loaded, frozenset([event]))


def _part_at(conditions, others):
    """Where two paths part: the number of conditions that they share."""
    count = 0
    for one, other in zip(conditions, others):
        if one is not other:
            break
        count += 1
    return count


def _changed(before, after):
    """The names of the cells that are not as they were."""
    return frozenset(
        name for name, value in after.items()
        if name not in before or not before[name].term.eq(value.term))


def _read_first(trace, place):
    """What the round that ends at a place has read before it wrote it."""
    names = set()
    _, _, trace = trace
    while trace[:2] != ("at", place):
        kind, what, trace = trace
        if kind == "read":
            names.add(what)
        elif kind == "write":
            names.discard(what)
    return names


def _loads(term):
    """The loaded values in a term, each once, in its order."""
    if z3.is_const(term):
        is_load = (term.decl().kind() == z3.Z3_OP_UNINTERPRETED and
                   str(term).startswith("load_"))
        return [term] if is_load else []
    found = []
    for part in term.children():
        found += [load for load in _loads(part)
                  if not any(load.eq(other) for other in found)]
    return found


def _is_count(name, term):
    """Flags that a loaded value chooses are no count, but a comparison."""
    return not (_loads(term) if name == "flags" else _has_load(term))


def _has_load(term):
    """Whether a loaded value is in it; what only chooses does not count."""
    if z3.is_const(term):
        return bool(_loads(term))
    parts = term.children()
    if z3.is_app_of(term, z3.Z3_OP_ITE):
        parts = parts[1:]
    return any(_has_load(part) for part in parts)


# -- The stack, byte by byte ---------------------------------------------------

def _is_stack(at):
    return STACK - STACK_SIZE <= at < STACK + STACK_SIZE


def load_stack(state, at, size):
    parts = []
    for byte in range(at, at + size):
        place = "stack", byte
        if place not in state.cells:  # beside a narrow value, say
            unknown = z3.BitVec(f"{state.cpu}_stack_{byte:x}", 8)
            state.cells = {**state.cells, place: Value(unknown)}
        parts.append(state.read(place))
    sources = frozenset().union(*(part.sources for part in parts))
    terms = [part.term for part in reversed(parts)]
    whole = z3.Concat(*terms) if size > 1 else terms[0]
    return Value(z3.simplify(whole), sources)


def store_stack(state, at, value, size):
    for k in range(size):
        byte = z3.Extract(8 * k + 7, 8 * k, value.term)
        state.write(("stack", at + k), byte, value.sources)
