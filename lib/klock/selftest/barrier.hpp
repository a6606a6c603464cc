/* SPDX-License-Identifier: MIT */
/*
 * barrier - all CPUs of a test meet, and leave together
 *
 * Also the one flag that ends a test early: a wait in the self-tests, and in
 * the locks that are meant to fail, ends when give_up is set.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/types.hpp>

namespace klock::selftest {

/*
 * Set by a watchdog that sees no progress. volatile and not atomic<>: it is
 * read inside the waits' predicates, where a checker allows no operation.
 */
inline constinit volatile bool give_up = false;

/* Reusable; everybody who takes part calls meet() with the same number. */
struct barrier {
	void meet(u32 cpus)
	{
		const u32 mine = arrived.fetch_add_acq_rel(1);
		const u32 full = mine - mine % cpus + cpus;

		arrived.await_acquire([full](u32 now) {
			return now - full < (1u << 31) || give_up;
		});
	}

	void reset() { arrived.store_release(0); }

      private:
	/* Arrivals since reset(): the k-th meeting is full at k x cpus. */
	atomic<u32> arrived;
};

} // namespace klock::selftest
