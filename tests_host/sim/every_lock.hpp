/* SPDX-License-Identifier: MIT */
/*
 * every_lock - the list of locks, each measured for the CPUs that will use it
 */
#pragma once

#include <klock/selftest/locks.hpp>
#include <klock/seq_lock.hpp>

#include <sim/measure_shared.hpp>

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

/*
 * The locks that tests visit are one of each algorithm; where the same files
 * are compiled for level full, the other widths.
 */
#ifdef KLOCK_OTHER_WIDTHS
inline constexpr bool visits_widths = true;
template <typename List>
using tested = klock::selftest::other_widths<List>;
#else
inline constexpr bool visits_widths = false;
template <typename List>
using tested = klock::selftest::one_of_each<List>;
#endif

/* The sizes that run first. The rows are the same, in the same order. */
enum class first { small, large };

/*
 * Every lock that serves so many CPUs, at 2 to 1,024, or to `most`: all widths
 * in the library for level full, one of each in the tests below it. One that
 * does not is measured at its capacity, once: at the first size that is over
 * it.
 */
std::vector<figures> measure_every_lock(const machine &on,
					first size = first::small,
					unsigned most = 1024);

/*
 * The figures on the first machine, measured once in this process. Large sizes
 * run first, so that other sizes precede each than in the report. Most of the
 * time goes into the largest: below level full it is 128.
 */
struct measured {
	std::vector<figures> rows;
	double seconds;
};
const measured &every_lock_measured(unsigned most = visits_widths ? 1024 : 128);

/*
 * every_shared_lock - the list of locks that readers share, and what they are
 * compared with: exclusive locks, and a value under a sequence
 */

inline constexpr unsigned writer_shares[] = {0, 1, 10, 50};

/* Two words, as a clock has them. */
struct clock_value {
	u64 seconds, parts;
};

/* The exclusive lock that a lock for readers must beat. */
using yardstick = klock::selftest::subject<"mcs_lock", klock::mcs_lock,
					   klock::selftest::service::fifo>;

/* An exclusive lock is measured once: it does not know who only reads. */
template <typename Lock>
void measure_shares(std::vector<shared_figures> &out, const char *name,
		    const machine &on, shared_workload load)
{
	shared_figures f;

	for (const unsigned share : writer_shares) {
		load.writers = share;
		if (detail::access<Lock>::shares || share == 0)
			f = measure_shared<Lock>(name, on, load);
		f.writers = share;
		out.push_back(f);
	}
}

/* How many CPUs a lock of the list serves, all of which may read. */
template <typename Subject>
constexpr u64 readers_served()
{
	return Subject::reader_capacity < Subject::capacity
		       ? Subject::reader_capacity
		       : Subject::capacity;
}

/* At one size: each that serves so many CPUs. */
template <unsigned Cpus>
void measure_shared_list(std::vector<shared_figures> &out, const machine &on,
			 shared_workload how)
{
	how.cpus = Cpus;
	measure_shares<typename yardstick::lock>(out, yardstick::name, on, how);
	klock::selftest::all_shared_locks<Cpus>::for_each(
		[&]<typename Subject>() {
			if (Cpus <= readers_served<Subject>())
				measure_shares<typename Subject::lock>(
					out, Subject::name, on, how);
		});
	measure_shares<klock::seq_lock<clock_value>>(out, "seq_lock", on, how);
}

/* At every size; how.cpus and how.writers are not read. */
inline std::vector<shared_figures>
measure_every_shared_lock(const machine &on, const shared_workload &how = {0})
{
	std::vector<shared_figures> out;

	measure_shared_list<2>(out, on, how);
	measure_shared_list<8>(out, on, how);
	measure_shared_list<32>(out, on, how);
	measure_shared_list<128>(out, on, how);
	measure_shared_list<1024>(out, on, how);
	return out;
}

} // namespace sim
