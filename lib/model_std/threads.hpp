/* SPDX-License-Identifier: MIT */
/*
 * threads - the C library's locks, keys and clocks, as the code uses them
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace model::detail {

/* A world is made: no lock was used, no time has passed. */
void forget_threads();

/* The running CPU sleeps. */
void time_passes(klock::u64 nanoseconds);

/* Sets the running CPU's. */
void set_errno(int what);

/* Reports locks in this memory, which is about to end, that are held. */
void look_for_held(const void *at, klock::usize bytes, const void *caller);

} // namespace model::detail
