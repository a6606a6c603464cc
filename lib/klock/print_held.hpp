/* SPDX-License-Identifier: MIT */
/*
 * print_held - prints the locks that every CPU holds and waits for
 *
 *	klock::print_held([](const char *line) { put(line), put("\n"); });
 *
 *	CPU 0 holds runqueue[2] (0xffff8040), taken at sched.cpp:41; 18 Kcycles
 *	CPU 0 waits for log (0xffff9000) at log.cpp:7, held by CPU 1; 9 Kcycles
 *	CPU 1 (owner 0x7) sleeps on jobs (0xffffa000) at work.cpp:3; 8 Kcycles
 *
 * It prints the notes that lock_order.hpp keeps of each checked lock; nothing
 * if a kernel has no klock_os_lock_order(). The age is the length of the wait
 * or of the hold so far, in thousands of the port's cycles; it is meaningless
 * if the CPUs' clocks differ.
 *
 * Context: any, also an NMI handler and a dying kernel: it takes no lock, waits
 * for nobody and writes nothing. Other CPUs go on meanwhile: an entry that
 * changes while it is read is left out, and one that was read may be old.
 * Stopped CPUs are shown exactly.
 *
 * note_long_waits(), called from a timer, reports long waits by itself.
 */
#pragma once

#include <klock/order/held.hpp>
#include <klock/lock_order.hpp>
#include <klock/detail/text.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* A line of print_held(). */
using held_text = bounded_text<256>;

/* One entry as read, for callers with a format of their own. */
struct held_view {
	usize owner; /* the CPU, or the value of klock_os_owner_id() */
	u32 cpu;     /* the CPU on which it was asked for */
	usize lock;
	lock_label label;
	call_site site;
	hold state;
	bool shared; /* to read; perhaps upgradable */
	bool sleeps; /* its waiters give their CPU away */
	u32 age;     /* in 1024 cycles */
};

namespace detail {

/* Reads an entry; false: it is empty, or changed meanwhile. */
inline bool read_held(const held_lock &one, usize owner, held_view &view)
{
	const usize lock = one.address.load_relaxed();

	if (lock <= held_lock::gone)
		return false;
	view = {owner,
		one.on_cpu.load_relaxed(),
		lock,
		one.label(),
		one.site(),
		one.state.load_relaxed(),
		one.is_read() || one.is_upgradable(),
		one.sleeps(),
		held_lock::clock() - one.since.load_relaxed()};
	return one.address.load_relaxed() == lock;
}

} // namespace detail

/* Calls visit(view) for each lock that is held, waited for or tried. */
template <typename Visit>
void for_each_held(const held_by_owners &of, Visit visit)
{
	for (u32 i = 0; i < of.owners; i++) {
		const held_locks &stack = of.all[i];
		const usize owner = stack.owner();
		const u32 size = stack.size();
		held_view view;

		for (u32 at = 0; at < size && at < held_locks::most; at++)
			if (detail::read_held(stack.at[at], owner, view))
				visit(view);
	}
}

namespace detail {

inline bool is_waiting(const held_view &of)
{
	return of.state == hold::waiting || of.state == hold::waits_long;
}

/* Adds the holder of the lock that is waited for, if it is known. */
inline void add_holder(held_text &text, const held_by_owners &all,
		       const held_view &waiter)
{
	for_each_held(all, [&](const held_view &other) {
		if (other.lock != waiter.lock || other.state != hold::held)
			return;
		add_owner(text.add(other.shared ? ", read by " : ", held by "),
			  other.cpu, other.owner);
	});
}

inline void add_held(held_text &text, const held_by_owners &all,
		     const held_view &of)
{
	add_owner(text, of.cpu, of.owner);
	text.add(is_waiting(of) && of.sleeps ? " sleeps on "
		 : is_waiting(of)	     ? " waits for "
		 : of.state == hold::trying  ? " tries "
		 : of.shared		     ? " reads "
					     : " holds ");
	text.add(of.label).add(" (").add_hex(of.lock).add(")");
	text.add(of.state == hold::held ? ", taken at " : " at ").add(of.site);
	if (is_waiting(of))
		add_holder(text, all, of);
	text.add("; ").add(of.age).add(" Kcycles");
}

template <typename Sink>
[[gnu::noinline]] void print_one(Sink &sink, const held_by_owners &all,
				 const held_view &of)
{
	held_text text;

	add_held(text, all, of);
	sink(text.c_str());
}

} // namespace detail

/* Calls sink(line) for each line, without a newline. */
template <typename Sink>
void print_held(Sink &&sink)
{
	order_keeper *const order = kernel_order_keeper();

	if (!order)
		return;
	const held_by_owners all = order->everybody();

	for_each_held(all, [&](const held_view &one) {
		detail::print_one(sink, all, one);
	});
}

/*
 * Reports waits that are older than that many thousands of cycles, each once,
 * by a line to klock_os_note(). Returns how many there were. For a timer's
 * handler on any CPU: it also sees CPUs that wait with interrupts off. Does
 * nothing if the port has no clock.
 */
inline u32 note_long_waits(u32 kcycles)
{
	order_keeper *const order = kernel_order_keeper();
	u32 found = 0;

	if (!order)
		return 0;
	const held_by_owners all = order->everybody();

	for (u32 i = 0; i < all.owners; i++) {
		held_locks &stack = all.all[i];
		const usize owner = stack.owner();

		for (u32 at = 0; at < stack.size(); at++) {
			held_view view;

			if (!detail::read_held(stack.at[at], owner, view) ||
			    view.state != hold::waiting || view.age < kcycles ||
			    stack.at[at].awaits() ||
			    !stack.at[at].note_long_wait())
				continue;
			held_text text;

			text.add("a long wait: ");
			detail::add_held(text, all, view);
			note(text.c_str());
			found++;
		}
	}
	return found;
}

} // namespace klock
