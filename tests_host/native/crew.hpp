/* SPDX-License-Identifier: MIT */
/*
 * crew - host threads that play the CPUs of a self-test
 *
 * With a watchdog: if nobody gets on for a while, it says who waits and ends
 * the run. A lock that is meant to fail can be left (give_up); with any other
 * the threads cannot be had back, and the process ends with the report.
 */
#pragma once

#include <klock/selftest/torture.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace native {

using namespace klock::selftest;

/* What becomes of a run that stands still. */
enum class stuck { is_a_bug, is_meant };

template <typename Torture>
inline void report_stuck(const Torture &t, const plan &p, const char *lock)
{
	static const char *const words[] = {"is outside", "waits", "is inside"};

	std::fprintf(stderr, "%s: no progress, %u sections done\n", lock,
		     t.progress());
	for (unsigned cpu = 0; cpu < p.cpus; cpu++)
		std::fprintf(stderr, "  cpu %u %s\n", cpu, words[t.what(cpu)]);
}

/* Binds a thread to one of the host's cores, where the host allows it. */
inline void pin_to_core(std::thread &thread, unsigned number)
{
	cpu_set_t allowed, one;
	unsigned seen = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	const unsigned cores = static_cast<unsigned>(CPU_COUNT(&allowed));
	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, &allowed) || seen++ != number % cores)
			continue;
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		pthread_setaffinity_np(thread.native_handle(), sizeof(one),
				       &one);
		return;
	}
}

/* Runs the plan on as many threads; the outcome is t.outcome(). */
template <typename Subject, typename Torture>
inline void run_on_threads(Torture &t, const plan &p,
			   stuck standstill = stuck::is_a_bug)
{
	/* Long enough for 256 threads on one slow core to hand over once. */
	constexpr auto patience = std::chrono::seconds(20);
	constexpr auto short_patience = std::chrono::milliseconds(300);
	const bool meant = standstill == stuck::is_meant;
	std::mutex mutex;
	std::condition_variable finished;
	unsigned running = p.cpus;
	std::vector<std::thread> threads;

	give_up = false;
	t.prepare(p);
	for (unsigned cpu = 0; cpu < p.cpus; cpu++) {
		threads.emplace_back([&, cpu] {
			t.run(cpu);
			std::lock_guard hold(mutex);
			if (--running == 0)
				finished.notify_all();
		});
		pin_to_core(threads.back(), cpu);
	}

	std::unique_lock hold(mutex);
	klock::u32 before = t.progress();
	while (!finished.wait_for(hold,
				  meant ? short_patience
					: std::chrono::milliseconds(patience),
				  [&] { return running == 0; })) {
		const klock::u32 now = t.progress();
		if (now == before) {
			if (!meant) {
				report_stuck(t, p, Subject::name);
				std::abort();
			}
			give_up = true;
		}
		before = now;
	}
	hold.unlock();
	for (auto &thread : threads)
		thread.join();
}

} // namespace native
