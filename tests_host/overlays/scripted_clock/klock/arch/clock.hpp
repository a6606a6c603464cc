/* SPDX-License-Identifier: MIT */
/*
 * clock - stands in front of the hosted port's: a clock that a test sets
 *
 * A measurement takes as long as the test says, whatever it measures.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

struct scripted_clock {
	bool usable;
	bool steady;
	/* How long the n-th measurement takes, from 0. */
	u64 (*took)(u32 n);
	u32 measured;
};

inline constinit scripted_clock clock_in_use{};

/* A measurement begins at any time and ends so much later. */
inline constexpr u64 begins_at = u64{1} << 40;

/* Between measurements it goes as a test says. */
inline constinit u64 time_now = begins_at;

inline u64 cycles() { return time_now; }
inline u64 cycles_begin() { return begins_at; }
inline u64 cycles_end()
{
	return begins_at + clock_in_use.took(clock_in_use.measured++);
}

inline bool cycles_usable() { return clock_in_use.usable; }
inline bool cycles_steady() { return clock_in_use.steady; }

} // namespace klock::arch
