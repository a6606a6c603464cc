/* SPDX-License-Identifier: MIT */
#include <klock/c_lock_order.hpp>

klock_lock_order *klock_lock_order_64(void)
{
	return klock::as_c(klock::lock_order_of<64, 64>());
}
