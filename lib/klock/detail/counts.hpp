/* SPDX-License-Identifier: MIT */
/*
 * counts - what counted_lock.hpp counts of one lock, and the list of those
 * that were ever waited for
 *
 * Its holder alone writes a lock's figures, by plain loads and stores: the lock
 * orders them. Whoever prints reads them meanwhile, each whole. Those of a wait
 * have a cache line of their own: to count one takes nothing from the CPUs that
 * look at the lock.
 *
 * Readers that share a lock have a record of their own, shared_counts. Several
 * write it at once: a wait, under a lock of theirs with interrupts off, a few
 * stores after it is over.
 *
 * A reset writes no figure that a holder writes. It begins a new epoch; the
 * next holder that has waited finds its own to be old, and begins at none.
 * Until then who prints sees by the same that they are none.
 *
 * Ordering:
 *	O1  is_of_now  epoch.load_acquire              pairs with O4
 *	O2  add        all.compare_exchange_release    pairs with O3
 *	O3  next_of    from.load_acquire               pairs with O2
 *	O4  prepare    epoch.store_release             pairs with O1
 *                                      Checked: model/counted_lock: counts
 *
 *	By O1 nobody prints figures of an epoch before; by O3 it knows a
 *	lock's name. Who prints or takes a lock out is alone, by `looking`.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/text.hpp>
#include <klock/irq.hpp>
#include <klock/plain.hpp>
#include <klock/tas_lock.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * wide_count - a count of 64 bits that one writes and anybody reads, on any CPU
 *
 * Where a word has 64 bits it is that word. Else two: the lower bits, and how
 * often their half was passed. The last bit of the second and the top bit of
 * the first say the same, but between the writer's two stores: who reads then
 * sees that the second is one behind. No bit is lost where a reader's two loads
 * take less time than half a range of counting, 2^31.
 *
 * Ordering:
 *	O1  get   halves.load_acquire   pairs with O2
 *	O2  step  halves.store_release  pairs with O1
 *                                      Checked: model/wide_count
 *
 *	So the lower bits, read after it, are no older than the second word.
 *
 * Context: add(): one at a time, a lock's holder. get(): any.
 */

/* Word: of half of them; narrower ones are for tests. */
template <typename Word>
struct split_count {
	[[nodiscard]] u64 get() const
	{
		const Word passed = halves.load_acquire(); /* O1 */
		const Word lower = low.load_relaxed();
		const u64 behind = (passed ^ (lower >> top)) & 1;

		return ((passed + behind) << top) + (lower & below_top);
	}

	/* In steps that a reader can follow. */
	void add(u64 more)
	{
		while (more > below_top) {
			step(below_top);
			more -= below_top;
		}
		step(more);
	}

	/* To none: a reader that looks just then may see either word's old. */
	void clear()
	{
		low.store_relaxed(0);
		halves.store_relaxed(0);
	}

      private:
	static constexpr u32 top = 8 * sizeof(Word) - 1;
	static constexpr Word below_top = static_cast<Word>(~Word{0}) >> 1;

	void step(u64 more)
	{
		const u64 now = get() + more;

		low.store_relaxed(static_cast<Word>(now));
		halves.store_release(static_cast<Word>(now >> top)); /* O2 */
	}

	atomic<Word> low;
	/* Multiples of 2^top that are counted. */
	atomic<Word> halves;
};

/* Word: of all 64. */
template <typename Word>
struct whole_count {
	[[nodiscard]] u64 get() const { return count.load_relaxed(); }
	void add(u64 more) { count.store_relaxed(count.load_relaxed() + more); }
	void clear() { count.store_relaxed(0); }

      private:
	atomic<Word> count;
};

namespace detail {
template <usize Bytes>
struct count_for {
	using type = split_count<u32>;
};
template <>
struct count_for<8> {
	using type = whole_count<u64>;
};

/* As much of it as a word holds. */
template <typename Word>
Word at_most(u64 number)
{
	constexpr Word most = ~Word{0};

	return number < most ? static_cast<Word>(number) : most;
}
} // namespace detail

/* Cycles; none by a clock that is behind that of the CPU where it began. */
inline u64 cycles_since(u64 began)
{
	const u64 now = cycles_if_usable();

	return now > began ? now - began : 0;
}

using wide_count = detail::count_for<sizeof(usize)>::type;

/* Of the waits. Zero bytes: nothing counted yet. */
struct alignas(cache_line) wait_counts {
	void count(u64 cycles)
	{
		contended.store_relaxed(contended.load_relaxed() + 1);
		waited.add(cycles);
		raise(longest_wait, cycles);
	}

	void begin_hold() { since.set(cycles_if_usable()); }

	/* Of one that did not begin, as an upgrade's, nothing is known. */
	void end_hold()
	{
		const u64 began = since.get();

		if (!began)
			return;
		since.set(0);
		const u64 now = cycles_since(began);

		held.add(now);
		raise(longest_hold, now);
	}

	void clear()
	{
		contended.store_relaxed(0);
		waited.clear();
		longest_wait.store_relaxed(0);
		held.clear();
		longest_hold.store_relaxed(0);
	}

	/* Acquisitions that waited. */
	atomic<usize> contended;
	/* In cycles, all together and at most. */
	wide_count waited;
	atomic<usize> longest_wait;
	wide_count held;
	atomic<usize> longest_hold;

      private:
	static void raise(atomic<usize> &longest, u64 cycles)
	{
		const usize now = detail::at_most<usize>(cycles);

		if (now > longest.load_relaxed())
			longest.store_relaxed(now);
	}

	plain<u64> since;
};

/* The rest; beside the lock. Zero bytes: not in the list. */
struct lock_counts {
	/* -- By the lock's holder -- */

	/* It was free. */
	void count() { acquired.store_relaxed(acquired.load_relaxed() + 1); }

	/* Before any of its waits is counted, or of its holds. */
	void prepare(wait_counts &its, const char *name);

	/* Before it is listed, or by all who do so the same. */
	void call(const char *name, u32 element_plus_1)
	{
		called.store_relaxed(name);
		element.store_relaxed(element_plus_1);
	}
	void set_name(const char *name, u32 element_plus_1)
	{
		call(name, element_plus_1);
		sign();
	}

	/* Into the list, if it is not in it. Any context. */
	void list(wait_counts &its, const char *name);

	/* -- By who prints -- */

	/* Whether its waits are counted since the last reset. */
	[[nodiscard]] bool is_of_now() const;

	/*
	 * Whether it is what was listed. Memory that was freed, and is used for
	 * anything else, is not: its pointers are then nobody's.
	 */
	[[nodiscard]] bool is_alive() const
	{
		return signature.load_relaxed() == signed_now();
	}
	/* Behind each change of its pointers. */
	void sign() { signature.store_relaxed(signed_now()); }

	/* Acquisitions of the lock while it was free; modulo a word's range. */
	atomic<usize> acquired;
	/* The same at the last reset. */
	atomic<usize> acquired_before;
	atomic<const char *> called;
	atomic<u32> element;
	/* Of the figures in `waits`. */
	atomic<u32> epoch;
	atomic<lock_counts *> next;
	atomic<wait_counts *> waits;
	/* By which print it was printed last: print_counts.hpp. */
	atomic<u32> printed;
	/* In which list it is, of those that counts_list began; 0: in none. */
	atomic<u8> listed;
	/* 1: a shared_counts, of those who read. */
	atomic<u8> shared;
	/* What signed_now() was, behind the last change. */
	atomic<u16> signature;

      private:
	/* Of its address and pointers. */
	u16 signed_now() const
	{
		usize sum = reinterpret_cast<usize>(this);

		sum = sum * 31 + reinterpret_cast<usize>(called.load_relaxed());
		sum = sum * 31 + reinterpret_cast<usize>(next.load_relaxed());
		sum = sum * 31 + reinterpret_cast<usize>(waits.load_relaxed());
		sum ^= sum >> 16 >> 16;
		return static_cast<u16>(sum * 2654435761u >> 16);
	}
};

/* Of a lock that readers share: theirs. Zero bytes: not in the list. */
struct shared_counts : lock_counts {
	/* From one CPU's reads to the next one's, in words: a line. */
	static constexpr u32 apart = cache_line / sizeof(usize);

	/* A reader's wait; on return it still reads. Not in an NMI handler. */
	void count_wait(wait_counts &its, const char *name, u64 cycles)
	{
		const irq_state before = irq_save();

		counting.lock();
		prepare(its, name);
		its.count(cycles);
		counting.unlock();
		irq_restore(before);
	}

	/* Into the list. reads: where those are counted who did not wait. */
	void list_reads(wait_counts &its, const char *name,
			const atomic<usize> *of, u32 so_many_cpus)
	{
		reads.store_relaxed(of);
		cpus.store_relaxed(so_many_cpus);
		shared.store_relaxed(1);
		list(its, name);
	}

	/* All that did not wait. */
	[[nodiscard]] usize sum() const
	{
		const atomic<usize> *const of = reads.load_relaxed();
		usize all = 0;

		for (u32 i = 0; i < cpus.load_relaxed(); i++)
			all += of[i * apart].load_relaxed();
		return all;
	}

      private:
	atomic<const atomic<usize> *> reads;
	atomic<u32> cpus;
	/* Of readers that count a wait. */
	tas_lock counting;
};

/* Acquisitions of a listed one while it was free. */
inline usize free_acquisitions(const lock_counts &one)
{
	return one.shared.load_relaxed()
		       ? static_cast<const shared_counts &>(one).sum()
		       : one.acquired.load_relaxed();
}

/*
 * All locks that were waited for, the last first. Locks are added without a
 * lock, as an NMI handler may add one. `looking` is for who walks through it,
 * or takes one out.
 */
struct counts_list {
	void add(lock_counts &one)
	{
		lock_counts *first = all.load_relaxed();

		added.fetch_add_relaxed(1);
		do {
			one.next.store_relaxed(first);
			one.sign();
		} while (!all.compare_exchange_release(first, &one)); /* O2 */
	}

	/* visit(lock_counts &) of each, with interrupts off. */
	template <typename Visit>
	void for_each(Visit visit)
	{
		const irq_state before = irq_save();

		looking.lock();
		lock_counts *at = next_of(all), *last = nullptr;
		/* Not longer than it can be, were memory used twice. */
		for (u32 most = added.load_relaxed(); at && most > 0; most--) {
			if (!at->is_alive()) {
				end_behind(last);
				break;
			}
			visit(*at);
			last = at;
			at = next_of(at->next);
		}
		looking.unlock();
		irq_restore(before);
	}

	void remove(lock_counts &one)
	{
		const irq_state before = irq_save();

		looking.lock();
		while (one.listed.load_relaxed())
			try_to_remove(one);
		looking.unlock();
		irq_restore(before);
	}

	/* One print at a time: they mark what they had. False: another is. */
	bool begin_printing() { return !printing.exchange_relaxed(1); }
	void end_printing() { printing.store_relaxed(0); }

	/* Not 0: no lock has that mark yet. */
	u32 number_of_print() { return prints.fetch_add_relaxed(1) + 1; }

	/* By what a lock has noted: in the list; or it was cut off there. */
	[[nodiscard]] bool has(u8 listed) const
	{
		return listed && static_cast<u8>(listed - now()) < 128;
	}
	/* What is listed now notes. Not 0. */
	[[nodiscard]] u8 now() const
	{
		return static_cast<u8>(cuts.load_relaxed() + 1);
	}

	/* Listed locks whose memory was found to be something else's. */
	atomic<u32> freed;

	/* How often all was reset. */
	atomic<u32> epoch;

      private:
	static lock_counts *next_of(const atomic<lock_counts *> &from)
	{
		return from.load_acquire(); /* O3 */
	}

	/*
	 * Behind this one, or at the front, memory was freed. Nobody knows what
	 * was listed before it: those list themselves once more, by a wait.
	 */
	void end_behind(lock_counts *last)
	{
		const u8 next = now() == 0xff ? 1 : now() + 1;
		lock_counts *at = next_of(all), *gone = at;

		/* First: who is in the list does not list itself. */
		for (; last && at;
		     at = at == last ? nullptr : next_of(at->next))
			at->listed.store_relaxed(next);
		if (last) {
			last->next.store_relaxed(nullptr);
			last->sign();
		} else {
			(void)all.compare_exchange_relaxed(gone, nullptr);
		}
		cuts.store_relaxed(static_cast<u8>(next - 1));
		freed.fetch_add_relaxed(1);
	}

	/* Not where another has come to stand before the first. */
	void try_to_remove(lock_counts &one)
	{
		atomic<lock_counts *> *to_it = &all;
		lock_counts *before = nullptr;

		for (lock_counts *at = next_of(all); at != &one;) {
			if (at && !at->is_alive()) {
				end_behind(before);
				at = nullptr;
			}
			if (!at)
				return one.listed.store_relaxed(0);
			before = at;
			to_it = &at->next;
			at = next_of(at->next);
		}
		lock_counts *found = &one;
		if (!to_it->compare_exchange_relaxed(found,
						     one.next.load_relaxed()))
			return;
		if (before)
			before->sign();
		one.listed.store_relaxed(0);
	}

	atomic<lock_counts *> all;
	atomic<u32> added;
	atomic<u32> prints;
	/* How often it ended at memory that was freed. */
	atomic<u8> cuts;
	atomic<u8> printing;
	tas_lock looking;
};

inline constinit counts_list counted_locks;

inline bool lock_counts::is_of_now() const
{
	return epoch.load_acquire() == /* O1 */
	       counted_locks.epoch.load_relaxed();
}

inline void lock_counts::list(wait_counts &its, const char *name)
{
	const u8 now = counted_locks.now();

	if (counted_locks.has(listed.load_relaxed()) ||
	    listed.exchange_relaxed(now) == now)
		return;
	if (!called.load_relaxed())
		called.store_relaxed(name);
	waits.store_relaxed(&its);
	counted_locks.add(*this);
}

inline void lock_counts::prepare(wait_counts &its, const char *name)
{
	const u32 now = counted_locks.epoch.load_relaxed();

	if (epoch.load_relaxed() != now) {
		its.clear();
		epoch.store_release(now); /* O4 */
	}
	list(its, name);
}

} // namespace klock
