/* SPDX-License-Identifier: MIT */
/*
 * qspinlock - the queued spin lock that Linux has, by its descriptions: a
 * reference row, written anew
 *
 * Source:  Corbet, "MCS locks and qspinlocks", LWN 590243, 2014; the queue:
 *          Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 2.4.
 *
 *	bits 0 to 7	locked
 *	bits 8 to 15	pending: one CPU waits without a node
 *	bits 16 to 31	tail: the number of the last CPU in the queue, plus 1
 *
 * The first CPU that finds it locked sets pending and waits for the holder. Any
 * other queues; the first in the queue waits for both. A CPU waits for one lock
 * at a time here, and so needs one node.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/types.hpp>

namespace bench {

template <unsigned Cpus>
struct qspinlock {
	static constexpr klock::u64 max_contenders = Cpus;

	void lock(unsigned cpu)
	{
		klock::u32 seen = 0;

		if (!replace(seen, only_locked))
			wait(seen, cpu);
	}

	void unlock(unsigned)
	{
		__atomic_store_n(&word.locked, 0, __ATOMIC_RELEASE);
	}

      private:
	struct alignas(klock::cache_line) node {
		node *next;
		bool first;
	};

	static constexpr klock::u32 only_locked = 1;
	static constexpr klock::u32 pending_bit = 0x100;
	static constexpr klock::u32 without_tail = 0xffff;

	/* On failure seen is what the word had. */
	bool replace(klock::u32 &seen, klock::u32 by)
	{
		return __atomic_compare_exchange_n(&word.all, &seen, by, false,
						   __ATOMIC_ACQUIRE,
						   __ATOMIC_ACQUIRE);
	}

	[[gnu::noinline]] void wait(klock::u32 seen, unsigned cpu)
	{
		if (seen & ~only_locked || !wait_pending())
			queue(cpu);
	}

	/* False if another CPU was pending, or queued, before. */
	bool wait_pending()
	{
		const klock::u32 before = __atomic_fetch_or(
			&word.all, pending_bit, __ATOMIC_ACQUIRE);

		if (before & ~only_locked) {
			if (!(before & pending_bit))
				__atomic_fetch_and(&word.all, ~pending_bit,
						   __ATOMIC_RELAXED);
			return false;
		}
		while (__atomic_load_n(&word.locked, __ATOMIC_ACQUIRE))
			klock::cpu_relax();
		/* Both at once: no longer pending, and locked. */
		__atomic_store_n(&word.halves.state, only_locked,
				 __ATOMIC_RELAXED);
		return true;
	}

	void queue(unsigned cpu)
	{
		node &mine = nodes[cpu];
		const klock::u16 me = static_cast<klock::u16>(cpu + 1);

		mine.next = nullptr;
		mine.first = false;
		const klock::u16 before = __atomic_exchange_n(
			&word.halves.tail, me, __ATOMIC_ACQ_REL);
		if (before) {
			__atomic_store_n(&nodes[before - 1].next, &mine,
					 __ATOMIC_RELEASE);
			while (!__atomic_load_n(&mine.first, __ATOMIC_ACQUIRE))
				klock::cpu_relax();
		}
		take_first(mine, me);
	}

	/* Waits for the holder and the pending CPU, as the queue's first. */
	void take_first(node &mine, klock::u16 me)
	{
		klock::u32 seen;

		while ((seen = __atomic_load_n(&word.all, __ATOMIC_ACQUIRE)) &
		       without_tail)
			klock::cpu_relax();
		if (seen >> 16 == me && replace(seen, only_locked))
			return; /* the queue is empty */
		/* A CPU that set pending or the tail meanwhile queues behind
		 * us. */
		__atomic_store_n(&word.locked, 1, __ATOMIC_RELAXED);
		node *next;
		while (!(next = __atomic_load_n(&mine.next, __ATOMIC_ACQUIRE)))
			klock::cpu_relax();
		__atomic_store_n(&next->first, true, __ATOMIC_RELEASE);
	}

	/* x86 accesses parts of a word, which others access whole. */
	union {
		klock::u32 all = 0;
		klock::u8 locked;
		struct {
			klock::u16 state;
			klock::u16 tail;
		} halves;
	} word;

	static inline node nodes[Cpus] = {};
};

} // namespace bench
