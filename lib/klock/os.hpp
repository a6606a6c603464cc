/* SPDX-License-Identifier: MIT */
/*
 * os - the functions that a kernel supplies to klock
 *
 * A kernel defines those that the parts of klock which it uses call:
 *
 *	guards of locks that are indexed by CPU	klock_os_cpu_id()
 *	once.hpp	klock_os_cpu_id(), klock_os_panic()
 *	checked_lock.hpp	all that are about misuse
 *	irq_depth.hpp	klock_os_irq_depth()
 *	too_long.hpp	klock_os_cpu_id(), klock_os_context()
 *	locks whose waiters sleep	the four about threads
 *	inheriting_mutex.hpp	these, the two about priorities, two of misuse
 *
 * They have C names so that a kernel in C can define them, too. Define them in
 * one file: a linker may take the optional ones from a library only if it takes
 * another function of the same file.
 */
#pragma once

#include <klock/detail/unordered.hpp>
#include <klock/types.hpp>

/*
 * Returns the number of the calling CPU, 0 .. CPUs - 1, dense and fixed. Called
 * with preemption off (a thread that moved to another CPU would lock under a
 * number that is no longer its own), in any context. Checked locks also call it
 * for their reports, with preemption on: a wrong number does no harm there.
 */
extern "C" unsigned klock_os_cpu_id(void);

/*
 * Reports a misuse that cannot be survived, and never returns. lock_name is the
 * lock's name or its type, lock_address tells it from others of that name, what
 * describes the misuse. Called with locks held or not, interrupts on or off, in
 * any context.
 */
extern "C" [[noreturn]] void klock_os_panic(const char *lock_name,
					    const void *lock_address,
					    unsigned cpu, const char *what);

/*
 * Returns the klock::context of this CPU, which a kernel's entry code knows. A
 * kernel that does not know returns 0; checked_lock.hpp says which checks are
 * lost then. Called in any context.
 */
extern "C" int klock_os_context(void);

/*
 * Optional: returns the owner that takes and releases locks, if that is not the
 * CPU but a thread, which may be preempted or move while it holds a spin lock:
 * its number or address, or any other value but the largest. It stays the same
 * while the thread holds a lock, and no other thread has it. A handler's owner
 * is the thread that it interrupted. If this is not defined, the owner of a
 * spin lock is the CPU, and that of a lock whose waiters sleep is the thread of
 * klock_os_thread(). Called in any context.
 */
extern "C" [[gnu::weak]] unsigned long klock_os_owner_id(void);

namespace klock {
struct lock_order;
}

/*
 * Optional: returns the object that learns the order of checked locks, see
 * lock_order.hpp. If this is not defined, no order is checked. Called in any
 * context; the result never changes.
 */
extern "C" [[gnu::weak]] klock::lock_order *klock_os_lock_order(void);

/*
 * Optional: prints a line, without its newline, about something that is no
 * misuse: a table of lock_order.hpp is full, a section of too_long.hpp was
 * long. Each line comes once. Called in any context but NMI, interrupts on or
 * off, locks held.
 */
extern "C" [[gnu::weak]] void klock_os_note(const char *text);

namespace klock {
struct irq_depth;
}

/*
 * Returns this CPU's irq_depth, zero at first; only irq_depth.hpp calls it.
 * Called with interrupts off, or on if a panic follows; in any context but NMI.
 */
extern "C" klock::irq_depth *klock_os_irq_depth(void);

/*
 * The kernel's scheduler, for locks whose waiters sleep: four functions, and a
 * permit that each thread has or has not. unpark() gives the permit; park()
 * takes it, or blocks until it is there. So an unpark() that comes first is not
 * lost.
 *
 * - All writes before an unpark() are seen after the park() that takes its
 *   permit, even if another unpark() came in between: unpark() is a
 *   read-modify-write with release (or takes the scheduler's lock). It is never
 *   a store, which would hide the unpark() before it. Taking the permit is a
 *   read-modify-write with acquire.
 * - park() may return without a permit, and a permit may be left over from an
 *   earlier wait: klock checks its condition again each time. So signals,
 *   kill() and debuggers may unpark any thread.
 * - klock unparks a thread only while the thread is in a wait of klock's. So
 *   there is no reference count, and a handle need only be valid while its
 *   thread lives.
 *
 * klock/selftest/parking.hpp tests a kernel's implementation.
 */

/*
 * Returns a handle of the calling thread, its number or address: any value that
 * stays the same during a wait, and that no other thread has. Called in
 * threads, interrupts on or off, spin locks held. If there is no
 * klock_os_owner_id(), checked locks whose waiters sleep also call it in
 * handlers that try or release them: the thread is the interrupted one then.
 */
extern "C" klock::usize klock_os_thread(void);

/*
 * Blocks until the calling thread has a permit, and takes it. Called in
 * threads, and returns, with interrupts on and no spin lock held. Another park
 * of the same thread in between (for a page fault, a signal) may take the
 * permit.
 */
extern "C" void klock_os_park(void);

/*
 * klock_os_park() until `deadline`, a time of klock::cycles(), ~0 for never.
 * Called only for waits with a deadline. Returns false to end the wait, because
 * the deadline has passed or the kernel wants it (the thread was killed); the
 * permit may have been taken or not. Returns true otherwise.
 */
extern "C" bool klock_os_park_until(klock::u64 deadline);

/*
 * Gives the thread a permit, if it has none, and makes it runnable. Called in
 * any context but NMI, with interrupts off and a spin lock of klock's held,
 * which the woken thread takes next: it must neither switch to a thread nor
 * wait for one. If a wake-up preempts, the kernel switches when interrupts are
 * on again, or in klock_os_unparked(). It may take the scheduler's lock; code
 * that holds that lock must then not release, wake or notify. The thread may be
 * the calling one, or the one that the handler interrupted.
 */
extern "C" void klock_os_unpark(klock::usize thread);

namespace klock {
struct inheriting_thread;
}

/*
 * Returns the object that the kernel keeps for the calling thread, a base or a
 * member of its own. Never null, also before there are threads: with null, all
 * lock and nobody is kept out. Called in threads, interrupts on or off, twice
 * in each section of an inheriting_mutex: a kernel may define it inline, before
 * it includes that header.
 */
extern "C" klock::inheriting_thread *klock_os_inheriting_thread(void);

/*
 * From now on the thread runs with this priority: its own, or one that is lent
 * to it. It may run on this CPU or another, be runnable or wait. Called with
 * interrupts off and a spin lock of klock's held: as klock_os_unpark(), it may
 * take the scheduler's lock, and must neither switch nor wait. Code that holds
 * that lock must then not lock or unlock an inheriting_mutex, nor call
 * priority_changed() or thread_ends().
 */
extern "C" void klock_os_run_with_priority(klock::inheriting_thread *thread,
					   unsigned priority);

/*
 * Optional: goes on with the wake-ups since the last call, once the spin lock
 * of klock_os_unpark() is released: an IPI, a host's system call, a switch to
 * the woken thread. That one would run into the spin lock if it ran at once.
 * Called after each section in which klock_os_unpark() was called, in its
 * context, with interrupts as they were before it. If they are off, it must not
 * switch. (A checked lock calls it with interrupts off, and once more when they
 * are back, at the end of each verb: also if nobody was woken.) The lock may be
 * gone, and so may a woken thread: nothing of a thread may be touched that is
 * not the kernel's own.
 *
 * It is called in files with lib/unparked in front of lib on their include
 * path, and by the hosted port if there is one: other kernels pay nothing.
 */
extern "C" void klock_os_unparked(void);

namespace klock {

/* Why a wait ended. */
enum class wait_result : int {
	/* the caller has what it waited for */
	had,
	/* the deadline has passed */
	deadline,
	/* klock_os_park_until() ended it before its deadline */
	killed,
	/* it would wait for itself, perhaps through others:
	 * inheriting_mutex.hpp */
	deadlock,
	/* too many would wait for each other */
	too_deep,
};

/* The values are those of klock_os_context(): 0, 1, 2. */
enum class context : int { thread, interrupt, nmi };

inline unsigned cpu_id() { return klock_os_cpu_id(); }

/*
 * An optional function of the kernel, or null. Its address is read from memory:
 * clang 14's code for RISC-V (medany) cannot compute an address that is 2 GiB
 * away, as null is.
 */
template <auto *Function>
inline auto *defined_or_null()
{
	static constinit auto *const volatile in_memory = Function;

	return in_memory;
}

/* Whether the owners of spin locks are CPUs. */
inline bool owner_is_cpu() { return !defined_or_null<klock_os_owner_id>(); }

inline usize owner_id()
{
	const auto asked = defined_or_null<klock_os_owner_id>();

	return asked ? asked() : klock_os_cpu_id();
}

/*
 * If the owners of spin locks are CPUs, the owner of a lock whose waiters sleep
 * is a thread. Its number counts down from the largest but one: as a handle is
 * a small number or an address, this is no CPU's number. The largest is
 * nobody's.
 */
constexpr bool is_thread(usize owner) { return owner >= usize{1} << 14; }

inline usize thread_owner_id()
{
	return owner_is_cpu() ? ~klock_os_thread() - 1 : owner_id();
}

/* An owner as the kernel knows it, for reports. */
inline usize shown_owner(usize owner)
{
	return owner_is_cpu() && is_thread(owner) ? ~(owner + 1) : owner;
}

/*
 * thread_owner_id(), once a lock whose waiters sleep is used: a kernel without
 * such locks has no klock_os_thread().
 */
using owner_function = usize (*)();
inline constinit owner_function sleepers_owner = nullptr;

inline owner_function owner_of_sleepers()
{
	return read_unordered(sleepers_owner);
}

/* A lock whose waiters sleep is used. All CPUs read the word at each verb: only
 * the first writes it. */
inline void note_sleepers()
{
	if (!owner_of_sleepers())
		write_unordered<owner_function>(sleepers_owner,
						thread_owner_id);
}

/* The number of the caller as the owner of a lock; sleeps: the lock's waiters
 * sleep. */
inline usize owner_id(bool sleeps)
{
	const owner_function asked = owner_of_sleepers();

	return sleeps && asked ? asked() : owner_id();
}

/* Whether the caller is this owner. It asks for the thread only if the owner is
 * a thread: code without threads may use spin locks. */
inline bool is_me(usize owner)
{
	return owner == owner_id() ||
	       (owner_is_cpu() && is_thread(owner) && owner == owner_id(true));
}

/* klock_os_lock_order(), or null if there is none. */
inline lock_order *kernel_lock_order()
{
	const auto asked = defined_or_null<klock_os_lock_order>();

	return asked ? asked() : nullptr;
}

/* Calls klock_os_note(), if there is one. */
inline void note(const char *text)
{
	if (const auto told = defined_or_null<klock_os_note>())
		told(text);
}

inline context current_context()
{
	return static_cast<context>(klock_os_context());
}

/*
 * checks_off - set by the first report, which is then the only one
 *
 * A kernel that prints its first report and stops may break rules while it does
 * so, and other CPUs may find the same mistake. So after the first report
 * checked locks behave as the locks inside them. Two CPUs that report at the
 * same time both do. It is no atomic<>: the model checker has nothing to
 * explore here, as a report ends an execution.
 *
 * A few misuses are found without checks, too (once, inheriting_mutex,
 * pop_off()). Such a panic is a first report as well. It also comes after
 * another one: its caller cannot go on.
 */
inline constinit bool checks_off = false;

inline bool checks_are_off() { return read_unordered(checks_off); }

/* For tests whose klock_os_panic() leaves by an exception or longjmp(): call
 * set_checks(true) before it does. */
inline void set_checks(bool on) { write_unordered(checks_off, !on); }

/* Reports what cannot be survived. Not inlined: a lock that calls it has no
 * store more than one that calls klock_os_panic(). Its store is volatile, and
 * hidden from ThreadSanitizer: for AArch64, GCC's relaxed one is longer by an
 * instruction, which locks without checks would have, too. */
[[noreturn, gnu::noinline, gnu::no_sanitize_thread]] inline void
panic(const char *lock_name, const void *lock_address, unsigned cpu,
      const char *what)
{
	static_cast<volatile bool &>(checks_off) = true;
	klock_os_panic(lock_name, lock_address, cpu, what);
}

/* Panics the first time; later calls do nothing. */
inline void report_misuse(const char *lock_name, const void *lock,
			  const char *text)
{
	if (!checks_are_off())
		panic(lock_name, lock, cpu_id(), text);
}

} // namespace klock
