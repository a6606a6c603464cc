/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on AArch64: the compiler's builtins, and WFE
 *
 * The compiler has two forms of each: exclusive loads and stores, which every
 * CPU has, and one instruction (-march=armv8.1-a and later, LSE). Both need
 * memory that is mapped as normal, write-back and shareable: before the MMU is
 * on, no read-modify-write works on real CPUs (Arm ARM, B2.9.2).
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/detail/builtin_ops.hpp>

namespace klock::arch {

/*
 * Sleeps until there is an event, then reads. The read marks the location: its
 * next change, by whatever CPU and instruction, is an event. Acquires always.
 */
template <typename W>
inline W wait_and_read(const W &at)
{
	W v;

	if constexpr (sizeof(W) == 1)
		asm volatile("wfe\n\tldaxrb %w0, %1"
			     : "=r"(v)
			     : "Q"(at)
			     : "memory");
	else if constexpr (sizeof(W) == 2)
		asm volatile("wfe\n\tldaxrh %w0, %1"
			     : "=r"(v)
			     : "Q"(at)
			     : "memory");
	else if constexpr (sizeof(W) == 4)
		asm volatile("wfe\n\tldaxr %w0, %1"
			     : "=r"(v)
			     : "Q"(at)
			     : "memory");
	else
		asm volatile("wfe\n\tldaxr %x0, %1"
			     : "=r"(v)
			     : "Q"(at)
			     : "memory");
	return v;
}

template <atomic_value T>
inline constexpr bool has_sleep_until<T> = true;

/*
 * Asleep between two looks. SEVL is the event that lets the first WFE pass.
 * From a read to the next WFE there may be nothing but `done`, and it reads no
 * other atomic: an exclusive access elsewhere would move the mark, and the
 * change be missed. An interrupt does not harm: the return from it is an event.
 *
 * Nothing else is assumed to wake: there may be no event stream, and no macro
 * of a compiler says that there is WFET (8.7). So a wait that also ends by
 * patience or by a deadline spins.
 */
template <order O, typename T, typename Predicate>
inline T sleep_until(const cell<T> &at, Predicate done)
{
	asm volatile("sevl" ::: "memory");
	for (;;) {
		const T v = from_stored<T>(wait_and_read(at.value));
		if (done(v))
			return v;
	}
}

} // namespace klock::arch
