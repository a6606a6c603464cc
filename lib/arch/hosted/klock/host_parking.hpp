/* SPDX-License-Identifier: MIT */
/*
 * host_parking - klock's functions about threads (os.hpp), for a host's
 *
 * For unit tests and other hosted programs whose locks sleep: included by one
 * file or by many, it is defined once. A permit is one word of the thread's:
 *
 *	-1 asleep, 0 no permit, 1 a permit
 *
 * The system call that wakes follows behind klock's inner lock, in
 * klock_os_unparked(): the woken thread would run into that lock. Who calls
 * klock_os_unpark() with interrupts off calls klock_os_unparked(), too.
 * On Linux who has no permit sleeps in the kernel (futex(2)), anywhere else
 * it gives its core away and returns for nothing, as it may.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/unparked.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>

#include <time.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

namespace klock::host {

using permit = atomic<int>;
inline constexpr int asleep = -1, none = 0, given = 1;

inline thread_local constinit permit mine{none};

/* All threads are of priority 0, as klock sees them. */
inline thread_local constinit inheriting_thread lending;

/*
 * How long to sleep until cycles() is `deadline`: too short wherever they are
 * slower than 8 GHz, and never long, which a timespec of 32 bits has no room
 * for: who is back too early comes again.
 */
inline u64 ns_until(u64 deadline)
{
	constexpr u64 least = 50'000, most = 100'000'000;
	const u64 now = cycles();

	if (now >= deadline)
		return 0;
	const u64 eighth = (deadline - now) / 8;
	return least + (eighth < most ? eighth : most);
}

/* While the word is asleep, ns at most; ~0: for ever. */
inline void sleep_on(permit &word, u64 ns)
{
#if defined(__linux__)
	const timespec length = {static_cast<time_t>(ns / 1000000000u),
				 static_cast<long>(ns % 1000000000u)};

	static_assert(sizeof(permit) == 4, "what futex(2) looks at");
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, asleep,
		ns == ~u64{0} ? nullptr : &length, nullptr, 0);
#else
	(void)word;
	(void)ns;
	sched_yield();
#endif
}

inline void park_for(u64 ns)
{
	if (mine.fetch_sub_acquire(1) == given)
		return;
	sleep_on(mine, ns);
	/* Given, or back for nothing: awake in either case. */
	(void)mine.exchange_acquire(none);
}

/* A word that is gone by then wakes nobody, or somebody for nothing. */
inline void wake(permit *word)
{
#if defined(__linux__)
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#else
	(void)word;
#endif
}

/* Whether klock calls klock_os_unparked() here. */
inline constexpr bool goes_on =
	same_as<decltype(arch::unparked(irq_state{})), bool>;

/* This thread's wake-ups that klock_os_unparked() goes on with. */
inline thread_local constinit permit *to_wake[8] = {};
inline thread_local constinit unsigned how_many = 0;

/* wakes(word) for each, in the order in which klock woke them. */
template <typename Wakes>
void wake_in_order(Wakes wakes)
{
	for (unsigned i = 0; i < how_many; i++)
		wakes(to_wake[i]);
	how_many = 0;
}

} // namespace klock::host

extern "C" {

[[gnu::used]] inline klock::usize klock_os_thread(void)
{
	return reinterpret_cast<klock::usize>(&klock::host::mine);
}

[[gnu::used]] inline void klock_os_park(void)
{
	klock::host::park_for(~klock::u64{0});
}

[[gnu::used]] inline bool klock_os_park_until(klock::u64 deadline)
{
	klock::host::park_for(klock::host::ns_until(deadline));
	return klock::cycles() < deadline;
}

[[gnu::used]] inline void klock_os_unpark(klock::usize thread)
{
	using namespace klock::host;
	permit &word = *reinterpret_cast<permit *>(thread);

	/* One step with the look: who falls asleep between the two would never
	 * be woken. */
	if (word.exchange_release(given) != asleep)
		return;
	/* Interrupts are on: klock is not the caller. */
	if (!goes_on || klock::irqs_enabled() ||
	    how_many == sizeof(to_wake) / sizeof(to_wake[0]))
		return wake(&word);
	to_wake[how_many++] = &word;
}

[[gnu::used]] inline klock::inheriting_thread *klock_os_inheriting_thread(void)
{
	return &klock::host::lending;
}

[[gnu::used]] inline void klock_os_run_with_priority(klock::inheriting_thread *,
						     unsigned)
{
}

[[gnu::used]] inline void klock_os_unparked(void)
{
	klock::host::wake_in_order(klock::host::wake);
}
}
