/* SPDX-License-Identifier: MIT */
/*
 * exponential_ticket - a ticket lock with exponential back-off, to be measured
 *
 * An experiment and no lock of klock: it shows why there is none (run=backoff).
 * A waiter that pauses longer and longer sleeps through its turn, and all who
 * come after it wait for the sleeper; their delays add up. Mellor-Crummey and
 * Scott, ACM TOCS 9(1), 1991, section 2.2, say so.
 */
#pragma once

#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace lab {

struct exponential_ticket {
	static constexpr klock::u64 max_contenders =
		klock::ticket_lock<klock::u16>::max_contenders;

	void lock()
	{
		char here;
		klock::exponential_backoff pace(
			reinterpret_cast<klock::usize>(&here) -
			reinterpret_cast<klock::usize>(this));

		queue.lock_paced([&pace](klock::u16) { return pace(); });
	}

	void unlock() { queue.unlock(); }

      private:
	klock::ticket_lock<klock::u16> queue;
};

} // namespace lab
