/* SPDX-License-Identifier: MIT */
/*
 * held - what one owner holds and waits for, noted where any CPU can look
 *
 * An owner is who klock_os_owner_id() says, else a CPU. It alone writes here,
 * and the handlers that interrupt it; they leave what they found. So a place is
 * made in this order, and a handler between any two steps sees no lock that is
 * not held or waited for:
 *	push	one more place, then what is in it, the lock's address last
 *	pop	the address is gone, then the place, then the owner
 * A place between the two is `reserved`: nobody takes it, nobody takes it back.
 * One that was popped below others is `gone`, and the next push has it.
 *
 * Everything is relaxed: who writes is who reads, except for print_held.hpp,
 * which may show a line that is being written; and which makes of waiting
 * waits_long, where that is what it still is.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/text.hpp>
#include <klock/detail/checked.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* waits_long: that was noted. leaving: its release has begun, and may be over.
 */
enum class hold : u8 { trying, waiting, waits_long, held, leaving };
/* sleeps: its waiters give their CPU away. looks: waits, takes nothing, and
 * nobody waits for it; awaits: both. */
enum class taken_as : u8 {
	writer,
	reader,
	nested_reader,
	sleeps,
	looks,
	awaits
};

/* One acquisition. */
struct held_lock {
	/* Of `address`. */
	static constexpr usize reserved = 0;
	static constexpr usize gone = 1;

	void note(const wanted_lock &want, hold how, u8 rank)
	{
		name.store_relaxed(want.label.name);
		element_plus_1.store_relaxed(want.label.element_plus_1);
		file.store_relaxed(want.by.file);
		line.store_relaxed(static_cast<u32>(want.by.line));
		on_cpu.store_relaxed(static_cast<u16>(cpu_id()));
		since.store_relaxed(clock());
		class_plus_1.store_relaxed(0);
		sub_rank.store_relaxed(rank);
		as.store_relaxed(want.sleeps && want.looks ? taken_as::awaits
				 : want.sleeps		   ? taken_as::sleeps
				 : want.looks		   ? taken_as::looks
				 : want.is_nested() ? taken_as::nested_reader
				 : want.shared	    ? taken_as::reader
						    : taken_as::writer);
		state.store_relaxed(how);
		address.store_relaxed(reinterpret_cast<usize>(want.lock));
	}

	void set_class(u32 number)
	{
		class_plus_1.store_relaxed(static_cast<u16>(number + 1));
	}

	/* It was waited for until now. */
	void take()
	{
		since.store_relaxed(clock());
		state.store_relaxed(hold::held);
	}

	/* Others may have it, and free it, before its owner pops this. */
	void leave() { state.store_relaxed(hold::leaving); }

	[[nodiscard]] bool is_there() const
	{
		return address.load_relaxed() > gone;
	}
	/* And others may wait for whoever has noted it. */
	[[nodiscard]] bool is_in_the_way() const
	{
		const taken_as now = as.load_relaxed();

		return is_there() && now != taken_as::looks &&
		       now != taken_as::awaits;
	}
	[[nodiscard]] bool is_of(const void *lock) const
	{
		return address.load_relaxed() == reinterpret_cast<usize>(lock);
	}
	[[nodiscard]] bool is_read() const
	{
		const taken_as now = as.load_relaxed();

		return now == taken_as::reader ||
		       now == taken_as::nested_reader;
	}
	[[nodiscard]] bool is_read_nested() const
	{
		return as.load_relaxed() == taken_as::nested_reader;
	}
	[[nodiscard]] bool sleeps() const
	{
		return as.load_relaxed() == taken_as::sleeps || awaits();
	}
	[[nodiscard]] bool awaits() const
	{
		return as.load_relaxed() == taken_as::awaits;
	}
	[[nodiscard]] bool is_waiting() const
	{
		const hold now = state.load_relaxed();

		return now == hold::waiting || now == hold::waits_long;
	}
	/* Once of each wait. */
	[[nodiscard]] bool note_long_wait()
	{
		hold now = hold::waiting;

		return state.compare_exchange_relaxed(now, hold::waits_long);
	}
	[[nodiscard]] bool is_held() const
	{
		return state.load_relaxed() == hold::held;
	}
	[[nodiscard]] lock_label label() const
	{
		return {name.load_relaxed(), element_plus_1.load_relaxed()};
	}
	[[nodiscard]] call_site site() const
	{
		return {file.load_relaxed(),
			static_cast<int>(line.load_relaxed())};
	}

	/* Of 1024 cycles each, modulo 2^32: half an hour and more. */
	static u32 clock()
	{
		return static_cast<u32>(cycles_if_usable() >> 10);
	}

	/* Of the lock; or reserved, or gone. */
	atomic<usize> address;
	atomic<const char *> name;
	atomic<const char *> file;
	atomic<u32> line;
	atomic<u32> element_plus_1;
	/* When it was asked for; once held, when it was taken. */
	atomic<u32> since;
	atomic<u16> on_cpu;
	/* 0: not looked up yet, or none */
	atomic<u16> class_plus_1;
	/* As declared: order_calls.hpp. */
	atomic<u8> sub_rank;
	atomic<hold> state;
	atomic<taken_as> as;
	/* Pushed by a handler that came in the middle of a pop, below it: who
	 * was interrupted takes that place back itself. */
	atomic<bool> above_pop;
};

/* Zero bytes: nobody's. */
struct alignas(cache_line) held_locks {
	/* At once, waited for and held; more are not seen. */
	static constexpr u32 most = 16;

	[[nodiscard]] bool is_of(usize owner) const
	{
		return owner_plus_1.load_relaxed() == owner + 1;
	}

	/* A place for one more, of an owner who has places; null: full. */
	[[nodiscard]] held_lock *push()
	{
		const u32 n = more.load_relaxed();

		for (u32 i = 0; i < n; i++)
			if (is_gone(at[i])) {
				at[i].address.store_relaxed(
					held_lock::reserved);
				return &at[i];
			}
		if (n + 1 >= most)
			return nullptr;
		const bool in_pop = is_gone(at[n]);
		more.store_relaxed(n + 1);
		at[n + 1].above_pop.store_relaxed(in_pop);
		return &at[n + 1];
	}

	void pop(held_lock &one)
	{
		one.address.store_relaxed(held_lock::gone);
		for (u32 n = more.load_relaxed(); n > 0; n--) {
			const bool is_last = at[n].above_pop.load_relaxed();

			if (!leave(at[n]))
				return;
			more.store_relaxed(n - 1);
			if (is_last)
				return;
		}
		if (claims.load_relaxed() == 0 && leave(at[0]))
			owner_plus_1.store_relaxed(0);
	}

	/* Its owner says something of what it will take: it is its owner's
	 * until disclaim(), whatever is held. fresh: it was nobody's. */
	void claim(bool fresh)
	{
		claims.store_relaxed(
			static_cast<u8>(claims.load_relaxed() + 1));
		if (fresh)
			at[0].address.store_relaxed(held_lock::gone);
	}

	/*
	 * Where nothing is held at[0] is taken back first: a handler in between
	 * finds a claim, and leaves the owner. What is held above it is then
	 * the last that is popped.
	 */
	void disclaim()
	{
		const u8 now = claims.load_relaxed();

		if (now == 1 && more.load_relaxed() == 0 && leave(at[0])) {
			claims.store_relaxed(0);
			owner_plus_1.store_relaxed(0);
			return;
		}
		if (now == 1)
			at[1].above_pop.store_relaxed(false);
		claims.store_relaxed(static_cast<u8>(now - 1));
	}

	/* The one pushed last of this lock that nobody takes back, or null. */
	[[nodiscard]] held_lock *find(const void *lock)
	{
		for (u32 n = more.load_relaxed() + 1; n-- > 0;)
			if (at[n].is_of(lock) &&
			    at[n].state.load_relaxed() != hold::leaving)
				return &at[n];
		return nullptr;
	}

	/* Whether this one is held, and that one is the next of a pair. */
	[[nodiscard]] bool takes_by_address(usize held, usize wanted) const
	{
		return higher.load_relaxed() == wanted &&
		       lower.load_relaxed() == held;
	}

	/* How many of `at` may be in use. */
	[[nodiscard]] u32 size() const
	{
		return owner_plus_1.load_relaxed() ? more.load_relaxed() + 1
						   : 0;
	}

	/* 0: nobody's; whoever takes it has at[0]. */
	atomic<usize> owner_plus_1;
	/* Of a lock whose sub-rank is declared, for its next acquisition. */
	atomic<usize> ranked;
	/* Two that their owner takes by address: the second comes next. */
	atomic<usize> lower, higher;
	/* Places in use besides at[0]. */
	atomic<u32> more;
	atomic<u8> rank;
	/* Whoever has said something of a lock, and may say more. */
	atomic<u8> claims;
	held_lock at[most];

      private:
	static bool is_gone(const held_lock &one)
	{
		return one.address.load_relaxed() == held_lock::gone;
	}

	static bool leave(held_lock &last)
	{
		if (!is_gone(last))
			return false;
		last.address.store_relaxed(held_lock::reserved);
		return true;
	}
};

/* Of all owners. */
struct held_by_owners {
	/* The caller's, or null where it has none. */
	[[nodiscard]] held_locks *mine() const
	{
		const usize owner = owner_id();

		if (owner_is_cpu())
			return owner < owners && all[owner].is_of(owner)
				       ? &all[owner]
				       : nullptr;
		for (u32 i = 0; i < owners; i++)
			if (all[(owner + i) % owners].is_of(owner))
				return &all[(owner + i) % owners];
		return nullptr;
	}

	/* The caller's, and its own until disclaim(); null: no room. */
	[[nodiscard]] held_locks *claim_mine() const
	{
		held_locks *const known = mine();
		held_locks *const stack = known ? known : claim(owner_id());

		if (stack)
			stack->claim(!known);
		return stack;
	}

	/* A place of the caller's, for one more. */
	[[nodiscard]] held_place push() const
	{
		if (held_locks *const stack = mine())
			return {stack, stack->push()};
		held_locks *const fresh = claim(owner_id());

		return {fresh, fresh ? &fresh->at[0] : nullptr};
	}

	held_locks *all;
	u32 owners;

      private:
	/* A CPU has its own; threads share as many as hold locks at once. */
	held_locks *claim(usize owner) const
	{
		if (owner_is_cpu()) {
			if (owner >= owners)
				return nullptr;
			all[owner].owner_plus_1.store_relaxed(owner + 1);
			return &all[owner];
		}
		for (u32 i = 0; i < owners; i++) {
			held_locks &one = all[(owner + i) % owners];
			usize nobody = 0;

			if (one.owner_plus_1.load_relaxed() == nobody &&
			    one.owner_plus_1.compare_exchange_relaxed(
				    nobody, owner + 1))
				return &one;
		}
		return nullptr;
	}
};

} // namespace klock
