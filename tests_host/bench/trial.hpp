/* SPDX-License-Identifier: MIT */
/*
 * trial - threads that are made once, bound to cores, and sleep between trials;
 * and what they take
 *
 * Who starts a trial sleeps while it runs: it must not take a core away from
 * those that are measured. So the threads themselves look at the clock.
 */
#pragma once

#include "machine.hpp"

#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/types.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

/* When a trial begins and ends. */
struct whistle {
	/* A thread asks after each of its turns. */
	bool over(klock::u64 turns)
	{
		constexpr klock::u64 turns_a_look = 32;

		if (turns % turns_a_look == 0 && klock::cycles() >= end)
			blown.store(true, std::memory_order_relaxed);
		return blown.load(std::memory_order_relaxed);
	}

	/* By klock::cycles(); 0: not all threads are there. */
	alignas(128) std::atomic<klock::u64> start{0};
	klock::u64 end = 0;
	alignas(128) std::atomic<bool> blown{false};
};

struct workers {
	/* What a thread does until the whistle says that it is over. */
	using job = std::function<void(unsigned thread, whistle &)>;

	workers(unsigned threads, double cycles_a_second);
	~workers();
	workers(const workers &) = delete;
	workers &operator=(const workers &) = delete;

	/*
	 * job on the first threads of the workers, from one common start. True
	 * if no other process took a core away meanwhile.
	 */
	bool run(unsigned threads, std::chrono::microseconds length,
		 const job &what);

      private:
	void serve(unsigned thread);
	long meet(unsigned threads);

	const double cycles_a_second;
	std::mutex mutex;
	std::condition_variable wake, finished;
	const job *todo = nullptr;
	unsigned trial = 0;	    /* counts up: a new one is there */
	unsigned wanted = 0;	    /* threads that take part in it */
	unsigned running = 0;	    /* of them, not back yet */
	long preempted = 0;	    /* how often one of them lost its core */
	klock::u64 length_left = 0; /* cycles from its start to its end */
	bool closing = false;
	std::vector<std::thread> threads;

	alignas(128) std::atomic<unsigned> arrived{0};
	whistle referee;
};

/*
 * contest - one lock and those who take it, behind one interface for all locks
 *
 * The loops are inside, so that lock() and unlock() are inlined as in a
 * kernel; only a whole trial is a virtual call.
 */

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

struct contest {
	virtual ~contest() = default;

	/* One thread: lock and unlock, nothing in between. */
	virtual void alone(u64 turns) = 0;

	/* Throughput: nothing but the lock and the work. */
	virtual void contend(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

	/* The same, and looks at clock and predecessor each time. */
	virtual void observe(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

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

/* Any lock of a list, klock's or a peer's. */
template <typename L>
struct lock_contest final : contest {
	explicit lock_contest(unsigned threads)
	    : contenders(new member[threads])
	{
		for (unsigned i = 0; i < threads; i++)
			contenders[i].who.renumber(i);
	}

	void set_base(u32 base) override
	{
		if constexpr (requires(L &l) { l.set_base(base); })
			lock.set_base(base);
	}

	void alone(u64 turns) override
	{
		auto &who = contenders[0].who;

		for (; turns; turns--) {
			who.lock(lock);
			asm volatile("" ::: "memory");
			who.unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = contenders[thread].who;

		until(end, l, thread, seen, [&] {
			who.lock(lock);
			work(l.section);
			who.unlock(lock);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = contenders[thread].who;

		until(end, l, thread, seen, [&] {
			const u64 before = klock::cycles();
			who.lock(lock);
			const u64 waited = klock::cycles() - before;
			note_section(thread, seen);
			work(l.section);
			who.unlock(lock);
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

	alignas(128) L lock;
	alignas(128) std::unique_ptr<member[]> contenders;
	/* The holder's alone: who was inside before, and how often in a row. */
	alignas(128) unsigned last = ~0u;
	u64 run = 0;
};

/*
 * floors - what no lock can beat: measured as rows, in the same rounds
 */

struct floor_contest : contest {
	void contend(unsigned, const load &, whistle &, tally &) override {}
	void observe(unsigned, const load &, whistle &, tally &) override {}

      protected:
	alignas(128) u32 word = 0;
};

/* One locked instruction after another: the least that a lock() costs. */
struct bare_xadd final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("lock xadd %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

struct bare_exchange final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

/* And back by a plain store, which the next exchange has to wait for. */
struct exchange_and_store final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1\n\tmovl $0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

/*
 * Two threads that write one word in turn: a handoff, and nothing else. An
 * acquisition is one thread's turn.
 */
struct ping_pong final : contest {
	void alone(u64) override {}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		until(end, l, thread, seen, [&] {
			u32 now;
			while (((now = word.load(std::memory_order_acquire)) &
				1) != thread &&
			       !end.blown.load(std::memory_order_relaxed))
				klock::cpu_relax();
			word.store(now + 1, std::memory_order_release);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		contend(thread, l, end, seen);
		seen.handoffs = seen.acquisitions;
		seen.max_consecutive = 1;
	}

      private:
	alignas(128) std::atomic<u32> word{0};
};

} // namespace bench
