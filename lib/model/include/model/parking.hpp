/* SPDX-License-Identifier: MIT */
/*
 * parking - a kernel's scheduler for locks that sleep, as the checker sees it
 *
 * Included by one file of a program: it defines the four functions of
 * klock/os.hpp about threads. A CPU of the checker is a thread, and its number
 * the handle. So a lock that sleeps, or a wait loop of your own over these
 * functions, is explored as it is. A deadline may have passed at any look.
 *
 *	model::parks = {.spurious = 1};		and explore
 *
 * The last act of a body is model::thread_ends(): an unpark() of a thread that
 * may have ended is then a data race.
 *
 * A handler may come, but need not. For a thread that only a handler wakes,
 * that would be a false deadlock. So to_come(cpu) is called before a park
 * blocks, and by thread_ends(), with interrupts off; it runs the handlers that
 * have not come yet.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

namespace model {

struct parking {
	/* How often each thread's park() may return without a permit. */
	unsigned spurious = 0;
	void (*to_come)(unsigned cpu) = nullptr;
};

inline constinit parking parks;

namespace detail {

/* One thread's. */
struct parked {
	klock::atomic<klock::u8> permit;
	klock::plain<klock::u8> spurious_wakes;
	/* It has called klock_os_thread(), and no nested park has come
	 * since. */
	klock::plain<bool> waits;
	klock::plain<bool> ended;
};

inline constinit parked threads[8];

/* Whether this park returns without a permit. */
inline bool wakes_spuriously(parked &me)
{
	const klock::u8 so_far = me.spurious_wakes.get();

	if (so_far >= parks.spurious || !maybe())
		return false;
	me.spurious_wakes.set(static_cast<klock::u8>(so_far + 1));
	return true;
}

inline void run_what_is_to_come()
{
	if (!parks.to_come)
		return;
	const klock::arch::irq_state before = klock::irq_save();

	parks.to_come(cpu());
	klock::irq_restore(before);
}

} // namespace detail

inline void thread_ends()
{
	detail::run_what_is_to_come();
	detail::threads[cpu()].ended.set(true);
}

/* Unparks a thread as a signal or a debugger does, whether it waits or not. */
inline void unpark_for_nothing(unsigned thread)
{
	(void)detail::threads[thread].permit.exchange_release(1);
}

/*
 * A page fault that may come in a wait, and whose own park takes the permit:
 * once in a wait, or not at all.
 */
inline void nested_park()
{
	detail::parked &me = detail::threads[cpu()];

	if (!me.waits.get())
		return;
	me.waits.set(false);
	if (maybe())
		(void)me.permit.exchange_acquire(0);
}

} // namespace model

extern "C" klock::usize klock_os_thread(void)
{
	model::detail::threads[model::cpu()].waits.set(true);
	return model::cpu();
}

extern "C" void klock_os_park(void)
{
	model::detail::parked &me = model::detail::threads[model::cpu()];

	model::detail::run_what_is_to_come();
	if (!model::detail::wakes_spuriously(me))
		(void)me.permit.await_exchange_acquire(
			0, [](klock::u8 found) { return found != 0; });
}

extern "C" bool klock_os_park_until(klock::u64 deadline)
{
	model::detail::parked &me = model::detail::threads[model::cpu()];

	model::detail::run_what_is_to_come();
	if (model::detail::wakes_spuriously(me))
		return true;
	if (!me.permit.await_until_relaxed(
		    [](klock::u8 now) { return now != 0; }, deadline))
		return false;
	(void)me.permit.exchange_acquire(0);
	return true;
}

extern "C" void klock_os_unpark(klock::usize thread)
{
	(void)model::detail::threads[thread].ended.get();
	model::unpark_for_nothing(static_cast<unsigned>(thread));
}
