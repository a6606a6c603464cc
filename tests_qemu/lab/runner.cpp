/* SPDX-License-Identifier: MIT */
/*
 * runner - the lab's CPUs play the CPUs of a self-test
 */
#include "runner.hpp"

namespace lab {

plan plan_for(const options &o, u32 cpus)
{
	return {.cpus = cpus,
		.convoys = o.convoys,
		.sections = o.acquisitions,
		.relaxes_a_word = o.pauses,
		.relaxes_outside = o.rest,
		.try_one_in = o.try_one_in,
		.seed = o.seed};
}

void run_watched(const watched &what, void (*run)(unsigned cpu, void *of),
		 void *of)
{
	klock::selftest::give_up = false;
	start_watching(what);
	boot::run_on_cpus(what.cpus, run, of);
	stop_watching();
}

} // namespace lab
