/* SPDX-License-Identifier: MIT */
/*
 * crew - host threads that play the CPUs of a self-test
 *
 * With a watchdog: if the run stands still (standstill.hpp), it says who waits
 * and ends the run. A lock that is meant to fail can be left (give_up); with
 * any other the threads cannot be had back, and the process ends with the
 * report.
 */
#pragma once

#include "../watchdog.hpp"
#include "cores.hpp"
#include "standstill.hpp"

#include <klock/selftest/torture.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace native {

using namespace klock::selftest;

/* What becomes of a run that stands still. */
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

/* Runs the plan on as many threads; the outcome is t.outcome(). */
template <typename Subject, typename Torture>
inline void run_on_threads(Torture &t, const plan &p,
			   stuck standing_still = stuck::is_a_bug)
{
	/* Where it can be, without its type: compiled once. */
	if constexpr (std::is_base_of_v<torture_run, Torture>)
		run_any<torture_run>(t, Subject::name, sizeof(t), p,
				     standing_still);
	else
		run_any(t, Subject::name, sizeof(t), p, standing_still);
}

} // namespace native
