/* SPDX-License-Identifier: MIT */
/*
 * threads - host threads that play the CPUs of a self-test, and how it is seen
 * that none of them will ever get on
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/torture.hpp>

#include "../watchdog.hpp"
#include "cores.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include <time.h>

namespace native {

using namespace klock::selftest;
using klock::u64;
using klock::u8;

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

/* One thread's waits (tests_host/overlays/watched). */
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
	static constexpr unsigned rounds_without_progress = 3;

	/* of, bytes: the memory that the threads share. */
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
		return rounds >= rounds_without_progress;
	}

      private:
	void begin_round()
	{
		for (unsigned i = 0; i < all.size(); i++)
			since[i] = all[i].turns();
	}

	/* If all are done, nobody is waited for and nothing stands still. */
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
	[[gnu::noinline]] __attribute__((no_sanitize("thread"))) u64
	fingerprint() const
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

/*
 * crew - host threads that play the CPUs of a self-test
 *
 * With a watchdog: if the run stands still (standstill.hpp), it says who waits
 * and ends the run. A lock that is meant to fail can be left (give_up); with
 * any other the threads cannot be had back, and the process ends with the
 * report.
 */

/* The meaning of a run that stands still. */
enum class stuck { is_a_bug, is_meant };

/* A run, whatever is tortured in it. */
struct played_run {
	const char *lock;
	unsigned cpus;
	/* All that the threads share. */
	const void *shared;
	std::size_t size;
	std::function<void(unsigned cpu)> run;
	std::function<u64()> progress;
	std::function<doing(unsigned cpu)> what;
};

inline void report_stuck(const played_run &r)
{
	static const char *const words[] = {"is outside", "waits", "is inside"};

	std::fprintf(stderr, "%s: no progress, %llu sections done\n", r.lock,
		     static_cast<unsigned long long>(r.progress()));
	for (unsigned cpu = 0; cpu < r.cpus; cpu++)
		std::fprintf(stderr, "  cpu %u %s\n", cpu, words[r.what(cpu)]);
}

/*
 * Looks at the run until all threads are back; true if it had to be ended. The
 * time between two looks decides nothing but how soon.
 */
inline bool watch_until_done(standstill &run, const played_run &r,
			     std::unique_lock<std::mutex> &hold,
			     std::condition_variable &finished,
			     const unsigned &running)
{
	constexpr auto a_while = std::chrono::milliseconds(1);
	u64 before = ~u64{0};

	while (!finished.wait_for(hold, a_while,
				  [&] { return running == 0; })) {
		if (run.evident())
			return true;
		if (const u64 now = r.progress(); now != before)
			watchdog::note(r.lock, "sections so far", before = now);
	}
	return false;
}

inline void play(const played_run &r, stuck standing_still)
{
	std::mutex mutex;
	std::condition_variable finished;
	unsigned running = r.cpus;
	const std::vector<int> here = cores();
	standstill run(r.cpus, r.cpus <= here.size(), r.shared, r.size);
	std::vector<std::thread> threads;

	for (unsigned cpu = 0; cpu < r.cpus; cpu++) {
		threads.emplace_back([&, cpu] {
			klock::arch::watched_by = &run.of(cpu);
			r.run(cpu);
			run.of(cpu).finish();
			std::lock_guard hold(mutex);
			if (--running == 0)
				finished.notify_all();
		});
		pin_to_core(threads.back(), cpu, here);
	}

	std::unique_lock hold(mutex);
	if (watch_until_done(run, r, hold, finished, running)) {
		if (standing_still == stuck::is_a_bug) {
			report_stuck(r);
			std::abort();
		}
		give_up = true;
	}
	hold.unlock();
	for (auto &thread : threads)
		thread.join();
}

template <typename Torture>
void run_any(Torture &t, const char *lock, std::size_t size, const plan &p,
	     stuck standing_still)
{
	give_up = false;
	t.prepare(p);
	play({lock, p.cpus, &t, size, [&t](unsigned cpu) { t.run(cpu); },
	      [&t] { return t.progress(); },
	      [&t](unsigned cpu) { return t.what(cpu); }},
	     standing_still);
}

/*
 * A lock of a list, tortured: what a test does with the outcomes is compiled
 * once, and not for each lock.
 */
struct tortured {
	const char *name;
	u64 capacity;
	/* A fresh one, by so many threads as the plan says. */
	result (*run)(const plan &, stuck);
};

template <typename Subject, typename Torture>
result run_fresh(const plan &p, stuck standing_still)
{
	const auto t = std::make_unique<Torture>();

	/* If possible, the type of the torture is erased. */
	if constexpr (std::is_base_of_v<torture_run, Torture>)
		run_any<torture_run>(*t, Subject::name, sizeof(*t), p,
				     standing_still);
	else
		run_any(*t, Subject::name, sizeof(*t), p, standing_still);
	return t->outcome();
}

template <typename Subject, typename Torture>
inline constexpr tortured tortured_as = {Subject::name, Subject::capacity,
					 run_fresh<Subject, Torture>};

/* Runs the plan, with no more CPUs than the lock can serve. */
inline result run_on_threads(const tortured &lock, plan &p,
			     stuck standing_still = stuck::is_a_bug)
{
	if (p.cpus > lock.capacity)
		p.cpus = static_cast<unsigned>(lock.capacity);
	return lock.run(p, standing_still);
}

/*
 * The plan that finds the mutants. What shows only where two run at once: two
 * threads, each on a core of its own, as fast as they can. All else: a queue of
 * two behind a holder. Small runs, as most of a large one is two threads in
 * step, time and again.
 */
constexpr unsigned most_to_find = 3;
inline plan plan_to_find(bool parallel, unsigned run)
{
	return {.cpus = parallel ? 2u : most_to_find,
		.convoys = parallel ? 0u : 4u,
		.sections = parallel ? 2000u : 400u,
		.relaxes_a_word = 1,
		.relaxes_outside = 4,
		.try_one_in = 2,
		.seed = run,
		.write_one_in = 2 + run % 3};
}

} // namespace native
