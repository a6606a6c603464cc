/* SPDX-License-Identifier: MIT */
/*
 * machine - the cores that we may use, their clock, and work of a known length
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/types.hpp>

#include <string>

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

/* Measures; takes some tenths of a second. */
machine look_around();

/* Binds the calling thread to the number-th (modulo cores) of our cores. */
void pin_to_core(unsigned number);

/* How many steps of work() last so many cycles. */
u32 steps_for(const machine &m, double cycles);

/*
 * A chain of multiplications: so many steps one after another, no memory, no
 * PAUSE (whose length differs from CPU to CPU by a factor of ten).
 */
inline void work(u32 steps)
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

} // namespace bench
