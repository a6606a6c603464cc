/* SPDX-License-Identifier: MIT */
/*
 * busted_queued - mutants of queued_lock
 *
 * Each has one mistake that is easily made where nodes belong to CPUs, and the
 * lock is two fields of a word. The nodes of most are inside of the lock, so
 * that one that is left spoilt is nobody else's. Never use them. Their waits
 * also end when give_up is set (barrier.hpp).
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/selftest/barrier.hpp>
#include <klock/selftest/busted_queue.hpp>

namespace klock::selftest::busted {

struct queued_busted_node {
	constexpr queued_busted_node() = default;

	atomic<u16> next;
	atomic<u8> first;
};

/* 4 CPUs of 2 levels, and how many each uses: in the lock, or of all locks. */
struct nodes_inside {
	queued_busted_node nodes[8];
};
struct nodes_of_all {
	static inline constinit queued_busted_node nodes[8];
	static inline constinit atomic<u8> depth[4];
};

/* What queued_lock does, in pieces. */
template <typename Nodes = nodes_inside>
struct queued_base : private Nodes {
	static constexpr u64 max_contenders = 4;

	void unlock(unsigned = 0)
	{
		word.template store_release<half::first>(0);
	}

      protected:
	static constexpr unsigned levels = 2;

	queued_busted_node &node_of(u16 number)
	{
		return Nodes::nodes[number - 1u];
	}
	auto &depth_of(unsigned cpu) { return Nodes::depth[cpu]; }
	static u16 number_of(unsigned cpu, unsigned level)
	{
		return static_cast<u16>(cpu * levels + level + 1);
	}

	bool take_free()
	{
		return word.compare_exchange_acquire({0, 0}, {1, 0});
	}

	u16 swap_tail(u16 mine)
	{
		return word.template exchange_acq_rel<half::second>(mine);
	}

	void wait_behind(u16 ahead, u16 mine)
	{
		if (ahead == 0)
			return;
		node_of(ahead).next.store_release(mine);
		node_of(mine).first.await_acquire(
			[](u8 now) { return now == 1 || give_up; });
	}

	void wait_for_holder()
	{
		word.template await_exchange_acquire<half::first>(
			1, [](u16 found) { return found == 0 || give_up; });
	}

	bool leaves_empty(u16 mine)
	{
		return word.compare_exchange_relaxed({1, mine}, {1, 0});
	}

	void call_next(u16 mine)
	{
		const u16 next = node_of(mine).next.await_acquire(
			[](u16 now) { return now != 0 || give_up; });

		if (next != 0)
			node_of(next).first.store_release(1);
	}

	void clean(u16 mine)
	{
		node_of(mine).next.store_relaxed(0);
		node_of(mine).first.store_relaxed(0);
	}

	void take_first(u16 mine)
	{
		wait_for_holder();
		if (!leaves_empty(mine))
			call_next(mine);
		clean(mine);
	}

	/* As queued_lock's: what shows that somebody has come. */
	atomic_pair<u16> word;
};

/*
 * The last in the queue empties it by a look and a store: who came in between
 * has exchanged itself in, and is forgotten.
 */
struct blind_empty : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);

		if (take_free())
			return;
		wait_behind(swap_tail(mine), mine);
		wait_for_holder();
		if (word.load_relaxed<half::second>() == mine) {
			hesitate();
			word.store_relaxed<half::second>(0);
		} else {
			call_next(mine);
		}
		clean(mine);
	}
};

/* Cleans its node when others see it already: a link to it is lost. */
struct late_clean : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);

		if (take_free())
			return;
		const u16 ahead = swap_tail(mine);
		hesitate();
		clean(mine);
		wait_behind(ahead, mine);
		wait_for_holder();
		if (!leaves_empty(mine))
			call_next(mine);
	}
};

/* Links itself to the last in the queue, and then takes its place. */
struct early_link : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);

		if (take_free())
			return;
		const u16 ahead = word.load_acquire<half::second>();
		if (ahead != 0)
			node_of(ahead).next.store_release(mine);
		hesitate();
		if (swap_tail(mine) != 0)
			node_of(mine).first.await_acquire(
				[](u8 now) { return now == 1 || give_up; });
		take_first(mine);
	}
};

/* Whoever finds it not held takes it, and passes those who queue. */
struct stealer : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);
		const u16 last = word.load_relaxed<half::second>();

		if (word.load_relaxed<half::first>() == 0 &&
		    word.compare_exchange_acquire({0, last}, {1, last}))
			return;
		wait_behind(swap_tail(mine), mine);
		take_first(mine);
	}
};

/*
 * Counts its wait when it has queued: a handler that comes before that takes
 * the same node. No lock of the list below: only interrupts show it.
 */
struct late_depth : queued_base<nodes_of_all> {
	void lock_from(unsigned cpu)
	{
		atomic<u8> &depth = depth_of(cpu);
		const u8 level = depth.load_relaxed();
		const u16 mine = number_of(cpu, level);

		if (take_free())
			return;
		const u16 ahead = swap_tail(mine);
		depth.store_relaxed(static_cast<u8>(level + 1));
		wait_behind(ahead, mine);
		take_first(mine);
		depth.store_release(level);
	}
};

} // namespace klock::selftest::busted
