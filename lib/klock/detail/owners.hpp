/* SPDX-License-Identifier: MIT */
/*
 * owners - who holds what, and the line that took it: the tables of the checks
 *
 * A table is an array of places. A key may use a few of them, beginning with
 * the one that its hash names. An owner claims a place by a compare-and-swap of
 * the place's key from 0, and then writes the rest. It gives the place back by
 * a store of 0. If other keys have all of these places, nothing is noted, and a
 * misuse that the note would show is not found.
 *
 *	held_spins	by holder: a spinning lock and the line that took it
 *	lent_nodes	by the address of a node or of a number: nothing else
 *	shared_usage	by reader, one table a lock: number, CPU and context
 *	mutexes_wanted	by thread: the checked mutex that it waits for
 *	held_by_owners	by owner: a stack of locks (order/held.hpp)
 *
 * A claim acquires the stores of the place's former owner, which that owner
 * released by giving the place back. Without this, a store of the former owner
 * could come after those of the new one, whose place would then name the wrong
 * lock or number. All other accesses are relaxed. Only the owner of a place,
 * and a handler that interrupts it, write that place. A CPU that looks for its
 * own entries reads what it wrote itself.
 *
 * Why there are four tables: each is searched by another key, and a search
 * looks at a few places only. A lock's readers have places of their own, which
 * no other lock's readers take. A stack keeps the order in which its locks were
 * taken, and a CPU writes its own stack without an RMW.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/detail/text.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * A call site that other CPUs read for their reports. A report made during a
 * write may combine the file of one call site with the line of another: it is a
 * hint to people, and no check depends on it.
 */
struct noted_line {
	/* Writes the file last: a handler on this CPU that sees it sees all. */
	void note(call_site at)
	{
		line.store_relaxed(static_cast<u32>(at.line));
		file.store_relaxed(at.file);
	}

	[[nodiscard]] call_site site() const
	{
		return {file.load_relaxed(),
			static_cast<int>(line.load_relaxed())};
	}
	[[nodiscard]] bool empty() const { return !file.load_relaxed(); }

      private:
	/* null: nothing noted yet */
	atomic<const char *> file;
	/* meaningless without file */
	atomic<u32> line;
};

/*
 * A call site, its CPU, and a mark of two bits. The line is a member and not a
 * base, as structures that C sees contain it, and must have standard layout.
 */
struct noted_site {
	void note(call_site at, u32 mark)
	{
		on_cpu.store_relaxed(cpu_id() << mark_bits | mark);
		line.note(at);
	}

	[[nodiscard]] call_site site() const { return line.site(); }
	[[nodiscard]] bool empty() const { return line.empty(); }
	[[nodiscard]] u32 cpu() const
	{
		return on_cpu.load_relaxed() >> mark_bits;
	}
	[[nodiscard]] u32 mark() const
	{
		return on_cpu.load_relaxed() & ((u32{1} << mark_bits) - 1);
	}

      private:
	static constexpr u32 mark_bits = 2;

	[[no_unique_address]] noted_line line;
	/* the CPU's number and the mark */
	atomic<u32> on_cpu;
};

/* Adds "CPU 3", or "CPU 3 (owner 0x7)" if the owner is another. */
template <usize Size>
void add_owner(bounded_text<Size> &text, u32 cpu, usize owner)
{
	text.add("CPU ").add(cpu);
	if (owner != cpu)
		text.add(" (owner ").add_hex(shown_owner(owner)).add(")");
}

/* A lock's name, and the line that took it or waits for it. */
struct noted_lock : noted_line {
	void note(lock_label of, call_site by)
	{
		name.store_relaxed(of.name);
		element_plus_1.store_relaxed(of.element_plus_1);
		noted_line::note(by);
	}

	[[nodiscard]] lock_label label() const
	{
		return {name.load_relaxed(), element_plus_1.load_relaxed()};
	}
	/* The part of the lock that it names: lock_label. */
	[[nodiscard]] u32 part() const
	{
		return lock_label{nullptr, element_plus_1.load_relaxed()}
			.part();
	}

      private:
	atomic<u32> element_plus_1;
	atomic<const char *> name;
};

/* A place of a table. Zero bytes: it is free. */
struct keyed_place {
	static constexpr usize nobody = 0;

	[[nodiscard]] bool is_of(usize its) const
	{
		return key.load_relaxed() == its;
	}
	/* Claims it if it is free; returns the key that it had; `nobody`: it is
	 * claimed. */
	[[nodiscard]] usize claim(usize its)
	{
		usize before = key.load_relaxed();

		if (before == nobody)
			(void)key.compare_exchange_acquire(before, its);
		return before;
	}
	void leave() { key.store_release(nobody); }

	/* Returns the owner, where the key is an owner's. */
	[[nodiscard]] usize owner() const { return key.load_relaxed() - 1; }

	atomic<usize> key;
};

/* The key of an owner, whose number may be 0. */
constexpr usize key_of(usize owner) { return owner + 1; }

/* Hash(key): the number of the key's first place, before the modulo
 * operation. */
template <typename Place, usize Places, usize Tries, auto Hash>
struct owner_table {
	constexpr owner_table() = default;

	/* The first place of this key for which is_it(place) holds, or null. */
	template <typename Test>
	[[nodiscard]] Place *first(usize key, Test is_it)
	{
		const usize from = Hash(key);

		for (usize i = 0; i < Tries; i++) {
			Place &one = at[(from + i) % Places];

			if (is_it(one))
				return &one;
		}
		return nullptr;
	}
	[[nodiscard]] Place *find(usize key)
	{
		return first(key, [key](const Place &one) {
			return one.is_of(key);
		});
	}
	/* Claims a place for the key, and returns it; null: none is free. */
	[[nodiscard]] Place *claim(usize key)
	{
		return first(key, [key](Place &one) {
			return one.claim(key) == Place::nobody;
		});
	}

	Place at[Places];
};

/*
 * held_spins - the spinning locks that are held, where no order is learned
 *
 * With it, a panic names the locks that a caller holds when it is about to
 * sleep. A kernel with a lock order notes them there instead.
 */
struct held_spin : keyed_place {
	[[nodiscard]] bool has(usize its, const void *its_lock) const
	{
		return is_of(its) && lock.load_relaxed() == its_lock;
	}
	void leave()
	{
		lock.store_relaxed(nullptr);
		keyed_place::leave();
	}

	/* null: its owner has not written it yet. The lock itself is never
	 * read: its memory may have been freed while it was held. */
	atomic<const void *> lock;
	noted_lock taken;
};

struct held_spins {
	constexpr held_spins() = default;

	void note(const void *lock, lock_label label, call_site by)
	{
		held_spin *const at = spins.claim(key_of(owner_id()));

		if (!at)
			return;
		at->taken.note(label, by);
		at->lock.store_relaxed(lock);
	}
	void forget(const void *lock)
	{
		if (held_spin *const at = find(lock))
			at->leave();
	}
	/* Makes the caller the owner of a lock that another owner took, if it
	 * was noted. */
	void take_over(const void *lock, lock_label label, call_site by)
	{
		bool was_noted = false;

		for (held_spin &at : spins.at) {
			if (at.lock.load_relaxed() != lock)
				continue;
			at.leave();
			was_noted = true;
		}
		if (was_noted)
			note(lock, label, by);
	}
	/* The place of this lock, which the caller holds; if not mine: or any
	 * other. Null: none. */
	[[nodiscard]] const held_spin *holder(const void *lock, bool mine) const
	{
		for (const held_spin &one : spins.at)
			if (one.lock.load_relaxed() == lock &&
			    (!mine || is_me(one.owner())))
				return &one;
		return nullptr;
	}
	/* Whether the caller has noted it. */
	[[nodiscard]] bool has(const void *lock) { return find(lock); }
	/* A lock that the caller holds, other than `but`; null: none. */
	[[nodiscard]] const held_spin *mine(const void *but)
	{
		const usize me = key_of(owner_id());

		return spins.first(me, [me, but](const held_spin &one) {
			const void *const lock = one.lock.load_relaxed();

			return one.is_of(me) && lock && lock != but;
		});
	}

      private:
	static constexpr usize places = 256;
	static constexpr usize tries = 8;

	/* Owners' numbers differ by 1; their addresses by a page, or by a
	 * stack, which may have 1 MiB. */
	static constexpr usize hash(usize key)
	{
		const usize owner = key - 1;
		const usize high = owner / places;

		return owner * tries + high + high / places +
		       high / places / 16 * tries;
	}

	held_spin *find(const void *lock)
	{
		const usize me = key_of(owner_id());

		return spins.first(me, [me, lock](const held_spin &one) {
			return one.has(me, lock);
		});
	}

	owner_table<held_spin, places, tries, hash> spins;
};

/* The table for all checked locks of a program. */
inline constinit held_spins spins_held;

/*
 * lent_nodes - the nodes and numbers that checked locks use at this moment
 *
 * A node serves one acquisition at a time. If it serves two, in one lock or in
 * two, the waiter behind it waits for ever. A lock cannot see that, as the node
 * may be in another lock: so there is one table for all checked locks.
 *
 * In a lock that is indexed by CPU, a number serves one waiter or holder at a
 * time, too. The table has it as an address in that lock.
 *
 * Two contexts that lend the same node at the same time, while a third gives
 * back a place before theirs, may both pass the check. An interrupt handler and
 * the code that it interrupted always see each other's note.
 */
struct lent_nodes {
	constexpr lent_nodes() = default;

	/* Notes that the node is lent; false: it is lent already. */
	[[nodiscard]] bool lend(usize address)
	{
		bool twice = nodes.find(address);

		if (!twice)
			(void)nodes.first(address, [&](keyed_place &one) {
				const usize before = one.claim(address);

				twice = before == address;
				return twice || before == one.nobody;
			});
		return !twice;
	}
	void give_back(usize address)
	{
		if (keyed_place *const at = nodes.find(address))
			at->leave();
	}

      private:
	static constexpr usize places = 256;
	static constexpr usize tries = 4;

	/* Nodes are as far apart as a cache line or as a stack frame; numbers
	 * differ by 1. */
	static constexpr usize hash(usize address)
	{
		return address / 16 + address / 1024 +
		       address % 16 * (places / 16);
	}

	owner_table<keyed_place, places, tries, hash> nodes;
};

/* The table for all checked locks of a program. */
inline constinit lent_nodes nodes_in_use;

/*
 * mutexes_wanted - the checked mutex that a thread waits for, and from where
 *
 * Threads that wait for each other in a row know the mutexes inside of checked
 * ones. A report of such a row has the names and the addresses of those around
 * them, of as many threads as the table has places for.
 */
struct mutex_wanted : keyed_place {
	atomic<const void *> lock;
	noted_lock at;
};

struct mutexes_wanted {
	constexpr mutexes_wanted() = default;

	void note(const void *thread, const void *lock, lock_label label,
		  call_site by)
	{
		mutex_wanted *const mine = threads.claim(key_of(thread));

		if (!mine)
			return;
		mine->at.note(label, by);
		mine->lock.store_relaxed(lock);
	}
	void forget(const void *thread)
	{
		if (mutex_wanted *const mine = threads.find(key_of(thread)))
			mine->leave();
	}
	/* Returns the place of what the thread waits for, or null. */
	[[nodiscard]] const mutex_wanted *of(const void *thread)
	{
		return threads.find(key_of(thread));
	}

      private:
	static constexpr usize places = 64;
	static constexpr usize tries = 8;

	static usize key_of(const void *thread)
	{
		return reinterpret_cast<usize>(thread);
	}
	/* Threads are as far apart as a cache line, a page, or a stack. */
	static constexpr usize hash(usize key)
	{
		return key / 64 + key / 4096 + key / 65536;
	}

	owner_table<mutex_wanted, places, tries, hash> threads;
};

/* The table for all checked mutexes that know their owner. */
inline constinit mutexes_wanted mutexes_waited_for;

/*
 * shared_usage - the readers of one lock
 *
 * It counts the readers that contend, and notes eight of those inside. If more
 * are inside at once, the rest are only counted, and some of their misuse is
 * not found.
 *
 * A reader's note is removed before the lock inside is released, so that
 * unlock_shared() may be a lock's last use.
 *
 * All zero bytes: nobody reads.
 */
struct shared_usage {
	/* Readers that a panic can name; others are only counted. */
	static constexpr unsigned noted_readers = 8;
	/* A flag in not_noted: there were once more readers than places. */
	static constexpr u32 ever = u32{1} << 31;

	/* Counts a reader that is about to enter; false: there is one too
	 * many. */
	[[nodiscard]] bool count_in(u64 capacity)
	{
		if (contend.fetch_add_relaxed(1) < capacity)
			return true;
		count_out();
		return false;
	}
	void count_out() { (void)contend.fetch_add_relaxed(~u32{0}); }

	/* Notes that the caller reads, under this number if readers have
	 * numbers. */
	void note(unsigned number, call_site by, bool sleeps)
	{
		const usize me = key_of(owner_id(sleeps));

		read_at.note(by, 0);
		if (keyed_place *const mine = in.claim(me)) {
			as[place_of(*mine)].store_relaxed(here(number));
			return;
		}
		(void)not_noted.fetch_add_relaxed(1);
		(void)not_noted.fetch_or_relaxed(ever);
	}

	/* Where it was read last: by another reader, if several read. */
	[[nodiscard]] call_site last() const { return read_at.site(); }

	/* Removes the reader's note. Returns null, or what is wrong. */
	[[nodiscard]] const char *forget(unsigned number)
	{
		const char *wrong =
			not_noted.load_relaxed() & ever
				? "unlock_shared() by a caller that does not "
				  "hold it for reading, or one of more than 8 "
				  "readers did so before"
				: "unlock_shared() by a caller that does not "
				  "hold it for reading";

		for (keyed_place &one : in.at) {
			if (!is_mine(one))
				continue;
			const u32 was = as[place_of(one)].load_relaxed();

			if (is_same(was, here(number))) {
				one.leave();
				return nullptr;
			}
			wrong = number_of(was) == number
					? "unlock_shared() in another context "
					  "than its lock_shared()"
					: "unlock_shared() with another CPU "
					  "number than its lock_shared()";
		}
		if ((not_noted.load_relaxed() & ~ever) == 0)
			return wrong;
		(void)not_noted.fetch_add_relaxed(~u32{0});
		return nullptr;
	}

	/*
	 * Whether another CPU is known to read under this number; false where
	 * owners are threads, which may share a CPU. A reader that has claimed
	 * its place may not have written `as` yet, which is then that of the
	 * reader before it: it counts only if both are of the same CPU.
	 */
	[[nodiscard]] bool is_of_another(unsigned number) const
	{
		bool found = false;

		for (const keyed_place &one : in.at) {
			const usize reads = one.key.load_relaxed();
			const u32 was = as[place_of(one)].load_relaxed();

			found |= reads != one.nobody &&
				 reads != key_of(owner_id()) &&
				 cpu_of(was) == ((reads - 1) & cpus) &&
				 number_of(was) == number;
		}
		return found && owner_is_cpu();
	}

	/* Whether the caller is noted as a reader. */
	[[nodiscard]] bool is_mine() const
	{
		bool mine = false;

		for (const keyed_place &one : in.at)
			mine |= is_mine(one);
		return mine;
	}

	/* Whether there is a noted reader. */
	[[nodiscard]] bool is_read() const
	{
		bool any = false;

		for (const keyed_place &one : in.at)
			any |= !one.is_of(one.nobody);
		return any;
	}

      private:
	/* Each reader may use any place. */
	static constexpr usize hash(usize) { return 0; }

	static constexpr u32 contexts = 3;
	static constexpr u32 cpus = (u32{1} << 14) - 1;

	[[nodiscard]] usize place_of(const keyed_place &one) const
	{
		return static_cast<usize>(&one - in.at);
	}
	static bool is_mine(const keyed_place &one)
	{
		return is_me(one.owner());
	}
	static u32 here(unsigned number)
	{
		return number << 16 | (cpu_id() & cpus) << 2 |
		       static_cast<u32>(current_context());
	}
	static u32 number_of(u32 as) { return as >> 16; }
	static u32 cpu_of(u32 as) { return as >> 2 & cpus; }

	/* Compares all but the CPU, as threads may move to another. */
	static bool is_same(u32 as, u32 here)
	{
		return number_of(as) == number_of(here) &&
		       (as & contexts) == (here & contexts);
	}

	/* readers that wait or are in, if they have a capacity of their own */
	atomic<u32> contend;
	/* readers inside that found no place below; and `ever` */
	atomic<u32> not_noted;
	owner_table<keyed_place, noted_readers, noted_readers, hash> in;
	/* their number, CPU and context */
	atomic<u32> as[noted_readers];
	/* where it was read last */
	noted_site read_at;
};

} // namespace klock
