/* SPDX-License-Identifier: MIT */
/*
 * my_lock - a lock that is not in klock: bounded patience
 *
 * A ticket lock whose waiters look seldom while many are ahead of them: the
 * pause is the square of their number. Is that better than in proportion?
 */
#pragma once

#include <klock/atomic.hpp>

struct my_lock {
	static constexpr klock::u64 max_contenders = klock::u64{1} << 32;

	void lock()
	{
		const klock::u32 mine = next.fetch_add_acq_rel(1);

		owner.await_paced_acquire(
			[mine](klock::u32 now) { return now == mine; },
			[mine](klock::u32 now) {
				return (mine - now) * (mine - now);
			});
	}

	void unlock() { owner.store_release(owner.load_relaxed() + 1); }

      private:
	klock::atomic<klock::u32> next;
	klock::atomic<klock::u32> owner;
};
