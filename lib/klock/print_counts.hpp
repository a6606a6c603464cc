/* SPDX-License-Identifier: MIT */
/*
 * print_counts - a table of the locks that CPUs waited for, the worst first
 *
 *	klock::print_counts([](const char *line) { put(line), put("\n"); });
 *
 *	acquired contended of 1000     waited longest lock
 *	all of one name:
 *	  961222     14001      14   90331007  131072 8 runqueue
 *	each, the worst first:
 *	  120331     12531     104   88121774  131072 runqueue[3]
 *	    4711         2       0       9021    8800 log
 *	times in the units of cycles(), the CPU's clock
 *
 * The table has the locks of counted_lock.hpp that CPUs ever waited for, and
 * those that list_counts() has put into it. acquired: all acquisitions; of
 * 1000: the share that was contended; waited: the sum of all waits; longest:
 * the longest of them. If a lock notes how long it is held, the sum and the
 * longest follow. Readers of a lock have a line of their own: "routes,
 * readers". The totals of a name count only locks in the table: acquisitions of
 * a lock that was never waited for are not in them. A wait counts as 0 cycles
 * if it ends on a CPU whose clock is behind.
 *
 * A lock that was freed without forget_counts() is reported, if its memory can
 * still be read; locks that were listed before it return to the table when they
 * are waited for again.
 *
 * Locks go on counting while it prints.
 *
 * Context: threads and interrupt handlers, with locks held or not; not an NMI
 * handler. sink() is called with interrupts as they were. One call at a time: a
 * second call at the same time prints only that there is another.
 */
#pragma once

#include <klock/detail/counts.hpp>
#include <klock/detail/text.hpp>
#include <klock/types.hpp>

namespace klock {

/* The counts of one lock, or of all locks of one name, as they were read. */
struct count_view {
	lock_label label; /* its name, and an element's number */
	const void *lock; /* null: several locks */
	bool shared;	  /* true: its readers; false: its writers */
	u32 locks;
	u64 acquired;  /* contended ones as well; 32 bits: modulo 2^32 */
	u64 contended; /* acquisitions that waited */
	u64 waited;    /* in cycles */
	u64 longest_wait;
	u64 held; /* 0: not noted */
	u64 longest_hold;
};

namespace detail {

/* A line of the table. */
using count_text = bounded_text<200>;

inline count_view view_of(const lock_counts &one)
{
	count_view view = {};

	view.label = {one.called.load_relaxed(), one.element.load_relaxed()};
	view.lock = &one;
	view.shared = one.shared.load_relaxed();
	view.locks = 1;
	/* The difference is right even if the count has wrapped. */
	const usize by_now = free_acquisitions(one);
	view.acquired = by_now - one.acquired_before.load_relaxed();

	if (!one.is_of_now())
		return view;
	const wait_counts &its = *one.waits.load_relaxed();

	view.contended = its.contended.load_relaxed();
	view.acquired += view.contended;
	view.waited = its.waited.get();
	view.longest_wait = its.longest_wait.load_relaxed();
	view.held = its.held.get();
	view.longest_hold = its.longest_hold.load_relaxed();
	return view;
}

inline void add_to(count_view &sum, const count_view &one)
{
	sum.locks++;
	sum.acquired += one.acquired;
	sum.contended += one.contended;
	sum.waited += one.waited;
	sum.held += one.held;
	if (one.longest_wait > sum.longest_wait)
		sum.longest_wait = one.longest_wait;
	if (one.longest_hold > sum.longest_hold)
		sum.longest_hold = one.longest_hold;
}

inline bool is_same_text(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Whether a comes before b: CPUs waited longer for it, or more often. */
inline bool is_worse(const count_view &a, const count_view &b)
{
	if (a.waited != b.waited)
		return a.waited > b.waited;
	return a.contended > b.contended;
}

/* The powers of 10 from 10^19 down to 1. */
struct decimal_units {
	consteval decimal_units()
	{
		u64 one = 1;

		for (unsigned i = digits; i-- > 0; one *= 10)
			at[i] = one;
	}

	static constexpr unsigned digits = 20;
	u64 at[digits];
};

/* Divides by subtractions, as a division of 64 bits needs a library on 32
 * bits. */
[[gnu::noinline]] inline void add_number(count_text &text, u64 number,
					 unsigned width)
{
	static constexpr decimal_units units;
	char digits[units.digits + 1] = {};
	bool begun = false;

	for (unsigned i = 0; i < units.digits; i++) {
		char digit = '0';

		for (; number >= units.at[i]; number -= units.at[i])
			digit++;
		begun |= digit != '0' || i == units.digits - 1;
		digits[i] = begun ? digit : ' ';
	}
	const char *from = digits;
	for (unsigned left = units.digits; left > width && *from == ' '; left--)
		from++;
	text.add(from);
}

/* Returns thousandths, by a division of 32 bits. */
inline u32 per_mille(u64 part, u64 whole)
{
	for (; whole >> 21; whole >>= 1)
		part >>= 1;
	return whole ? static_cast<u32>(part) * 1000 / static_cast<u32>(whole)
		     : 0;
}

inline constexpr const char *counts_head =
	"    acquired    contended of 1000          waited     longest lock";

template <typename Sink>
[[gnu::noinline]] void print_view(Sink &sink, const count_view &of)
{
	count_text text;

	add_number(text, of.acquired, 12);
	add_number(text.add(" "), of.contended, 12);
	add_number(text.add(" "), per_mille(of.contended, of.acquired), 7);
	add_number(text.add(" "), of.waited, 15);
	add_number(text.add(" "), of.longest_wait, 11);
	text.add(" ");
	if (of.locks > 1)
		text.add(of.locks).add(" ");
	text.add(of.label);
	if (of.shared)
		text.add(", readers");
	if (of.held) {
		add_number(text.add("; held "), of.held, 0);
		add_number(text.add(", longest "), of.longest_hold, 0);
	}
	sink(text.c_str());
}

template <typename Sink>
[[gnu::noinline]] void print_number(Sink &sink, const char *before, u32 number,
				    const char *after)
{
	count_text text;

	sink(text.add(before).add(number).add(after).c_str());
}

/* Finds the worst lock that this call has not printed; false: it has printed
 * all. */
inline bool next_count(u32 print, count_view &worst)
{
	lock_counts *found = nullptr;

	counted_locks.for_each([&](lock_counts &one) {
		if (one.printed.load_relaxed() == print)
			return;
		const count_view view = view_of(one);

		if (found && !is_worse(view, worst))
			return;
		found = &one;
		worst = view;
	});
	if (found)
		found->printed.store_relaxed(print);
	return found;
}

/* The number of locks that this call has not printed. */
inline u32 not_printed(u32 print)
{
	u32 left = 0;

	counted_locks.for_each([&](const lock_counts &one) {
		left += one.printed.load_relaxed() != print;
	});
	return left;
}

/* Sums up all locks of a name that this call has not printed; false: none is
 * left. */
inline bool next_total(u32 print, count_view &sum)
{
	sum = {};
	counted_locks.for_each([&](lock_counts &one) {
		const lock_label of = {one.called.load_relaxed(), 0};
		const bool shared = one.shared.load_relaxed();

		if (one.printed.load_relaxed() == print)
			return;
		if (sum.locks && (shared != sum.shared ||
				  !is_same_text(of.name, sum.label.name)))
			return;
		sum.label = of;
		sum.shared = shared;
		one.printed.store_relaxed(print);
		add_to(sum, view_of(one));
	});
	return sum.locks;
}

} // namespace detail

/*
 * Calls visit(const count_view &) for each lock, the worst first, for callers
 * with a format of their own. False: another call is printing.
 */
template <typename Visit>
bool for_each_count(Visit visit)
{
	count_view view;

	if (!counted_locks.begin_printing())
		return false;
	const u32 print = counted_locks.number_of_print();

	while (detail::next_count(print, view))
		visit(view);
	counted_locks.end_printing();
	return true;
}

/* for_each_count() for the sums of each name, in no order. */
template <typename Visit>
bool for_each_total(Visit visit)
{
	count_view sum;

	if (!counted_locks.begin_printing())
		return false;
	const u32 print = counted_locks.number_of_print();

	while (detail::next_total(print, sum))
		visit(sum);
	counted_locks.end_printing();
	return true;
}

/*
 * Calls sink(line) for each line, without a newline. most: the number of single
 * locks; a line says how many more there are.
 */
template <typename Sink>
void print_counts(Sink &&sink, u32 most = 40)
{
	bool told = false;
	count_view view;

	sink(detail::counts_head);
	if (!counted_locks.begin_printing())
		return sink("another prints them just now");
	for (const u32 print = counted_locks.number_of_print();
	     detail::next_total(print, view);) {
		if (view.locks < 2)
			continue;
		if (!told)
			sink("    all of one name:");
		told = true;
		detail::print_view(sink, view);
	}
	if (told)
		sink("    each, the worst first:");
	const u32 print = counted_locks.number_of_print();
	for (; most > 0 && detail::next_count(print, view); most--)
		detail::print_view(sink, view);
	if (const u32 left = detail::not_printed(print))
		detail::print_number(sink, "    and ", left, " more");
	counted_locks.end_printing();
	if (const u32 freed = counted_locks.freed.load_relaxed())
		detail::print_number(
			sink, "    freed without forget_counts(): ", freed,
			"; those listed before are back by a wait");
	sink("    times in the units of cycles(), the CPU's clock");
}

/* Resets all figures. Called on any CPU, while others count; not in an NMI
 * handler. */
inline void reset_counts()
{
	counted_locks.for_each([](lock_counts &one) {
		one.acquired_before.store_relaxed(free_acquisitions(one));
	});
	counted_locks.epoch.fetch_add_relaxed(1);
}

} // namespace klock
