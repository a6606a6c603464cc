/* SPDX-License-Identifier: MIT */
/*
 * unordered - words of the checks that any CPU writes and reads, and that order
 * nothing
 *
 * An atomic<> would be an event to the model checker, which has nothing to
 * explore in them.
 */
#pragma once

namespace klock {

template <typename T>
T read_unordered(const T &word)
{
	return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

template <typename T>
void write_unordered(T &word, T to)
{
	__atomic_store_n(&word, to, __ATOMIC_RELAXED);
}

} // namespace klock
