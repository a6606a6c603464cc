/* SPDX-License-Identifier: MIT */
/*
 * order_report - what a kernel is told when lock_order.hpp finds something
 *
 * The text of one finding is put together on the stack of the CPU that panics,
 * while it holds the lock of the learning: names, lines and the route are then
 * as they were found. The panic comes after that lock is released.
 */
#pragma once

#include <klock/held_locks.hpp>
#include <klock/misuse_text.hpp>
#include <klock/order_learning.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* Has room for a cycle of five classes with all its lines. */
using order_text = bounded_text<1000>;

/* What is wrong: the route's first classes, as many as length. */
struct order_finding {
	finding what;
	u32 length;
	const held_lock *held; /* null: nothing was, or it does not matter */
	const wanted_lock &want;
};

struct order_report {
	void add(const order_finding &of)
	{
		if (of.what == finding::inversion)
			add_inversion(of.length, of.want.by);
		else
			add_cycle(of);
	}

	order_text &text;
	const order_learning &known;

      private:
	void add_cycle(const order_finding &of)
	{
		text.add("lock order: ");
		if (of.held)
			add_step(of.held->label(), of.held->site(),
				 of.want.label, of.want.by, cpu_id());
		else
			text.add("declared at ").add(of.want.by);
		text.add("; known: ");
		add_route(of.length);
	}

	/* A handler that interrupts who holds the last waits for the first,
	 * whose holder waits for the last. */
	void add_inversion(u32 length, call_site by)
	{
		const u32 first = number(0), last = number(length - 1);

		text.add("interrupts: a handler waits for ")
			.add(known.classes.name(first))
			.add(" at ")
			.add(known.sites.in_handler[first].get())
			.add("; ")
			.add(known.classes.name(last))
			.add(" is held or waited for with interrupts on at ")
			.add(known.sites.open[last].get());
		if (length > 1)
			text.add("; known: ");
		add_route(length);
		text.add("; found at ").add(by);
	}

	void add_route(u32 length)
	{
		for (u32 i = 0; i + 1 < length; i++) {
			if (i > 0)
				text.add(", ");
			add_edge(number(i), number(i + 1));
		}
	}

	void add_edge(u32 from, u32 to)
	{
		const lock_label before = {known.classes.name(from), 0};
		const lock_label after = {known.classes.name(to), 0};
		order_edge seen;

		if (known.sites.find(from, to, seen))
			return add_step(before, seen.there, after, seen.here,
					seen.cpu);
		text.add(before).add(" then ").add(after).add(
			known.graph.seen_after(from).has(to)
				? " (no room for its lines)"
				: " (declared)");
	}

	/* A (a.c:10) then B (a.c:12) on CPU 1 */
	void add_step(lock_label from, call_site there, lock_label to,
		      call_site here, u32 cpu)
	{
		text.add(from).add(" (").add(there).add(") then ");
		text.add(to).add(" (").add(here).add(") on CPU ").add(cpu);
	}

	u32 number(u32 i) const { return known.graph.route[i].get(); }
};

[[noreturn]] inline void say_order(const wanted_lock &want, const char *text)
{
	bounded_text<80> name;

	panic(name.add(want.label).c_str(), want.lock, cpu_id(), text);
}

[[noreturn, gnu::noinline]] inline void
complain_of_order(const order_finding &of, const order_learning &known,
		  one_at_a_time &one)
{
	order_text text;

	order_report{text, known}.add(of);
	one.unlock();
	say_order(of.want, text.c_str());
}

/* For the learning: what is done about a finding. */
struct order_reporter {
	void operator()(finding what, u32 length, one_at_a_time &one) const
	{
		complain_of_order({what, length, held, want}, known, one);
	}

	const order_learning &known;
	const held_lock *held;
	const wanted_lock &want;
};

[[noreturn, gnu::noinline]] inline void
complain_of_pair(const char *what, const held_lock &held,
		 const wanted_lock &want)
{
	misuse_text text;

	text.add(what).add("; at ").add(want.by).add("; ").add(held.label());
	text.add(" was taken at ").add(held.site());
	say_order(want, text.c_str());
}

/* The kernel waits, and the caller has a lock. */
[[noreturn, gnu::noinline]] inline void complain_of_wait(const held_lock &held,
							 call_site by)
{
	const void *const lock =
		reinterpret_cast<const void *>(held.address.load_relaxed());
	misuse_text text;

	text.add("might_wait() with a lock held; at ").add(by);
	text.add("; taken at ").add(held.site());
	say_order({lock, held.label(), by, false, false}, text.c_str());
}

} // namespace klock
