/* SPDX-License-Identifier: MIT */
/*
 * busted_timed - mutants of a lock that can be given up
 *
 * timeout_lock's ring, for four CPUs, with a mistake each. Never use them.
 * Their waits also end when give_up is set (barrier.hpp): some of them leave
 * somebody waiting for ever.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/barrier.hpp>
#include <klock/selftest/busted_queue.hpp>

namespace klock::selftest::busted {

enum class when_giving_up {
	undoes_nothing, /* its slot still waits, and is granted to nobody */
	stores,		/* over a grant that has come at that moment */
	draws_anew	/* when it is back: more tickets are out than slots */
};

template <when_giving_up Mistake>
struct timed_ring {
	static constexpr unsigned cpus = 4;
	static constexpr u64 max_contenders = cpus;

	void lock(unsigned cpu)
	{
		if (!arrive(cpu))
			mine(cpu).await_acquire(may_enter);
	}
	[[nodiscard]] bool try_lock_until(unsigned cpu, u64 deadline)
	{
		return arrive(cpu) ||
		       may_enter(mine(cpu).await_until_acquire(may_enter,
							       deadline)) ||
		       !leave(cpu);
	}
	[[nodiscard]] bool try_lock(unsigned cpu)
	{
		return try_lock_until(cpu, 0);
	}
	void unlock(unsigned cpu)
	{
		u32 t = ticket[cpu].get();

		hesitate(); /* others come, and give up */
		mine(cpu).store_relaxed(empty);
		do
			t++;
		while (!serve(slot[t % cpus]) && !give_up);
	}

      private:
	enum place : u8 { empty, granted, waiting, abandoned };

	static bool may_enter(place seen) { return seen == granted || give_up; }
	static place abandoned_by(unsigned cpu)
	{
		return static_cast<place>(abandoned + cpu);
	}
	atomic<place> &mine(unsigned cpu)
	{
		return slot[ticket[cpu].get() % cpus];
	}

	bool arrive(unsigned cpu)
	{
		place seen = abandoned_by(cpu);

		if (has_left[cpu].get()) {
			has_left[cpu].set(false);
			if (mine(cpu).compare_exchange_acquire(seen, waiting))
				return false;
		}
		ticket[cpu].set(next.fetch_add_acq_rel(1));
		seen = empty;
		return !mine(cpu).compare_exchange_acquire(seen, waiting);
	}

	bool leave(unsigned cpu)
	{
		place seen = waiting;

		has_left[cpu].set(Mistake == when_giving_up::stores);
		if (Mistake == when_giving_up::undoes_nothing)
			return true;
		if (Mistake == when_giving_up::draws_anew)
			return mine(cpu).compare_exchange_acquire(
				seen, abandoned_by(cpu));
		hesitate();
		mine(cpu).store_relaxed(abandoned_by(cpu));
		return true;
	}

	static bool serve(atomic<place> &at)
	{
		place seen = empty;
		bool passes_over;

		do
			passes_over = seen >= abandoned;
		while (!at.compare_exchange_release(
			seen, passes_over ? empty : granted));
		return !passes_over;
	}

	atomic<u32> next;
	atomic<place> slot[cpus] = {atomic<place>(granted)};
	plain<u32> ticket[cpus];
	plain<bool> has_left[cpus];
};

using hole_in_line = timed_ring<when_giving_up::undoes_nothing>;
using blind_leave = timed_ring<when_giving_up::stores>;
using place_again = timed_ring<when_giving_up::draws_anew>;

} // namespace klock::selftest::busted
