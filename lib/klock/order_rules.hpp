/* SPDX-License-Identifier: MIT */
/*
 * order_rules - which acquisition breaks the order, and who is told
 *
 * Between what an owner has and what it wants: lock_order.hpp says what is
 * found. Fast where all is known: loads alone.
 */
#pragma once

#include <klock/held_locks.hpp>
#include <klock/irq.hpp>
#include <klock/order_learning.hpp>
#include <klock/order_report.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

struct order_rules : order_learning {
	constexpr explicit order_rules(const order_learning &of)
	    : order_learning(of)
	{
	}

	/* -- Classes ---------------------------------------------------------
	 */

	[[nodiscard]] u32 class_of(const char *name)
	{
		if (!name)
			return lock_classes::none;
		const u32 known = classes.find(name);

		return known != lock_classes::none ? known : new_class(name);
	}

	/* Of what is held; a try has not looked. */
	[[nodiscard]] u32 class_of(const held_lock &one)
	{
		const u32 known = one.class_plus_1.load_relaxed();

		return known ? known - 1 : class_of(one.label().name);
	}

	/* -- Orders ----------------------------------------------------------
	 */

	/* mine: where `want` is noted, of class `to`. */
	void check_pair(const held_lock &held, held_place mine,
			const wanted_lock &want, u32 to)
	{
		if (held.is_of(want.lock))
			return check_same_lock(held, want);
		const u32 from = class_of(held);

		if (from == lock_classes::none || to == lock_classes::none)
			return;
		if (from == to)
			check_same_class(held, mine, want);
		else if (!graph.seen_after(from).has(to))
			learn_edge(held, from, want, to);
	}

	void declare_edge(u32 first, u32 second, call_site by)
	{
		const wanted_lock after = {
			nullptr, {classes.name(second), 0}, by, false, false};

		declare(first, second, order_reporter{*this, nullptr, after});
	}

	/* -- Interrupts ------------------------------------------------------
	 */

	/* A handler waits for it. */
	void note_handler(u32 number, const wanted_lock &want)
	{
		if (number != lock_classes::none && !handlers.has(number))
			learn_handler(number, want.by,
				      order_reporter{*this, nullptr, want});
	}

	/* All that this owner has, it has with interrupts as they are. */
	void note_open(const held_locks &mine, const wanted_lock &want)
	{
		if (!irqs_enabled())
			return;
		const u32 size = mine.size();
		for (u32 i = 0; i < size; i++) {
			if (!mine.at[i].is_there())
				continue;
			const u32 number = class_of(mine.at[i]);

			if (number != lock_classes::none && !open.has(number))
				learn_open(
					number, want.by,
					order_reporter{*this, nullptr, want});
		}
	}

	/* -- Tables that are full --------------------------------------------
	 */

	static constexpr u32 full_classes = 1, full_edges = 2, full_stack = 4,
			     full_owners = 8;

	[[gnu::noinline]] void say_once(u32 what)
	{
		if (said.load_relaxed() & what ||
		    said.fetch_or_relaxed(what) & what)
			return;
		note(what == full_classes ? "klock: more names of locks than "
					    "lock_order has room for"
		     : what == full_edges ? "klock: more pairs of locks than "
					    "lock_order can name the lines of"
		     : what == full_stack ? "klock: more locks held at once "
					    "than lock_order sees"
					  : "klock: more owners of locks than "
					    "lock_order has room for");
	}

      private:
	[[gnu::noinline]] u32 new_class(const char *name)
	{
		if (said.load_relaxed() & full_classes)
			return lock_classes::none;
		const u32 number = add_class(name);

		if (number == lock_classes::none)
			say_once(full_classes);
		return number;
	}

	[[gnu::noinline]] void learn_edge(const held_lock &held, u32 from,
					  const wanted_lock &want, u32 to)
	{
		const order_edge e = {from, to, held.site(), want.by, cpu_id()};

		if (!learn(e, order_reporter{*this, &held, want}))
			say_once(full_edges);
	}

	static void check_same_lock(const held_lock &held,
				    const wanted_lock &want)
	{
		const bool reads = held.shared.load_relaxed();

		if (reads && want.shared && want.nests)
			return;
		complain_of_pair(!reads	       ? "recursion: the caller has it"
				 : want.shared ? "read recursion: the caller "
						 "reads it"
					       : "upgrade: the caller reads it",
				 held, want);
	}

	/* By address, if no sub-ranks are declared. */
	static void check_same_class(const held_lock &held, held_place mine,
				     const wanted_lock &want)
	{
		const u8 before = held.sub_rank.load_relaxed();
		const u8 after =
			mine.at ? mine.at->sub_rank.load_relaxed() : u8{0};

		if (after > before ||
		    (after == before && reinterpret_cast<usize>(want.lock) >
						held.address.load_relaxed()))
			return;
		complain_of_pair("same class: neither at a higher address nor "
				 "of a higher sub-rank than one that is held",
				 held, want);
	}

	/* What is full, of which that was said. */
	atomic<u32> said;
};

} // namespace klock
