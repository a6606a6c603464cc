/* SPDX-License-Identifier: MIT */
/*
 * bed - one lock and those who take it, behind one interface for all locks
 *
 * The loops are inside, so that lock() and unlock() are inlined as in a
 * kernel; only a whole trial is a virtual call.
 */
#pragma once

#include "crew.hpp"
#include "machine.hpp"

#include <klock/selftest/locks.hpp>

#include <atomic>
#include <memory>

namespace bench {

/* What the threads of a trial do, in steps of work(). */
struct load {
	u32 section; /* with the lock held */
	u32 think;   /* on average, between two sections */
};

/* What one thread saw. */
struct tally {
	u64 acquisitions = 0;
	u64 start = 0, end = 0;	 /* by klock::cycles() */
	u64 longest_wait = 0;	 /* cycles from lock() to the section */
	u64 max_consecutive = 0; /* consecutive sections of one thread */
	u64 handoffs = 0;	 /* sections after another thread's */
};

/* Where the data lies that a lock guards. */
enum class layout { together, apart };

struct bed {
	virtual ~bed() = default;

	/* One thread: lock and unlock, nothing in between. */
	virtual void alone(u64 turns) = 0;

	/* Throughput: nothing but the lock and the work. */
	virtual void contend(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

	/* The same, and looks at clock and predecessor each time. */
	virtual void observe(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

	/* The same as contend(), but the section changes guarded data. */
	virtual void guard_data(unsigned, const load &, whistle &, tally &) {}

	/* Spin iterations a waiter ahead, if the lock wants to know. */
	virtual void set_base(u32) {}
};

/* The trial's frame: counts and times section() until its end. */
template <typename Section>
inline void until(whistle &end, const load &l, unsigned thread, tally &seen,
		  Section section)
{
	dice lengths(thread + 1);
	u64 done = 0;

	seen.start = klock::cycles();
	/* Once at least: a thread whose core was away has a rate, too. */
	do {
		section();
		done++;
		if (l.think)
			work(lengths.below(2 * l.think + 1));
	} while (!end.over(done));
	seen.end = klock::cycles();
	seen.acquisitions = done;
}

template <typename L, layout Layout>
struct place;

template <typename L>
struct alignas(128) place<L, layout::together> {
	L lock;
	volatile u64 data = 0;
};

template <typename L>
struct alignas(128) place<L, layout::apart> {
	L lock;
	alignas(128) volatile u64 data = 0;
};

/* Any lock of a list, klock's or a peer's. */
template <typename L, layout Layout = layout::apart>
struct lock_bed final : bed {
	explicit lock_bed(unsigned threads) : crowd(new member[threads])
	{
		for (unsigned i = 0; i < threads; i++)
			crowd[i].who.renumber(i);
	}

	void set_base(u32 base) override
	{
		if constexpr (requires(L &l) { l.set_base(base); })
			at.lock.set_base(base);
	}

	void alone(u64 turns) override
	{
		auto &who = crowd[0].who;

		for (; turns; turns--) {
			who.lock(at.lock);
			asm volatile("" ::: "memory");
			who.unlock(at.lock);
			asm volatile("" ::: "memory");
		}
	}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = crowd[thread].who;

		until(end, l, thread, seen, [&] {
			who.lock(at.lock);
			work(l.section);
			who.unlock(at.lock);
		});
	}

	void guard_data(unsigned thread, const load &l, whistle &end,
			tally &seen) override
	{
		auto &who = crowd[thread].who;

		until(end, l, thread, seen, [&] {
			who.lock(at.lock);
			at.data = at.data + 1;
			if (l.section) {
				work(l.section);
				at.data = at.data + 1;
			}
			who.unlock(at.lock);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = crowd[thread].who;

		until(end, l, thread, seen, [&] {
			const u64 before = klock::cycles();
			who.lock(at.lock);
			const u64 waited = klock::cycles() - before;
			note_section(thread, seen);
			work(l.section);
			who.unlock(at.lock);
			if (waited > seen.longest_wait)
				seen.longest_wait = waited;
		});
	}

      private:
	struct alignas(128) member {
		klock::selftest::contender<L> who;
	};

	void note_section(unsigned thread, tally &seen)
	{
		if (last != thread) {
			last = thread;
			run = 0;
			seen.handoffs++;
		}
		if (++run > seen.max_consecutive)
			seen.max_consecutive = run;
	}

	place<L, Layout> at;
	std::unique_ptr<member[]> crowd;
	/* The holder's alone: who was inside before, and how often in a row. */
	alignas(128) unsigned last = ~0u;
	u64 run = 0;
};

} // namespace bench
