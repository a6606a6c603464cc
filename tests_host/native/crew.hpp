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
#include <mutex>
#include <thread>
#include <vector>

namespace native {

using namespace klock::selftest;

/* What becomes of a run that stands still. */
enum class stuck { is_a_bug, is_meant };

template <typename Torture>
inline void report_stuck(const Torture &t, const plan &p, const char *lock)
{
	static const char *const words[] = {"is outside", "waits", "is inside"};

	std::fprintf(stderr, "%s: no progress, %llu sections done\n", lock,
		     static_cast<unsigned long long>(t.progress()));
	for (unsigned cpu = 0; cpu < p.cpus; cpu++)
		std::fprintf(stderr, "  cpu %u %s\n", cpu, words[t.what(cpu)]);
}

/*
 * Looks at the run until all threads are back; true if it had to be ended. The
 * time between two looks decides nothing but how soon.
 */
template <typename Progress>
inline bool
watch_until_done(standstill &run, const char *lock, Progress progress,
		 std::unique_lock<std::mutex> &hold,
		 std::condition_variable &finished, const unsigned &running)
{
	constexpr auto a_while = std::chrono::milliseconds(1);
	u64 before = ~u64{0};

	while (!finished.wait_for(hold, a_while,
				  [&] { return running == 0; })) {
		if (run.evident())
			return true;
		if (const u64 now = progress(); now != before)
			watchdog::note(lock, "sections so far", before = now);
	}
	return false;
}

/* Runs the plan on as many threads; the outcome is t.outcome(). */
template <typename Subject, typename Torture>
inline void run_on_threads(Torture &t, const plan &p,
			   stuck standing_still = stuck::is_a_bug)
{
	std::mutex mutex;
	std::condition_variable finished;
	unsigned running = p.cpus;
	const std::vector<int> here = cores();
	standstill run(p.cpus, p.cpus <= here.size(), &t, sizeof(t));
	std::vector<std::thread> threads;

	give_up = false;
	t.prepare(p);
	for (unsigned cpu = 0; cpu < p.cpus; cpu++) {
		threads.emplace_back([&, cpu] {
			klock::arch::watched_by = &run.of(cpu);
			t.run(cpu);
			run.of(cpu).finish();
			std::lock_guard hold(mutex);
			if (--running == 0)
				finished.notify_all();
		});
		pin_to_core(threads.back(), cpu, here);
	}

	std::unique_lock hold(mutex);
	if (watch_until_done(
		    run, Subject::name, [&t] { return t.progress(); }, hold,
		    finished, running)) {
		if (standing_still == stuck::is_a_bug) {
			report_stuck(t, p, Subject::name);
			std::abort();
		}
		give_up = true;
	}
	hold.unlock();
	for (auto &thread : threads)
		thread.join();
}

} // namespace native
