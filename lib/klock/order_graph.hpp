/* SPDX-License-Identifier: MIT */
/*
 * order_graph - which lock class was held while which was waited for: bitmaps
 *
 * Bit `to` of row `from`. Who looks needs no lock: a bit is never cleared, and
 * a stale 0 costs the slow way. Who sets bits and who searches holds the lock
 * of lock_order.hpp.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

/* Some of the classes. */
struct class_set {
	static constexpr u32 word_bits = 8 * sizeof(usize);

	static constexpr u32 words_for(u32 classes)
	{
		return (classes + word_bits - 1) / word_bits;
	}

	[[nodiscard]] bool has(u32 number) const
	{
		return words[number / word_bits].load_relaxed() >>
			       number % word_bits &
		       1;
	}

	void set(u32 number) const
	{
		atomic<usize> &word = words[number / word_bits];

		word.store_relaxed(word.load_relaxed() |
				   usize{1} << number % word_bits);
	}

	atomic<usize> *words;
};

struct order_graph {
	/* Classes at most: they are kept in bytes. */
	static constexpr u32 limit = 256;

	[[nodiscard]] class_set seen_after(u32 from) const
	{
		return {seen + from * class_set::words_for(classes)};
	}
	[[nodiscard]] class_set declared_after(u32 from) const
	{
		return {declared + from * class_set::words_for(classes)};
	}

	/*
	 * The shortest way from `from` to a class for which is_there() holds,
	 * `from` itself if so, into route[start], .. ; returns how many classes
	 * that are, 0 where there is none. What was declared counts where
	 * all is true.
	 */
	template <typename Target>
	u32 find(u32 from, bool all, Target is_there, u32 start = 0) const
	{
		usize met[limit / class_set::word_bits] = {};
		u32 end = 0;

		meet(met, from, from, end);
		for (u32 next = 0; next < end; next++) {
			const u32 at = queue[next].get();

			if (is_there(at))
				return walk_back(from, at, start);
			for (u32 w = 0; w < class_set::words_for(classes); w++)
				meet_all(met, w, after(at, w, all) & ~met[w],
					 at, end);
		}
		return 0;
	}

	atomic<usize> *seen;
	atomic<usize> *declared;
	u32 classes;

	/* What find() found: twice as many as classes. */
	plain<u8> *route;
	/* For find(), as many as classes each. */
	plain<u8> *queue;
	plain<u8> *came_from;

      private:
	usize after(u32 from, u32 word, bool all) const
	{
		const usize bits = seen_after(from).words[word].load_relaxed();

		return all ? bits | declared_after(from)
					       .words[word]
					       .load_relaxed()
			   : bits;
	}

	void meet(usize *met, u32 number, u32 from, u32 &end) const
	{
		met[number / class_set::word_bits] |=
			usize{1} << number % class_set::word_bits;
		came_from[number].set(static_cast<u8>(from));
		queue[end++].set(static_cast<u8>(number));
	}

	void meet_all(usize *met, u32 word, usize fresh, u32 from,
		      u32 &end) const
	{
		for (u32 at = word * class_set::word_bits; fresh; at++) {
			if (fresh & 1)
				meet(met, at, from, end);
			fresh >>= 1;
		}
	}

	u32 walk_back(u32 from, u32 to, u32 start) const
	{
		u32 length = 1;

		for (u32 at = to; at != from; at = came_from[at].get())
			length++;
		for (u32 i = start + length; i-- > start;
		     to = came_from[to].get())
			route[i].set(static_cast<u8>(to));
		return length;
	}
};

} // namespace klock
