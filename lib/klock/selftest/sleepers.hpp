/* SPDX-License-Identifier: MIT */
/*
 * sleepers - threads that use the locks whose waiters sleep; no wake-up is lost
 *
 * There is a row for each lock, and two mistakes in their use. Each thread
 * takes `here.rounds` turns of a row and counts each in `here.steps`. Handlers,
 * or other threads, release what they wait for until all are done. fault() then
 * returns null, or what is wrong. Threads that a mistake leaves asleep end when
 * give_up is set and they are woken (wake_all()).
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/byte_mutex.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/cpu.hpp>
#include <klock/futex.hpp>
#include <klock/guard.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/wait_queue.hpp>

namespace klock::selftest::sleepers {

/* The most threads. */
inline constexpr unsigned most = 512;

struct row {
	const char *name;
	/* A thread's turn; what a handler or another thread does for it. */
	void (*turn)(xorshift &dice, unsigned who);
	void (*bring)(unsigned who);
	const char *(*ends_wrong)();
};

/* Shared by a row's threads and handlers. */
struct shared_state {
	atomic<u32> steps;   /* for the watchdog */
	atomic<u32> brought; /* units, or sections that write, so far */
	atomic<u32> stock;   /* units that nobody has taken */
	atomic<u32> wrong;
	atomic<u32> loans_left;	     /* kept by who released all */
	u32 rounds = 0, threads = 0; /* rounds of each */
	/* The first section lasts until it is true; null: no longer. */
	bool (*somebody_sleeps)() = nullptr;
	invariant data;
	plain<u32> taken; /* of the stock, under the lock that protects it */

	void prepare(u32 rounds_, u32 threads_)
	{
		rounds = rounds_;
		threads = threads_;
		steps.store_relaxed(0);
		brought.store_relaxed(0);
		stock.store_relaxed(0);
		wrong.store_relaxed(0);
		loans_left.store_relaxed(0);
		data.reset();
		taken.set(0);
	}
	/* Counts one more unit; false: there were enough. */
	[[nodiscard]] bool bring()
	{
		const u32 all = rounds * threads;

		return brought.load_relaxed() < all &&
		       brought.fetch_add_relaxed(1) < all;
	}
	[[nodiscard]] bool take()
	{
		u32 there = stock.load_relaxed();

		while (there)
			if (stock.compare_exchange_relaxed(there, there - 1)) {
				taken.set(taken.get() + 1);
				return true;
			}
		return false;
	}
};
inline constinit shared_state here{};

inline constinit mutex the_mutex;
inline constinit patient_mutex<0> the_fifo_mutex;
inline constinit preemptable_ticket_lock<u8> the_spin_lock;
inline constinit inheriting_mutex the_inheriting_mutex;
inline constinit shared_mutex the_shared_mutex;
inline constinit semaphore the_semaphore;
inline constinit wait_queue the_queue;
inline constinit condition arrived;
inline constinit atomic<completion *> asked[most];
inline constinit futex_table<4> the_table;
inline constinit byte_mutex<the_table> the_byte_mutex;

/* Waits; one time in four by deadlines that may pass. */
template <typename Wait, typename Timed>
inline void sleep_until_done(xorshift &dice, Wait wait, Timed done_by)
{
	if (dice.below(4))
		return wait();
	while (!done_by(cycles() + dice.below(100000)))
		;
}

template <typename Lock>
inline void take_and_visit(xorshift &dice, Lock &lock)
{
	sleep_until_done(
		dice, [&] { lock.lock(); },
		[&](u64 by) { return lock.try_lock_until(by); });
	while (here.somebody_sleeps && !here.steps.load_relaxed() &&
	       !here.somebody_sleeps() && !give_up)
		cpu_relax();
	here.brought.fetch_add_relaxed(1);
	here.wrong.fetch_add_relaxed(!here.data.visit(1));
}

template <auto &Lock>
inline void use_mutex(xorshift &dice, unsigned)
{
	take_and_visit(dice, Lock);
	Lock.unlock();
}

/* The first thread writes, then one in four; some of those downgrade. */
inline void use_shared_mutex(xorshift &dice, unsigned)
{
	auto &lock = the_shared_mutex;

	if (!here.steps.load_relaxed() || dice.below(4) == 0) {
		take_and_visit(dice, lock);
		if (dice.below(2))
			return lock.unlock();
		lock.downgrade();
	} else {
		sleep_until_done(
			dice, [&] { lock.lock_shared(); },
			[&](u64 by) { return lock.try_lock_shared_until(by); });
	}
	here.wrong.fetch_add_relaxed(!here.data.look(1));
	lock.unlock_shared();
}

inline const char *sections_fault()
{
	return here.data.lost(here.brought.load_relaxed())
		       ? "an update made under the lock was lost"
		       : nullptr;
}

/* A thread that holds nothing runs with its own priority. */
inline void use_inheriting_mutex(xorshift &dice, unsigned)
{
	const inheriting_thread &me = *klock_os_inheriting_thread();

	take_and_visit(dice, the_inheriting_mutex);
	the_inheriting_mutex.unlock();
	const detail::inner_section domain(inheritance::lock);

	here.loans_left.fetch_add_relaxed(me.lent.get() != me.base.get());
}

inline const char *loans_fault()
{
	return here.loans_left.load_relaxed()
		       ? "a loan stayed when the mutex was released"
		       : sections_fault();
}

inline void use_semaphore(xorshift &dice, unsigned)
{
	sleep_until_done(
		dice, [] { the_semaphore.acquire(); },
		[](u64 by) { return the_semaphore.try_acquire_until(by); });
}

inline void release_semaphore(unsigned)
{
	for (unsigned i = 0; i < 4 && here.bring(); i++)
		the_semaphore.release();
}

inline const char *semaphore_fault()
{
	return the_semaphore.try_acquire() ? "a unit too many" : nullptr;
}

inline bool takes_or_gives_up() { return here.take() || give_up; }

inline void use_queue(xorshift &dice, unsigned)
{
	sleep_until_done(
		dice, [] { the_queue.wait(takes_or_gives_up); },
		[](u64 by) {
			return the_queue.wait_until(takes_or_gives_up, by);
		});
}

inline void put_one() { here.stock.fetch_add_relaxed(1); }

inline void wake_queue(unsigned who)
{
	for (unsigned i = 0; i < 4 && here.bring(); i++)
		if ((i + who) % 8)
			the_queue.wake_one(put_one);
		else
			the_queue.wake_all(put_one);
}

inline const char *stock_fault()
{
	return here.stock.load_relaxed() ||
			       here.taken.get() != here.rounds * here.threads
		       ? "a unit was lost, or taken twice"
		       : nullptr;
}

/* A completion on the stack, which a handler of any CPU sets. */
inline void use_completion(xorshift &dice, unsigned who)
{
	completion done;

	asked[who].store_release(&done);
	if (dice.below(4) == 0 && !done.wait_for(dice.below(100000)) &&
	    asked[who].exchange_acquire(nullptr))
		return;
	done.wait(); /* or a handler has it already */
}

inline void set_completions(unsigned)
{
	u32 at = here.brought.fetch_add_relaxed(16);

	for (u32 i = 0; i < here.threads && i < 16; i++)
		if (auto *of = asked[at++ % here.threads].exchange_acquire(
			    nullptr))
			of->set();
}

/* Takes from the stock under a lock, which a handler takes by a try. */
template <auto &Lock, typename Guard>
inline void use_condition(xorshift &dice, unsigned)
{
	Guard held(Lock);

	sleep_until_done(
		dice, [&] { arrived.wait(held, takes_or_gives_up); },
		[&](u64 by) {
			return arrived.wait_until(held, by, takes_or_gives_up);
		});
}

template <auto &Lock>
inline void notify_condition(unsigned)
{
	if (!Lock.try_lock())
		return;
	for (unsigned i = 0; i < 4 && here.bring(); i++) {
		put_one();
		arrived.notify_one();
	}
	Lock.unlock();
}

/* Keys of the stock: units are put at the first. */
inline futex_key key_of_stock(usize number)
{
	return {number, reinterpret_cast<usize>(&here.stock)};
}

/* A thread's look takes a unit, under the lock of the first key's bucket. */
inline futex_look look_in_stock(u32 key = 0)
{
	return key == 0 && takes_or_gives_up() ? futex_look::changed
					       : futex_look::same;
}

/* Until it has a unit; false: until its deadline. */
inline bool take_by_futex(const u64 *until)
{
	const auto look = [] { return look_in_stock(); };
	auto why = futex_result::woken;

	while (why == futex_result::woken)
		why = until ? the_table.wait_until(key_of_stock(0), look,
						   *until)
			    : the_table.wait(key_of_stock(0), look);
	return why == futex_result::changed;
}

/* One time in two it waits for two keys. */
inline void use_futex(xorshift &dice, unsigned)
{
	const futex_key both[] = {key_of_stock(0), key_of_stock(1)};
	auto why = futex_result::woken;

	if (dice.below(2))
		return sleep_until_done(
			dice, [] { (void)take_by_futex(nullptr); },
			[](u64 by) { return take_by_futex(&by); });
	while (why == futex_result::woken) {
		decltype(the_table)::waiter nodes[2];

		why = the_table.wait_any(nodes, both, 2, look_in_stock).why;
	}
}

/* Some waiters are moved to the second key, and then woken there. */
inline void wake_futex(unsigned who)
{
	const futex_key first = key_of_stock(0), second = key_of_stock(1);
	const auto any = [] { return futex_look::same; };

	for (unsigned i = 0; i < 4 && here.bring(); i++) {
		the_table.wake(first, 1, ~0u, put_one);
		if ((i + who) % 8)
			continue;
		the_table.requeue(first, second, 1, 2, any);
		the_table.wake(second, ~0u);
	}
}

/* -- Mistakes in their use -- */

/* Reads the clock between PAUSEs: QEMU takes no interrupt at STI and PAUSE. */
inline void linger()
{
	for (u32 i = 0; i < 20; i++) {
		(void)cycles();
		cpu_relax();
	}
}

/* Checks and sleeps in two steps: a unit that comes in between wakes nobody. */
inline void look_outside(xorshift &, unsigned)
{
	while (!takes_or_gives_up()) {
		bool woken = false;

		linger();
		the_queue.wait([&] {
			const bool ready = woken || give_up;

			woken = true;
			return ready;
		});
	}
}

inline void wait_for_one(xorshift &, unsigned)
{
	the_queue.wait(takes_or_gives_up);
}

/* Wakes a thread before the unit is there. */
inline void wake_too_early(unsigned)
{
	if (!here.bring())
		return;
	the_queue.wake_one([] {});
	relax_for(50);
	put_one();
}

/* The fault in words, or null. */
inline const char *fault(const row &what)
{
	if (here.wrong.load_relaxed())
		return "two were in the section at once";
	return what.ends_wrong ? what.ends_wrong() : nullptr;
}

inline void wake_all()
{
	the_queue.wake_all([] {});
	arrived.notify_all();
}

inline constexpr row rows[] = {
	{"mutex", use_mutex<the_mutex>, nullptr, sections_fault},
	{"shared_mutex", use_shared_mutex, nullptr, sections_fault},
	{"semaphore", use_semaphore, release_semaphore, semaphore_fault},
	{"wait_queue", use_queue, wake_queue, stock_fault},
	{"completion", use_completion, set_completions, nullptr},
	{"condition", use_condition<the_mutex, guard<mutex>>,
	 notify_condition<the_mutex>, stock_fault},
	{"condition_and_spin_lock",
	 use_condition<the_spin_lock, irq_guard<decltype(the_spin_lock)>>,
	 notify_condition<the_spin_lock>, stock_fault},
	{"byte_mutex", use_mutex<the_byte_mutex>, nullptr, sections_fault},
	{"futex", use_futex, wake_futex, stock_fault},
};
/* A mutex that is handed over each time: slow if many CPUs take turns. */
inline constexpr row fifo = {"patient_mutex<0>", use_mutex<the_fifo_mutex>,
			     nullptr, sections_fault};
/* For kernels that have the functions of priorities. */
inline constexpr row lends = {"inheriting_mutex", use_inheriting_mutex, nullptr,
			      loans_fault};
inline constexpr row mistakes[] = {
	{"looks_outside", look_outside, wake_queue, nullptr},
	{"wakes_too_early", wait_for_one, wake_too_early, nullptr},
};

/*
 * A wake by each lock: a thread prepares it, another waits, the first wakes it.
 * Inner: the locks' inner lock.
 */
template <plain_lock Inner>
struct wakes {
	struct row {
		const char *name;
		void (*prepare)(), (*wait)(), (*wake)();
	};

	static inline constinit patient_mutex<8, Inner> one;
	static inline constinit patient_shared_mutex<8, Inner> shared;
	static inline constinit bounded_semaphore<1, Inner> units;
	static inline constinit condition_with<Inner> changed;
	static inline constinit mutex changes_lock;
	static inline constinit completion_with<Inner> done;
	static inline constinit wait_queue_with<Inner> queue;
	static inline constinit futex_table<4, Inner> table;
	static inline constinit bool ready = false;

	template <auto &Lock>
	static void lock_and_unlock()
	{
		Lock.lock();
		Lock.unlock();
	}
	static void wait_for_change()
	{
		guard held(changes_lock);

		changed.wait(held);
	}

	static void wait_in_table()
	{
		(void)table.wait({0, 1}, [] { return futex_look::same; });
	}

	static constexpr row rows[] = {
		{"mutex.unlock", [] { one.lock(); }, lock_and_unlock<one>,
		 [] { one.unlock(); }},
		{"shared_mutex.unlock", [] { shared.lock(); },
		 lock_and_unlock<shared>, [] { shared.unlock(); }},
		{"semaphore.release", [] {}, [] { units.acquire(); },
		 [] { (void)units.release(); }},
		{"condition.notify_one", [] {}, wait_for_change,
		 [] { changed.notify_one(); }},
		{"completion.set", [] { done.reset(); }, [] { done.wait(); },
		 [] { done.set(); }},
		{"wait_queue.wake_one", [] { ready = false; },
		 [] { queue.wait([] { return ready; }); },
		 [] { queue.wake_one([] { ready = true; }); }},
		{"futex.wake", [] {}, wait_in_table,
		 [] {
			 table.wake({0, 1}, 1);
		 }},
	};
};

} // namespace klock::selftest::sleepers
