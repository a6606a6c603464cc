/* SPDX-License-Identifier: MIT */
/*
 * counted_lock - a lock that counts and times the waits for it
 *
 *	constinit klock::counted_if<counts, klock::ticket_lock<klock::u8>,
 *				    "runqueue"> lock;
 *
 *	klock::print_counts([](const char *line) { put(line), put("\n"); });
 *
 * Algorithm:   lock() calls the lock inside. Some locks report whether they
 *              must wait (ticket_lock, padded_ticket_lock, mcs_lock, and those
 *              that readers share); for any other, try_lock() is called first.
 *              An acquisition without a wait adds one to a count. An
 *              acquisition with a wait reads the clock before and after the
 *              wait, and adds its length. The holder counts, by a load and a
 *              store.
 * Source:      the idea of Linux's lockstat document, that the running kernel
 *              shows which lock is waited for, how often and how long; the code
 *              is ours.
 * Use when:    you look for the lock that your kernel waits for. A table:
 *              print_counts.hpp. counted_if<counts, L, "name"> is L itself if
 *              counts is false.
 * Size:        the lock inside, 56 bytes (36 on 32 bits), and then a cache
 *              line; with readers, four lines more; if its readers have a line
 *              a CPU, as many lines again
 *                          Checked: unit/counted_lock: sizes
 * Zero bytes:  free and never counted, if the lock inside is free when zero
 *                          Checked: unit/counted_lock: zero bytes
 * Lifetime:    a lock that was ever waited for is in a list: call
 *              forget_counts(lock) before its memory is used for anything
 *              else. Without it, reused memory is recognised, but unmapped
 *              memory is read (detail/counts.hpp). unlock()
 *              is that of the lock inside     Checked: unit/counted_lock: gone
 * Fairness:    that of the lock inside. A try_lock() that comes first takes
 *              only a lock that nobody waits for; if it fails, the CPU's
 *              position in the queue is that of its lock(), just after.
 *                          Checked: model/counted_lock: order of service
 * Capacity:    that of the lock inside
 *                          Checked: unit/counted_lock: any lock
 * Context:     that of the lock inside. Other wrappers go around it:
 *              checked_if<debug, counted_lock<L>>, irq_lock<counted_lock<L>>.
 * Assumes:     what the lock inside assumes
 *
 * State (of L):  as L
 *
 * Ordering:    that of the lock inside orders its holders' counting
 *                          Checked: model/counted_lock: counts
 *
 * A try_lock() that takes the lock counts as an acquisition; one that fails
 * does not. try_lock_until() and lock_paced() wait if their first try fails. A
 * wait is counted when it is over; print_held.hpp shows waits that do not end.
 *
 * Readers are counted apart from writers. As several read at once, a reader
 * that does not wait counts by an RMW of a word beside the lock, in the line
 * that it has just written. In a lock with a line for each CPU (reader_lock) it
 * counts by a load and a store to its CPU's line; the read of a handler that
 * comes in between may not be counted.
 *
 * counted_lock<hold_times<L>, "name"> also notes how long it is held, which
 * reads the clock twice at each acquisition. It does not for readers, nor after
 * an upgrade.
 *
 * Cost:        uncontended: a load and a store more than the lock's own
 *              lock(), or its try_lock() if that comes first, no RMW; if the
 *              lock reports where it waits, one load of it besides; a
 *              reader whose lock has no line a CPU: 1 RMW more; contended: two
 *              reads of the clock and a line of its own
 *                                      Checked: codegen/guards
 */
#pragma once

#include <klock/detail/checked.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/counts.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/types.hpp>

namespace klock {

/* L itself; a counted_lock of this also notes how long it is held. */
template <any_lock L>
struct hold_times : L {
	/* counted_lock looks for this name. */
	using hold_times_of = L;
	using L::L;
};

namespace detail {
/* Counts reads without a wait; empty for a lock without readers. */
template <typename L>
struct reads_of {};
template <plain_shared_lock L>
struct reads_of<L> {
	static constexpr u32 cpus = 1;

	void count() { (void)at[0].fetch_add_relaxed(1); }

	atomic<usize> at[1];
};
/* Each CPU has a count of its own: only its handlers interfere. */
template <cpu_shared_lock L>
struct reads_of<L> {
	static constexpr u32 cpus = L::max_readers;

	void count(unsigned cpu)
	{
		atomic<usize> &mine = at[cpu * shared_counts::apart];

		mine.store_relaxed(mine.load_relaxed() + 1);
	}

	alignas(cache_line) atomic<usize> at[cpus * shared_counts::apart];
};

/* The readers' figures; empty for a lock without readers. */
template <typename L>
struct readers_of {};
template <shared_lockable L>
struct readers_of<L> {
	shared_counts counts;
	wait_counts waits;
};

template <typename L>
concept notes_holds = requires { typename L::hold_times_of; };
template <typename L>
concept notes_misuse = requires(const L &lock) { lock.is_held_by_me(); };

/* A name, or none. */
struct no_name {
	static constexpr const char *chars = nullptr;
};
template <lock_name... Name>
struct name_of : no_name {};
template <lock_name Name>
struct name_of<Name> {
	static constexpr lock_name text = Name;
	static constexpr const char *chars = text.chars;
};
} // namespace detail

/* The name may be left out, and given at run time (set_name()). */
template <any_lock L, lock_name... Name>
struct counted_lock : detail::verbs_of<counted_lock<L, Name...>, L,
				       detail::no_site, detail::every_verb, L> {
	static_assert(sizeof...(Name) <= 1, "one name");
	static_assert(!recursive<L>, "recursive_lock<counted_lock<L>>: the "
				     "other way round each depth is counted");
	static_assert(!detail::notes_misuse<L>,
		      "checked_if<debug, counted_lock<L>>: the other way round "
		      "checks see but a try_lock()");
	static_assert(!detail::notes_times<L>,
		      "timed_lock<counted_lock<L>, maxima>: the other way "
		      "round a wait is timed as two");

	using counted_lock::verbs_of::verbs_of;
	constexpr counted_lock() = default;
	counted_lock(const counted_lock &) = delete;
	counted_lock &operator=(const counted_lock &) = delete;

	/* -- Members of counted locks alone -- */

	/* Sets the name, before others use it; the text must live as long. */
	void set_name(const char *text) { name_all(text, 0); }
	void set_name(const char *text, u32 element)
	{
		name_all(text, element + 1);
	}

	/* Puts it into the table, even if nobody has waited for it yet. */
	void list_counts()
	{
		counts.list(waits, name);
		if constexpr (shared_lockable<L>)
			list_reads();
	}

	/* Removes it, before its memory is used for anything else. */
	void forget_counts()
	{
		counted_locks.remove(counts);
		if constexpr (shared_lockable<L>)
			counted_locks.remove(readers.counts);
	}

      private:
	using effect = detail::effect;
	using no_site = detail::no_site;
	friend typename counted_lock::verbs_of;
	friend typename counted_lock::questions_of;

	/* -- L's verbs; with: their arguments -- */

	/* Waits. L reports where it waits, or is tried first. */
	template <detail::does<effect::takes> Verb, typename... With>
	[[gnu::always_inline]] void pass(Verb verb, no_site, With &...with)
	{
		bool waited = false;
		const auto watch = watching(
			waited, [this](auto take) { this->wait(take); });

		if constexpr (same_as<Verb, detail::verb::lock> &&
			      requires { L::lock_watched(watch, with...); }) {
			L::lock_watched(watch, with...);
			if (!waited)
				note_uncontended();
		} else {
			static_assert(try_lockable<L>,
				      "a lock that is counted says where it "
				      "waits, or has a try_lock()");
			if (try_first(with...))
				note_uncontended();
			else
				wait([&] { verb.call(inside(), with...); });
		}
	}

	/* Counts if it takes the lock. */
	template <detail::does<effect::tries> Verb, typename... With>
	bool pass(Verb verb, no_site, With &...with)
	{
		if (!verb.call(inside(), with...))
			return false;
		note_uncontended();
		return true;
	}

	/* Waits until a deadline; counts a wait if it takes the lock. */
	template <detail::does<effect::takes_until> Verb, typename... With>
	bool pass(Verb verb, no_site, With &...with)
	{
		if (try_first(with...)) {
			note_uncontended();
			return true;
		}
		return wait([&] { return verb.call(inside(), with...); });
	}
	template <typename... With>
	wait_result pass(detail::verb::lock_until verb, no_site, With &...with)
	{
		auto why = wait_result::had;

		if (!this->try_lock())
			(void)wait([&] {
				why = verb.call(inside(), with...);
				return why == wait_result::had;
			});
		return why;
	}

	/* Counts nothing, except the hold's time with hold_times<L>. */
	template <detail::does<effect::releases, effect::downgrades> Verb,
		  typename... With>
	void pass(Verb verb, no_site, With &...with)
	{
		note_unlock();
		verb.call(inside(), with...);
	}

	/* Waits for writers. L reports where it waits, or is tried first. */
	template <typename... With>
	[[gnu::always_inline]] void pass(detail::verb::lock_shared, no_site,
					 With &...with)
	{
		bool waited = false;
		const auto watch = watching(waited, [this](auto take) {
			this->wait_to_read(take);
		});

		if constexpr (requires {
				      L::lock_shared_watched(watch, with...);
			      })
			L::lock_shared_watched(watch, with...);
		else
			watch([&] { return !L::try_lock_shared(with...); },
			      [&] { L::lock_shared(with...); }, [] {});
		if (!waited)
			reads.count(with...);
	}

	/* Counts if it takes the lock. */
	template <detail::does<effect::tries_to_read> Verb, typename... With>
	bool pass(Verb verb, no_site, With &...with)
	{
		if (!verb.call(inside(), with...))
			return false;
		reads.count(with...);
		return true;
	}

	/* Everything else is not counted. */
	template <
		detail::does<effect::reads_until, effect::stops_reading,
			     effect::reads_to_upgrade,
			     effect::tries_to_read_to_upgrade,
			     effect::stops_reading_to_upgrade, effect::upgrades,
			     effect::tries_to_upgrade, effect::sets>
			Verb,
		typename... With>
	decltype(auto) pass(Verb verb, no_site, With &...with)
	{
		return verb.call(inside(), with...);
	}
	template <detail::does<effect::asks> Verb, typename... With>
	decltype(auto) pass(Verb verb, no_site, With &...with) const
	{
		return verb.call(static_cast<const L &>(*this), with...);
	}

	L &inside() { return *this; }

	/* Tries, with L's node or number, if it takes one. */
	template <typename... With>
	bool try_first(With &...with)
	{
		if constexpr (plain_lock<L>)
			return L::try_lock();
		else
			return L::try_lock(detail::first_of(with...));
	}

	static constexpr const char *name = detail::name_of<Name...>::chars;

	/* The caller got the lock without a wait. */
	void note_uncontended()
	{
		counts.count();
		if constexpr (detail::notes_holds<L>)
			waits.begin_hold();
	}
	/* The holder is about to release the lock, or to become a reader. */
	void note_unlock()
	{
		if constexpr (detail::notes_holds<L>) {
			counts.prepare(waits, name);
			waits.end_hold();
		}
	}

	/* The visitor of L's wait: unwatched, in types.hpp. */
	template <typename Slowly>
	static auto watching(bool &waited, Slowly slowly)
	{
		return [&waited, slowly](auto has_to, auto take,
					 auto... otherwise) {
			waited = has_to();
			if (waited)
				slowly(take);
			else if constexpr (sizeof...(otherwise))
				(otherwise(), ...);
			else
				take();
		};
	}

	/* Calls take() and counts the wait; false: take() gave up. */
	template <typename Wait>
	[[gnu::noinline]] bool wait(Wait take)
	{
		const u64 since = cycles_if_usable();

		if constexpr (same_as<decltype(take()), bool>) {
			if (!take())
				return false;
		} else {
			take();
		}
		counts.prepare(waits, name);
		waits.count(cycles_since(since));
		if constexpr (detail::notes_holds<L>)
			waits.begin_hold();
		return true;
	}
	template <typename Wait>
	[[gnu::noinline]] void wait_to_read(Wait take)
	{
		const u64 since = cycles_if_usable();

		take();
		const u64 waited = cycles_since(since);

		list_reads();
		readers.counts.count_wait(readers.waits, name, waited);
	}

	/* Lists the readers' figures, under the name that C gave the lock. */
	void list_reads()
	{
		const char *const own = counts.called.load_relaxed();

		if (own && !readers.counts.called.load_relaxed())
			readers.counts.call(own, counts.element.load_relaxed());
		readers.counts.list_reads(readers.waits, name, reads.at,
					  reads.cpus);
	}

	void name_all(const char *text, u32 element_plus_1)
	{
		counts.set_name(text, element_plus_1);
		if constexpr (shared_lockable<L>)
			readers.counts.set_name(text, element_plus_1);
	}

	/* in the cache line of the lock's own words */
	[[no_unique_address]] detail::reads_of<L> reads;
	lock_counts counts;
	[[no_unique_address]] detail::readers_of<L> readers;
	wait_counts waits;
};

/*
 * counted_lock<L, Name> if Counts; else L itself, without a byte or an
 * instruction more. The name may be left out.
 */
template <bool Counts, any_lock L, lock_name... Name>
using counted_if =
	typename detail::chosen<Counts, L, counted_lock<L, Name...>>::type;

/* Take any lock, also one in an irq_lock; do nothing if it is not counted. */
template <any_lock L>
void list_counts(L &lock)
{
	if constexpr (requires { lock.list_counts(); })
		lock.list_counts();
}
template <any_lock L>
void forget_counts(L &lock)
{
	if constexpr (requires { lock.forget_counts(); })
		lock.forget_counts();
}

} // namespace klock
