/* SPDX-License-Identifier: MIT */
/*
 * order - the lab's lock order: all of its checked locks are watched
 */
#include <klock/lock_order.hpp>

/* More CPUs than these take no checked locks, but in run=misuse. */
klock::lock_order *klock_os_lock_order(void)
{
	return klock::lock_order_of<64, 16>();
}
