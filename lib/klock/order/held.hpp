/* SPDX-License-Identifier: MIT */
/*
 * held - the locks that one owner holds and waits for, readable by any CPU
 *
 * An owner is what klock_os_owner_id() says, or a CPU. Only the owner writes
 * its stack, and the handlers that interrupt it; these leave it as they found
 * it. A place is changed in an order such that a handler which comes between
 * any two steps sees no lock that is neither held nor waited for:
 *	push	one more place, then its fields, the lock's address last
 *	pop	the address becomes `gone`, then the place, then the owner
 * A place in between is `reserved`: it is neither pushed nor popped. A place
 * that was popped below others is `gone`, and the next push takes it.
 *
 * All accesses are relaxed, as the writer is also the reader, with two
 * exceptions. A thread's stack is another's next: it is freed by a release and
 * claimed by an acquire. And print_held.hpp reads other owners' stacks. It may
 * show a line that is being written, and it changes `waiting` to `waits_long`
 * by a compare-and-swap.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/text.hpp>
#include <klock/detail/checked.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* waits_long: a long wait that was reported. leaving: its release has begun,
 * and may be over. */
enum class hold : u8 { trying, waiting, waits_long, held, leaving };
/* sleeps: its waiters give their CPU away; inherits: and the next has it if its
 * holder ends; sleeping_reader: a reader of such a lock. looks: it waits but
 * never blocks others, as a seq_lock's reader. awaits: it sleeps and looks. */
enum class taken_as : u8 {
	writer,
	reader,
	nested_reader,
	sleeps,
	inherits,
	sleeping_reader,
	looks,
	awaits
};

/* An acquisition, or a wait for one. */
struct held_lock {
	/* Values of `address`. */
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
				 : want.sleeps && want.shared
					 ? taken_as::sleeping_reader
				 : want.thread	    ? taken_as::inherits
				 : want.sleeps	    ? taken_as::sleeps
				 : want.looks	    ? taken_as::looks
				 : want.is_nested() ? taken_as::nested_reader
				 : want.shared	    ? taken_as::reader
						    : taken_as::writer);
		state.store_relaxed(how);
		address.store_relaxed(reinterpret_cast<usize>(want.lock));
	}

	/* Notes what another owner had noted, held here from now on. */
	void take_over(const held_lock &other, call_site by)
	{
		name.store_relaxed(other.name.load_relaxed());
		element_plus_1.store_relaxed(
			other.element_plus_1.load_relaxed());
		file.store_relaxed(by.file);
		line.store_relaxed(static_cast<u32>(by.line));
		on_cpu.store_relaxed(static_cast<u16>(cpu_id()));
		class_plus_1.store_relaxed(other.class_plus_1.load_relaxed());
		sub_rank.store_relaxed(other.sub_rank.load_relaxed());
		as.store_relaxed(other.as.load_relaxed());
		take();
		address.store_relaxed(other.address.load_relaxed());
	}

	void set_class(u32 number)
	{
		class_plus_1.store_relaxed(static_cast<u16>(number + 1));
	}

	/* The wait is over: the lock is held. */
	void take()
	{
		since.store_relaxed(clock());
		state.store_relaxed(hold::held);
	}

	/* The release begins: others may take and free the lock before its
	 * owner pops this. */
	void leave() { state.store_relaxed(hold::leaving); }

	[[nodiscard]] bool is_there() const
	{
		return address.load_relaxed() > gone;
	}
	/* Whether it makes others wait. */
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
		       now == taken_as::nested_reader ||
		       now == taken_as::sleeping_reader;
	}
	[[nodiscard]] bool is_read_nested() const
	{
		return as.load_relaxed() == taken_as::nested_reader;
	}
	[[nodiscard]] bool sleeps() const
	{
		const taken_as now = as.load_relaxed();

		return now == taken_as::sleeps || now == taken_as::inherits ||
		       now == taken_as::sleeping_reader ||
		       now == taken_as::awaits;
	}
	/* Whether another holds it once its holder has ended. */
	[[nodiscard]] bool inherits() const
	{
		return is_there() && as.load_relaxed() == taken_as::inherits;
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
	/* Returns true once for each wait. */
	[[nodiscard]] bool note_long_wait()
	{
		hold now = hold::waiting;

		return state.compare_exchange_relaxed(now, hold::waits_long);
	}
	[[nodiscard]] bool is_held() const
	{
		return state.load_relaxed() == hold::held;
	}
	/* A part of a lock: of an irq_shared_lock, of one that sleeps. */
	[[nodiscard]] bool is_gate() const
	{
		return element_plus_1.load_relaxed() == lock_label::gate;
	}
	[[nodiscard]] bool is_inner() const
	{
		return element_plus_1.load_relaxed() == lock_label::inner;
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

	/* Time in units of 1024 cycles, modulo 2^32: it wraps after half an
	 * hour or more. */
	static u32 clock()
	{
		return static_cast<u32>(cycles_if_usable() >> 10);
	}

	/* the lock's; or reserved, or gone */
	atomic<usize> address;
	atomic<const char *> name;
	atomic<const char *> file;
	atomic<u32> line;
	atomic<u32> element_plus_1;
	/* clock() at the begin of the wait; once held, of the hold */
	atomic<u32> since;
	atomic<u16> on_cpu;
	/* 0: not looked up yet, or none */
	atomic<u16> class_plus_1;
	/* as declared: order_calls.hpp */
	atomic<u8> sub_rank;
	atomic<hold> state;
	atomic<taken_as> as;
	/* a handler pushed it while the place below was being popped: that pop
	 * frees the place below itself */
	atomic<bool> above_pop;
};

/* An owner's stack of locks. Zero bytes: it has no owner. */
struct alignas(cache_line) held_locks {
	/* Locks waited for and held at once; more are not noted. */
	static constexpr u32 most = 16;

	[[nodiscard]] bool is_of(usize owner) const
	{
		return owner_plus_1.load_relaxed() == owner + 1;
	}

	/* Makes it this owner's; false: it has one. A CPU's alone if no thread
	 * has any. */
	[[nodiscard]] bool claimed(usize owner)
	{
		usize nobody = 0;

		if (owner_is_cpu() && !owner_of_sleepers()) {
			owner_plus_1.store_relaxed(owner + 1);
			return true;
		}
		return owner_plus_1.load_relaxed() == nobody &&
		       owner_plus_1.compare_exchange_acquire(nobody, owner + 1);
	}

	/* A place for one more lock of its owner; null: the stack is full. */
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
			make_free();
	}

	/* Keeps the stack its owner's until disclaim(), even if it is empty:
	 * the owner notes something about a lock that it will take. fresh: it
	 * had no owner. */
	void claim(bool fresh)
	{
		claims.store_relaxed(
			static_cast<u8>(claims.load_relaxed() + 1));
		if (fresh)
			at[0].address.store_relaxed(held_lock::gone);
	}

	/*
	 * If nothing is held, at[0] is freed first: a handler that comes in
	 * between finds a claim, and does not free the stack. If a lock above
	 * at[0] is held, its pop will free the stack.
	 */
	void disclaim()
	{
		const u8 now = claims.load_relaxed();

		if (now == 1 && more.load_relaxed() == 0 && leave(at[0])) {
			claims.store_relaxed(0);
			make_free();
			return;
		}
		if (now == 1)
			at[1].above_pop.store_relaxed(false);
		claims.store_relaxed(static_cast<u8>(now - 1));
	}

	/* The last push of this lock whose release has not begun, or null. */
	[[nodiscard]] held_lock *find(const void *lock)
	{
		for (u32 n = more.load_relaxed() + 1; n-- > 0;)
			if (at[n].is_of(lock) &&
			    at[n].state.load_relaxed() != hold::leaving)
				return &at[n];
		return nullptr;
	}

	/* Whether the two are a pair that is taken in address order. */
	[[nodiscard]] bool takes_by_address(usize held, usize wanted) const
	{
		return higher.load_relaxed() == wanted &&
		       lower.load_relaxed() == held;
	}

	/* The number of places of `at` that may be in use. */
	[[nodiscard]] u32 size() const
	{
		return owner_plus_1.load_relaxed() ? more.load_relaxed() + 1
						   : 0;
	}

	/* 0: free; its owner has at[0] */
	atomic<usize> owner_plus_1;
	/* address of a lock whose next acquisition has the sub-rank `rank` */
	atomic<usize> ranked;
	/* the owner, once it has taken a lock that others inherit */
	atomic<const inheriting_thread *> thread;
	/* addresses of a pair of which the higher lock is taken next */
	atomic<usize> lower, higher;
	/* places in use besides at[0] */
	atomic<u32> more;
	atomic<u8> rank;
	/* claim() without disclaim(): nested `nested` */
	atomic<u8> claims;
	held_lock at[most];

      private:
	void make_free()
	{
		thread.store_relaxed(nullptr);
		owner_plus_1.store_release(0);
	}

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

/* The stacks of all owners. */
struct held_by_owners {
	/* The caller's stack, or null if it holds and waits for nothing.
	 * sleeps: that of the locks whose waiters sleep, which may be another.
	 */
	[[nodiscard]] held_locks *mine(bool sleeps = false) const
	{
		const usize owner = owner_id(sleeps);

		if (owner_is_cpu() && !is_thread(owner))
			return owner < owners && all[owner].is_of(owner)
				       ? &all[owner]
				       : nullptr;
		for (u32 i = 0; i < owners; i++)
			if (place(owner, i).is_of(owner))
				return &place(owner, i);
		return nullptr;
	}

	/* The caller's stack with this lock, or null. */
	[[nodiscard]] held_locks *mine_with(const void *lock) const
	{
		held_locks *const spins = mine();

		if (spins && spins->find(lock))
			return spins;
		held_locks *const sleeps = mine(true);

		return sleeps && sleeps->find(lock) ? sleeps : nullptr;
	}

	/* A stack that is the caller's until disclaim(); null: none is free. */
	[[nodiscard]] held_locks *claim_mine(bool sleeps = false) const
	{
		held_locks *const known = mine(sleeps);
		held_locks *const stack =
			known ? known : claim(owner_id(sleeps));

		if (stack)
			stack->claim(!known);
		return stack;
	}

	/* A place for one more lock of the caller. */
	[[nodiscard]] held_place push(bool sleeps = false) const
	{
		if (held_locks *const stack = mine(sleeps))
			return {stack, stack->push()};
		held_locks *const fresh = claim(owner_id(sleeps));

		return {fresh, fresh ? &fresh->at[0] : nullptr};
	}

	held_locks *all;
	u32 owners;

      private:
	/* The places of a thread; from the last, if CPUs have the first. */
	held_locks &place(usize owner, u32 i) const
	{
		return owner_is_cpu() ? all[owners - 1 - i]
				      : all[(owner + i) % owners];
	}

	/* Each CPU has a stack; a thread gets a free one while it holds locks.
	 */
	held_locks *claim(usize owner) const
	{
		if (owner_is_cpu() && !is_thread(owner))
			return owner < owners && all[owner].claimed(owner)
				       ? &all[owner]
				       : nullptr;
		for (u32 i = 0; i < owners; i++)
			if (place(owner, i).claimed(owner))
				return &place(owner, i);
		return nullptr;
	}
};

} // namespace klock
