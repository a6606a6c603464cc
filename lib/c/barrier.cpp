/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

void klock_barrier_init(klock_barrier *barrier) { klock::c::init(barrier); }

int klock_barrier_wait(klock_barrier *barrier, unsigned expected)
{
	return klock::as_cpp(*barrier).arrive_and_wait(expected);
}
