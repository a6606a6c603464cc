/* SPDX-License-Identifier: MIT */
/*
 * api - what a test's body may call, and what klock/os.hpp asks of a kernel
 */
#include "engine.hpp"

#include <klock/os.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sim {

simulator::simulator(const machine &on, unsigned cpus, u64 patience)
{
	if (cpus < 1 || cpus > max_cpus || on.sockets < 1 ||
	    on.sockets > max_sockets || on.hit < 1) {
		std::fprintf(stderr,
			     "sim: 1 to %u CPUs, 1 to %u sockets, and a hit "
			     "takes a cycle at least\n",
			     max_cpus, max_sockets);
		std::abort();
	}
	its = std::make_unique<engine>(on, cpus, patience);
}

simulator::~simulator() = default;

outcome simulator::run(const std::function<void(unsigned)> &body)
{
	return its->run(body);
}

const counts &simulator::of(unsigned cpu) const { return its->cpus[cpu].did; }

counts simulator::total() const
{
	counts all;

	for (const processor &p : its->cpus)
		all += p.did;
	return all;
}

mesi simulator::state(const void *at, unsigned cpu) const
{
	const line *const l = its->lines.find(at);

	return l ? l->state(cpu) : mesi::invalid;
}

u64 simulator::lines_touched()
{
	its->round++;
	return std::exchange(its->touched, 0);
}

unsigned cpu() { return the_engine().current; }
u64 now() { return the_engine().me().now; }
void stop() { the_engine().stop(); }

void sleep_until(u64 cycle)
{
	u64 &clock = the_engine().me().now;

	clock = std::max(clock, cycle);
	the_engine().settle();
}

void work(u64 cycles) { sleep_until(now() + cycles); }

void progress() { the_engine().last_progress = now(); }

namespace detail {

void *lend(usize bytes, usize alignment)
{
	return simulated_memory::the().lend(bytes, alignment);
}

void take_back(void *at) { simulated_memory::the().take_back(at); }

} // namespace detail

} // namespace sim

extern "C" unsigned klock_os_cpu_id(void) { return sim::cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	std::fprintf(stderr, "sim: panic: %s, cpu %u: %s\n", lock_name, cpu,
		     what);
	std::abort();
}
