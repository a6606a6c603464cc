/* SPDX-License-Identifier: MIT */
/*
 * shared_mutex - a lock that readers share, whose waiters sleep
 *
 *	{
 *		klock::shared_guard seen(names);
 *	}
 *	klock::guard held(names);
 *	...
 *	names.downgrade();				held to read from here
 *
 * Algorithm:   A count of those inside and a queue, under the inner lock. Who
 *              arrives goes in if nobody queues and those inside allow it, else
 *              to the back. Who leaves, becomes a reader, or gives up its place
 *              lets in from the front as many as may.
 * Source:      readers and writers in one queue, as Linux's rw_semaphore
 *              without its barging; the proof is ours: detail/sleeping.hpp.
 * Use when:    reads sleep or are long, and writes are rare. Short ones:
 *              rw_ticket_lock, phase_fair_lock, reader_lock. Writers alone:
 *              mutex. Among writers each section costs a context switch once
 *              threads outnumber CPUs, 10 to 300 times the time.
 * Size:        16 bytes, on 32 bits 12; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  free                    Checked: unit/sleep: sizes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                      Checked: model/sleep: freed by the last
 * Fairness:    FIFO, readers and writers; readers that queue next to each other
 *              go in together          Checked: model/sleep: shared_mutex
 * Capacity:    2^32 - 2 readers at once: more contexts than there are
 *                                      Checked: native/sleep
 * Context:     lock(), lock_shared(): threads, interrupts on, no spin lock
 *              held. What unlocks or tries: handlers, too. NMI: none. No
 *              recursion: a read inside a read waits for ever where a writer
 *              came between.
 * Assumes:     what the inner lock assumes
 *
 * State (users, queue):  (0,-) free --lock--> (writer,-) --downgrade--> (1,-)
 *              (n,-) --lock_shared--> (n+1,-) --unlock_shared--> (n,-)
 *              the last leaves, q > 0 queue --> (writer,q-1) or (k,q-k)
 *
 * Ordering:    none of its own; the inner lock brings all
 *                                      Checked: model/sleep: orders needed
 *
 * Cost:        uncontended: 2 passages of the inner lock, 2 RMW, 2 stores, 1
 *              line; a read the same       Checked: model/sleep: cost
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

template <plain_lock Inner = detail::sleepers_lock>
struct shared_mutex_with {
	static constexpr u64 max_contenders = ~u64{0};
	static constexpr u64 max_readers = ~u32{0} - 1;
	/* For checks: who waits for it gives its CPU away. */
	using waiters_sleep = void;

	constexpr shared_mutex_with() = default;

	/* Sleeps until the caller alone holds it. */
	void lock() { (void)enter(false, nullptr); }
	/* Takes it if nobody holds it and nobody waits; never sleeps. */
	[[nodiscard]] bool try_lock() { return try_enter(false); }
	/* By a deadline of cycles(). False: the caller does not hold it. */
	[[nodiscard]] bool try_lock_until(u64 deadline)
	{
		return enter(false, &deadline);
	}
	[[nodiscard]] bool try_lock_for(u64 how_long)
	{
		return try_lock_until(deadline_in(how_long));
	}
	/* The writer's alone, and so is downgrade(): of another's, or of a free
	 * one, nobody may get in any more, or two may (checked_lock names it).
	 */
	void unlock() { leave(); }

	/* -- The same for readers, who hold it together -- */

	void lock_shared() { (void)enter(true, nullptr); }
	[[nodiscard]] bool try_lock_shared() { return try_enter(true); }
	[[nodiscard]] bool try_lock_shared_until(u64 deadline)
	{
		return enter(true, &deadline);
	}
	[[nodiscard]] bool try_lock_shared_for(u64 how_long)
	{
		return try_lock_shared_until(deadline_in(how_long));
	}
	void unlock_shared() { leave(); }

	/* The writer becomes a reader; no writer comes between. */
	void downgrade()
	{
		section in(inner);

		users.set(1);
		admit();
	}

      protected:
	/* lock_shared() for counted_lock.hpp: where it has to wait it does so
	 * by waits(function), and returns true. */
	template <typename Waits>
	[[nodiscard]] bool lock_shared_telling(Waits waits)
	{
		if (try_lock_shared())
			return false;
		waits([this] { lock_shared(); });
		return true;
	}

      private:
	/* Of `users`. */
	static constexpr u32 writer = ~u32{0};

	using section = detail::inner_section<Inner>;

	/* Inline but for the wait: the call would make a read dearer than
	 * pthread's. */
	bool enter(bool reads, const u64 *until)
	{
		section in(inner);

		return entered(reads) || waits(in, reads, until);
	}
	[[gnu::noinline]] bool waits(section &in, bool reads, const u64 *until)
	{
		detail::sleeper me;

		me.reads.set(reads);
		if (in.sleep_in(queue, me, until))
			return true;
		admit();
		return false;
	}

	bool try_enter(bool reads)
	{
		section in(inner);

		return entered(reads);
	}

	void leave()
	{
		section in(inner);
		const u32 now = users.get();

		users.set(now == writer ? 0 : now - 1);
		admit();
	}

	bool entered(bool reads) { return queue.empty() && took(reads); }

	/* Those at the front that may; they are in when they wake. */
	void admit()
	{
		if (!queue.empty())
			admit_some();
	}
	[[gnu::noinline]] void admit_some()
	{
		while (!queue.empty() && took(queue.first()->reads.get()))
			queue.wake_first();
	}

	bool took(bool reads)
	{
		const u32 now = users.get();

		if (reads ? now == writer : now != 0)
			return false;
		users.set(reads ? now + 1 : writer);
		return true;
	}

	Inner inner;
	/* Readers inside, or `writer`. */
	plain<u32> users;
	detail::sleepers queue;
};

using shared_mutex = shared_mutex_with<>;

} // namespace klock
