/* SPDX-License-Identifier: MIT */
/*
 * order_hook - struct lock_order as a checked lock knows it: five calls
 *
 * A file that takes checked locks compiles pointers alone; what is behind them,
 * lock_order.hpp, only the one file has that defines klock_os_lock_order().
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

struct lock_order {
	held_place (*on_wait)(lock_order &, const wanted_lock &);
	held_place (*on_try)(lock_order &, const wanted_lock &);
	void (*on_taken)(held_place);
	void (*on_not_taken)(held_place);
	void (*on_left)(lock_order &, const void *lock);
};

} // namespace klock
