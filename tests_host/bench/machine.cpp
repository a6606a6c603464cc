/* SPDX-License-Identifier: MIT */
#include "machine.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <sched.h>

namespace bench {

namespace {

std::string model_name()
{
	std::ifstream info("/proc/cpuinfo");
	std::string line;

	while (std::getline(info, line)) {
		const auto colon = line.find(": ");
		if (line.starts_with("model name") && colon != line.npos)
			return line.substr(colon + 2);
	}
	return "unknown CPU";
}

/* What the process may use, before any of its threads was bound. */
const cpu_set_t &allowed_cores()
{
	static const cpu_set_t allowed = [] {
		cpu_set_t set;

		CPU_ZERO(&set);
		if (sched_getaffinity(0, sizeof(set), &set) != 0)
			CPU_SET(0, &set);
		return set;
	}();
	return allowed;
}

double measure_clock()
{
	using clock = std::chrono::steady_clock;
	const auto start = clock::now();
	const u64 from = klock::cycles();

	while (clock::now() - start < std::chrono::milliseconds(50))
		;
	const u64 to = klock::cycles();
	const std::chrono::duration<double> passed = clock::now() - start;
	return static_cast<double>(to - from) / passed.count();
}

/* The shortest of many rounds: what nobody interrupted. */
template <typename Action>
double cycles_of(unsigned times, Action action)
{
	u64 least = ~u64{0};

	for (int round = 0; round < 50; round++) {
		const u64 start = klock::cycles();
		action(times);
		least = std::min(least, klock::cycles() - start);
	}
	return static_cast<double>(least) / times;
}

} // namespace

machine look_around()
{
	machine m;

	m.model = model_name();
	m.cores = static_cast<unsigned>(CPU_COUNT(&allowed_cores()));
	m.cycles_a_second = measure_clock();
	m.cycles_a_step = cycles_of(20000, [](u32 n) { work(n); });
	m.cycles_a_pause = cycles_of(200, [](u32 n) { klock::relax_for(n); });
	return m;
}

void pin_to_core(unsigned number)
{
	const cpu_set_t &allowed = allowed_cores();
	const unsigned wanted = number % CPU_COUNT(&allowed);
	unsigned seen = 0;

	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, &allowed) || seen++ != wanted)
			continue;
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

u32 steps_for(const machine &m, double cycles)
{
	return static_cast<u32>(cycles / m.cycles_a_step + 0.5);
}

} // namespace bench
