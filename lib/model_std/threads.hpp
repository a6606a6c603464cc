/* SPDX-License-Identifier: MIT */
/*
 * threads - the locks of the C library that the code uses
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace model::detail {

/* A world is made: no lock was used. */
void forget_locks();

/* Sets the running CPU's. */
void set_errno(int what);

/* Reports locks in this memory, which is about to end, that are held. */
void look_for_held(const void *at, klock::usize bytes, const void *caller);

} // namespace model::detail
