/* SPDX-License-Identifier: MIT */
/*
 * order_learning - what is new in the order of locks, and what it breaks
 *
 * What each function is told was not known when its caller looked. It looks
 * again under one lock, with interrupts off, then searches, then notes it,
 * broken or not, so that each new thing is searched once, by one CPU, with all
 * that were noted before it in sight: of those who close a cycle at the same
 * time, exactly the last reports. The argument stands in lock_order.hpp.
 *
 * found(what, length, one): what is wrong, how many classes of the graph's
 * route show it, and the lock, which it releases before it panics.
 */
#pragma once

#include <klock/irq.hpp>
#include <klock/lock_classes.hpp>
#include <klock/order_graph.hpp>
#include <klock/order_sites.hpp>
#include <klock/tas_lock.hpp>
#include <klock/types.hpp>

namespace klock {

/* What the route in the graph is. */
enum class finding {
	cycle,	   /* from what was waited for to what was held */
	inversion, /* from a handler's to what is held with interrupts on */
	declared,  /* against what was declared before */
};

/* Whether a class is one of these. */
struct is_in {
	bool operator()(u32 number) const { return set.has(number); }

	const class_set &set;
};

/*
 * The lock, with interrupts off. It ends by unlock() and by no destructor: that
 * would need a C++ runtime where a host's panic may throw.
 */
struct one_at_a_time {
	explicit one_at_a_time(tas_lock &of) : before(irq_save()), lock(&of)
	{
		of.lock();
	}
	one_at_a_time(const one_at_a_time &) = delete;
	one_at_a_time &operator=(const one_at_a_time &) = delete;

	/* Once; again it does nothing. */
	void unlock()
	{
		if (!lock)
			return;
		lock->unlock();
		lock = nullptr;
		irq_restore(before);
	}

      private:
	irq_state before;
	tas_lock *lock;
};

struct order_learning {

	[[nodiscard]] u32 add_class(const char *name) const
	{
		one_at_a_time one(*busy);
		const u32 number = classes.add(name);

		one.unlock();
		return number;
	}

	/* False: there was no room for its lines. */
	template <typename Found>
	[[gnu::noinline]] bool learn(const order_edge &e, Found found) const
	{
		one_at_a_time one(*busy);

		if (graph.seen_after(e.from).has(e.to)) {
			one.unlock();
			return true;
		}
		const u32 cycle = graph.find(
			e.to, true, [&e](u32 at) { return at == e.from; });

		graph.seen_after(e.from).set(e.to);
		const bool noted = sites.note(e);

		if (cycle)
			found(finding::cycle, cycle, one);
		else if (const u32 length = inversion_by(e.from, e.to))
			found(finding::inversion, length, one);
		one.unlock();
		return noted;
	}

	/* An interrupt handler waits for it. */
	template <typename Found>
	[[gnu::noinline]] void learn_handler(u32 number, call_site by,
					     Found found) const
	{
		one_at_a_time one(*busy);

		if (!handlers.has(number)) {
			handlers.set(number);
			sites.in_handler[number].set(by);
			if (const u32 length =
				    graph.find(number, false, is_in{open}))
				found(finding::inversion, length, one);
		}
		one.unlock();
	}

	/* It is held or waited for with interrupts on. */
	template <typename Found>
	[[gnu::noinline]] void learn_open(u32 number, call_site by,
					  Found found) const
	{
		one_at_a_time one(*busy);

		if (!open.has(number)) {
			open.set(number);
			sites.open[number].set(by);
			if (const u32 length = from_handlers(number))
				found(finding::inversion, length, one);
		}
		one.unlock();
	}

	/* Two names; before others use their locks. */
	template <typename Found>
	[[gnu::noinline]] void declare(u32 first, u32 second, Found found) const
	{
		one_at_a_time one(*busy);
		const u32 length = graph.find(
			second, true, [first](u32 at) { return at == first; });

		graph.declared_after(first).set(second);
		if (length)
			found(finding::declared, length, one);
		one.unlock();
	}

	lock_classes classes;
	order_graph graph;
	/* Classes that handlers wait for. */
	class_set handlers;
	/* Classes that were held or waited for with interrupts on. */
	class_set open;
	order_sites sites;
	tas_lock *busy;

      private:
	/* The first way from a handler's class to this one; 0: none. */
	u32 from_handlers(u32 number) const
	{
		for (u32 i = 0; i < graph.classes; i++) {
			if (!handlers.has(i))
				continue;
			if (const u32 length =
				    graph.find(i, false, [number](u32 at) {
					    return at == number;
				    }))
				return length;
		}
		return 0;
	}

	/* The same through a new edge, on to one that is open. */
	u32 inversion_by(u32 from, u32 to) const
	{
		if (!graph.find(to, false, is_in{open}))
			return 0;
		const u32 before = from_handlers(from);

		if (!before)
			return 0;
		return before + graph.find(to, false, is_in{open}, before);
	}
};

} // namespace klock
