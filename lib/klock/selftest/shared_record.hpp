/* SPDX-License-Identifier: MIT */
/*
 * shared_record - what each CPU of the shared torture keeps for itself
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/irq.hpp>
#include <klock/selftest/invariant.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/result.hpp>
#include <klock/selftest/torture.hpp>

namespace klock::selftest {

/* A CPU's handlers, each a contender of its own. */
template <typename L>
struct shared_handlers {
	constexpr void renumber(unsigned cpu)
	{
		writer.renumber(cpu);
		reads.renumber(cpu);
	}
	void clear() { in_interrupt = in_nmi = {}; }

	/* Takes the lock to read, or one time in so many to write. */
	void interrupt(L &lock, invariant &data, u32 write_one_in)
	{
		if (in_interrupt.taken++ % write_one_in) {
			reads.lock(lock);
			in_interrupt.wrong += !data.look(0);
			reads.unlock(lock);
			return;
		}
		writer.lock(lock);
		in_interrupt.wrong += !data.visit(0);
		in_interrupt.written++;
		writer.unlock(lock);
	}

	/* Tries to read and to write, by turns. */
	void nmi(L &lock, invariant &data)
	{
		if constexpr (try_lockable<L> && try_shared_lockable<L>) {
			if (in_nmi.tried++ % 2) {
				if (!reads.try_lock(lock))
					return;
				in_nmi.wrong += !data.look(0);
				reads.unlock(lock);
			} else {
				if (!writer.try_lock(lock))
					return;
				in_nmi.wrong += !data.visit(0);
				in_nmi.written++;
				writer.unlock(lock);
			}
			in_nmi.taken++;
		}
	}

	[[nodiscard]] u64 taken() const
	{
		return u64{in_interrupt.taken} + in_nmi.taken;
	}
	[[nodiscard]] u64 written() const
	{
		return u64{in_interrupt.written} + in_nmi.written;
	}
	[[nodiscard]] u64 wrong() const
	{
		return u64{in_interrupt.wrong} + in_nmi.wrong;
	}

      private:
	/* Each handler's own: an NMI may come in the other's. */
	struct counts {
		u32 tried = 0;
		u32 taken = 0;
		u32 written = 0;
		u32 wrong = 0;
	};

	contender<L> writer;
	reader<L> reads;
	counts in_interrupt;
	counts in_nmi;
};

constexpr void keep_longest(u64 &longest, u64 now)
{
	if (now > longest)
		longest = now;
}

/* How many CPUs of a plan can read the lock at once. */
template <typename Subject>
constexpr unsigned readers_of(unsigned cpus)
{
	const unsigned n = participants<Subject>(cpus);

	return n < Subject::reader_capacity
		       ? n
		       : static_cast<unsigned>(Subject::reader_capacity);
}

/* Of all CPUs: when handlers may come, and whether one has had the lock. */
struct handler_visits {
	void clear()
	{
		all_met.store_relaxed(false);
		had.store_relaxed(false);
	}
	void open() { all_met.store_relaxed(true); }
	[[nodiscard]] bool are_open() const { return all_met.load_relaxed(); }

	void note(u64 taken)
	{
		if (taken && !had.load_relaxed())
			had.store_relaxed(true);
	}
	[[nodiscard]] bool were() const { return had.load_relaxed(); }

      private:
	atomic<bool> all_met; /* inside, all at once */
	atomic<bool> had;
};

/* One CPU's own, on lines of its own; others read the atomic ones. */
template <typename L>
struct alignas(cache_line) shared_record {
	contender<L> writer;
	reader<L> reads;
	shared_handlers<L> handlers;
	irq_state flags{};   /* what interrupts were before a section */
	atomic<u32> entered; /* sections, for others to see */
	atomic<u8> now;
	atomic<u32> left; /* the last convoy whose place it has left */
	u64 written = 0;
	u64 read = 0;
	u32 in_contention = 0;
	u32 wrong = 0;
	u32 bypassed = 0;
	u32 refused = 0;
	u32 most_inside = 0; /* readers that it has seen at once */
	u64 longest_write = 0;
	u64 longest_read = 0;
	u64 elapsed = 0;

	constexpr void renumber(unsigned cpu)
	{
		writer.renumber(cpu);
		reads.renumber(cpu);
		handlers.renumber(cpu);
	}
	void clear()
	{
		handlers.clear();
		entered.store_relaxed(0);
		now.store_relaxed(0);
		left.store_relaxed(0);
		written = read = 0;
		in_contention = wrong = bypassed = refused = most_inside = 0;
		longest_write = longest_read = elapsed = 0;
	}

	/* After the run. Returns how often this CPU has written. */
	u64 add_to(result &r) const
	{
		r.visits += handlers.taken();
		r.reads += read;
		r.exclusion_errors += wrong + handlers.wrong();
		r.fifo_violations += bypassed;
		r.try_failures += refused;
		if (most_inside > r.most_together)
			r.most_together = most_inside;
		keep_longest(r.longest_wait, longest_write);
		keep_longest(r.longest_read_wait, longest_read);
		return written + handlers.written();
	}
};

/* -- A convoy: place 0 leads it, and writes ------------------------------ */

/* Of the others, those of even places read. */
constexpr bool reads_at(unsigned place) { return place && place % 2 == 0; }

/*
 * All came while the leader was inside, in the order of their places, and not
 * both of these two read: whether `other` is served before the one at `place`.
 */
constexpr bool is_before(sharing by, unsigned other, unsigned place)
{
	if (by == sharing::in_order || reads_at(other) == reads_at(place))
		return other < place;
	return reads_at(other) == (by == sharing::by_phases);
}

} // namespace klock::selftest
