# SPDX-License-Identifier: MIT
"""Faults of lock_order, each with the test that finds it."""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    header: str
    old: str
    new: str
    file: str
    test: str


# {part: the file of tests_host/unit that has its tests}.
_UNIT = {"": "lock_order", "_classes": "lock_order",
         "_tables": "lock_order_tables", "_interrupts": "lock_order_tables",
         "_owner": "owner"}


def _unit(part):
    return f"tests_host/unit/test_{_UNIT[part]}.cpp"


_MODEL = "tests_host/model/test_lock_order.cpp"


# "lock_order: " is left out of the tests' names.
MUTANTS = [Mutant(*m[:5], m[5] if m[5].startswith("held_locks: ")
                  else "lock_order: " + m[5]) for m in [
    # -- What is held
    ("missing push", "lock_order.hpp",
     "const held_place mine = push(want, hold::waiting);",
     "const held_place mine = {owners.mine(), nullptr};",
     _unit(""), "two orders of two locks, all four lines named"),
    ("push after taking", "detail/checked.hpp",
     "		const held_place mine = note_wanted(by);\n"
     "		usage.count_in(L::max_contenders, by);\n"
     "		lend(with, by);\n"
     "		lock_inner();\n",
     "		usage.count_in(L::max_contenders, by);\n"
     "		lend(with, by);\n"
     "		lock_inner();\n"
     "		const held_place mine = note_wanted(by);\n",
     _unit("_interrupts"),
     "a handler that has interrupted a waiter or a holder"),
    ("check after taking", "detail/checked.hpp",
     "		const held_place mine = note_wanted(by);\n"
     "		usage.count_in(L::max_contenders, by);\n"
     "		lend(with, by);\n"
     "		lock_inner();\n",
     "		usage.count_in(L::max_contenders, by);\n"
     "		lend(with, by);\n"
     "		lock_inner();\n"
     "		const held_place mine = note_wanted(by);\n",
     _unit(""), "a report comes before the lock is touched, and once"),
    ("pop before the release", "detail/checked.hpp",
     "		over_inner(by, unlock_inner);\n"
     "		give_back(with);\n"
     "		note_gone(mine);\n",
     "		note_gone(mine);\n"
     "		over_inner(by, unlock_inner);\n"
     "		give_back(with);\n",
     _unit("_interrupts"),
     "a handler that has interrupted a waiter or a holder"),
    ("forgotten pop at unlock()", "detail/checked.hpp",
     "		over_inner(by, unlock_inner);\n"
     "		give_back(with);\n"
     "		note_gone(mine);\n",
     "		over_inner(by, unlock_inner);\n"
     "		give_back(with);\n",
     _unit(""), "locks may be released in any order"),
    ("what is being released is held", "lock_order.hpp",
     "			one->leave();", "			(void)one;",
     _unit("_classes"),
     "who has released it may find it freed by another"),
    ("a name is believed by its address", "order/graph.hpp",
     "		return hash.load_relaxed() == of.hash &&\n",
     "		return\n",
     _unit("_classes"),
     "a name that ends with its lock, and another one there"),
    ("a second report is made", "os.hpp",
     "	if (checks_are_off())\n		return;\n", "",
     _unit("_classes"),
     "after the first report nothing is checked or said"),
    ("a lock that sleeps spins", "lock_order.hpp",
     " && !one.sleeps()", "",
     _unit("_classes"), "a kernel's own lock that sleeps has its place"),
    ("forgotten pop at unlock_shared()", "detail/checked.hpp",
     "		const held_place mine = note_leaving();\n"
     "		over_inner(by, unlock_inner);\n"
     "		note_gone(mine);\n",
     "		over_inner(by, unlock_inner);\n",
     _unit("_tables"), "readers of a fair lock order as writers do"),
    ("forgotten pop at a try in vain", "detail/checked.hpp",
     "		usage.count_out();\n"
     "		note_gone(mine);\n",
     "		usage.count_out();\n",
     _unit(""), "what a try_lock() has not taken is not held"),
    ("a try is not held", "lock_order.hpp",
     "const held_place mine = push(want, hold::trying);",
     "const held_place mine = {owners.mine(), nullptr};",
     _unit(""), "what a try_lock() has taken is held"),
    ("a try adds its edges", "lock_order.hpp",
     "const held_place mine = push(want, hold::trying);",
     "const held_place mine = before_wait(want);",
     _unit(""), "try_lock() adds no edge to what it tries"),
    ("only the first held is looked at", "lock_order.hpp",
     "		for (u32 i = 0; i < size; i++) {",
     "		for (u32 i = 0; i < size && i < 1; i++) {",
     _unit(""), "what is held, not only what was taken first, comes first"),
    ("only the last held is looked at", "lock_order.hpp",
     "		for (u32 i = 0; i < size; i++) {",
     "		for (u32 i = size > 1 ? size - 2 : 0; i < size; i++) {",
     _unit(""), "what is held, not only what was taken last, comes first"),
    ("holes are not used again", "order/held.hpp",
     "			if (is_gone(at[i])) {", "			if (false) {",
     _unit(""), "hand over hand, through more locks than are ever held"),
    ("a place stays gone", "order/held.hpp",
     "		last.address.store_relaxed(held_lock::reserved);\n", "",
     _MODEL,
     "held_locks: two locks, released in either order, and handlers"),
    ("a handler gives back what it interrupted", "order/held.hpp",
     "			if (is_last)", "			if (false)",
     _unit("_owner"),
     "held_locks: a handler in the middle of a thread's last release"),
    ("a reader holds nothing", "detail/checked.hpp",
     "const held_place mine = note_wanted(by, true);",
     "const held_place mine = {};",
     _unit("_tables"), "readers of a fair lock order as writers do"),
    ("who waits until a deadline only tries", "detail/checked.hpp",
     "		const held_place mine = note_wanted(by);\n"
     "		usage.count_in(L::max_contenders, by);\n"
     "		return",
     "		const held_place mine = note_tried(by);\n"
     "		usage.count_in(L::max_contenders, by);\n"
     "		return",
     _unit(""), "who waits until a deadline waits"),
    # -- The graph
    ("row and column swapped", "order/rules.hpp",
     "		graph.seen_after(e.from).set(e.to);",
     "		graph.seen_after(e.to).set(e.from);",
     _unit(""), "two orders of two locks, all four lines named"),
    ("searched the wrong way round", "order/rules.hpp",
     "graph.find(e.to, true, [&e](u32 at) {\n"
     "					      return at == e.from;",
     "graph.find(e.from, true, [&e](u32 at) {\n"
     "					      return at == e.to;",
     _unit(""), "two orders of two locks, all four lines named"),
    ("only neighbours are found", "order/rules.hpp",
     "		if (!backwards && !two_ways && !cycle)\n",
     "		if (!backwards && !two_ways && cycle != 2)\n",
     _unit(""), "a cycle of three over three CPUs"),
    ("what is known is learned again", "order/rules.hpp",
     "		if (!is_known(from, to, by_address))\n", "",
     _MODEL, "what is known is found by loads alone"),
    ("no second look", "order/rules.hpp",
     "		if (is_known(e.from, e.to, e.by_address) ||\n"
     "		    ignore_if_harmless(e)) {\n",
     "		if (ignore_if_harmless(e)) {\n",
     _MODEL, "two CPUs that close a cycle: exactly one says so"),
    ("not set where it is reported", "order/rules.hpp",
     "		graph.ignored_after(e.from).set(e.to);\n"
     "		found(", "		found(",
     _unit(""), "a report comes before the lock is touched, and once"),
    ("what is declared harmless is a danger", "order/rules.hpp",
     " ||\n		    ignore_if_harmless(e)", "",
     _unit("_classes"), "a pair that is declared harmless closes no cycle"),
    ("a class is an address", "order/graph.hpp",
     "			if (!names[i].is(of))", "			if (true)",
     _unit("_classes"), "a name is a class, wherever its text stands"),
    ("no lock", "order/rules.hpp",
     "	[[gnu::noinline]] bool learn(const order_edge &e, Found found) const\n"
     "	{\n"
     "		one_at_a_time one(*busy);",
     "	[[gnu::noinline]] bool learn(const order_edge &e, Found found) const\n"
     "	{\n"
     "		tas_lock mine;\n"
     "		one_at_a_time one(mine);",
     _MODEL, "two CPUs that close a cycle: exactly one says so"),
    ("interrupts on in the learning", "order/rules.hpp",
     "before(irq_save()), lock(&of)\n	{\n",
     "before(irq_save()), lock(&of)\n	{\n		irq_restore(before);\n",
     _MODEL,
     "a handler sees what is held or waited for, and no more"),
    ("an NMI handler learns", "lock_order.hpp",
     "		const held_place mine = push(want, hold::trying);",
     "		const held_place mine = push(want, hold::trying);\n"
     "		(void)class_of(want.label, 0);",
     _MODEL,
     "an NMI handler tries, wherever it comes in a learning"),
    # -- One class, ranks
    ("one class in any order", "order/rules.hpp",
     "		if (from == to && held", "		if (false && held",
     _unit("_classes"), "two of one class, by ascending address"),
    ("two ways in one class", "order/rules.hpp",
     "		const bool two_ways = !backwards && find_other_order(e);",
     "		const bool two_ways = false;",
     _unit("_classes"), "two of a name by sub-rank, and two by address"),
    ("sub-ranks go down", "order/rules.hpp",
     "		const bool backwards = is_backwards(e);",
     "		const bool backwards = false;",
     _unit("_classes"), "sub-ranks nest, and must go up"),
    ("a child is of its parent's class", "order/graph.hpp",
     "			if (sub_ranks[i].get() == sub_rank)",
     "			if (true)",
     _unit("_classes"), "a parent, the parent's pages, and a child"),
    ("pairs by address go round", "order/rules.hpp",
     "		return e.by_address ?", "		return false ?",
     _unit("_classes"), "pairs of two classes, by address both ways round"),
    ("all edges are by address", "order/rules.hpp",
     "			from == to ||\n", "			true ||\n",
     _unit("_classes"), "pairs in a ring with one order that is not by "
     "address"),
    ("a pair's second look is by address alone", "order/rules.hpp",
     "				   : graph.strictly_after(from).has(to)) ||",
     "				   : graph.seen_after(from).has(to)) ||",
     _unit("_classes"), "pairs of two classes, by address both ways round"),
    ("what reads again waits", "lock_order.hpp",
     "		if (is_nested_read(*mine.stack, mine.at, want))",
     "		if (false)",
     _unit("_classes"), "what nests is read again, with a lock between"),
    ("a sub-rank before anything is held is dropped", "lock_order.hpp",
     "		return owners.claim_mine(sleeps);",
     "		return owners.mine() ? owners.claim_mine() : nullptr;",
     _unit("_classes"), "a sub-rank is declared before anything is held"),
    ("sub-ranks are not heeded", "lock_order.hpp",
     "			      is_ranked ? mine.stack->rank",
     "			      false ? mine.stack->rank",
     _unit("_classes"), "two of one class, by a declared sub-rank"),
    ("a sub-rank does not end", "order_calls.hpp",
     "		mine->ranked.store_relaxed(before);", "",
     _unit("_classes"), "sub-ranks nest, and must go up"),
    ("a sub-rank is of every lock", "lock_order.hpp",
     "		const bool is_ranked = mine.stack->ranked.load_relaxed() ==\n"
     "				       reinterpret_cast<usize>(want.lock);",
     "		const bool is_ranked = mine.stack->ranked.load_relaxed();",
     _unit("_classes"), "a sub-rank is of one lock alone"),
    ("what is declared counts as seen", "order/rules.hpp",
     "		graph.declared_after(first).set(second);",
     "		graph.seen_after(first).set(second);",
     _unit("_tables"), "what is only declared is no inversion of interrupts"),
    ("nested reads are recursion", "order/rules.hpp",
     "		if (reads && want.shared && want.nests)",
     "		if (reads && want.shared && !want.nests)",
     _unit("_tables"), "a handler reads what its thread waits to read"),
    # -- Interrupts
    ("interrupt flag ignored", "order/rules.hpp",
     "		if (!irqs_enabled())\n			return;\n", "",
     _unit("_interrupts"), "interrupts off, and all is right"),
    ("handlers are not noted", "lock_order.hpp",
     "		if (current_context() == context::interrupt)",
     "		if (current_context() == context::nmi)",
     _unit("_interrupts"),
     "interrupts: the edge closes it; all lines are named"),
    ("a handler's mark is not searched for", "order/rules.hpp",
     "			if (const u32 length = to_open(number))",
     "			if (const u32 length = 0)",
     _unit("_interrupts"), "interrupts: the handler closes it"),
    ("interrupts on are not searched for", "order/rules.hpp",
     "				    from_handlers(number, is_only_read(number)))",
     "				    0)",
     _unit("_interrupts"), "interrupts: who has them on closes it"),
    ("only what is wanted is open", "order/rules.hpp",
     "			if (!mine.at[i].is_in_the_way())\n"
     "				continue;\n"
     "			const u32 number",
     "			if (!mine.at[i].is_of(want.lock))\n"
     "				continue;\n"
     "			const u32 number",
     _unit("_interrupts"),
     "interrupts that go on inside of a section, and a lock"),
    ("an edge's inversion is not searched for", "order/rules.hpp",
     "		if (const u32 length = inversion_by(e.from, e.to))",
     "		if (const u32 length = 0)",
     _unit("_interrupts"), "interrupts: over three locks, by any of its edges"),
    ("a handler's nested read is a danger", "order/rules.hpp",
     "		return !handlers.by_others.has(number) &&",
     "		return false && !handlers.by_others.has(number) &&",
     _unit("_interrupts"), "interrupts: what nests is read in a handler, too"),
    ("what nests is no danger", "order/rules.hpp",
     "		       !open.by_others.has(number) &&\n", "",
     _unit("_interrupts"), "interrupts: what nests is written with "
     "interrupts on"),
    ("two of a class that nests are no danger", "order/rules.hpp",
     " &&\n		       !graph.seen_after(number).has(number);", ";",
     _unit("_interrupts"),
     "interrupts: what nests is read, and two are held at once"),
    ("what is held besides a pair is by address", "order/held.hpp",
     "== wanted &&\n		       lower.load_relaxed() == held;",
     "== wanted && held;",
     _unit("_classes"),
     "a lock that is held besides a pair is not by address"),
    ("who takes nothing is in the way", "order/held.hpp",
     "return is_there() && now != taken_as::looks &&\n"
     "		       now != taken_as::awaits;",
     "return is_there() && now != taken_as::awaits;",
     _unit(""), "seq_lock: a handler over a thread that waits to read"),
    ("might_wait() looks at nothing", "lock_order.hpp",
     "			if (one.is_there() && !one.sleeps() &&",
     "			if (false && one.is_there() && !one.sleeps() &&",
     _unit(""), "might_wait() with nothing held, and with a lock"),
]]
