/* SPDX-License-Identifier: MIT */
/*
 * every_lock - the list of locks, each measured for the CPUs that will use it
 */
#pragma once

#include <sim/measure.hpp>

#include <klock/selftest/locks.hpp>

#include <vector>

namespace sim {

/*
 * Waits with patience are simulated look by look: of 1,024 CPUs that takes half
 * a minute, and patience no longer outlasts a handoff.
 */
template <typename Subject>
inline constexpr unsigned most_cpus =
	Subject::order_of_service == klock::selftest::service::fifo_if_all_run
		? 512
		: 1024;

/* What runs first; the rows are the same, and in the same order. */
enum class first { small, large };

/*
 * Every lock that serves so many CPUs, at 2 to 1,024, or to `most`. One that
 * does not is measured at its capacity, once: at the first size that is over
 * it.
 */
std::vector<figures> measure_every_lock(const machine &on,
					first size = first::small,
					unsigned most = 1024);

/*
 * Those of the first machine, measured once in this process: large sizes first,
 * so that before each ran other ones than in the report.
 */
struct measured {
	std::vector<figures> rows;
	double seconds;
};
const measured &every_lock_measured();

} // namespace sim
