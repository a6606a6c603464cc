/* SPDX-License-Identifier: MIT */
/*
 * taking - guards turn preemption off, in a kernel that preempts its threads
 *
 *	CXXFLAGS += -I klock/lib/preempted -I klock/lib -I klock/lib/arch/x86
 *
 * for each file of the kernel: a guard has another size then, and a file that
 * lacks it is preempted with a lock held. No linker takes the two in one
 * program (one_preemption.hpp). This file says what guards do, and goes on with
 * lib's own.
 *
 * Such a kernel must not preempt a thread that holds a spin lock, or waits for
 * its ticket. guard, try_guard, pair_guard, shared_guard and shared_try_guard
 * see to it. Guards that disable interrupts leave preemption alone: nobody
 * preempts this CPU then. So do guards of locks that sleep.
 *
 * The order is the point. Off before the ticket is taken: a thread that is
 * preempted between its ticket and its turn holds up everybody behind it, and
 * its own CPU's next thread for ever. On after the release: the kernel may
 * switch to another thread at once, which then finds the lock free.
 *
 * A guard ends in the thread that made it, and on its CPU. A lock that is taken
 * by lock() is taken with preemption as it is. C has verbs that turn it off,
 * klock_lock_preempt_off() and its like: klock/klock.h.
 *
 * Checked: model/preempt. A kernel's own debug build finds a lock
 * that is held when it switches: klock::might_switch() of order_calls.hpp,
 * called by the scheduler.
 */
#pragma once

/*
 * The kernel's. They nest: preemption is on after as many klock_os_preempt_on()
 * as there were klock_os_preempt_off(); the last may switch threads at once.
 * Called in threads and in handlers, interrupts on or off, with other locks
 * held; in an NMI handler, by try_guard. What the section does stays between
 * the two: both are compiler barriers, as functions of another file are.
 */
extern "C" void klock_os_preempt_off(void);
extern "C" void klock_os_preempt_on(void);

namespace klock {
namespace detail {

struct preempt_off {
	static constexpr bool disables = false;

	[[gnu::always_inline]] preempt_off() { klock_os_preempt_off(); }
	[[gnu::always_inline]] ~preempt_off()
	{
		if (off)
			klock_os_preempt_on();
	}
	preempt_off(const preempt_off &) = delete;
	preempt_off &operator=(const preempt_off &) = delete;

	/* Early: nothing is left to do at the end. */
	[[gnu::always_inline]] void restore()
	{
		off = false;
		klock_os_preempt_on();
	}
	/* After that, again. */
	void disable()
	{
		klock_os_preempt_off();
		off = true;
	}

      private:
	bool off = true;
};

/* In place of the general one, which lib's own file defines. */
struct of_guards;
template <typename>
struct preemption;
template <>
struct preemption<of_guards> {
	using type = preempt_off;
};

} // namespace detail
} // namespace klock

#include "../../../klock/detail/taking.hpp"
