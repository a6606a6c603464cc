/* SPDX-License-Identifier: MIT */
/*
 * standstill - evidence that no thread of a run will ever get on
 *
 * Time is no evidence: on a busy host the next holder may be kept off its core
 * for seconds. What is: all that the threads share has the bytes it had, and
 * meanwhile every thread that is not done has looked at what it waits for. Then
 * each will find the same again, for ever. That they looked is known from the
 * turns of their waits, which each thread counts; one that is off its core
 * takes no turns, and until it is back there is no verdict.
 */
#pragma once

#include <klock/cpu.hpp>

#include <atomic>
#include <cstddef>
#include <deque>

#include <time.h>

namespace native {

using klock::u64;
using klock::u8;

/* One thread's waits (tests_host/watched). */
struct waiter final : klock::arch::watcher {
	/*
	 * Turns until a wait sleeps. Where each thread has a core: longer than
	 * a sleep lasts, so that the threads meet awake. Else the core is
	 * needed.
	 */
	static constexpr u64 patience = 4096, haste = 128;

	explicit waiter(u64 turns_a_sleep_) : turns_a_sleep(turns_a_sleep_) {}

	/*
	 * A wait that lasts sleeps, and does not yield: whoever yields goes
	 * behind all others that can run, each of them for a time slice, but
	 * whoever slept is soon back. With 8 busy loops a core a handoff
	 * among 8 threads took 4 ms by yields, 0.2 ms by sleeps.
	 */
	void turn() override
	{
		const u64 now = taken.load(std::memory_order_relaxed) + 1;
		const timespec shortest = {.tv_sec = 0, .tv_nsec = 1};

		taken.store(now, std::memory_order_relaxed);
		if (now % turns_a_sleep == 0)
			nanosleep(&shortest, nullptr);
	}

	u64 turns() const { return taken.load(std::memory_order_relaxed); }

	/* Its part of the run is over. */
	void finish() { over.store(true, std::memory_order_relaxed); }
	bool done() const { return over.load(std::memory_order_relaxed); }

      private:
	const u64 turns_a_sleep;
	std::atomic<u64> taken{0}; /* the thread's own to write */
	std::atomic<bool> over{false};
};

struct standstill {
	/* Twice the most between two looks: 1024, the back-off's cap. */
	static constexpr u64 turns_a_round = 2048;
	/* One is enough, but for a value that changes and changes back. */
	static constexpr unsigned rounds_in_vain = 3;

	/* Of all that the threads share: where it lies, how long it is. */
	standstill(unsigned threads, bool core_for_each, const void *of,
		   std::size_t bytes)
	    : since(threads), shared(of), size(bytes)
	{
		while (all.size() < threads)
			all.emplace_back(core_for_each ? waiter::patience
						       : waiter::haste);
	}

	waiter &of(unsigned thread) { return all[thread]; }

	/* Asked from time to time, by one thread. */
	bool evident()
	{
		const u64 now = fingerprint();

		if (now != before) {
			before = now;
			rounds = 0;
			begin_round();
		} else if (round_is_over()) {
			rounds++;
			begin_round();
		}
		return rounds >= rounds_in_vain;
	}

      private:
	void begin_round()
	{
		for (unsigned i = 0; i < all.size(); i++)
			since[i] = all[i].turns();
	}

	/* Where all are done there is nobody to wait for, and no stand-still.
	 */
	bool round_is_over() const
	{
		bool somebody = false;

		for (unsigned i = 0; i < all.size(); i++) {
			if (all[i].done())
				continue;
			somebody = true;
			if (all[i].turns() - since[i] < turns_a_round)
				return false;
		}
		return somebody;
	}

	/*
	 * FNV-1a over volatile bytes. The threads write them meanwhile, and
	 * that is what is to be seen: no race that a sanitizer should report.
	 */
	[[gnu::no_sanitize("thread"), gnu::noinline]] u64 fingerprint() const
	{
		const auto *bytes = static_cast<const volatile u8 *>(shared);
		u64 sum = 0xcbf29ce484222325u;

		for (std::size_t i = 0; i < size; i++)
			sum = (sum ^ bytes[i]) * 0x100000001b3u;
		return sum;
	}

	std::deque<waiter> all;
	std::deque<u64> since; /* turns when this round began */
	unsigned rounds = 0;   /* in which nothing changed, in a row */
	u64 before = 0;	       /* the fingerprint then */
	const void *shared;
	std::size_t size;
};

} // namespace native
