# SPDX-License-Identifier: MIT
"""All executions of some CPUs that a machine allows, as one formula for z3.

Each CPU takes one of its paths. An event is in the execution if its path is
taken: its guard. Paths share the events of their common beginning.

Each event has a time. All three machines are other-multi-copy atomic, that is,
a store is seen by all other CPUs at once, at its time; so one axiom says what a
load yields, byte by byte: of the stores to the byte that are before the load in
time, and of those that are before it on its own CPU, the last in time. (In
RISC-V's manual it is the load value axiom; for x86 it says that a CPU reads its
own buffer early; for AArch64 it says that rfe, fre and co agree with ob.) What
the machines differ in is which events of one CPU have their times in program order
(models.py). Times exist exactly if what the manuals want to be acyclic is so.

Bytes that all events treat alike are one cell. The bytes of an instruction have
one time, whatever their number: so two sizes on one word need nothing else.
"""

from collections import defaultdict
import itertools

from solver import z3

from events import Event

# Times are compared, and nothing is added to them: difference logic, for which
# z3 has a theory of its own. To any other term it answers "unknown".
z3.set_param("smt.arith.solver", 3)


class Formula:
    """The executions of some CPUs.

    paths: of each CPU, a list of Path. initial: {address of a byte: number}.
    """

    def __init__(self, machine, paths, initial=None):
        self.machine = machine
        self.paths = paths
        self.initial = initial or {}
        self.solver = z3.SimpleSolver()
        self.taken = []
        self.events = []
        self.prefix = {}        # event -> the items before it
        self.guards = {}
        self.groups = {}        # event -> the paths that have it
        self.times = {}
        self.sources = {}       # (load, cell) -> the time of what it reads
        self._take_paths()
        self._find_cells()
        self._order()
        self._read()
        self._exclude()

    # -- Paths and guards ----------------------------------------------------

    def _take_paths(self):
        for cpu, paths in enumerate(self.paths):
            taken = [z3.Bool(f"path_{cpu}_{k}") for k in range(len(paths))]
            self.taken.append(taken)
            self.solver.add(z3.Or(taken))
            if len(taken) > 1:
                self.solver.add(z3.AtMost(*taken, 1))
            having = defaultdict(set)
            for k, path in enumerate(paths):
                if path.conditions:
                    holds = z3.And(path.conditions)
                    self.solver.add(z3.Implies(taken[k], holds))
                for i, event in enumerate(path.items):
                    if isinstance(event, Event):
                        having[event].add(k)
                        self.prefix.setdefault(event, path.items[:i])
            self._guard(cpu, taken, having)

    def _guard(self, cpu, taken, having):
        named = {}
        for event, group in having.items():
            group = frozenset(group)
            self.events.append(event)
            self.groups[event] = group
            time = z3.Int(f"time_{cpu}_{len(self.times)}")
            self.times[event] = time
            self.solver.add(time >= 1)
            if len(group) == len(taken):
                self.guards[event] = z3.BoolVal(True)
                continue
            if group not in named:
                guard = z3.Bool(f"guard_{cpu}_{len(named)}")
                self.solver.add(guard == z3.Or([taken[k] for k in group]))
                named[group] = guard
            self.guards[event] = named[group]

    def together(self, a, b):
        """Whether two events can be in one execution."""
        return a.cpu != b.cpu or bool(self.groups[a] & self.groups[b])

    # -- Bytes ---------------------------------------------------------------

    def _find_cells(self):
        ends = sorted({end for event in self.events for end in
                       (event.address, event.address + event.size)})
        self.cells = list(zip(ends, ends[1:]))
        self.stores = defaultdict(list)
        for event in self.events:
            if event.stores:
                for cell in self.cells_of(event):
                    self.stores[cell].append(event)

    def cells_of(self, event):
        return [cell for cell in self.cells if event.covers(cell)]

    @staticmethod
    def part(event, term, cell):
        """The bytes of a cell in what an event loads or stores."""
        first, end = (8 * (address - event.address) for address in cell)
        return z3.Extract(end - 1, first, term)

    def initially(self, cell):
        number = sum(self.initial.get(address, 0) << 8 * (address - cell[0])
                     for address in range(*cell))
        return z3.BitVecVal(number, 8 * (cell[1] - cell[0]))

    # -- The order of one CPU, and of the stores to a byte -------------------

    def _order(self):
        known = {}
        for paths in self.paths:
            for path in paths:
                self.machine.order(path, known)
        for event, earlier in known.items():
            for other in earlier:
                in_order = self.times[other] < self.times[event]
                self.solver.add(z3.Implies(self.guards[event], in_order))
        pairs = {frozenset(pair) for stores in self.stores.values()
                 for pair in itertools.combinations(stores, 2)}
        for a, b in map(tuple, pairs):
            if a.cpu != b.cpu:
                self.solver.add(self.times[a] != self.times[b])

    # -- The value of a load -------------------------------------------------

    def _read(self):
        for load in self.events:
            if load.loads:
                for cell in self.cells_of(load):
                    self._read_cell(load, cell)
                self._read_in_order(load)

    def _read_cell(self, load, cell):
        guard, time = self.guards[load], self.times[load]
        source = z3.Int(f"source_{len(self.sources)}")
        self.sources[load, cell] = source
        before = set(self.prefix[load])
        others = [s for s in self.stores[cell] if s.cpu != load.cpu]
        own = [s for s in self.stores[cell] if s in before]
        loaded = self.part(load, load.loaded, cell)
        choices = []
        if not own:
            choices.append(z3.And(source == 0, loaded == self.initially(cell)))
        for store in others + own:
            stored = self.part(store, store.stored, cell)
            read = [self.guards[store], source == self.times[store],
                    loaded == stored]
            if store.cpu != load.cpu:
                read.append(self.times[store] < time)
            choices.append(z3.And(read))
        self.solver.add(z3.Implies(guard, z3.Or(choices)))
        for store in others:
            seen = z3.And(guard, self.guards[store], self.times[store] < time)
            self.solver.add(z3.Implies(seen, self.times[store] <= source))
        for store in own:
            self.solver.add(z3.Implies(guard, self.times[store] <= source))

    def _read_in_order(self, load):
        """A load of a byte never reads an older store than the CPU's loads
        before it did. (RISC-V's rule 2 wants two loads in order if they read
        different stores. If the second reads the newer, another CPU's, times
        are so anyway: the first is before that store, the second behind.)"""
        for event in self.prefix[load]:
            if not isinstance(event, Event) or not event.loads:
                continue
            for cell in self.cells_of(load):
                if event.covers(cell):
                    older = self.sources[event, cell]
                    newer = self.sources[load, cell]
                    in_order = z3.Implies(self.guards[load], older <= newer)
                    self.solver.add(in_order)

    # -- Exclusive pairs -----------------------------------------------------

    def _exclude(self):
        """No other CPU stores between what a load exclusive reads and the store
        of its pair."""
        for store in self.events:
            if store.pair:
                for cell in self.cells_of(store):
                    source = self.sources[store.pair, cell]
                    for other in self.stores[cell]:
                        if other.cpu != store.cpu:
                            self._not_between(source, other, store)

    def _not_between(self, source, other, store):
        later = z3.And(self.guards[store], self.guards[other],
                       source < self.times[other])
        behind = self.times[store] < self.times[other]
        self.solver.add(z3.Implies(later, behind))

    # -- Questions -----------------------------------------------------------

    def final(self, address, size):
        """A term for what is in memory at the end; it adds to the formula. The
        bytes must be whole cells."""
        parts = []
        for cell in self.cells:
            if not (address <= cell[0] and cell[1] <= address + size):
                continue
            part = z3.BitVec(f"final_{cell[0]:x}", 8 * (cell[1] - cell[0]))
            none = z3.And([z3.Not(self.guards[s]) for s in self.stores[cell]])
            self.solver.add(z3.Implies(none, part == self.initially(cell)))
            for store in self.stores[cell]:
                stored = self.part(store, store.stored, cell)
                self.solver.add(z3.Implies(self.is_last(store, cell),
                                           part == stored))
            parts.append(part)
        whole = z3.Concat(*reversed(parts)) if len(parts) > 1 else parts[0]
        if whole.size() != 8 * size:
            raise ValueError(f"{address:x}: no access has these bytes")
        return whole

    def is_last(self, store, cell):
        """The store is in the execution, and the newest to the cell."""
        later = [z3.Implies(self.guards[other],
                            self.times[other] <= self.times[store])
                 for other in self.stores[cell] if other is not store]
        return z3.And([self.guards[store], *later])

    def is_before(self, one, event):
        """If it is in the execution, it is before the event."""
        return z3.Implies(self.guards[one],
                          self.times[one] < self.times[event])

    def reads_newest(self, load, cell, but=()):
        """No store to the cell is newer than what the load reads. but: loads
        whose own stores, of a read-modify-write, do not count."""
        source = self.sources[load, cell]
        return z3.And([z3.Implies(self.guards[store],
                                  self.times[store] <= source)
                       for store in self.stores[cell]
                       if store not in but and store.pair not in but])

    def ask(self, question):
        """"sat", "unsat" or "unknown"; and the model if there is one."""
        self.solver.push()
        self.solver.add(question)
        answer = self.solver.check()
        model = self.solver.model() if answer == z3.sat else None
        self.solver.pop()
        return str(answer), model

    def show(self, model):
        """The events of an execution in the order of their times."""
        def value(term):
            return model.eval(term, model_completion=True)

        rows = []
        for event in self.events:
            if not z3.is_true(value(self.guards[event])):
                continue
            does = ""
            if event.loads:
                does += f" reads {value(event.loaded).as_long():#x}"
            if event.stores:
                does += f" writes {value(event.stored).as_long():#x}"
            rows.append((value(self.times[event]).as_long(), event.cpu,
                         f"CPU {event.cpu}: {event.text}: "
                         f"{event.size} at {event.address:x}{does}"))
        return [text for _, _, text in sorted(rows)]
