/* SPDX-License-Identifier: MIT */
/*
 * every_lock - the list of locks, each built for the CPUs that will use it
 */
#pragma once

#include <sim/measure.hpp>

#include <klock/selftest/locks.hpp>

#include <vector>

namespace sim {

inline constexpr unsigned sizes[] = {2, 8, 32, 128, 512, 1024};

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
 * Every lock that serves so many CPUs. One that does not is measured at its
 * capacity, once: at the first size that is over it.
 */
template <unsigned Cpus, unsigned SizeBefore>
void measure_list(std::vector<figures> &out, const machine &on,
		  const workload &how)
{
	klock::selftest::all_locks<Cpus>::for_each([&]<typename Subject>() {
		workload load = how;

		if (Subject::capacity <= SizeBefore ||
		    Cpus > most_cpus<Subject>)
			return;
		load.cpus = Cpus < Subject::capacity
				    ? Cpus
				    : static_cast<unsigned>(Subject::capacity);
		out.push_back(measure<typename Subject::lock>(Subject::name, on,
							      load));
	});
}

/* At every size; how.cpus is not read. */
inline std::vector<figures> measure_every_lock(const machine &on,
					       const workload &how = {0})
{
	std::vector<figures> out;

	measure_list<2, 1>(out, on, how);
	measure_list<8, 2>(out, on, how);
	measure_list<32, 8>(out, on, how);
	measure_list<128, 32>(out, on, how);
	measure_list<512, 128>(out, on, how);
	measure_list<1024, 512>(out, on, how);
	return out;
}

} // namespace sim
