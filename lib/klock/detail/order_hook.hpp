/* SPDX-License-Identifier: MIT */
/*
 * order_hook - the seven calls by which lock_order.hpp learns of checked locks
 *
 * They are pointers, so that a file which takes checked locks does not compile
 * lock_order.hpp: only the file that defines klock_os_lock_order() does.
 */
#pragma once

#include <klock/detail/text.hpp>
#include <klock/types.hpp>

namespace klock {

struct held_lock;
struct held_locks;
struct inheriting_thread;

/* A lock that the caller is about to wait for or try, and the call site. */
struct wanted_lock {
	const void *lock;
	lock_label label;
	call_site by;
	bool shared;	     /* to read */
	bool nests;	     /* and its readers may read it again */
	bool sleeps = false; /* its waiters give their CPU away */
	bool looks = false;  /* as a seq_lock's reader: waits, blocks nobody */
	/* the caller, where the lock is another's once that has ended */
	const inheriting_thread *thread = nullptr;

	[[nodiscard]] bool is_nested() const { return shared && nests; }
};

/* The entry that an acquisition has in a stack of held locks; nulls: none. */
struct held_place {
	held_locks *stack;
	held_lock *at;
};

/* Two locks taken in the order of addresses, now the higher; zeros: none. */
struct address_pair {
	usize lower, higher;
	bool sleep = false; /* their waiters do */
};

struct lock_order {
	held_place (*on_wait)(lock_order &, const wanted_lock &);
	held_place (*on_try)(lock_order &, const wanted_lock &);
	void (*on_taken)(held_place);
	held_place (*on_leave)(lock_order &, const void *lock);
	void (*on_gone)(held_place);
	address_pair (*on_pair)(lock_order &, const address_pair &next);
	void (*on_end)(lock_order &, const inheriting_thread &);
};

} // namespace klock
