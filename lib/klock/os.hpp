/* SPDX-License-Identifier: MIT */
/*
 * os - the functions that klock may ask of the kernel it lives in
 *
 * Only guards of locks that are indexed by CPU call the first, only once.hpp
 * the first two, only checked locks (checked_lock.hpp) all that are about
 * misuse, only irq_depth.hpp the one that it names, only too_long.hpp the first
 * and klock_os_context(), and only locks that sleep the four about threads: a
 * kernel that uses none of these defines none. They have C names so that a
 * kernel in C can define them too. Define them in one file: a linker may take
 * the optional ones out of a library only where it takes the others.
 */
#pragma once

#include <klock/types.hpp>

/*
 * The number of the CPU that asks, 0 .. CPUs - 1, dense and fixed. Called with
 * preemption impossible (a CPU that could move would lock under a number that
 * is no longer its own); any context. Checked locks ask for it besides, for
 * their reports: there a CPU that has moved since does no harm.
 */
extern "C" unsigned klock_os_cpu_id(void);

/*
 * Reports a misuse that cannot be survived and never returns. lock_name is the
 * lock's type or the name its owner gave it, lock_address tells it from its
 * siblings, what says what was done. May be called with the lock held,
 * interrupts off, in any context.
 */
extern "C" [[noreturn]] void klock_os_panic(const char *lock_name,
					    const void *lock_address,
					    unsigned cpu, const char *what);

/*
 * Returns the klock::context that this CPU is in. A kernel's entry code
 * knows; one that does not answers 0, and checked_lock.hpp says what then is
 * lost. Called in any context.
 */
extern "C" int klock_os_context(void);

/*
 * Optional: who takes and releases locks, where that is not the CPU but a
 * thread that may be preempted or move while it holds one: any value but the
 * largest, the same for as long as it holds a lock and nobody else's meanwhile;
 * a thread's number or address. A handler is who it interrupted. Where it is
 * not defined, who asks is its CPU. Called in any context.
 */
extern "C" [[gnu::weak]] unsigned long klock_os_owner_id(void);

namespace klock {
struct lock_order;
}

/*
 * Optional: where the order of checked locks is learned, in one line of one
 * file: see lock_order.hpp. Not defined: no order is checked. Called in any
 * context; the answer never changes.
 */
extern "C" [[gnu::weak]] klock::lock_order *klock_os_lock_order(void);

/*
 * Optional: takes a line, without its end, that is no misuse: a table of
 * lock_order.hpp is full, a section of too_long.hpp was long. Each once. Called
 * in any context but NMI, interrupts on or off, locks held.
 */
extern "C" [[gnu::weak]] void klock_os_note(const char *text);

namespace klock {
struct irq_depth;
}

/*
 * This CPU's irq_depth, for irq_depth.hpp alone: one a CPU, zero at first.
 * Called with interrupts off, in any context but NMI; asked with them on only
 * where a panic follows.
 */
extern "C" klock::irq_depth *klock_os_irq_depth(void);

/*
 * The kernel's scheduler, for locks that sleep: four functions, and a permit
 * for each thread, which is there or is not. unpark() gives it, park() takes
 * it or blocks until it is there, so an unpark() that comes first is not lost.
 *
 * - What was written before an unpark() is seen after the park() that takes
 *   its permit, whoever else has given it too: unpark() is a read-modify-write
 *   with release (or the scheduler's lock), never a store, which would hide
 *   what came before it. Taking the permit is a read-modify-write with acquire.
 * - park() may return without a permit, and a permit may be left over from a
 *   wait that has ended: klock looks again each time. So signals, kill() and
 *   debuggers may unpark whom they like.
 * - klock unparks a thread only while it is in a wait of klock's: no reference
 *   is counted, and a handle needs to be valid no longer than its thread lives.
 *
 * klock/selftest/parking.hpp tests a kernel's own.
 */

/*
 * Which thread asks: any value, the same for as long as it waits and nobody
 * else's meanwhile; a thread's number or address. Called in threads, interrupts
 * on or off, spin locks held.
 */
extern "C" klock::usize klock_os_thread(void);

/*
 * Blocks until the thread that calls has a permit, and takes it. Called in
 * threads, interrupts on, no spin lock held; comes back so. Whatever else
 * parks the same thread in between (a page fault, a signal) may take it.
 */
extern "C" void klock_os_park(void);

/*
 * The same until `deadline`, a time of klock::cycles(), ~0 for never; called
 * for waits with a deadline alone. False: the wait is to end, as the deadline
 * has passed or because the kernel wants it (the thread was killed), and the
 * permit was taken or not. True: anything else.
 */
extern "C" bool klock_os_park_until(klock::u64 deadline);

/*
 * Gives the thread a permit, if it has none, and has it run. Called in any
 * context but NMI, with interrupts off and a spin lock of klock's held: it
 * never waits for a thread. It may take the scheduler's lock; nobody who holds
 * that one may then release, wake or notify. The thread may be the one that
 * calls, or that the handler interrupted.
 */
extern "C" void klock_os_unpark(klock::usize thread);

namespace klock {

/* The values are those of klock_os_context(): 0, 1, 2. */
enum class context : int { thread, interrupt, nmi };

inline unsigned cpu_id() { return klock_os_cpu_id(); }

/*
 * A function that a kernel may define, or null. Read from memory: clang 14's
 * code for RISC-V (medany) cannot name what is 2 GiB away, and that is where
 * null is.
 */
template <auto *Function>
inline auto *defined_or_null()
{
	static constinit auto *const volatile in_memory = Function;

	return in_memory;
}

inline usize owner_id()
{
	const auto asked = defined_or_null<klock_os_owner_id>();

	return asked ? asked() : klock_os_cpu_id();
}

/* Whether nobody else than CPUs takes locks. */
inline bool owner_is_cpu() { return !defined_or_null<klock_os_owner_id>(); }

/* klock_os_lock_order(), or null where there is none. */
inline lock_order *kernel_lock_order()
{
	const auto asked = defined_or_null<klock_os_lock_order>();

	return asked ? asked() : nullptr;
}

/* klock_os_note(), where there is one. */
inline void note(const char *text)
{
	if (const auto told = defined_or_null<klock_os_note>())
		told(text);
}

inline context current_context()
{
	return static_cast<context>(klock_os_context());
}

[[noreturn]] inline void panic(const char *lock_name, const void *lock_address,
			       unsigned cpu, const char *what)
{
	klock_os_panic(lock_name, lock_address, cpu, what);
}

/*
 * checks_off - whether a report was made: then no other is
 *
 * What a kernel does after its first report, to print it and to stop, may break
 * the same rules, and another CPU may find the same mistake. So all goes on as
 * the locks inside do, and nothing is said. Two that report in one instant both
 * do: klock_os_panic() is called by one of them first. No atomic: a model
 * checker has nothing to explore here, as a report ends what it explores.
 */
inline constinit bool checks_off = false;

/* A volatile variable would be in each file that includes this, used or not. */
inline volatile bool &checks_are_off() { return checks_off; }

/* For tests, whose klock_os_panic() comes back (throws, longjmps): before it
 * does, set_checks(true). */
inline void set_checks(bool on) { checks_are_off() = !on; }

/* The first time a panic; then nothing. */
inline void report_misuse(const char *lock_name, const void *lock,
			  const char *text)
{
	if (checks_are_off())
		return;
	checks_are_off() = true;
	panic(lock_name, lock, cpu_id(), text);
}

} // namespace klock
