/* SPDX-License-Identifier: MIT */
/*
 * order_hook - what a checked lock knows of lock_order.hpp: five calls
 *
 * A lock_order begins with one. So a file that takes checked locks compiles
 * pointers alone; all that is behind them, only the one file has that defines
 * klock_os_lock_order().
 */
#pragma once

#include <klock/misuse_text.hpp>
#include <klock/os.hpp>

namespace klock {

struct held_lock;
struct held_locks;

/* What is wanted, by whom it is asked. */
struct wanted_lock {
	const void *lock;
	lock_label label;
	call_site by;
	bool shared; /* to read */
	bool nests;  /* and who reads it may read it again */
};

/* Where one acquisition is noted; nulls: nowhere. */
struct held_place {
	held_locks *stack;
	held_lock *at;
};

struct order_hook {
	held_place (*on_wait)(order_hook &, const wanted_lock &);
	held_place (*on_try)(order_hook &, const wanted_lock &);
	void (*on_taken)(held_place);
	void (*on_not_taken)(held_place);
	void (*on_left)(order_hook &, const void *lock);
};

/* The kernel's, or null: the first of what a lock_order is made of. */
inline order_hook *kernel_order_hook()
{
	return reinterpret_cast<order_hook *>(kernel_lock_order());
}

} // namespace klock
