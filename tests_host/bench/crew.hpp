/* SPDX-License-Identifier: MIT */
/*
 * crew - threads that are made once, bound to cores, and sleep between trials
 *
 * Who starts a trial sleeps while it runs: it must not take a core away from
 * those that are measured. So the threads themselves look at the clock.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/types.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
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

struct crew {
	/* What a thread does until the whistle says that it is over. */
	using job = std::function<void(unsigned thread, whistle &)>;

	crew(unsigned threads, double cycles_a_second);
	~crew();
	crew(const crew &) = delete;
	crew &operator=(const crew &) = delete;

	/*
	 * job on the first threads of the crew, from one common start. True if
	 * no other process took a core away meanwhile.
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

} // namespace bench
