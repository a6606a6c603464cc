/* SPDX-License-Identifier: MIT */
/*
 * conditions - a condition variable's word, of 4 bytes that are 0 at first
 *
 * Called by CPUs alone: model_std/threads.cpp.
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace model::detail {

/* The CPU will wait. It holds the mutex, and lets it go next. */
void begin_wait(const void *word, klock::arch::site);

/* Returns when it is woken, or for no reason; false: the deadline has passed.
 */
bool end_wait(const void *word, bool has_deadline, klock::arch::site);

/* Wakes one of the CPUs that wait, or all. */
void notify(const void *word, bool all, klock::arch::site);

/* It is destroyed, with so many bytes; a CPU that still waits is an error. */
void end_condition(const void *word, klock::usize bytes, const void *caller);

} // namespace model::detail
