/* SPDX-License-Identifier: MIT */
/*
 * measure - the cost of an acquisition of a lock while others wait for it
 *
 *	sim::figures f = sim::measure<my_lock>(
 *		"my_lock", sim::xeon_8180, {.cpus = 64});
 *
 * All CPUs take the lock, spend some cycles inside, release it, spend a few
 * outside and come again. After a first round all operations are counted, for a
 * given number of acquisitions, and divided by that number. It takes any lock
 * of <klock/concepts.hpp>: plain, with a node, or with a CPU's number.
 */
#pragma once

#include <sim/sim.hpp>

#include <klock/selftest/parts.hpp>
#include <klock/selftest/locks.hpp>

#include <string>
#include <vector>

namespace sim {

struct workload {
	unsigned cpus;
	u64 inside = 500;     /* cycles in the critical section */
	u64 think = 500;      /* between two: 1 to this many, at random */
	u64 acquisitions = 0; /* that are counted; 0: enough for the CPUs */
	u64 patience = 100'000'000;
};

/* An acquisition's share of everything, unless it says otherwise. */
struct figures {
	std::string lock;
	std::string machine;
	unsigned cpus = 0;
	u64 acquisitions = 0;
	double misses = 0;
	double memory = 0;
	double transfers = 0;
	double upgrades = 0;
	double sent = 0;	  /* invalidations; as many are received */
	double received_most = 0; /* by the CPU that received most */
	double loads = 0;
	double stores = 0;
	double rmws = 0;
	double fences = 0;
	double cycles = 0;
	u64 longest_wait = 0;  /* cycles from lock() to the section, all told */
	double bypasses = 0;   /* others who had come before and still wait */
	u64 bypassed_most = 0; /* one wait, by how many */
	u64 overlaps = 0;      /* sections with another inside: 0, or broken */
	std::string stuck;     /* not empty: it did not come to an end */
};

/* The operations of one CPU alone for an acquisition. */
struct alone {
	double loads, stores, rmws, fences, lines;
};

namespace detail {

/* Notes arrivals and entries, and counts between two acquisitions. */
struct tracker {
	tracker(const simulator &s, unsigned cpus, u64 warm_up, u64 wanted)
	    : of(s), from(warm_up), to(warm_up + wanted), waiting(cpus)
	{
	}

	void arrive(unsigned cpu);
	void enter(unsigned cpu); /* does not return when all is counted */
	void leave();
	figures result(const outcome &, unsigned cpus) const;

	const simulator &of;
	const u64 from, to; /* the acquisitions that are counted */

      private:
	struct waiter {
		u64 number = 0; /* of its coming; 0: does not wait */
		u64 since = 0;
		u64 bypassed = 0;
	};

	void begin_counting();

	std::vector<waiter> waiting;
	std::vector<u64> received_before;
	counts before;
	u64 begun = 0;
	u64 arrivals = 0, entries = 0, inside = 0;
	u64 overlaps = 0, bypasses = 0, bypassed_most = 0, longest_wait = 0;
};

/* The shared lock, and each contender on cache lines of its own. */
template <typename Lock, typename Who = klock::selftest::contender<Lock>>
struct contenders {
	struct alignas(2 * klock::cache_line) place {
		Who who;
	};

	explicit contenders(unsigned cpus) : number(cpus)
	{
		void *const at = lend(cpus * sizeof(place), alignof(place));

		places = static_cast<place *>(at);
		for (unsigned c = 0; c < cpus; c++)
			(::new (places + c) place)->who.renumber(c);
		/* The run before has ended in the middle of the nodes'
		 * waits. */
		if constexpr (klock::per_cpu_lock<Lock>)
			for (unsigned c = 0; c < cpus; c++)
				Lock::forget_waits(c);
	}
	~contenders()
	{
		for (unsigned c = number; c-- > 0;)
			places[c].~place();
		take_back(places);
	}
	contenders(const contenders &) = delete;
	contenders &operator=(const contenders &) = delete;

	alignas(klock::cache_line) Lock lock;
	unsigned number;
	place *places;
};

u64 acquisitions_for(unsigned cpus);

/* Runs step() on one CPU, twice that many times; the second half is counted. */
template <typename Step>
alone measure_one(u64 rounds, Step step)
{
	simulator s(round_figures, 1);
	counts before;
	u64 lines = 0;

	s.run([&](unsigned) {
		for (u64 i = 0; i < 2 * rounds; i++) {
			if (i == rounds)
				before = s.total();
			s.lines_touched();
			step();
			if (i >= rounds)
				lines += s.lines_touched();
		}
	});
	const counts did = s.total().since(before);
	const auto n = static_cast<double>(rounds);
	return {did.loads / n, did.stores / n, did.rmws / n, did.fences / n,
		lines / n};
}

} // namespace detail

template <klock::any_lock Lock>
figures measure(const char *name, const machine &on, const workload &load)
{
	const u64 wanted = load.acquisitions
				   ? load.acquisitions
				   : detail::acquisitions_for(load.cpus);
	world<detail::contenders<Lock>> w(load.cpus);
	simulator s(on, load.cpus, load.patience);
	detail::tracker t(s, load.cpus, load.cpus, wanted);

	const outcome out = s.run([&](unsigned cpu) {
		klock::selftest::xorshift dice(cpu + 1);
		auto &who = w->places[cpu].who;
		const auto most = static_cast<u32>(load.think);

		for (;;) {
			work(1 + dice.below(most));
			t.arrive(cpu);
			who.lock(w->lock);
			t.enter(cpu);
			work(load.inside);
			t.leave();
			who.unlock(w->lock);
		}
	});
	figures f = t.result(out, load.cpus);
	f.lock = name;
	f.machine = on.name;
	return f;
}

/* One CPU, many times: averages over `rounds` acquisitions. */
template <klock::any_lock Lock>
alone measure_alone(u64 rounds = 4096)
{
	world<detail::contenders<Lock>> w(1u);
	auto &who = w->places[0].who;

	return detail::measure_one(rounds, [&] {
		who.lock(w->lock);
		who.unlock(w->lock);
	});
}

} // namespace sim
