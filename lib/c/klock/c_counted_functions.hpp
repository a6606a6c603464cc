/* SPDX-License-Identifier: MIT */
/*
 * c_counted_functions - the bodies behind klock/counted.h, each verb once
 *
 * As c_functions.hpp.
 */
#pragma once

#include <klock/c_counted_lock.hpp>
#include <klock/c_functions.hpp>

namespace klock {
namespace c {

/* Word by word: the compiler would make one assignment of all a call of
 * memset(). */
template <typename C>
	requires requires(C lock) { lock.klock_waits; }
void init(C *lock)
{
	for (usize i = 0; i < sizeof(*lock) / sizeof(u32); i++)
		reinterpret_cast<u32 volatile *>(lock)[i] = 0;
}

} // namespace c
} // namespace klock

#define KLOCK_C_COUNTED_KIND(shape, x, v)                                      \
	KLOCK_SHAPE_##shape(KLOCK_C_VERB, KLOCK_C_VERB, counted_##x)           \
		KLOCK_C_COUNTED(counted_##x)

#define KLOCK_C_COUNTED(x)                                                     \
	void klock_##x##_set_name(klock_##x *lock, const char *name)           \
	{                                                                      \
		klock::as_cpp(*lock).set_name(name);                           \
	}                                                                      \
	void klock_##x##_set_element(klock_##x *lock, const char *name,        \
				     unsigned index)                           \
	{                                                                      \
		klock::as_cpp(*lock).set_name(name, index);                    \
	}                                                                      \
	void klock_##x##_list_counts(klock_##x *lock)                          \
	{                                                                      \
		klock::as_cpp(*lock).list_counts();                            \
	}                                                                      \
	void klock_##x##_forget_counts(klock_##x *lock)                        \
	{                                                                      \
		klock::as_cpp(*lock).forget_counts();                          \
	}
