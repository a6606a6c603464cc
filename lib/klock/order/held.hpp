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
#include <klock/detail/order_hook.hpp>
#include <klock/detail/owners.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* waits_long: a long wait that was reported. leaving: its release has begun,
 * and may be over. */
enum class hold : u8 { trying, waiting, waits_long, held, leaving };

/* Whether a place's sum (lock_order.hpp, One look) is known: its classes; and
 * that all of them were noted with interrupts on. */
enum class known_sum : u8 { unknown, of_classes, of_open };

/* An acquisition, or a wait for one. */
struct held_lock : noted_lock {
	/* Values of `address`. */
	static constexpr usize reserved = 0;
	static constexpr usize gone = 1;

	void note(const wanted_lock &want, hold how, u8 rank)
	{
		noted_lock::note(want.label, want.by);
		on_cpu.store_relaxed(static_cast<u16>(cpu_id()));
		since.store_relaxed(clock());
		class_and_event.store_relaxed(0);
		sub_rank.store_relaxed(rank);
		mode.store_relaxed(want.mode());
		state.store_relaxed(how);
		address.store_release(reinterpret_cast<usize>(want.lock));
	}

	/* Notes what another owner had noted, held here from now on. */
	void take_over(const held_lock &other, call_site by)
	{
		noted_lock::note(other.label(), by);
		on_cpu.store_relaxed(static_cast<u16>(cpu_id()));
		class_and_event.store_relaxed(
			other.class_and_event.load_relaxed());
		sub_rank.store_relaxed(other.sub_rank.load_relaxed());
		mode.store_relaxed(other.mode.load_relaxed());
		take();
		address.store_release(other.address.load_relaxed());
	}

	void set_class(u32 number)
	{
		class_and_event.store_relaxed(
			static_cast<u16>((number + 1) & class_bits));
	}
	void forget_class() { class_and_event.store_relaxed(0); }
	/* The number of its class, plus 1; 0: it was taken by a try, or has
	 * none. */
	[[nodiscard]] u32 class_plus_1() const
	{
		return class_and_event.load_relaxed() & class_bits;
	}

	/* Notes that its holder waits for this event, or sets it. */
	void note_event(u32 number)
	{
		const u32 now = class_and_event.load_relaxed();
		const u32 before = now >> event_shift;
		const u32 mark = before && before != mark_of(number)
					 ? many_events
					 : mark_of(number);

		class_and_event.store_relaxed(static_cast<u16>(
			(now & class_bits) | mark << event_shift));
	}
	/* Whether its holder has waited for this event or set it. Of two events
	 * or more nothing is known: or_any is returned then. */
	[[nodiscard]] bool has_used(u32 number, bool or_any) const
	{
		const u32 mark = class_and_event.load_relaxed() >> event_shift;

		return mark == many_events ? or_any : mark == mark_of(number);
	}

	/* The wait is over, if there was one: the lock is held. */
	void take(bool waited = true)
	{
		if (waited)
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
		return is_there() && !has(wanted_lock::mode_looks);
	}
	[[nodiscard]] bool is_of(const void *lock) const
	{
		return address.load_relaxed() == reinterpret_cast<usize>(lock);
	}
	/* Whether it is this lock, and held. Reads the address again, as its
	 * owner may use the place for another lock meanwhile. The state that is
	 * read is not that of a lock which the place had before: the address
	 * releases it. */
	[[nodiscard]] bool holds(const void *lock) const
	{
		return address.load_acquire() ==
			       reinterpret_cast<usize>(lock) &&
		       is_held() && is_of(lock);
	}
	[[nodiscard]] bool is_read() const
	{
		return has(wanted_lock::mode_reads);
	}
	[[nodiscard]] bool is_read_nested() const
	{
		return has(wanted_lock::mode_nests);
	}
	/* Whether its holder reads, and no other may write meanwhile. */
	[[nodiscard]] bool is_upgradable() const
	{
		return has(wanted_lock::mode_upgradable);
	}
	[[nodiscard]] bool sleeps() const
	{
		return has(wanted_lock::mode_sleeps);
	}
	/* Whether another holds it once its holder has ended. */
	[[nodiscard]] bool inherits() const
	{
		return is_there() && has(wanted_lock::mode_inherits);
	}
	/* Whether it is a wait for no lock: for a condition or the like. */
	[[nodiscard]] bool awaits() const
	{
		return sleeps() && has(wanted_lock::mode_looks);
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
		return part() == lock_label::gate;
	}
	[[nodiscard]] bool is_inner() const
	{
		return part() == lock_label::inner;
	}

	/* Time in units of 1024 cycles, modulo 2^32: it wraps after half an
	 * hour or more. */
	static u32 clock()
	{
		return static_cast<u32>(cycles_if_usable() >> 10);
	}

	/* the lock's; or reserved, or gone */
	atomic<usize> address;
	/* clock() at the begin of the wait; once held, of the hold */
	atomic<u32> since;
	atomic<u16> on_cpu;
	/* as declared: order_calls.hpp */
	atomic<u8> sub_rank;
	atomic<hold> state;
	/* wanted_lock::mode() */
	atomic<u8> mode;
	/* a handler pushed it while the place below was being popped: that pop
	 * frees the place below itself */
	atomic<bool> above_pop;
	/* unknown while it is in no use, and until the sum was written */
	atomic<known_sum> known;

      private:
	/* Parts of `class_and_event`, and values of the second: some events
	 * have one mark. */
	static constexpr u32 event_shift = 9;
	static constexpr u32 class_bits = (u32{1} << event_shift) - 1;
	static constexpr u32 many_events = 127;

	static u32 mark_of(u32 event) { return event % (many_events - 1) + 1; }

	[[nodiscard]] bool has(u8 flag) const
	{
		return mode.load_relaxed() & flag;
	}

	/* class_plus_1(), and what note_event() has noted */
	atomic<u16> class_and_event;
};

/* An owner's stack of locks; while it has an owner, that one has at[0]. Zero
 * bytes: it has none. */
struct alignas(cache_line) held_locks : keyed_place {
	/* Locks waited for and held at once; more are not noted. */
	static constexpr u32 most = 16;

	/*
	 * Makes it this owner's; false: it has one. While no thread has any,
	 * each CPU has its own, and stores: handlers between the two leave it
	 * as it was. The first thread may come between the question and the
	 * store of a CPU. It takes the last stack, which is a CPU's only if
	 * there are too few (lock_order.hpp, max_cpus).
	 */
	[[nodiscard]] bool claimed(usize its)
	{
		usize before = nobody;

		if (owner_is_cpu() && !owner_of_sleepers()) {
			key.store_relaxed(its);
			return true;
		}
		return is_of(before) &&
		       key.compare_exchange_acquire(before, its);
	}

	/* A place for one more lock of its owner; null: the stack is full. */
	[[nodiscard]] held_lock *push()
	{
		const u32 n = more.load_relaxed();

		for (u32 i = 0; i < n; i++)
			if (is_gone(at[i])) {
				forget_sums(at[i]);
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
		one.known.store_relaxed(known_sum::unknown);
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

	/* The last place in which this lock is held, or null. Not that of a
	 * wait: a handler that releases the lock leaves the wait it interrupts.
	 */
	[[nodiscard]] held_lock *find(const void *lock)
	{
		for (u32 n = more.load_relaxed() + 1; n-- > 0;)
			if (at[n].is_of(lock) && at[n].is_held())
				return &at[n];
		return nullptr;
	}

	/* This place will have a lock of another class, so the sums from it up
	 * are no sums any more. */
	void forget_sums(const held_lock &from)
	{
		for (u32 n = more.load_relaxed(); &at[n] != &from; n--)
			at[n].known.store_relaxed(known_sum::unknown);
		at[&from - at].known.store_relaxed(known_sum::unknown);
	}

	/* Whether the two are a pair that is taken in address order. */
	[[nodiscard]] bool takes_by_address(usize held, usize wanted) const
	{
		return higher.load_relaxed() == wanted &&
		       lower.load_relaxed() == held;
	}

	/* Whether no place above it is in use. */
	[[nodiscard]] bool is_last(const held_lock &one) const
	{
		return &one == &at[more.load_relaxed()];
	}

	/* Whether a place below this one has the lock. */
	[[nodiscard]] bool has_below(const held_lock &one,
				     const void *lock) const
	{
		bool found = false;

		for (const held_lock *below = at; below != &one; below++)
			found |= below->is_of(lock);
		return found;
	}

	/* The number of places of `at` that may be in use. */
	[[nodiscard]] u32 size() const
	{
		return is_of(nobody) ? 0 : more.load_relaxed() + 1;
	}

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
		keyed_place::leave();
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
		if (!sleeps && owner_is_cpu())
			return of_cpu(cpu_id(), is_its);
		return first(owner_id(sleeps), is_its);
	}

	/* The caller's stack with this lock, or null. */
	[[nodiscard]] held_locks *mine_with(const void *lock) const
	{
		return place_of(lock).stack;
	}
	/* The caller's place of this lock, or nulls. */
	[[nodiscard]] held_place place_of(const void *lock) const
	{
		const held_place spins = place_in(mine(), lock);

		return spins.at ? spins : place_in(mine(true), lock);
	}

	/* A stack that is the caller's until disclaim(); null: none is free. */
	[[nodiscard]] held_locks *claim_mine(bool sleeps = false) const
	{
		held_locks *const known = mine(sleeps);
		held_locks *const stack = known ? known : claim(sleeps);

		if (stack)
			stack->claim(!known);
		return stack;
	}

	/* A place for one more lock of the caller. */
	[[nodiscard]] held_place push(bool sleeps = false) const
	{
		if (held_locks *const stack = mine(sleeps))
			return {stack, stack->push()};
		held_locks *const fresh = claim(sleeps);

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

	static held_place place_in(held_locks *stack, const void *lock)
	{
		held_lock *const at = stack ? stack->find(lock) : nullptr;

		return {at ? stack : nullptr, at};
	}

	static bool is_its(const held_locks &one, usize key)
	{
		return one.is_of(key);
	}

	template <typename Test>
	held_locks *of_cpu(usize cpu, Test is_it) const
	{
		return cpu < owners && is_it(all[cpu], key_of(cpu)) ? &all[cpu]
								    : nullptr;
	}

	/* The first stack that this owner may have for which is_it(stack, key)
	 * holds, or null. A CPU may have one, a thread each. */
	template <typename Test>
	held_locks *first(usize owner, Test is_it) const
	{
		const usize key = key_of(owner);

		if (owner_is_cpu() && !is_thread(owner))
			return of_cpu(owner, is_it);
		for (u32 i = 0; i < owners; i++)
			if (is_it(place(owner, i), key))
				return &place(owner, i);
		return nullptr;
	}

	/* A stack that is the caller's while it holds locks; null: none. */
	held_locks *claim(bool sleeps) const
	{
		return first(owner_id(sleeps), [](held_locks &one, usize key) {
			return one.claimed(key);
		});
	}
};

} // namespace klock
