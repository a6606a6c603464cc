/* SPDX-License-Identifier: MIT */
/*
 * c_lock_order - the lock order of klock/order.h, as the C++ object that it is
 */
#pragma once

#include <klock/lock_order.hpp>
#include <klock/order.h>

namespace klock {

/* C knows it by its address alone. */
inline klock_lock_order *as_c(lock_order *order)
{
	return reinterpret_cast<klock_lock_order *>(order);
}

} // namespace klock
