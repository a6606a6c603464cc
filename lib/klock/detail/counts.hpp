/* SPDX-License-Identifier: MIT */
/*
 * counts - the figures that counted_lock.hpp keeps of a lock, and the list of
 * all locks that were ever waited for
 *
 * Only the holder writes a lock's figures, by a load and a store each: the lock
 * orders them. A CPU that prints reads them meanwhile; no figure is torn. The
 * figures of waits have a cache line of their own, so that counting does not
 * take the lock's line from the CPUs that wait.
 *
 * Readers that share a lock have a record of their own, shared_counts. As
 * several readers may write it, they take its spin lock with interrupts off,
 * for a few stores after their wait.
 *
 * A reset does not write the figures. It begins a new epoch: the next holder
 * that has waited finds that its figures have an old epoch, and clears them.
 * Until then, a CPU that prints ignores figures of an old epoch.
 *
 * Ordering:
 *	O1  is_of_now  epoch.load_acquire              pairs with O4
 *	O2  add        all.compare_exchange_release    pairs with O3
 *	O3  next_of    from.load_acquire               pairs with O2
 *	O4  prepare    epoch.store_release             pairs with O1
 *                                      Checked: model/counted_lock: counts
 *
 *	By O1 figures of an earlier epoch are not printed. By O3 the name of a
 *	listed lock is visible. `looking` is a lock for the CPU that prints or
 *	removes.
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
 * wide_count - a count of 64 bits with one writer and any readers, on any CPU
 *
 * It is one word if words have 64 bits, and two if they have 32: the lower
 * bits, and how often their half range was passed. The lowest bit of the second
 * word equals the top bit of the first, except between the writer's two stores:
 * a reader that sees them differ knows that the second is one behind. The
 * result is exact if less than half a range, 2^31, is counted between a
 * reader's two loads.
 *
 * Ordering:
 *	O1  get   halves.load_acquire   pairs with O2
 *	O2  step  halves.store_release  pairs with O1
 *                                      Checked: model/wide_count
 *
 *	So the lower bits, read later, are no older than the second word.
 *
 * Context: add(): one at a time, a lock's holder. get(): any.
 */

/* A count in two words; narrower words than u32 are for tests. */
template <typename Word>
struct split_count {
	[[nodiscard]] u64 get() const
	{
		const Word passed = halves.load_acquire(); /* O1 */
		const Word lower = low.load_relaxed();
		const u64 behind = (passed ^ (lower >> top)) & 1;

		return ((passed + behind) << top) + (lower & below_top);
	}

	/* Adds in steps of at most half a range, as get() demands. */
	void add(u64 more)
	{
		while (more > below_top) {
			step(below_top);
			more -= below_top;
		}
		step(more);
	}

	/* Sets it to 0. A concurrent get() may still find one word's old value.
	 */
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
	/* how many times 2^top was counted */
	atomic<Word> halves;
};

/* A count in one word. */
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

/* The number, or the largest of a Word if that is less. */
template <typename Word>
Word at_most(u64 number)
{
	constexpr Word most = ~Word{0};

	return number < most ? static_cast<Word>(number) : most;
}
} // namespace detail

/* Cycles since then; 0 if this CPU's clock is behind that of the first CPU. */
inline u64 cycles_since(u64 began)
{
	const u64 now = cycles_if_usable();

	return now > began ? now - began : 0;
}

using wide_count = detail::count_for<sizeof(usize)>::type;

/* The figures of waits and holds. Zero bytes: nothing counted yet. */
struct alignas(cache_line) wait_counts {
	void count(u64 cycles)
	{
		contended.store_relaxed(contended.load_relaxed() + 1);
		waited.add(cycles);
		raise(longest_wait, cycles);
	}

	void begin_hold() { since.set(cycles_if_usable()); }

	/* Does nothing if the hold's begin was not noted, as an upgrade's. */
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

	/* acquisitions that waited */
	atomic<usize> contended;
	/* cycles of all waits and of the longest; the same two for holds */
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

/*
 * The other figures, and the lock's entry in the list; they lie beside the
 * lock. Zero bytes: not in the list.
 */
struct lock_counts {
	/* -- Called by the lock's holder -- */

	/* Counts an acquisition without a wait. */
	void count() { acquired.store_relaxed(acquired.load_relaxed() + 1); }

	/* Lists the lock and clears figures of an old epoch. Called before a
	 * wait or a hold is counted. */
	void prepare(wait_counts &its, const char *name);

	/* Sets the name: before it is listed, or always to the same text. */
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

	/* Puts it into the list, if it is not in it. Any context. */
	void list(wait_counts &its, const char *name);

	/* -- Called by the CPU that prints -- */

	/* Whether its waits are counted since the last reset. */
	[[nodiscard]] bool is_of_now() const;

	/*
	 * Whether this is still the lock that was listed. If its memory was
	 * freed and is used for anything else, its pointers must not be
	 * followed.
	 */
	[[nodiscard]] bool is_alive() const
	{
		return signature.load_relaxed() == signed_now();
	}
	/* Renews the signature, after each change of a pointer. */
	void sign() { signature.store_relaxed(signed_now()); }

	/* acquisitions of the free lock, modulo a word's range */
	atomic<usize> acquired;
	/* `acquired` at the last reset */
	atomic<usize> acquired_before;
	atomic<const char *> called;
	atomic<u32> element;
	/* the epoch of the figures in `waits` */
	atomic<u32> epoch;
	atomic<lock_counts *> next;
	atomic<wait_counts *> waits;
	/* number of the last print that had it: print_counts.hpp */
	atomic<u32> printed;
	/* number of the list that it is in (counts_list::now()); 0: in none */
	atomic<u8> listed;
	/* 1: this is a shared_counts */
	atomic<u8> shared;
	/* signed_now() after the last change */
	atomic<u16> signature;

      private:
	/* A hash of its address and pointers. */
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

/* The figures of a lock's readers. Zero bytes: not in the list. */
struct shared_counts : lock_counts {
	/* Words from one CPU's count of reads to the next: a cache line. */
	static constexpr u32 apart = cache_line / sizeof(usize);

	/* Counts the wait of a reader inside. Not in an NMI handler. */
	void count_wait(wait_counts &its, const char *name, u64 cycles)
	{
		const irq_state before = irq_save();

		counting.lock();
		prepare(its, name);
		its.count(cycles);
		counting.unlock();
		irq_restore(before);
	}

	/* Puts it into the list. of: counts of reads without a wait, by CPU. */
	void list_reads(wait_counts &its, const char *name,
			const atomic<usize> *of, u32 so_many_cpus)
	{
		reads.store_relaxed(of);
		cpus.store_relaxed(so_many_cpus);
		shared.store_relaxed(1);
		list(its, name);
	}

	/* Reads without a wait, by all CPUs. */
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
	/* held by a reader that counts its wait */
	tas_lock counting;
};

/* Acquisitions without a wait. */
inline usize free_acquisitions(const lock_counts &one)
{
	return one.shared.load_relaxed()
		       ? static_cast<const shared_counts &>(one).sum()
		       : one.acquired.load_relaxed();
}

/*
 * All locks that were waited for, the latest first. They are added without a
 * lock, as an NMI handler may add one. `looking` is held to walk through the
 * list or to remove from it.
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

	/* Calls visit(lock_counts &) for each, with interrupts off. */
	template <typename Visit>
	void for_each(Visit visit)
	{
		const irq_state before = irq_save();

		looking.lock();
		lock_counts *at = next_of(all), *last = nullptr;
		/* Bounded: memory that is used twice may close a ring. */
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

	/* Allows one print at a time, as prints mark entries; false: not now.
	 */
	bool begin_printing() { return !printing.exchange_relaxed(1); }
	void end_printing() { printing.store_relaxed(0); }

	/* A new number for a print; not 0, which unprinted locks have. */
	u32 number_of_print() { return prints.fetch_add_relaxed(1) + 1; }

	/* Whether a lock with this `listed` is in the list: it is not if the
	 * list was cut before it. */
	[[nodiscard]] bool has(u8 listed) const
	{
		return listed && static_cast<u8>(listed - now()) < 128;
	}
	/* The number of the list, which changes at each cut. Not 0. */
	[[nodiscard]] u8 now() const
	{
		return static_cast<u8>(cuts.load_relaxed() + 1);
	}

	/* how many listed locks were found to be other memory */
	atomic<u32> freed;

	/* how many resets there were */
	atomic<u32> epoch;

      private:
	static lock_counts *next_of(const atomic<lock_counts *> &from)
	{
		return from.load_acquire(); /* O3 */
	}

	/*
	 * Cuts the list behind `last`, or all of it (null), as the memory of
	 * the next lock was freed. The locks behind that one cannot be found:
	 * each lists itself again by its next wait.
	 */
	void end_behind(lock_counts *last)
	{
		const u8 next = now() == 0xff ? u8(1) : u8(now() + 1);
		lock_counts *at = next_of(all), *gone = at;

		/* This comes first, so that no lock in the list adds itself. */
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

	/* Fails if it was the first and another was added before it. */
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
	/* how many times the list was cut at freed memory */
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
