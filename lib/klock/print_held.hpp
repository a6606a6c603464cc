/* SPDX-License-Identifier: MIT */
/*
 * print_held - which locks every CPU holds and waits for, in lines of text
 *
 *	klock::print_held([](const char *line) { put(line), put("\n"); });
 *
 *	CPU 0 holds runqueue[2] (0xffff8040), taken at sched.cpp:41; 18 Kcycles
 *	CPU 0 waits for log (0xffff9000) at log.cpp:7, held by CPU 1; 9 Kcycles
 *	CPU 1 (owner 0x7) sleeps on jobs (0xffffa000) at work.cpp:3; 8 Kcycles
 *
 * What lock_order.hpp notes of each checked lock; nothing where a kernel has no
 * klock_os_lock_order(). The age is that of the wait, or since it was taken, in
 * thousands of the port's cycles; meaningless where CPUs' clocks differ.
 *
 * Context: any, an NMI handler and a dying kernel too: it takes no lock, waits
 * for nobody and writes nothing. A CPU that runs goes on meanwhile: an entry
 * that changes while it is read is left out, and one that was read may be old.
 * CPUs that stand still are shown as they are.
 *
 * note_long_waits(), from a timer, says of its own accord who waits too long.
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
	usize owner; /* the CPU, or who klock_os_owner_id() says */
	u32 cpu;     /* where it was asked for */
	usize lock;
	lock_label label;
	call_site site;
	hold state;
	bool shared;
	bool sleeps; /* its waiters give their CPU away */
	u32 age;     /* in 1024 cycles */
};

namespace detail {

/* False: nothing is there, or it changes just now. */
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
		one.is_read(),
		one.sleeps(),
		held_lock::clock() - one.since.load_relaxed()};
	return one.address.load_relaxed() == lock;
}

} // namespace detail

/* visit(view) of each lock that is held, waited for or tried. */
template <typename Visit>
void for_each_held(const held_by_owners &of, Visit visit)
{
	for (u32 i = 0; i < of.owners; i++) {
		const held_locks &stack = of.all[i];
		const usize owner_plus_1 = stack.owner_plus_1.load_relaxed();
		const u32 size = stack.size();
		held_view view;

		for (u32 at = 0; at < size && at < held_locks::most; at++)
			if (detail::read_held(stack.at[at], owner_plus_1 - 1,
					      view))
				visit(view);
	}
}

namespace detail {

inline bool is_waiting(const held_view &of)
{
	return of.state == hold::waiting || of.state == hold::waits_long;
}

inline void add_owner(held_text &text, const held_view &of)
{
	text.add("CPU ").add(of.cpu);
	if (of.owner != of.cpu)
		text.add(" (owner ").add_hex(of.owner).add(")");
}

/* Adds the holder of what is waited for, if that is known. */
inline void add_holder(held_text &text, const held_by_owners &all,
		       const held_view &waiter)
{
	for_each_held(all, [&](const held_view &other) {
		if (other.lock != waiter.lock || other.state != hold::held)
			return;
		add_owner(text.add(other.shared ? ", read by " : ", held by "),
			  other);
	});
}

inline void add_held(held_text &text, const held_by_owners &all,
		     const held_view &of)
{
	add_owner(text, of);
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

/* sink(line): a text without its end of line. */
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
 * Waits that are older than so many thousands of cycles: a line each to
 * klock_os_note(), once; returns how many there were. For a timer's handler of
 * any CPU: it sees a CPU that waits with interrupts off as well. Where the port
 * has no clock no wait is old.
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
		const usize owner = stack.owner_plus_1.load_relaxed() - 1;

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
