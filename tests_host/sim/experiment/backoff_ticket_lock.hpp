/* SPDX-License-Identifier: MIT */
/*
 * backoff_ticket_lock - what not to do: a ticket lock that backs off as
 * test-and-set does
 *
 * For one experiment (test_claims.cpp). A waiter doubles its pause with each
 * look in vain, up to LastLimit turns. Who comes next is decided by the
 * tickets, so nobody else takes the lock while the one whose turn it is sleeps
 * on: its delay is everybody's behind it.
 */
#pragma once

#include <klock/ticket_lock.hpp>

template <unsigned LastLimit>
struct backoff_ticket_lock {
	static constexpr klock::u64 max_contenders =
		klock::ticket_lock<klock::u32>::max_contenders;

	void lock()
	{
		klock::u32 turns = 1;

		queue.lock_paced([&turns](klock::u32) {
			if (turns < LastLimit)
				turns *= 2;
			return turns;
		});
	}

	void unlock() { queue.unlock(); }

      private:
	klock::ticket_lock<klock::u32> queue;
};
