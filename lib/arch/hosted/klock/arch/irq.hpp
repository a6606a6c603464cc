/* SPDX-License-Identifier: MIT */
/*
 * irq - a pretended interrupt flag, one a thread, that tests can read
 *
 * Nothing interrupts a thread here; the flag only records whether code that
 * should run with interrupts off does. A test asserts irqs_enabled().
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* In this scope, since os.hpp declares it in the global one. */
extern "C" [[gnu::weak]] void klock_os_unparked(void);

/* Whether interrupts were enabled before irq_save(). */
using irq_state = bool;

namespace fake {
inline thread_local constinit bool irq_flag = true;
}

/* Whether this thread would take an interrupt now; checks and tests ask. */
[[nodiscard]] inline bool irqs_enabled() { return fake::irq_flag; }

[[nodiscard]] inline irq_state irq_save()
{
	const irq_state before = fake::irq_flag;

	fake::irq_flag = false;
	asm volatile("" ::: "memory");
	return before;
}

inline void irq_restore(irq_state before)
{
	asm volatile("" ::: "memory");
	if (before)
		fake::irq_flag = true;
}

/* klock_os_unparked(), if the program has one: see klock/os.hpp. */
inline bool unparked(irq_state)
{
	if (klock_os_unparked)
		klock_os_unparked();
	return true;
}

} // namespace klock::arch
