/* SPDX-License-Identifier: MIT */
/*
 * futex - threads that sleep on an address until somebody wakes it
 *
 *	constinit klock::futex_table<> futexes;
 *
 *	const klock::futex_key key{space, address};
 *	const auto look = [&] { return compare(address, expected); };
 *	const auto why = futexes.wait(key, look);
 *
 *	if (futexes.wait_for(key, look, one_second) ==
 *	    klock::futex_result::deadline)
 *		return timed_out;
 *
 *	futexes.wake(key, 1);				in a handler, too
 *
 * Algorithm:   A table of buckets. A bucket has an inner lock, and a queue of
 *              the waiters of all keys that hash to it. wait() takes the lock,
 *              calls look(), which reads the word, and queues a node on the
 *              stack if the word is as expected. A waker changes the word
 *              first, and then takes that lock. So either the look sees the
 *              change, or the waker sees the node. Nobody looks without the
 *              lock whether somebody waits: that would need a fence on both
 *              sides.
 *              A node says in which bucket it is (`home`). requeue() writes
 *              that with both buckets' locks held, of which it takes the lower
 *              address first. After its park a waiter reads `home`, takes that
 *              bucket's lock, and reads `home` again: if it was moved
 *              meanwhile, it starts anew. With the right lock held, either it
 *              was told, and the waker has done with the node, or it removes
 *              the node. So a deadline, a kill and a wake do not race, and
 *              nobody touches a node after its wait has returned.
 * Source:      Franke, Russell and Kirkwood, OLS 2002 (futex); a table, and a
 *              look under the bucket's lock, are the field's (Linux's futex,
 *              WTF's ParkingLot); the proof is ours: detail/sleeping.hpp
 * Use when:    a program's words are to be slept on (futex(2), a C library's
 *              threads), or a million objects need a lock of a byte each:
 *              byte_mutex. A kernel's own data: the other locks that sleep.
 * Size:        a line for each bucket; a waiter: 64 bytes or 36 on its stack
 *                                      Checked: unit/futex: sizes
 * Zero bytes:  nobody waits            Checked: unit/futex: sizes
 * Lifetime:    the table outlives its waits. What a key names may be freed once
 *              nobody waits for it: the table does not read it
 *                              Checked: model/futex: freed by the last
 * Fairness:    FIFO for each key; who is requeued comes behind those who wait
 *              for the new key. To its own key it stays where it is
 *                                      Checked: unit/futex: order
 * Capacity:    any number of threads and keys; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, interrupts on, no spin lock held. wake(),
 *              requeue(), wake_op(): handlers, too; NMI: none. Looks and
 *              changes run under spin locks with interrupts off: they must be
 *              short, must not sleep, fault or throw, and must not call a
 *              table. So a look at memory that may not be present says
 *              "faulted" and does not wait for it (by an exception table); the
 *              caller then reads it in, and waits again.
 * Assumes:     what the inner lock assumes
 *
 * State (of a node):  queued --wake--> told;  queued --requeue--> queued
 *	queued --deadline, kill--> gone
 *
 * Ordering:    none of its own; the buckets' locks order all. What a waker has
 *              written before its wake() the woken thread reads. A look that
 *              sees the change is a load as any: what was written before that
 *              change is read behind an acquire.
 *                                      Checked: model/futex: orders needed
 *
 * Wake-ups:    wake() counts the threads that it told. One whose deadline has
 *              passed meanwhile, or that is killed, was told, and its wait
 *              returns "woken". wait_any() may be told of several keys: it
 *              returns the first of them, and the other wake-ups are consumed.
 *              Linux's futex(2) has the same results: random programs are run
 *              through both         Checked: native/futex: as Linux's
 *
 * Cost:        a wait that need not sleep, and a wake: a passage of the
 *              bucket's lock, and a step for each waiter in the bucket, of any
 *              key, in front of the last that is woken; unparks come with
 *              interrupts off. Let the number of buckets be a multiple of the
 *              threads that wait at once      Checked: model/futex: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * The identity of a word: an address space and an address, or, where several
 * spaces share it, a page and an offset. Both are compared: an address alone is
 * another word in each space. {0, address} is left to the kernel's own objects.
 */
struct futex_key {
	usize space;
	usize address;

	bool operator==(const futex_key &) const = default;
};

/* A look's answer, at the word. */
enum class futex_look : u8 {
	/* as the waiter expects: it sleeps */
	same,
	/* it does not sleep */
	changed,
	/* the memory is not present; neither */
	faulted,
};

/* Why a wait ended. */
enum class futex_result : u8 {
	woken,
	changed,
	faulted,
	deadline,
	/* klock_os_park_until() ended it before its deadline */
	killed,
};

/* A wait_any()'s end. */
struct futex_of_several {
	futex_result why;
	/* woken: the key's number; changed, faulted: the look's */
	u32 which;
};

/* How many a requeue() or a wake_op() has reached. */
struct futex_count {
	/* if not same: nobody was */
	futex_look found;
	u32 woken;
	u32 moved;
};

/* An operation's result on the second word of a wake_op(). */
enum class futex_op : u8 {
	/* its comparison holds: waiters of that word are woken, too */
	wakes_both,
	wakes_one,
	/* the memory is not present, and nothing was done */
	faulted,
};

template <plain_lock Inner>
struct alignas(cache_line) futex_bucket {
	Inner inner;
	detail::sleepers queue;
};

/* A waiting thread's node. The thread that waits makes it. */
template <plain_lock Inner>
struct futex_waiter : detail::sleeper {
	plain<futex_key> key;
	/* Written with the locks of both buckets held, and read without. */
	atomic<futex_bucket<Inner> *> home;
	plain<u32> mask;
	/* byte_mutex: it was told, and holds it; others wait behind it */
	plain<bool> handed, others;
};

template <usize Buckets = 256, plain_lock Inner = detail::sleepers_lock>
struct futex_table {
	static_assert(Buckets && !(Buckets & (Buckets - 1)),
		      "the number of buckets is a power of two");

	/* For checks. */
	using waiters_sleep = void;
	using waiter = futex_waiter<Inner>;
	static constexpr u32 any_bit = ~u32{0};

	constexpr futex_table() = default;
	futex_table(const futex_table &) = delete;
	futex_table &operator=(const futex_table &) = delete;

	/*
	 * Sleeps until it is woken, if look() says that the word is as
	 * expected: a function that returns a futex_look. mask: a wake() that
	 * has none of these bits passes it by.
	 */
	template <typename Look>
	[[nodiscard]] futex_result wait(futex_key key, Look look,
					u32 mask = any_bit)
	{
		waiter me;

		return sleep_on(me, key, look, nullptr, mask);
	}
	/* wait() until a deadline of cycles(), or until the kernel ends it;
	 * ~0: a kill alone does. */
	template <typename Look>
	[[nodiscard]] futex_result wait_until(futex_key key, Look look,
					      u64 deadline, u32 mask = any_bit)
	{
		waiter me;

		return sleep_on(me, key, look, &deadline, mask);
	}
	template <typename Look>
	[[nodiscard]] futex_result wait_for(futex_key key, Look look,
					    u64 how_long, u32 mask = any_bit)
	{
		return wait_until(key, look, deadline_in(how_long), mask);
	}

	/*
	 * Sleeps until one of n keys is woken, if look(i) says for each that
	 * its word is as expected. nodes: n of them, at least one, the
	 * caller's, to be used again when it returns.
	 */
	template <typename Look>
	[[nodiscard]] futex_of_several
	wait_any(waiter *nodes, const futex_key *keys, u32 n, Look look)
	{
		return sleep_on_any(nodes, keys, n, look, nullptr);
	}
	template <typename Look>
	[[nodiscard]] futex_of_several
	wait_any_until(waiter *nodes, const futex_key *keys, u32 n, Look look,
		       u64 deadline)
	{
		return sleep_on_any(nodes, keys, n, look, &deadline);
	}

	/* Wakes at most so many of the key's waiters, the first ones that have
	 * a bit of the mask. Returns how many. */
	u32 wake(futex_key key, u32 most, u32 mask = any_bit)
	{
		return wake(key, most, mask, [] {});
	}
	/* Calls change() first, under the lock of the key's looks: they see it
	 * before or after, and who queued before it is woken. */
	template <typename Change>
	u32 wake(futex_key key, u32 most, u32 mask, Change change)
	{
		bucket &b = bucket_of(key);
		section in(b.inner);

		change();
		return wakes(in, b, key, most, mask);
	}

	/*
	 * Wakes the first so many waiters of a key, and has as many as `moves`
	 * of the others wait for another key, whatever their masks, if look()
	 * says that the word is as expected.
	 */
	template <typename Look>
	futex_count requeue(futex_key from, futex_key to, u32 most, u32 moves,
			    Look look)
	{
		bucket &b = bucket_of(from), &c = bucket_of(to);
		section_of_two in(b, c);
		futex_count done = {look(), 0, 0};

		if (done.found != futex_look::same)
			return done;
		done.woken = wakes(in.outer, b, from, most, any_bit);
		each(b, from, [&](waiter &one) {
			if (done.moved == moves)
				return false;
			done.moved++;
			move(one, b, c, to);
			return true;
		});
		return done;
	}

	/*
	 * Calls op(), which changes the word of `other` and compares what it
	 * was; then wakes at most so many waiters of `key`, and if the
	 * comparison holds, at most `more` of `other`.
	 */
	template <typename Op>
	futex_count wake_op(futex_key key, u32 most, futex_key other, u32 more,
			    Op op)
	{
		bucket &b = bucket_of(key), &c = bucket_of(other);
		section_of_two in(b, c);
		const futex_op what = op();

		if (what == futex_op::faulted)
			return {futex_look::faulted, 0, 0};
		u32 woken = wakes(in.outer, b, key, most, any_bit);
		if (what == futex_op::wakes_both)
			woken += wakes(in.outer, c, other, more, any_bit);
		return {futex_look::same, woken, 0};
	}

	/* The number of a key's bucket. */
	static constexpr usize index_of(futex_key key)
	{
		/* The golden ratio, whose multiples are spread evenly. */
		constexpr auto ratio =
			static_cast<usize>(0x9e3779b97f4a7c15ull);
		const usize mixed = (key.space * ratio ^ key.address) * ratio;

		/* The high bits depend on all of the key. */
		if constexpr (Buckets == 1)
			return 0;
		else
			return mixed / (~usize{0} / Buckets + 1);
	}

      private:
	template <auto &Table, u32 Patience, u32 Spins>
	friend struct patient_byte_mutex;

	using bucket = futex_bucket<Inner>;
	using section = detail::inner_section<Inner>;

	/*
	 * Both buckets' locks, the lower address first. The outer section, in
	 * which all wake-ups are noted, ends last: klock_os_unparked() is
	 * called behind both.
	 */
	struct section_of_two {
		section_of_two(bucket &x, bucket &y)
		    : outer((&x < &y ? x : y).inner),
		      second(&x == &y  ? nullptr
			     : &x < &y ? &y.inner
				       : &x.inner)
		{
			if (second)
				second->lock();
		}
		~section_of_two()
		{
			if (second)
				second->unlock();
		}
		section_of_two(const section_of_two &) = delete;
		section_of_two &operator=(const section_of_two &) = delete;

		section outer;
		Inner *const second;
	};

	bucket &bucket_of(futex_key key) { return buckets[index_of(key)]; }

	/* Calls visit(waiter) for each of the key, in their order, until it
	 * returns false. It may remove that waiter. */
	template <typename Visit>
	static void each(bucket &in, futex_key key, Visit visit)
	{
		detail::sleeper *at = in.queue.first();

		while (at) {
			detail::sleeper *const next = in.queue.after(*at);
			waiter &one = static_cast<waiter &>(*at);

			if (one.key.get() == key && !visit(one))
				return;
			at = next;
		}
	}

	static u32 wakes(section &in, bucket &b, futex_key key, u32 most,
			 u32 mask)
	{
		u32 woken = 0;

		if (!most)
			return 0;
		each(b, key, [&](waiter &one) {
			if (!(one.mask.get() & mask))
				return true;
			b.queue.remove(one);
			in.wake(one);
			return ++woken < most;
		});
		return woken;
	}

	/* With the locks of both held. To its own key it stays where it is. */
	static void move(waiter &one, bucket &from, bucket &to, futex_key key)
	{
		if (one.key.get() == key)
			return;
		from.queue.remove(one);
		one.key.set(key);
		one.home.store_relaxed(&to);
		to.queue.push_back(one);
	}

	/* Queues the node if the look says so. */
	template <typename Look>
	futex_look enqueue(waiter &me, futex_key key, u32 mask, Look &look)
	{
		bucket &b = bucket_of(key);
		section in(b.inner);
		const futex_look found = look();

		if (found != futex_look::same)
			return found;
		me.key.set(key);
		me.mask.set(mask);
		me.home.store_relaxed(&b);
		put(b, me);
		return found;
	}
	/* Behind those of its key that failed as often, in front of others. */
	static void put(bucket &b, waiter &me)
	{
		const futex_key key = me.key.get();
		const u8 failed = me.failed_wakeups.get();

		if (!failed)
			return b.queue.push_back(me);
		b.queue.insert(me, [key, failed](const detail::sleeper &at) {
			return static_cast<const waiter &>(at).key.get() ==
				       key &&
			       at.failed_wakeups.get() < failed;
		});
	}

	/* Calls change(first, more) under the key's lock: its first waiter or
	 * null, and whether it has others. Then wakes the first. */
	template <typename Change>
	void wake_first(futex_key key, Change change)
	{
		bucket &b = bucket_of(key);
		section in(b.inner);
		waiter *first = nullptr;
		bool more = false;

		each(b, key, [&](waiter &one) {
			more = first;
			if (!first)
				first = &one;
			return !more;
		});
		change(first, more);
		if (!first)
			return;
		b.queue.remove(*first);
		in.wake(*first);
	}

	/* Returns whether it was told. Nobody touches the node any more. */
	[[gnu::noinline]] static bool leave(waiter &me)
	{
		for (;;) {
			bucket &b = *me.home.load_relaxed();
			section in(b.inner);

			/* requeue() has moved it before the lock was taken. */
			if (me.home.load_relaxed() != &b)
				continue;
			if (me.is_told())
				return true;
			b.queue.remove(me);
			return false;
		}
	}

	template <typename Look>
	futex_result sleep_on(waiter &me, futex_key key, Look &look,
			      const u64 *until, u32 mask)
	{
		const futex_look found = enqueue(me, key, mask, look);

		if (found != futex_look::same)
			return result_of(found);
		me.park(until);
		return result_of(leave(me), until);
	}

	template <typename Look>
	futex_of_several sleep_on_any(waiter *nodes, const futex_key *keys,
				      u32 n, Look &look, const u64 *until)
	{
		futex_look found = futex_look::same;
		u32 queued = 0, told = n;

		while (queued < n) {
			auto look_at = [&] { return look(queued); };

			nodes[queued].woken.store_relaxed(false);
			found = enqueue(nodes[queued], keys[queued], any_bit,
					look_at);
			if (found != futex_look::same)
				break;
			queued++;
		}
		if (queued == n)
			park_for_any(nodes, n, until);
		for (u32 i = queued; i-- > 0;)
			if (leave(nodes[i]))
				told = i;
		if (told != n)
			return {futex_result::woken, told};
		if (found != futex_look::same)
			return {result_of(found), queued};
		return {result_of(false, until), 0};
	}

	static void park_for_any(const waiter *nodes, u32 n, const u64 *until)
	{
		while (!any_is_told(nodes, n)) {
			if (!until)
				klock_os_park();
			else if (!klock_os_park_until(*until))
				return;
		}
	}
	static bool any_is_told(const waiter *nodes, u32 n)
	{
		for (u32 i = 0; i < n; i++)
			if (nodes[i].is_told())
				return true;
		return false;
	}

	static futex_result result_of(futex_look found)
	{
		return found == futex_look::changed ? futex_result::changed
						    : futex_result::faulted;
	}
	static futex_result result_of(bool told, const u64 *until)
	{
		if (told)
			return futex_result::woken;
		return cycles() < *until ? futex_result::killed
					 : futex_result::deadline;
	}

	bucket buckets[Buckets];
};

} // namespace klock
