/* SPDX-License-Identifier: MIT */
/*
 * c_checked_lock - a checked lock of klock/klock.h as the C++ lock that it is
 *
 * As klock/c_lock.hpp, for debug builds.
 */
#pragma once

#include <klock/c_lock.hpp>

#include <klock/checked_lock.hpp>

namespace klock {

KLOCK_C_IS(usage, lock_usage);
KLOCK_C_IS(shared_usage, shared_usage);

#define KLOCK_C_IS_CHECKED(shape, x, v)                                        \
	KLOCK_C_IS(checked_##x, checked_lock<cpp_of<klock_##x>::type>);

KLOCK_ANY(KLOCK_C_IS_CHECKED, )

} // namespace klock
