/* SPDX-License-Identifier: MIT */
/*
 * ring - the guide's second example: one CPU puts, another takes
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

struct ring {
	static constexpr klock::u32 slots = 2;

	/* Called by the producer alone; waits while the ring is full. */
	void put(int v)
	{
		const klock::u32 mine = written.load_relaxed();

		taken.await_acquire(
			[mine](klock::u32 t) { return mine - t < slots; });
		slot[mine % slots].set(v);
		written.store_release(mine + 1);
	}

	/* Called by the consumer alone; waits while the ring is empty. */
	int take()
	{
		const klock::u32 mine = taken.load_relaxed();

		written.await_acquire(
			[mine](klock::u32 w) { return w != mine; });
		const int v = slot[mine % slots].get();
		taken.store_release(mine + 1);
		return v;
	}

	klock::atomic<klock::u32> written;
	klock::atomic<klock::u32> taken;
	klock::plain<int> slot[slots];
};
