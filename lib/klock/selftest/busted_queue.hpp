/* SPDX-License-Identifier: MIT */
/*
 * busted_queue - mutants of queue, array and register locks
 *
 * Each has one mistake that is easily made with its algorithm; what is right is
 * in the lock's own header. Never use them. Their waits also end when give_up
 * is set (barrier.hpp): most of them leave somebody waiting for ever.
 *
 * Where a mistake lies between two instructions, the lock is slow there, so
 * that CPUs that run at once find it: hesitate().
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/barrier.hpp>

namespace klock::selftest::busted {

/* About as long as a handoff. */
inline void hesitate() { relax_for(16); }

/*
 * narrow_ticket_lock<4> whose unlock adds 1 at the wrap too: the carry out of
 * owner goes into next, and a ticket is never served. Starts at the wrap.
 */
struct carrying_unlock {
	static constexpr u64 max_contenders = 16;

	void lock()
	{
		const u8 mine = byte.fetch_add_relaxed(0x10) >> 4;

		byte.await_acquire([mine](u8 now) {
			return (now & 15) == mine || give_up;
		});
	}
	void unlock() { byte.fetch_add_release(1); }

      private:
	atomic<u8> byte{0xff};
};

/*
 * mcs_lock whose node is marked as waiting only after the predecessor can see
 * it: the handoff may come first, and is then overwritten.
 */
struct late_flag {
	struct node {
		constexpr node() = default;

	      private:
		friend late_flag;
		atomic<node *> next;
		atomic<u8> waits;
	};
	static constexpr bool node_may_live_on_stack = true;
	static constexpr u64 max_contenders = ~u64{0};

	void lock(node &mine)
	{
		mine.next.store_relaxed(nullptr);
		node *const predecessor = tail.exchange_acq_rel(&mine);

		if (predecessor == nullptr)
			return;
		predecessor->next.store_release(&mine);
		hesitate();
		mine.waits.store_relaxed(1);
		mine.waits.await_acquire(
			[](u8 now) { return now == 0 || give_up; });
	}

	void unlock(node &mine)
	{
		node *successor = mine.next.load_acquire();

		if (successor == nullptr) {
			node *last = &mine;
			if (tail.compare_exchange_release(last, nullptr))
				return;
			successor = mine.next.await_acquire([](node *now) {
				return now != nullptr || give_up;
			});
		}
		if (successor != nullptr)
			successor->waits.store_release(0);
	}

      private:
	atomic<node *> tail;
};

/*
 * clh_lock that keeps its own cell at unlock, while its successor still watches
 * it: marked busy again, it never was clear.
 */
struct own_cell {
	struct node {
		constexpr node() = default;

	      private:
		friend own_cell;
		atomic<u8> busy;
	};
	static constexpr bool node_may_live_on_stack = false;
	static constexpr u64 max_contenders = ~u64{0};

	void lock(node &mine)
	{
		mine.busy.store_relaxed(1);
		node *const predecessor = tail.exchange_acq_rel(&mine);

		/* Its own cell at the tail is a free lock, at least that. */
		if (predecessor == nullptr || predecessor == &mine)
			return;
		predecessor->busy.await_acquire(
			[](u8 now) { return now == 0 || give_up; });
	}
	void unlock(node &mine) { mine.busy.store_release(0); }

      private:
	atomic<node *> tail;
};

/*
 * anderson_lock whose draw counter is left to wrap, though the ring's size does
 * not divide its range: here 4, for 3 slots. After 3 comes 0, which is the same
 * slot.
 */
struct uneven_ring {
	static constexpr u64 max_contenders = 3;

	void lock()
	{
		const u32 mine = drawn.fetch_add_acq_rel(1) % 4 % 3;

		open[mine].await_acquire(
			[](u8 now) { return now == 1 || give_up; });
		open[mine].store_relaxed(0);
		held.set(mine);
	}
	void unlock() { open[(held.get() + 1) % 3].store_release(1); }

      private:
	atomic<u32> drawn;
	plain<u32> held;
	atomic<u8> open[3] = {atomic<u8>(1), atomic<u8>(0), atomic<u8>(0)};
};

/*
 * graunke_thakkar_lock that queues by a relaxed exchange: a waiter may read of
 * its predecessor's flag what it was two critical sections ago, which looks the
 * same.
 */
struct relaxed_queue {
	static constexpr u64 max_contenders = 4;

	void lock(unsigned cpu)
	{
		const u32 mine = cpu << 1 | (turned[cpu].load_relaxed() ^ 1);
		const u32 found = tail.exchange_relaxed(mine);

		turned[found >> 1].await_acquire([found](u8 now) {
			return now == (found & 1) || give_up;
		});
	}
	void unlock(unsigned cpu)
	{
		turned[cpu].store_release(turned[cpu].load_relaxed() ^ 1);
	}

      private:
	atomic<u32> tail;
	atomic<u8> turned[4];
};

/*
 * peterson_lock without its fences: each CPU looks before it can be seen. Its
 * stores release nothing: on AArch64 an acquire does not pass a release, and
 * between the two no fence is missed. What each CPU wants has a cache line of
 * its own: the other's look does not wait for the store then, as it would for a
 * line that both are in.
 */
struct unfenced_peterson {
	static constexpr u64 max_contenders = 2;

	void lock(unsigned cpu)
	{
		const u8 me = static_cast<u8>(cpu);

		sides[me].wants.store_relaxed(1);
		gives_way.store_relaxed(me);
		sides[me ^ 1].wants.await_either_acquire(
			[](u8 other) { return other == 0 || give_up; },
			gives_way, [me](u8 last) { return last != me; });
	}
	void unlock(unsigned cpu) { sides[cpu].wants.store_release(0); }

      private:
	struct alignas(cache_line) side {
		atomic<u8> wants;
	};

	side sides[2];
	alignas(cache_line) atomic<u8> gives_way;
};

/* tournament_lock's tree, with every match lost or won as in peterson_lock. */
template <unsigned Cpus>
struct match_tree {
	static constexpr u64 max_contenders = Cpus;

	void lock(unsigned cpu)
	{
		for (unsigned at = Cpus + cpu; at > 1; at /= 2)
			take(at / 2, at % 2);
	}

	/* As tournament_lock's. */
	[[nodiscard]] bool is_locked() const
	{
		return matches[0].wants[0].load_relaxed() ||
		       matches[0].wants[1].load_relaxed();
	}

      protected:
	void give_back(unsigned number, unsigned side)
	{
		matches[number - 1].wants[side].store_release(0);
		hesitate();
	}

      private:
	struct match {
		atomic<u8> wants[2];
		atomic<u8> gives_way;
	};

	void take(unsigned number, unsigned side)
	{
		match &m = matches[number - 1];
		const u8 me = static_cast<u8>(side);

		m.wants[me].store_relaxed(1);
		fence_seq_cst();
		m.gives_way.store_release(me);
		fence_seq_cst();
		m.wants[me ^ 1].await_either_acquire(
			[](u8 other) { return other == 0 || give_up; },
			m.gives_way, [me](u8 last) { return last != me; });
	}

	match matches[Cpus - 1];
};

/*
 * tournament_lock whose CPUs do not wait for their own side: the next from the
 * same subtree takes the root on the side that is still held.
 */
struct leaf_first : match_tree<3> {
	void unlock(unsigned cpu)
	{
		for (unsigned at = 3 + cpu; at > 1; at /= 2)
			give_back(at / 2, at % 2);
	}
};

/*
 * tournament_lock that is left from the root down: excludes, but goes on
 * writing after the next holder is inside, and may have freed it.
 */
struct root_first : match_tree<4> {
	void unlock(unsigned cpu)
	{
		const unsigned leaf = 4 + cpu;

		give_back(1, leaf / 2 % 2);
		give_back(leaf / 2, leaf % 2);
	}
};

/*
 * bakery_lock that does not say that it is choosing: while a CPU has looked at
 * the others and not yet stored its number, one with the same number passes.
 */
struct silent_choice {
	static constexpr u64 max_contenders = 4;

	void lock(unsigned cpu)
	{
		u32 mine = 1;

		for (const atomic<u32> &its : number)
			if (const u32 v = its.load_relaxed(); v >= mine)
				mine = v + 1;
		hesitate();
		number[cpu].store_relaxed(mine);
		fence_seq_cst();
		for (unsigned i = 0; i < 4; i++) {
			if (i == cpu)
				continue;
			number[i].await_acquire([=](u32 v) {
				return v == 0 || v > mine ||
				       (v == mine && i > cpu) || give_up;
			});
		}
	}
	void unlock(unsigned cpu) { number[cpu].store_release(0); }

	/* As bakery_lock's. */
	[[nodiscard]] bool is_queued(unsigned cpu) const
	{
		return number[cpu].load_relaxed() != 0;
	}

      private:
	atomic<u32> number[4];
};

} // namespace klock::selftest::busted
