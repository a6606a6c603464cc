/* SPDX-License-Identifier: MIT */
/*
 * c_checked_functions - the bodies behind klock/checked.h, each verb once
 *
 * As c_functions.hpp.
 */
#pragma once

#include <klock/c_checked_lock.hpp>
#include <klock/c_functions.hpp>

namespace klock {
namespace c {

template <typename C>
	requires requires(C lock) { lock.klock_inner.klock_marks; }
void init(C *lock)
{
	init(&lock->klock_usage);
	init(&lock->klock_shared);
	init(&lock->klock_inner);
}

template <typename C>
	requires requires(C lock) { lock.klock_inner.klock_slots; }
void init(C *lock)
{
	init(&lock->klock_usage);
	init(&lock->klock_inner);
}

} // namespace c
} // namespace klock

/*
 * Defines each verb twice: with the call site as last arguments, and with the
 * caller's code address.
 */
#define KLOCK_C_VERB_AT(x, result, verb, p, a)                                 \
	KLOCK_TYPE_##result klock_##x##_##verb##_at(                           \
		KLOCK_LIST p, const char *file, int line)                      \
	{                                                                      \
		return klock::c::verb(KLOCK_LIST a,                            \
				      klock::call_site{file, line});           \
	}                                                                      \
	KLOCK_TYPE_##result klock_##x##_##verb p                               \
	{                                                                      \
		return klock_##x##_##verb##_at(                                \
			KLOCK_LIST a,                                          \
			static_cast<const char *>(                             \
				__builtin_return_address(0)),                  \
			KLOCK_CODE);                                           \
	}

#define KLOCK_C_CHECKED_KIND(shape, x, v)                                      \
	KLOCK_SHAPE_##shape(KLOCK_C_VERB_AT, KLOCK_C_VERB, checked_##x)
