/* SPDX-License-Identifier: MIT */
/*
 * busted_ticket - mutants of ticket and test-and-set locks
 *
 * Each is one mistake that was made in earnest somewhere. Never use them.
 * Their waits also end when give_up is set (barrier.hpp), so that a test can
 * end a run in which the mistake has left everybody waiting.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/barrier.hpp>

namespace klock::selftest::busted {

/* Two counters apart, and a wait that a test can end. */
struct ticket_base {
	static constexpr u64 max_contenders = 256;

	void unlock()
	{
		owner.store_release(static_cast<u8>(owner.load_relaxed() + 1));
	}

      protected:
	void wait_for(u8 mine)
	{
		owner.await_acquire(
			[mine](u8 now) { return now == mine || give_up; });
	}

	atomic<u8> next;
	atomic<u8> owner;
};

/*
 * A ticket taken without lock prefix: load, add, store. Two CPUs that do so at
 * once hold the same ticket.
 */
struct unlocked_take : ticket_base {
	void lock()
	{
		const u8 mine = next.load_relaxed();

		next.store_relaxed(static_cast<u8>(mine + 1));
		wait_for(mine);
	}
};

/* Test-and-set by a load and a store: two CPUs may both find it free. */
struct load_store_tas {
	static constexpr u64 max_contenders = ~u64{0};

	void lock()
	{
		taken.await_acquire([](u8 now) { return now == 0 || give_up; });
		taken.store_relaxed(1);
	}
	void unlock() { taken.store_release(0); }

      private:
	atomic<u8> taken;
};

/*
 * An unlock that reads and writes the whole word, next and owner together: a
 * ticket taken in between is lost, and taken again by another.
 */
struct word_wide_unlock {
	static constexpr u64 max_contenders = 256;

	void lock()
	{
		const u16 drawn = word.fetch_add_acq_rel(next_one);
		const u8 mine = static_cast<u8>(drawn >> 8);

		word.await_acquire([mine](u16 now) {
			return static_cast<u8>(now) == mine || give_up;
		});
	}
	void unlock()
	{
		const u16 now = word.load_relaxed();
		const u8 served = static_cast<u8>(now + 1);

		word.store_release(static_cast<u16>((now & 0xff00) | served));
	}

      private:
	static constexpr u16 next_one = 0x100;
	atomic<u16> word; /* high byte: next; low byte: owner */
};

/*
 * A try_lock that looks at owner and then swaps next alone (ABA): in between,
 * a whole wrap of tickets can pass. Two bits here, so that a wrap is four. The
 * mistake is the same with eight.
 */
struct aba_try_lock {
	static constexpr u64 max_contenders = 4;

	void lock()
	{
		u8 mine = next.load_relaxed();

		while (!next.compare_exchange_acq_rel(mine, after(mine)))
			;
		owner.await_acquire(
			[mine](u8 now) { return now == mine || give_up; });
	}
	[[nodiscard]] bool try_lock()
	{
		u8 free = owner.load_acquire();

		between_look_and_swap();
		return next.compare_exchange_acq_rel(free, after(free));
	}
	void unlock() { owner.store_release(after(owner.load_relaxed())); }

	/* A test's foot in the door: what happens between the two steps. */
	void (*pass)(aba_try_lock &) = nullptr;

      private:
	static constexpr u8 after(u8 t) { return (t + 1) & 3; }
	void between_look_and_swap()
	{
		if (pass)
			pass(*this);
	}

	atomic<u8> next;
	atomic<u8> owner;
};

/*
 * Serves whoever came last, and claims FIFO. Sound otherwise: a byte guards a
 * stack of the tickets that wait.
 */
struct lifo {
	static constexpr u64 max_contenders = 256;

	void lock()
	{
		guard_stack();
		const u16 mine = static_cast<u16>(next.load_relaxed() + 1);
		const bool was_held = held.get();
		next.store_relaxed(mine);
		held.set(true);
		if (was_held) {
			stack[depth.get()].set(mine);
			depth.set(depth.get() + 1);
		}
		guarded.store_release(0);
		if (was_held)
			served.await_acquire([mine](u16 now) {
				return now == mine || give_up;
			});
	}

	void unlock()
	{
		guard_stack();
		const unsigned waiting = depth.get();
		if (waiting) {
			depth.set(waiting - 1);
			served.store_release(stack[waiting - 1].get());
		} else {
			held.set(false);
		}
		guarded.store_release(0);
	}

      private:
	void guard_stack()
	{
		guarded.await_exchange_acquire(
			1, [](u8 was) { return was == 0 || give_up; });
	}

	atomic<u8> guarded;
	atomic<u16> next;   /* the last ticket taken, all differ */
	atomic<u16> served; /* the last ticket called from the stack */
	plain<bool> held;
	plain<unsigned> depth;
	plain<u16> stack[256];
};

} // namespace klock::selftest::busted
