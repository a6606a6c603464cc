/* SPDX-License-Identifier: MIT */
/*
 * machine - the cores that we may use, their clock, and work of a known length
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/types.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include <sched.h>

namespace bench {

using klock::u32;
using klock::u64;
using klock::usize;

struct machine {
	std::string model;	/* as the system calls it */
	unsigned cores;		/* that this process may run on */
	double cycles_a_second; /* of klock::cycles() */
	double cycles_a_step;	/* of work() */
	double cycles_a_pause;	/* of klock::cpu_relax() */
};

/*
 * A chain of multiplications: so many steps one after another, no memory, no
 * PAUSE (whose length differs from CPU to CPU by a factor of ten).
 *
 * All rows call this one copy, which lies within a cache line, and pay the same
 * for the call. A copy inlined into each row crosses a line in some of them,
 * and takes up to 1.4 times as long there (Zen 3). To align all loops instead
 * would also move the loops of the locks, which no kernel has there.
 */
[[gnu::noinline, gnu::aligned(64)]] inline void work(u32 steps)
{
	u64 x = steps;

	for (u32 i = 0; i < steps; i++)
		asm volatile("imul %0, %0" : "+r"(x));
}

/* Random numbers for lengths and places: xorshift, Marsaglia 2003. */
struct dice {
	explicit dice(u32 seed) : state(seed * 2654435769u | 1) {}

	/* 0 .. limit - 1 */
	u32 below(u32 limit)
	{
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		return static_cast<u32>(u64{state} * limit >> 32);
	}

      private:
	u32 state;
};

/* "AMD EPYC, family 26 model 2": what stands first in cpuinfo is enough. */
inline std::string model_name()
{
	std::ifstream info("/proc/cpuinfo");
	std::string line, family, model;

	while (std::getline(info, line)) {
		const auto colon = line.find(": ");
		if (colon == line.npos)
			continue;
		const std::string value = line.substr(colon + 2);
		if (line.starts_with("cpu family"))
			family = value;
		else if (line.starts_with("model name"))
			return value + ", family " + family + " model " + model;
		else if (line.starts_with("model"))
			model = value;
	}
	return "unknown CPU";
}

/* Returns the cores that the process could use before a thread was bound. */
inline const cpu_set_t &allowed_cores()
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

inline double measure_clock()
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

/* Measures; takes some tenths of a second. */
inline machine look_around()
{
	machine m;

	m.model = model_name();
	m.cores = static_cast<unsigned>(CPU_COUNT(&allowed_cores()));
	m.cycles_a_second = measure_clock();
	m.cycles_a_step = cycles_of(20000, [](u32 n) { work(n); });
	m.cycles_a_pause = cycles_of(200, [](u32 n) { klock::relax_for(n); });
	return m;
}

/* Binds the calling thread to the number-th (modulo cores) of our cores. */
inline void pin_to_core(unsigned number)
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

/* How many steps of work() last so many cycles. */
inline u32 steps_for(const machine &m, double cycles)
{
	return static_cast<u32>(cycles / m.cycles_a_step + 0.5);
}

} // namespace bench
