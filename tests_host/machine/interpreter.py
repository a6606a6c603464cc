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
panic, or a use of a pointer that is null or none of those that it may be
("astray"); and one to a function that is left out, up to its call.
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
THREAD = 0x6fff0000      # where a CPU's thread-local variables are
NODE = 32                # bytes of a waiter's node on its stack
NULL = 0x100             # below is no object
MOST = 8                 # values that a cell is known to have, or any
FUTEX_WAIT, FUTEX_WAKE = 0x80, 0x81  # of a word that is the process's own
WAKES = 1 << 40          # a wake is a store that far from its word


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


class Memory:
    """All stores of CPUs: of each the values, by address and size; and the
    bytes of stacks that are shared, nodes whose addresses were stored.

    Empty at first. To carry out all CPUs adds to it; that is done until nothing
    is new. Then a load yields what its CPU has stored last, or the initial
    value, or what another CPU ever stores: no path that needs more is possible.
    """

    def __init__(self, initial=None, free=()):
        self.initial = initial or {}
        self.free = free       # addresses of counters: any value
        self.values = {}       # (CPU, address, size): a set, or None: any
        self.shared = set()
        self.grows = False

    def learn(self, cpu, address, size, values):
        """values: a set, or None."""
        place = cpu, address, size
        before = self.values.get(place, set())
        if before is None or (values is not None and values <= before):
            return
        after = None if values is None else before | values
        if after and len(after) > MOST:
            after = None
        self.values[place] = after
        self.grows = True

    def share(self, address):
        node = set(range(address, address + NODE))
        self.grows |= not node <= self.shared
        self.shared |= node

    def initially(self, address, size):
        return sum(self.initial.get(address + k, 0) << 8 * k
                   for k in range(size))

    def by_others(self, cpu, address, size):
        """The values that others store there, or None: any."""
        found = set()
        if address in self.free:
            return None
        for (by, at, width), values in self.values.items():
            if by == cpu or at + width <= address or address + size <= at:
                continue
            if values is None or not (at <= address and
                                      address + size <= at + width):
                return None
            found |= {value >> 8 * (address - at) & ((1 << 8 * size) - 1)
                      for value in values}
        return found


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
    full_fence = ""     # what Fence has of it
    futex = 0           # the number of the system call

    def __init__(self, code, cpu=0, depth=1, places=(), own=()):
        self.code = code
        self.cpu = cpu
        self.depth = depth
        self.places = places  # what a pointer that is loaded may be
        self.own = own        # addresses that no other CPU uses, zero at first
        self.memory = None    # a Memory; then each CPU's stack is elsewhere
        self.stack = STACK
        self.thread = THREAD + cpu * 0x10000
        self.private = {}     # {address: byte} that is its own, as its stack
        self.left_out = ()    # addresses of code that is not carried out
        self.counted = {}     # {loop that carries something on: counts in it}
        self.carried = {}     # {such a loop: what it reads of a round before}
        self.cuts = []
        self.stuck = []
        self.astray = []      # paths to a panic or along a wrong pointer
        self.left = []        # paths to what is left out
        self.alive = {}
        self.counter = 0
        self.counting = []    # (path into a wait, conditions before its round)
        self.deepest = set()  # loops that were cut at `depth`
        self.deep = []        # paths that were cut so and stored
        self.deaf = set()     # loops that sleep and watch nothing
        self.visited = set()  # addresses of all instructions carried out
        self.solver = z3.SimpleSolver()  # kept: to make one takes longer

    # -- All paths -----------------------------------------------------------

    def paths(self, sections):
        """Returns (paths to the end, paths into a wait). sections: (function,
        arguments), one after the other."""
        while True:
            self.cuts, self.stuck, self.alive = [], [], {}
            self.astray, self.left = [], []
            self.deepest, self.deep, self.counting = set(), [], []
            self.counter = 0
            states = [State(self.cpu)]
            states[0].cells = {("stack", at): Value(constant(byte, 8))
                               for at, byte in self.private.items()}
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
            if state.pc in self.left_out:
                self.left.append(state.path())
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
        # A look of the round before may have decided this one.
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
        leaving = ends + self.stuck + self.astray + self.left + self.deep
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
        """Returns what the next round reads of this one, before and after it; and which
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

    # -- The parts of instructions -------------------------------------------

    def enter(self, state):
        """Sets the return address and the stack pointer."""
        raise NotImplementedError

    def execute(self, state, instruction):
        raise NotImplementedError

    def possible(self, conditions):
        self.solver.push()
        self.solver.add(*conditions)
        answer = self.solver.check()
        self.solver.pop()
        return answer != z3.unsat

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

    def located(self, state, address, instruction):
        """(state, address) for each address that it can be. That it is null, or
        none of `places`, is a path of its own, which ends here."""
        term = z3.simplify(address.term)
        if z3.is_bv_value(term):
            if term.as_long() >= NULL:
                yield state, term.as_long()
            else:
                self.astray.append(state.path())
            return
        places = self.places
        if self.memory:
            places = self.values_of(term, state.conditions)
            if places is None:
                raise Unknown(f"{instruction}: may be anywhere")
            places = sorted(place for place in places if place >= NULL)
        for place in places:
            other = copy.copy(state)
            other.conditions = state.conditions + (term == constant(place),)
            if self.possible(other.conditions):
                yield other, place
        other = copy.copy(state)
        other.conditions = state.conditions + tuple(
            term != constant(place) for place in places)
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

    def values_of(self, term, conditions):
        """Returns the values of a term, as a set of numbers; None: more than MOST, or
        z3 does not know."""
        term = z3.simplify(term)
        if z3.is_bv_value(term):
            return {term.as_long()}
        solver = z3.SimpleSolver()
        solver.add(*conditions)
        found = set()
        while (answer := solver.check()) != z3.unsat:
            if answer == z3.unknown:
                return None
            value = solver.model().eval(term, model_completion=True)
            found.add(value.as_long())
            if len(found) > MOST:
                return None
            solver.add(term != value)
        return found

    def unknown_value(self, state, at, size):
        """Returns the value of a load."""
        self.counter += 1
        term = z3.BitVec(f"load_{self.cpu}_{self.counter}", 8 * size)
        if self.memory:
            values = self.memory.by_others(self.cpu, at, size)
            own = self.stored_last(state, at, size)
            if values is not None and own is not None:
                either = z3.Or([term == own] +
                               [term == value for value in sorted(values)])
                state.conditions = state.conditions + (either,)
        return term

    def stored_last(self, state, at, size):
        """Returns what the CPU itself has stored there, or the initial value; None: its
        last store was to a part."""
        for event in reversed(state.items):
            if not isinstance(event, Event) or not event.stores:
                continue
            end = event.address + event.size
            if event.address <= at and at + size <= end:
                first = 8 * (at - event.address)
                return z3.Extract(first + 8 * size - 1, first, event.stored)
            if event.address < at + size and at < end:
                return None
        number = self.memory.initially(at, size) if self.memory else 0
        return constant(number, 8 * size)

    def learn(self, state, event):
        """A store's values, and the nodes that it makes known."""
        if not self.memory:
            return
        if event.address in self.memory.free:
            return
        values = self.values_of(event.stored, state.conditions)
        self.memory.learn(self.cpu, event.address, event.size, values)
        for value in values or ():
            if event.size == 8 and self.is_stack(value):
                self.memory.share(value)

    def is_stack(self, at):
        return self.stack - STACK_SIZE <= at < self.stack + STACK_SIZE

    def is_private(self, at):
        if self.is_stack(at):
            return not (self.memory and at in self.memory.shared)
        return at in self.private

    def loaded(self, state, event):
        """An unknown; of the CPU's own memory, what it has stored there."""
        if event.address not in self.own:
            return self.unknown_value(state, event.address, event.size)
        term = self.stored_last(state, event.address, event.size)
        if term is None:
            raise Unknown(f"{event}: not as it was stored")
        return term

    def load(self, state, address, size, instruction, **marks):
        """(state, Value of size bytes) of a load. marks: of its Event."""
        for other, at in self.located(copy.copy(state), address, instruction):
            if self.is_private(at):
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
        for other, at in self.located(copy.copy(state), address, instruction):
            if self.is_private(at):
                store_stack(other, at, value, size)
                yield other
                continue
            event = self.event(other, address, size, at, instruction)
            event.stored = z3.simplify(low(value.term, 8 * size))
            event.data_from = value.sources
            vars(event).update(marks)
            self.learn(other, event)
            yield other

    def update(self, state, address, size, new, sources, instruction, **marks):
        """(state, old Value) of a read-modify-write that is one event. new: a
        function of the old term."""
        for other, at in self.located(copy.copy(state), address, instruction):
            if self.is_private(at):
                raise Unknown(f"{instruction}: atomic on the stack")
            event = self.event(other, address, size, at, instruction)
            event.loaded = self.unknown_value(other, at, size)
            event.stored = z3.simplify(new(event.loaded))
            event.data_from = sources
            vars(event).update(marks)
            self.learn(other, event)
            yield other, Value(event.loaded, frozenset([event]))

    # -- System calls --------------------------------------------------------

    def system_call(self, state, number, arguments, instruction):
        """futex(2) alone, of this machine's number. The kernel says that it has
        a full fence in front of a wake, and of a wait's look. A wait may return
        for nothing, so what it does is to go on; or it sleeps for ever, if the
        word is as expected and no wake comes behind that look. Such a path is
        kept as one into a wait is."""
        number, at, kind, expected = (z3.simplify(term) for term in
                                      (number, *arguments))
        called = z3.is_bv_value(number) and number.as_long()
        if called != self.futex:
            raise Unknown(f"{instruction}: system call {number}")
        kind = z3.simplify(low(kind, 32))
        if not z3.is_bv_value(kind) or not z3.is_bv_value(at):
            raise Unknown(f"{instruction}: futex {kind} of {at}")
        kind, at = kind.as_long(), at.as_long()
        if kind == FUTEX_WAKE:
            state.add(Fence(self.full_fence))
            event = self.event(state, known(at), 4, at + WAKES, instruction)
            event.stored = constant(1, 32)
        elif kind == FUTEX_WAIT:
            asleep = copy.copy(state)
            asleep.add(Fence(self.full_fence))
            look = self.event(asleep, known(at), 4, at, instruction)
            look.loaded = self.unknown_value(asleep, at, 4)
            asleep.conditions += (look.loaded == low(expected, 32),)
            if self.possible(asleep.conditions):
                path = asleep.path((look,))
                self.stuck.append(path._replace(wakes=at + WAKES))
        else:
            raise Unknown(f"{instruction}: futex operation {kind:#x}")


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
    """Returns what the round that ends there read before it wrote it."""
    names = set()
    _, _, trace = trace
    while trace[:2] != ("at", place):
        kind, what, trace = trace
        if kind == "read":
            names.add(what)
        elif kind == "write":
            names.discard(what)
    return names


# The number of a term: the term, whose number no other has while it lives, and
# its loads.
_KNOWN = {}


def _loads(term):
    """The loaded values in a term, each once, in its order."""
    number = term.get_id()
    if number not in _KNOWN:
        _KNOWN[number] = term, _find_loads(term)
    return _KNOWN[number][1]


def _find_loads(term):
    if z3.is_const(term):
        is_load = (term.decl().kind() == z3.Z3_OP_UNINTERPRETED and
                   term.decl().name().startswith("load_"))
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
