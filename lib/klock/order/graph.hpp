/* SPDX-License-Identifier: MIT */
/*
 * graph - which lock class was held while which was waited for: bitmaps
 *
 * Bit `to` of row `from` is set if `from` was held while `to` was waited for.
 * Reading a bit needs no lock: bits are never cleared, and a stale 0 only leads
 * to the slow path. Those of needed_by() are cleared; a stale 1 leads there.
 * The lock of lock_order.hpp is held to set bits and to search.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/detail/text.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * lock_classes - a number for each lock name and sub-rank, found by loads alone
 *
 * Locks of one name are a family. Those of a family that are taken with the
 * same sub-rank (`nested`, order_calls.hpp) are a class: a parent and its child
 * are in two. A class is found by the address of the name and a hash of its
 * text, and the first time by the text, which is copied. So "inode" in two
 * files is one family, and a name may be freed with the last lock that has it;
 * if another text then lies at that address, the hash tells them apart.
 *
 * find() may be called in any context. add() is called with the lock of
 * lock_order.hpp held; a concurrent find() sees the whole number or none.
 */

/* The key of a name, while its text exists, or of a part of that lock. */
struct class_key {
	/* known: hash_of() the name, or 0. */
	explicit class_key(lock_label of, u32 known = 0)
	    : name(of.name), part(of.part()),
	      hash((known ? known : lock_label::hash_of(name)) ^ part)
	{
		hash += !hash;
	}

	const char *name;
	u32 part;
	/* never 0 */
	u32 hash;
};

/* The class of one name's address, its text and a sub-rank. */
struct class_slot {
	static constexpr u32 rank_shift = 16;

	/* Its number; ~0: it has another text or sub-rank, or is incomplete. */
	[[nodiscard]] u32 number_of(const class_key &of, u32 sub_rank) const
	{
		const u32 now = rank_and_number_plus_1.load_relaxed();

		return hash.load_relaxed() == of.hash &&
				       now >> rank_shift == sub_rank
			       ? (now & ((u32{1} << rank_shift) - 1)) - 1
			       : ~u32{0};
	}
	void set(const class_key &of, u32 sub_rank, u32 number)
	{
		rank_and_number_plus_1.store_relaxed(sub_rank << rank_shift |
						     (number + 1));
		hash.store_relaxed(of.hash);
		name.store_relaxed(of.name);
	}

	/* 0: none yet */
	atomic<u32> rank_and_number_plus_1;
	/* hash of the text */
	atomic<u32> hash;
	/* null: the slot is free */
	atomic<const char *> name;
};

/* A copy of a name: its beginning, and the hash of all of it. */
struct class_name {
	struct text {
		const char *c_str() const { return chars; }

		char chars[32];
	};

	void set(const class_key &of)
	{
		bounded_text<sizeof(text)> whole;

		whole.add(lock_label{of.name, of.part});
		for (usize i = 0; const char c = whole.c_str()[i]; i++)
			chars[i].set(c);
		hash.set(of.hash);
	}
	[[nodiscard]] bool is(const class_key &of) const
	{
		if (hash.get() != of.hash)
			return false;
		for (usize i = 0; i + 1 < sizeof(text) && of.name[i]; i++)
			if (chars[i].get() != of.name[i])
				return false;
		return true;
	}
	[[nodiscard]] bool is_empty() const { return hash.get() == 0; }
	[[nodiscard]] text get() const
	{
		text copy;

		for (usize i = 0; i < sizeof(text); i++)
			copy.chars[i] = chars[i].get();
		return copy;
	}

      private:
	plain<char> chars[sizeof(text)];
	/* 0: the entry is free */
	plain<u32> hash;
};

struct lock_classes {
	static constexpr u32 none = ~u32{0};

	[[nodiscard]] u32 find(const class_key &of, u32 sub_rank) const
	{
		for (u32 i = 0; i < slots; i++) {
			const class_slot &one = slot(of.name, i);
			const char *const found = one.name.load_relaxed();

			if (!found)
				return none;
			if (found != of.name)
				continue;
			if (const u32 number = one.number_of(of, sub_rank);
			    number != none)
				return number;
		}
		return none;
	}

	/* The number of a class, which may be new; none: the table is full. If
	 * only the slots for addresses are full, the text is compared each
	 * time. */
	[[nodiscard]] u32 add(const class_key &of, u32 sub_rank) const
	{
		for (u32 i = 0; i < slots; i++) {
			class_slot &one = slot(of.name, i);
			const char *const found = one.name.load_relaxed();

			if (found && found != of.name)
				continue;
			if (found && one.number_of(of, sub_rank) == none)
				continue;
			if (found)
				return one.number_of(of, sub_rank);
			const u32 number = by_text(of, sub_rank);
			if (number != none)
				one.set(of, sub_rank, number);
			return number;
		}
		return by_text(of, sub_rank);
	}

	[[nodiscard]] class_name::text name(u32 number) const
	{
		return names[number].get();
	}
	[[nodiscard]] u32 sub_rank(u32 number) const
	{
		return sub_ranks[number].get();
	}
	/* The first class of its name. */
	[[nodiscard]] u32 family(u32 number) const
	{
		return families[number].get();
	}

	/* a hash table; `slots` is a power of two */
	class_slot *at;
	u32 slots;
	/* by class: name, sub-rank, family */
	class_name *names;
	plain<u8> *sub_ranks;
	plain<u8> *families;
	u32 most;

      private:
	class_slot &slot(const char *name, u32 i) const
	{
		const usize address = reinterpret_cast<usize>(name);
		/* Names are a few bytes apart. */
		const usize hash = address ^ address >> 5 ^ address >> 11;

		return at[(hash + i) & (slots - 1)];
	}

	u32 by_text(const class_key &of, u32 sub_rank) const
	{
		u32 first = none;

		for (u32 i = 0; i < most; i++) {
			if (names[i].is_empty()) {
				sub_ranks[i].set(static_cast<u8>(sub_rank));
				families[i].set(static_cast<u8>(
					first == none ? i : first));
				names[i].set(of);
				return i;
			}
			if (!names[i].is(of))
				continue;
			if (sub_ranks[i].get() == sub_rank)
				return i;
			if (first == none)
				first = i;
		}
		return none;
	}
};

/* A set of classes. */
struct class_set {
	/* The most classes: their numbers are stored in bytes. */
	static constexpr u32 limit = 256;
	static constexpr u32 word_bits = 8 * sizeof(usize);

	static constexpr u32 words_for(u32 classes)
	{
		return (classes + word_bits - 1) / word_bits;
	}

	/* The bit of a class in this word; 0: it is in another one. */
	static constexpr usize bit(u32 number, u32 word)
	{
		return number / word_bits == word
			       ? usize{1} << number % word_bits
			       : 0;
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

/* A set of classes on a stack. */
struct some_classes {
	/* Does nothing for lock_classes::none. */
	void set(u32 number)
	{
		if (number != lock_classes::none)
			words[number / class_set::word_bits] |=
				usize{1} << number % class_set::word_bits;
	}

	usize words[class_set::limit / class_set::word_bits] = {};
};

/* Classes that were seen in some context: in any way, and not by nested reads.
 */
struct class_marks {
	/* Whether this was noted before. */
	[[nodiscard]] bool has(u32 number, bool by_reads) const
	{
		return by_reads ? any.has(number) : by_others.has(number);
	}
	void set(u32 number, bool by_reads) const
	{
		any.set(number);
		if (!by_reads)
			by_others.set(number);
	}

	class_set any, by_others;
};

struct order_graph {
	static constexpr u32 limit = class_set::limit;

	[[nodiscard]] u32 words() const
	{
		return class_set::words_for(classes);
	}

	[[nodiscard]] class_set seen_after(u32 from) const
	{
		return {seen + from * words()};
	}
	/* The classes that were held while this one was waited for, not in
	 * address order: a column of that part of seen_after(). */
	[[nodiscard]] class_set strictly_before(u32 to) const
	{
		return {strict + to * words()};
	}
	[[nodiscard]] class_set declared_after(u32 from) const
	{
		return {declared + from * words()};
	}

	/* Edges that are no part of the order: a mistake that was reported, or
	 * declared harmless. */
	[[nodiscard]] class_set ignored_after(u32 from) const
	{
		return {ignored + from * words()};
	}
	/* Edges between families that were declared harmless. The caller holds
	 * the lock. */
	[[nodiscard]] class_set harmless_after(u32 from) const
	{
		return {harmless + from * words()};
	}

	/* The events that were waited for with this lock held. */
	[[nodiscard]] class_set awaited_with(u32 held) const
	{
		return {awaited + held * words()};
	}
	/* The locks that each caller who has set this event had waited for, and
	 * held: bits of this set alone are cleared. */
	[[nodiscard]] class_set needed_by(u32 event) const
	{
		return {needed + event * words()};
	}
	/* The events that were set. */
	[[nodiscard]] class_set were_set() const { return {set_once}; }

	/* Whether one of them is not among these. */
	[[nodiscard]] bool needs_more_than(u32 event,
					   const some_classes &these) const
	{
		bool more = false;

		for (u32 w = 0; w < words(); w++)
			more |= needed_by(event).words[w].load_relaxed() &
				~these.words[w];
		return more;
	}
	void need_only(u32 event, const some_classes &these) const
	{
		for (u32 w = 0; w < words(); w++) {
			atomic<usize> &word = needed_by(event).words[w];

			word.store_relaxed(word.load_relaxed() &
					   these.words[w]);
		}
	}

	/* Returns the event by which a holder of `from` waits for a holder of
	 * `to`, or `classes`. */
	[[nodiscard]] u32 event_between(u32 from, u32 to) const
	{
		return first_awaited(from, [&](u32 event) {
			return needed_by(event).has(to);
		});
	}

	/*
	 * Finds the shortest path from `from` to a class for which is_there()
	 * holds, which may be `from` itself. Puts it into route[start], .. and
	 * returns the number of its classes, 0 if there is no path. all: edges
	 * that were declared count, too, and those over an event.
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
			for (u32 w = 0; w < words(); w++)
				meet_all(met, w, after(at, w, all) & ~met[w],
					 at, end);
		}
		return 0;
	}

	/*
	 * Finds a path to one class with at least one edge that is not by
	 * address: a cycle of edges by address alone is impossible.
	 */
	u32 find_strict(u32 from, u32 to) const
	{
		for (u32 at = 0; at < classes; at++) {
			for (u32 next = 0; next < classes; next++) {
				if (!strictly_before(next).has(at) &&
				    !declared_after(at).has(next) &&
				    event_between(at, next) == classes)
					continue;
				if (const u32 length =
					    find_over(from, at, next, to))
					return length;
			}
		}
		return 0;
	}

	atomic<usize> *seen;
	atomic<usize> *strict;
	atomic<usize> *declared;
	atomic<usize> *ignored;
	atomic<usize> *harmless;
	atomic<usize> *awaited;
	atomic<usize> *needed;
	atomic<usize> *set_once;
	u32 classes;

	/* the path that find() found; has room for two times `classes` */
	plain<u8> *route;
	/* find()'s own; each has room for `classes` */
	plain<u8> *queue;
	plain<u8> *came_from;

      private:
	u32 find_over(u32 from, u32 at, u32 next, u32 to) const
	{
		const u32 before =
			find(from, true, [at](u32 i) { return i == at; });

		if (!before)
			return 0;
		const u32 behind = find(
			next, true, [to](u32 i) { return i == to; }, before);
		return behind ? before + behind : 0;
	}

	usize after(u32 from, u32 word, bool all) const
	{
		usize bits = seen_after(from).words[word].load_relaxed();

		if (!all)
			return bits;
		bits |= declared_after(from).words[word].load_relaxed();
		(void)first_awaited(from, [&](u32 event) {
			bits |= needed_by(event).words[word].load_relaxed();
			return false;
		});
		return bits;
	}

	/* The first event for which is_it(event) holds, of those that are
	 * waited for with this lock held; `classes`: none. */
	template <typename Test>
	u32 first_awaited(u32 held, Test is_it) const
	{
		for (u32 w = 0; w < words(); w++) {
			usize left = awaited_with(held).words[w].load_relaxed();
			u32 event = w * class_set::word_bits;

			for (; left; left >>= 1, event++)
				if (left & 1 && is_it(event))
					return event;
		}
		return classes;
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

/*
 * order_sites - the lines in which the order was learned, for reports
 *
 * The caller holds the lock of lock_order.hpp. A slot has the lines of one
 * edge. If there are more edges than slots, a report names only the classes.
 */

/* A call site, protected by the lock. */
struct plain_site {
	void set(call_site to)
	{
		file.set(to.file);
		line.set(static_cast<u32>(to.line));
	}
	[[nodiscard]] call_site get() const
	{
		return {file.get(), static_cast<int>(line.get())};
	}

      private:
	plain<const char *> file;
	plain<u32> line;
};

/* `from` was held, taken there, while `to` was waited for here. */
struct order_edge {
	u32 from, to;
	call_site there, here;
	u32 cpu;
	/* the two were taken in the order of their addresses */
	bool by_address;
};

struct order_edge_slot {
	void set(const order_edge &e)
	{
		from.set(static_cast<u8>(e.from));
		to.set(static_cast<u8>(e.to));
		cpu.set(static_cast<u16>(e.cpu));
		there.set(e.there);
		here.set(e.here);
	}
	[[nodiscard]] order_edge get() const
	{
		return {from.get(), to.get(),  there.get(),
			here.get(), cpu.get(), false};
	}
	[[nodiscard]] bool is_of(u32 before, u32 after) const
	{
		return from.get() == before && to.get() == after;
	}

      private:
	plain<u8> from, to;
	plain<u16> cpu;
	plain_site there, here;
};

struct order_sites {
	/* Notes an edge, over an older note of it; false: there is no room. */
	[[nodiscard]] bool note(const order_edge &e) const
	{
		const u32 n = count->get();
		u32 i = 0;

		while (i < n && !edges[i].is_of(e.from, e.to))
			i++;
		if (i == most)
			return false;
		edges[i].set(e);
		if (i == n)
			count->set(n + 1);
		return true;
	}

	/* Sets `found` to the edge; false: it has no note. */
	[[nodiscard]] bool find(u32 from, u32 to, order_edge &found) const
	{
		for (u32 i = 0; i < count->get(); i++) {
			if (!edges[i].is_of(from, to))
				continue;
			found = edges[i].get();
			return true;
		}
		return false;
	}

	order_edge_slot *edges;
	plain<u32> *count;
	u32 most;
	/* by class: where a handler waited for it, where it was held or waited
	 * for with interrupts on, its declared rank (0: none) */
	plain_site *in_handler;
	plain_site *open;
	plain<u32> *ranks;
};

} // namespace klock
