/* SPDX-License-Identifier: MIT */
/*
 * rivals - two CPUs that want the same lock all the time, each on its core
 *
 * Who takes the lock again although another waits? Counted are only critical
 * sections behind an unlock() before which the other took a turn of its wait,
 * since the holder last looked: it runs, and its doorway is done. So a lock
 * that is first come, first served gives it the next section, however the host
 * schedules the threads.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/locks.hpp>

#include "../native/cores.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

namespace claims {

using klock::u32;
using klock::u64;

/* What was seen up to now; the holder writes, anybody reads. */
struct rivalry {
	std::atomic<u64> sections{0};	     /* all */
	std::atomic<u64> contended{0};	     /* of them, counted: see above */
	std::atomic<u64> max_consecutive{0}; /* in a row, past who waited */
};

template <typename L>
struct rivals {
	static constexpr unsigned threads = 2;

	/* Until enough(seen), or the time is over. */
	template <typename Enough>
	void run(std::chrono::milliseconds most, Enough enough)
	{
		const auto end = std::chrono::steady_clock::now() + most;
		std::array<std::thread, threads> running;

		for (unsigned i = 0; i < threads; i++) {
			running[i] = std::thread([this, i] { contend(i); });
			native::pin_to_core(running[i], i, native::cores());
		}
		while (!enough(seen) && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(
				std::chrono::milliseconds(1));
		stop.store(true, std::memory_order_relaxed);
		for (std::thread &thread : running)
			thread.join();
	}

	/* Of the counted sections; after run(). */
	u32 jain_permille() const
	{
		return klock::selftest::jain_permille(
			threads,
			[this](unsigned i) { return all[i].contended; });
	}

	rivalry seen;

      private:
	struct alignas(128) rival final : klock::arch::watcher {
		/*
		 * It took a turn of its wait. Off when the holder has seen it,
		 * and before its own section ends.
		 */
		std::atomic<bool> waits{false};
		u32 turns = 0;
		u64 contended = 0;

		/* Two threads on one core must get on, too: now and then. */
		void turn() override
		{
			if (!waits.load(std::memory_order_relaxed))
				waits.store(true, std::memory_order_relaxed);
			if (++turns % 128 == 0)
				sched_yield();
		}
	};

	void contend(unsigned me)
	{
		klock::selftest::contender<L> who(me);

		klock::arch::watched_by = &all[me];
		while (!stop.load(std::memory_order_relaxed)) {
			who.lock(lock);
			all[me].waits.store(false, std::memory_order_relaxed);
			enter(me);
			for (volatile int work = 0; work < 20;)
				work = work + 1;
			one_waited =
				all[!me].waits.load(std::memory_order_relaxed);
			who.unlock(lock);
		}
	}

	/* Inside: nobody else writes. */
	void enter(unsigned me)
	{
		add_one(seen.sections);
		if (one_waited) {
			add_one(seen.contended);
			all[me].contended++;
		}
		in_a_row = last == me ? in_a_row + one_waited : 1;
		last = me;
		if (in_a_row >
		    seen.max_consecutive.load(std::memory_order_relaxed))
			seen.max_consecutive.store(in_a_row,
						   std::memory_order_relaxed);
	}

	static void add_one(std::atomic<u64> &count)
	{
		count.store(count.load(std::memory_order_relaxed) + 1,
			    std::memory_order_relaxed);
	}

	alignas(128) L lock;
	/* The holder's alone. */
	alignas(128) bool one_waited = false;
	unsigned last = ~0u;
	u64 in_a_row = 0;
	std::array<rival, threads> all;
	alignas(128) std::atomic<bool> stop{false};
};

} // namespace claims
