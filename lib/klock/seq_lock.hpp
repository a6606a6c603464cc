/* SPDX-License-Identifier: MIT */
/*
 * seq_lock - a value that readers read without writing anything
 *
 * Algorithm:   A writer makes the sequence odd, writes, and makes it even
 *              again. A reader copies the value between two looks at the
 *              sequence, and copies again unless both saw the same even number.
 * Source:      Lameter, "Effective Synchronization on Linux/NUMA Systems",
 *              Gelato 2005; Boehm, MSPC 2012, section 4 (the fences, the data
 *              as atomics); we differ: the odd sequence is the writers' lock.
 * Use when:    a small value is read all the time and written now and then: a
 *              clock, a configuration, statistics. Writers in the order of
 *              arrival, or data of several objects: seq_count under a
 *              ticket_lock. A reader in an NMI handler that must have a value:
 *              seq_latch. Not for pointers: what they point to may be gone
 *              before the second look.
 * Size:        T and 4 bytes, rounded up to T's alignment, at least 4; no
 *              per-CPU state           Checked: unit/seq_lock: sizes
 * Zero bytes:  T of zero bytes, never written
 *                                      Checked: unit/seq_lock: zero bytes
 * Lifetime:    the caller that frees it must know that nobody reads: readers
 *              leave no trace. The next writer knows that the last one is done:
 *              a write's last access is the one that releases
 *                                      Checked: unit/seq_lock: lifetime
 * Fairness:    none: readers begin again as long as writers write, and one
 *              writer may enter again and again while others starve
 *                                      Checked: unit/seq_lock: bypass
 * Capacity:    any number of contexts. If exactly 2^31 writes pass during one
 *              read, it may return parts of two values
 *                                      Checked: model/seq_lock: wrap
 * Context:     any. If a handler reads or writes, writers must have interrupts
 *              off: else it waits for the writer that it interrupted. Readers
 *              need not. NMI: try_read only. No recursion, and no read() in
 *              update(): checked_if<debug, seq_lock<T>> names both. Everybody
 *              waits for a preempted writer, for a preempted reader nobody.
 * Assumes:     an atomic load and store of a word, a compare-and-swap of 4
 *              bytes
 *
 * State (sequence):  2n --write begins--> 2n + 1 --write ends--> 2n + 2
 *
 * Ordering:
 *	O1  write, update   sequence.compare_exchange_acquire  pairs with O3
 *	O2  write, update   fence_release                      pairs with O5
 *	O3  write, update   sequence.store_release         pairs with O1, O4, O6
 *	O4  try_read        sequence.load_acquire              pairs with O3
 *	O5  read, try_read  fence_acquire                      pairs with O2
 *	O6  read            sequence.await_acquire             pairs with O3
 *                                      Checked: model/seq_lock: orders needed
 *
 *	O2 and O5: a reader that read one word of a write reads, after O5, the
 *	odd sequence from before O2, or a later one. No word may be plain: it
 *	would be a data race, whatever fences there are.
 *
 * Cost:        a read: 2 loads and one a word, no store, no RMW; a write: 1
 *              RMW, 1 load, 1 store and one a word; after a write each reader
 *              misses once a line          Checked: sim/seq_lock: costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/*
 * seq_words - a value that is read while it is written, word by word
 *
 * seq_lock and seq_latch keep their data in it. Each word is an atomic of its
 * own, so a read of a half-written value is no data race. The sequence says
 * whether the words belong together. A word is as large as the value's
 * alignment allows, at most a register.
 */

namespace detail {

/* The widest word that a value of this alignment is made of. */
template <usize Align>
constexpr auto word_of()
{
	if constexpr (Align >= sizeof(usize))
		return usize{};
	else if constexpr (Align >= sizeof(u32))
		return u32{};
	else if constexpr (Align >= sizeof(u16))
		return u16{};
	else
		return u8{};
}

/* indices_to<N>::type is indices<0, 1, .. N - 1> */
template <usize...>
struct indices {};
template <typename, typename>
struct joined;
template <usize... A, usize... B>
struct joined<indices<A...>, indices<B...>> {
	using type = indices<A..., (sizeof...(A) + B)...>;
};
template <usize N>
struct indices_to : joined<typename indices_to<N / 2>::type,
			   typename indices_to<N - N / 2>::type> {};
template <>
struct indices_to<0> {
	using type = indices<>;
};
template <>
struct indices_to<1> {
	using type = indices<0>;
};

} // namespace detail

/* T is trivially copyable. */
template <typename T>
struct seq_words {
	static_assert(__is_trivially_copyable(T),
		      "a value that is copied word by word must be trivially "
		      "copyable");

	/* All bytes zero, even if T{} is something else. */
	constexpr seq_words() = default;

	/* A constant expression only if T has no padding: constinit reports
	 * it. */
	constexpr explicit seq_words(const T &v)
	    : seq_words(__builtin_bit_cast(image, v),
			typename detail::indices_to<count>::type{})
	{
	}

	void store_relaxed(const T &v)
	{
		const part *const from = reinterpret_cast<const part *>(&v);

		for (usize i = 0; i < count; i++)
			words[i].store_relaxed(from[i]);
	}

	[[nodiscard]] T load_relaxed() const
	{
		room to;
		part *const into = reinterpret_cast<part *>(&to.value);

		for (usize i = 0; i < count; i++)
			into[i] = words[i].load_relaxed();
		return to.value;
	}

      private:
	using word = decltype(detail::word_of<alignof(T)>());
	static constexpr usize count = sizeof(T) / sizeof(word);

	/*
	 * A word of a T, whatever T is made of. Not an array of words beside
	 * it: GCC would copy that to T through memory, in wider pieces than it
	 * was written in, which waits for the store buffer.
	 */
	using part [[gnu::may_alias]] = word;

	/*
	 * Storage in which the words of a T are assembled before the T is made.
	 */
	union room {
		room() {}
		T value;
	};

	/* All the words of a constant. */
	struct image {
		word at[count];
	};

	template <usize... I>
	constexpr seq_words(const image &from, detail::indices<I...>)
	    : words{atomic<word>(from.at[I])...}
	{
	}

	/* Each word is read and written alone, in this order. */
	atomic<word> words[count];
};

template <typename T>
struct seq_lock {
	constexpr seq_lock() = default;
	constexpr explicit seq_lock(const T &first) : value(first) {}

	/* The lock as it is after so many writes: for tests of the wrap. */
	constexpr seq_lock(const T &first, u32 writes)
	    : value(first), sequence(2 * writes)
	{
	}
	seq_lock(const seq_lock &) = delete;
	seq_lock &operator=(const seq_lock &) = delete;

	/* Returns the newest whole value; waits while a writer is inside. */
	[[nodiscard]] T read() const
	{
		for (;;) {
			const u32 began =
				sequence.await_acquire(even{}); /* O6 */
			const T seen = value.load_relaxed();

			if (is_whole(began))
				return seen;
		}
	}

	/* Tries once; true: `to` is a whole value. Never waits: any context. */
	[[nodiscard]] bool try_read(T &to) const
	{
		const u32 began = sequence.load_acquire(); /* O4 */

		if (!even{}(began))
			return false;
		const T seen = value.load_relaxed();

		if (!is_whole(began))
			return false;
		to = seen;
		return true;
	}

	/* Replaces the value; waits for other writers. */
	void write(const T &v)
	{
		const u32 began = begin();

		value.store_relaxed(v);
		end(began);
	}

	/* Calls change(T &) on a copy of the newest value, and writes that; no
	 * other writer comes between. */
	template <typename Change>
	void update(Change change)
	{
		const u32 began = begin();
		T v = value.load_relaxed();

		change(v);
		value.store_relaxed(v);
		end(began);
	}

	/* Whether a writer is inside: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return !even{}(sequence.load_relaxed());
	}

      protected:
	struct even {
		constexpr bool operator()(u32 now) const
		{
			return now % 2 == 0;
		}
	};

	/* Whether all that was read since `began` comes from one write. */
	bool is_whole(u32 began) const
	{
		fence_acquire(); /* O5 */
		return sequence.load_relaxed() == began;
	}

	/* Makes the sequence odd, and so excludes other writers. Returns the
	 * even value before. */
	u32 begin()
	{
		u32 free;

		do
			free = sequence.await_relaxed(even{});
		while (!sequence.compare_exchange_acquire(free,
							  free + 1)); /* O1 */
		fence_release();				      /* O2 */
		return free;
	}

	void end(u32 began) { sequence.store_release(began + 2); /* O3 */ }

	/* The newest value; while the sequence is odd, a mixture of two. */
	seq_words<T> value;
	/* Odd while a writer is inside. Readers only compare it for
	 * equality. */
	atomic<u32> sequence;
};

} // namespace klock
