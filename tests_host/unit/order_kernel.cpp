/* SPDX-License-Identifier: MIT */
/*
 * order_kernel - the functions that a kernel with a lock order has besides
 */
#include "order_kernel.hpp"

klock::lock_order *klock_os_lock_order(void) { return order_now; }

void klock_os_note(const char *text)
{
	notes.push_back(text);
	if (then_noted)
		then_noted();
}
