/* SPDX-License-Identifier: MIT */
/*
 * busted_turn - preemptable tickets that are wrong on purpose
 *
 * Both exclude, and lose the order that they promise while everybody runs.
 * Never use them. Their waits also end when give_up is set (barrier.hpp).
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/selftest/barrier.hpp>

namespace klock::selftest::busted {

/* What preemptable_ticket_lock does once a waiter has seen its turn come. */
struct turn_base {
	static constexpr u64 max_contenders = 64;

	void unlock()
	{
		state.store_release(static_cast<u8>(state.load_relaxed() + 1));
	}

      protected:
	constexpr explicit turn_base(u8 served)
	    : next(served), state(static_cast<u8>(served << 1))
	{
	}

	/* may_take(turn, place): whether its wait ends; late: what it stores */
	template <typename MayTake, typename Late>
	void take(MayTake may_take, Late late)
	{
		const u8 mine = static_cast<u8>(next.fetch_add_relaxed(1) << 1);
		u8 now;

		do {
			now = state.await_relaxed([=](u8 v) {
				return (v % 2 == 0 && may_take(v, mine)) ||
				       give_up;
			});
			if (give_up)
				return;
		} while (!state.compare_exchange_acquire(
			now, late(now, mine) ? static_cast<u8>(now - 1)
					     : static_cast<u8>(mine + 1)));
	}

      private:
	atomic<u8> next;
	atomic<u8> state;
};

/*
 * Late by <, and not by the distance: at the wrap of the turn every ticket that
 * has wrapped already is taken for one that was passed over. Starts there.
 */
struct late_by_less : turn_base {
	constexpr late_by_less() : turn_base(126) {}
	void lock()
	{
		const auto late = [](u8 turn, u8 place) {
			return place < turn;
		};

		take(
			[=](u8 turn, u8 place) {
				return place == turn || late(turn, place);
			},
			late);
	}
};

/* No patience: whoever finds it free takes it, in turn or not. */
struct impatient : turn_base {
	constexpr impatient() : turn_base(0) {}
	void lock()
	{
		take([](u8, u8) { return true; },
		     [](u8 turn, u8 place) {
			     return static_cast<u8>(place - turn) > 127;
		     });
	}
};

} // namespace klock::selftest::busted
