/* SPDX-License-Identifier: MIT */
/*
 * benches - each lock of the list and each mutant with its torture and storm
 *
 * One torture and one storm a lock, all their lives: kernels have no heap. What
 * has the locks' types in it is compiled in benches.cpp alone.
 */
#pragma once

#include "runner.hpp"
#include "storm.hpp"

namespace lab {

using klock::selftest::torture_run;

struct bench {
	torture_run &torture;
	lab::storm &storm;
	lock_state (*torture_state)(const void *torture);
	lock_state (*storm_state)(const void *storm);
	const char *mistake; /* a mutant's */
	unsigned found_in;

	[[nodiscard]] const char *name() const { return torture.calls.name; }
	/* Of so many CPUs, how many the lock has room for. */
	[[nodiscard]] unsigned room_for(u32 cpus) const
	{
		const u64 room = torture.calls.capacity;

		return cpus < room ? cpus : static_cast<unsigned>(room);
	}
};

/* As many as there are, in the order of the lists. */
struct benches {
	const bench *first;
	unsigned size;

	const bench *begin() const { return first; }
	const bench *end() const { return first + size; }
};

[[nodiscard]] benches all_benches();
[[nodiscard]] benches busted_benches();

/* What the watchdog is told of a run. */
watched watched_torture(const bench &b, unsigned cpus, stuck standstill);
watched watched_storm(const storm &test, lock_state (*state)(const void *),
		      unsigned cpus, stuck standstill);

/* Runs the torture of one lock on as many CPUs as the plan says. */
result run_torture(const bench &b, const plan &p,
		   stuck standstill = stuck::is_a_bug);

} // namespace lab
