/* SPDX-License-Identifier: MIT */
/*
 * busted - THE list of mutants: locks that must fail
 *
 * Every kind of test runs on these; each must be found in every environment in
 * which it can be found. A test that passes them tests nothing.
 *
 * The environments that find a mutant were measured: a missing lock prefix
 * shows only if two CPUs run at the same time, a wrong order of service also if
 * they take turns.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/parts.hpp>

namespace klock::selftest::busted {

/*
 * busted_queue - mutants of queue, array and register locks
 *
 * Each has one mistake that is easily made with its algorithm; the lock's own
 * header has the correct one. Never use them. Their waits also end when give_up
 * is set (barrier.hpp): most of them leave a CPU waiting for ever.
 *
 * If a mistake shows only between two instructions, the lock is slow there
 * (hesitate()), so that CPUs that run at the same time find it.
 */

/* Pauses for about as long as a handoff takes. */
inline void hesitate() { relax_for(16); }

/*
 * narrow_ticket_lock<4> whose unlock adds 1 even at the wrap: the carry out of
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
 * mcs_lock that marks its node as waiting only after the predecessor can see
 * it: the handoff may come before the mark, which overwrites it.
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
 * it: the successor may find it busy again, and never see it clear.
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

		/* Its own cell at the tail means that the lock is free. */
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
 * anderson_lock whose ticket counter wraps, though the ring's size does not
 * divide its range: here 4, for 3 slots. Tickets 3 and 0 follow each other, and
 * have the same slot.
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
 * graunke_thakkar_lock that queues by a relaxed exchange: a waiter may read a
 * value of its predecessor's flag that is two critical sections old, and looks
 * the same.
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
 * peterson_lock without its fences: each CPU reads the other's flag before its
 * own is visible. Its stores are relaxed, as on AArch64 an acquire does not
 * pass a release, and the missing fence would not show. Each CPU's flag has a
 * cache line of its own: in a common line, the read would wait for the store.
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

/* tournament_lock's tree, in which each match is a peterson_lock. */
template <unsigned Cpus>
struct match_tree {
	static constexpr u64 max_contenders = Cpus;

	void lock(unsigned cpu)
	{
		for (unsigned at = Cpus + cpu; at > 1; at /= 2)
			take(at / 2, at % 2);
	}

	/* The is_locked() of tournament_lock. */
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
 * tournament_lock that is released from the leaf up: the next CPU of the same
 * subtree takes the root on a side that is still held.
 */
struct leaf_first : match_tree<3> {
	void unlock(unsigned cpu)
	{
		for (unsigned at = 3 + cpu; at > 1; at /= 2)
			give_back(at / 2, at % 2);
	}
};

/*
 * tournament_lock that is released from the root down: it excludes, but writes
 * on after the next holder is inside, which may have freed it.
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
 * bakery_lock without the flag that a CPU is choosing: between a CPU's reads of
 * the others' numbers and the store of its own, a CPU with the same number
 * passes.
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

	/* The is_queued() of bakery_lock. */
	[[nodiscard]] bool is_queued(unsigned cpu) const
	{
		return number[cpu].load_relaxed() != 0;
	}

      private:
	atomic<u32> number[4];
};

/*
 * busted_queued - mutants of queued_lock
 *
 * Each has one mistake that is easily made if nodes belong to CPUs, and the
 * lock has two fields. Most have their nodes inside of the lock, so that a node
 * that is left in a wrong state does not affect another lock. Never use them.
 * Their waits also end when give_up is set (barrier.hpp).
 */

struct queued_busted_node {
	constexpr queued_busted_node() = default;

	atomic<u16> next;
	atomic<u8> first;
};

/* Nodes for 4 CPUs of 2 levels: in the lock, or common to all locks. */
struct nodes_inside {
	queued_busted_node nodes[8];
};
struct nodes_of_all {
	static inline constinit queued_busted_node nodes[8];
	static inline constinit atomic<u8> depth[4];
};

/* The steps of queued_lock. */
template <typename Nodes = nodes_inside>
struct queued_base : private Nodes {
	static constexpr u64 max_contenders = 4;

	void unlock(unsigned = 0) { locked.store_release(0); }

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

	bool take_unheld()
	{
		u16 found = 0;

		return locked.compare_exchange_acquire(found, 1);
	}
	bool take_free() { return tail.load_relaxed() == 0 && take_unheld(); }

	u16 swap_tail(u16 mine) { return tail.exchange_acq_rel(mine); }

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
		locked.await_exchange_acquire(
			1, [](u16 found) { return found == 0 || give_up; });
	}

	bool leaves_empty(u16 mine)
	{
		return tail.compare_exchange_relaxed(mine, 0);
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

	/* queued_lock's fields, which a doorway must change. */
	alignas(2 * sizeof(u16)) atomic<u16> locked;
	atomic<u16> tail;
};

/*
 * The last in the queue empties it by a load and a store: a CPU that exchanges
 * tail in between is forgotten.
 */
struct blind_empty : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);

		if (take_free())
			return;
		wait_behind(swap_tail(mine), mine);
		wait_for_holder();
		if (tail.load_relaxed() == mine) {
			hesitate();
			tail.store_relaxed(0);
		} else {
			call_next(mine);
		}
		clean(mine);
	}
};

/* Cleans its node after others can see it: a link in it is lost. */
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
		const u16 ahead = tail.load_acquire();
		if (ahead != 0)
			node_of(ahead).next.store_release(mine);
		hesitate();
		if (swap_tail(mine) != 0)
			node_of(mine).first.await_acquire(
				[](u8 now) { return now == 1 || give_up; });
		take_first(mine);
	}
};

/* Takes the lock if it is not held, and bypasses the CPUs that queue. */
struct stealer : queued_base<> {
	void lock(unsigned cpu)
	{
		const u16 mine = number_of(cpu, 0);

		if (locked.load_relaxed() == 0 && take_unheld())
			return;
		wait_behind(swap_tail(mine), mine);
		take_first(mine);
	}
};

/*
 * Counts its wait after it has queued: a handler that comes in between takes
 * the same node. It is not in the list below, as only interrupts show it.
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

/*
 * busted_ticket - mutants of ticket and test-and-set locks
 *
 * Each has one mistake that was really made somewhere. Never use them. Their
 * waits also end when give_up is set (barrier.hpp), so that a test can end a
 * run in which the mistake has left all CPUs waiting.
 */

/* Two separate counters, and a wait that a test can end. */
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
 * once hold the same ticket. The pause between load and store makes that
 * likely: two instructions side by side are too short for luck.
 */
struct unlocked_take : ticket_base {
	void lock()
	{
		const u8 mine = next.load_relaxed();

		cpu_relax();
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
 * A try_lock that reads owner and then swaps next alone (ABA): in between, a
 * whole wrap of tickets can pass. The counters have two bits, so that a wrap is
 * four tickets; the mistake is the same with eight bits.
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

	/* A test's hook between the two steps. */
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
 * Serves the last to arrive, and claims FIFO. It is correct otherwise: a byte
 * guards a stack of waiting tickets.
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
	atomic<u16> next;   /* the last ticket taken; all tickets differ */
	atomic<u16> served; /* the last ticket called from the stack */
	plain<bool> held;
	plain<unsigned> depth;
	plain<u16> stack[256];
};

/*
 * busted_timed - mutants of a lock that can be given up
 *
 * timeout_lock's ring, for four CPUs, with one mistake each. Never use them.
 * Their waits also end when give_up is set (barrier.hpp): some of them leave a
 * CPU waiting for ever.
 */

enum class when_giving_up {
	undoes_nothing, /* its slot still waits, and is granted to nobody */
	stores,		/* over a grant that has come at that moment */
	draws_anew	/* when it is back: more tickets are out than slots */
};

template <when_giving_up Mistake>
struct timed_ring {
	static constexpr unsigned cpus = 4;
	static constexpr u64 max_contenders = cpus;

	void lock(unsigned cpu)
	{
		if (!arrive(cpu))
			mine(cpu).await_acquire(may_enter);
	}
	[[nodiscard]] bool try_lock_until(unsigned cpu, u64 deadline)
	{
		return arrive(cpu) ||
		       may_enter(mine(cpu).await_until_acquire(may_enter,
							       deadline)) ||
		       !leave(cpu);
	}
	[[nodiscard]] bool try_lock(unsigned cpu)
	{
		return try_lock_until(cpu, 0);
	}
	void unlock(unsigned cpu)
	{
		u32 t = ticket[cpu].get();

		hesitate(); /* others come, and give up */
		mine(cpu).store_relaxed(empty);
		do
			t++;
		while (!serve(slot[t % cpus]) && !give_up);
	}

      private:
	enum place : u8 { empty, granted, waiting, abandoned };

	static bool may_enter(place seen) { return seen == granted || give_up; }
	static place abandoned_by(unsigned cpu)
	{
		return static_cast<place>(abandoned + cpu);
	}
	atomic<place> &mine(unsigned cpu)
	{
		return slot[ticket[cpu].get() % cpus];
	}

	bool arrive(unsigned cpu)
	{
		place seen = abandoned_by(cpu);

		if (has_left[cpu].get()) {
			has_left[cpu].set(false);
			if (mine(cpu).compare_exchange_acquire(seen, waiting))
				return false;
		}
		ticket[cpu].set(next.fetch_add_acq_rel(1));
		seen = empty;
		return !mine(cpu).compare_exchange_acquire(seen, waiting);
	}

	bool leave(unsigned cpu)
	{
		place seen = waiting;

		has_left[cpu].set(Mistake == when_giving_up::stores);
		if (Mistake == when_giving_up::undoes_nothing)
			return true;
		if (Mistake == when_giving_up::draws_anew)
			return mine(cpu).compare_exchange_acquire(
				seen, abandoned_by(cpu));
		hesitate();
		mine(cpu).store_relaxed(abandoned_by(cpu));
		return true;
	}

	static bool serve(atomic<place> &at)
	{
		place seen = empty;
		bool passes_over;

		do
			passes_over = seen >= abandoned;
		while (!at.compare_exchange_release(
			seen, passes_over ? empty : granted));
		return !passes_over;
	}

	atomic<u32> next;
	atomic<place> slot[cpus] = {atomic<place>(granted)};
	plain<u32> ticket[cpus];
	plain<bool> has_left[cpus];
};

using hole_in_line = timed_ring<when_giving_up::undoes_nothing>;
using blind_leave = timed_ring<when_giving_up::stores>;
using place_again = timed_ring<when_giving_up::draws_anew>;

/*
 * busted_turn - preemptable tickets that are wrong on purpose
 *
 * Both exclude, but lose the order that they promise while all CPUs run. Never
 * use them. Their waits also end when give_up is set (barrier.hpp).
 */

/* The steps of preemptable_ticket_lock. */
struct turn_base {
	static constexpr u64 max_contenders = 64;

	void unlock() { state.store_release(state.load_relaxed() ^ 1); }

      protected:
	constexpr explicit turn_base(u8 first) : next(first), state(first) {}

	/* may_take(turn, place): whether its wait ends; late: what it stores */
	template <typename MayTake, typename Late>
	void take(MayTake may_take, Late late)
	{
		const u8 mine = next.fetch_add_relaxed(2);
		u8 now;

		do {
			now = state.await_relaxed([=](u8 v) {
				return (v % 2 == 0 && may_take(v, mine)) ||
				       give_up;
			});
			if (give_up)
				return;
		} while (!state.compare_exchange_acquire(
			now,
			late(now, mine) ? now ^ 1 : static_cast<u8>(mine + 3)));
	}

      private:
	atomic<u8> next;
	atomic<u8> state;
};

/*
 * Decides by < which tickets are late, and not by the distance: at the wrap of
 * the turn, a ticket that has already wrapped is taken for late. Starts there.
 */
struct late_by_less : turn_base {
	constexpr late_by_less() : turn_base(252) {}
	void lock()
	{
		const auto late = [](u8 turn, u8 place) {
			return place < turn;
		};

		take(
			[=](u8 turn, u8 place) {
				return place == turn || late(turn, place);
			},
			late);
	}
};

/* Has no patience: any waiter takes the free lock, in turn or not. */
struct impatient : turn_base {
	constexpr impatient() : turn_base(0) {}
	void lock()
	{
		take([](u8, u8) { return true; },
		     [](u8 turn, u8 place) {
			     return static_cast<u8>(place - turn) > 127;
		     });
	}
};

} // namespace klock::selftest::busted

namespace klock::selftest {

/* The environments in which a mistake shows; a mask. */
enum world : unsigned {
	in_model = 1,	 /* every interleaving */
	in_turns = 2,	 /* vCPUs that take turns, at each PAUSE: lab */
	in_parallel = 4, /* two at once: pinned vCPUs, native threads */
	in_crowd = 8,	 /* more than two, some of them at once: native */
	at_its_end = 16, /* where the next holder ends the lock: native */
};

/* A subject that must fail, with the environments and its mistake. */
template <text Name, any_lock L, service Service, unsigned FoundIn,
	  text Mistake>
struct busted_subject : subject<Name, L, Service> {
	static constexpr unsigned found_in = FoundIn;
	static constexpr const char *mistake = Mistake.chars;
};

using busted_locks = list<
	busted_subject<"unlocked_take", busted::unlocked_take, service::fifo,
		       in_model | in_parallel,
		       "taking a ticket has no lock prefix">,
	busted_subject<"load_store_tas", busted::load_store_tas, service::none,
		       in_model | in_parallel,
		       "test-and-set by a load and a store">,
	busted_subject<"word_wide_unlock", busted::word_wide_unlock,
		       service::fifo, in_model | in_parallel,
		       "unlock rewrites both counters">,
	busted_subject<"aba_try_lock", busted::aba_try_lock, service::fifo,
		       in_model, "try_lock swaps next alone">,
	busted_subject<"lifo", busted::lifo, service::fifo, in_model | in_turns,
		       "serves whoever came last">,
	busted_subject<"carrying_unlock", busted::carrying_unlock,
		       service::fifo, in_model | in_turns,
		       "the unlock carries into next at the wrap">,
	busted_subject<"late_by_less", busted::late_by_less, service::fifo,
		       in_model | in_turns,
		       "preemptable tickets: late by <, not by the distance">,
	busted_subject<"impatient", busted::impatient, service::fifo,
		       in_model | in_turns,
		       "preemptable tickets: competes whenever it is free">,
	busted_subject<"hole_in_line", busted::hole_in_line, service::fifo,
		       in_model | in_turns,
		       "timeout: gives up, and its slot still waits">,
	busted_subject<"blind_leave", busted::blind_leave, service::fifo,
		       in_model | in_parallel,
		       "timeout: gives up by a store, over its grant">,
	busted_subject<"place_again", busted::place_again, service::fifo,
		       in_model | in_turns,
		       "timeout: takes a new place when it is back">,
	busted_subject<"late_flag", busted::late_flag, service::fifo,
		       in_model | in_parallel,
		       "MCS: the flag is set after the node is seen">,
	busted_subject<"own_cell", busted::own_cell, service::fifo,
		       in_model | in_crowd,
		       "CLH: keeps its own cell at unlock">,
	busted_subject<"blind_empty", busted::blind_empty, service::fifo,
		       in_model | in_parallel,
		       "queued: empties the queue by a look and a store">,
	busted_subject<"late_clean", busted::late_clean, service::fifo,
		       in_model | in_crowd,
		       "queued: cleans its node when others see it">,
	busted_subject<"early_link", busted::early_link, service::fifo,
		       in_model | in_crowd,
		       "queued: links itself before it exchanges tail">,
	busted_subject<"stealer", busted::stealer, service::fifo, in_model,
		       "queued: takes it past those who queue">,
	busted_subject<"uneven_ring", busted::uneven_ring, service::fifo,
		       in_model | in_turns,
		       "Anderson: the counter wraps within a round">,
	busted_subject<"relaxed_queue", busted::relaxed_queue, service::fifo,
		       in_model,
		       "Graunke-Thakkar: queues by a relaxed exchange">,
	busted_subject<"unfenced_peterson", busted::unfenced_peterson,
		       service::bounded, in_model | in_parallel,
		       "Peterson: no fence">,
	busted_subject<"leaf_first", busted::leaf_first,
		       service::starvation_free, in_model | in_crowd,
		       "tournament: does not wait for its own side">,
	busted_subject<"root_first", busted::root_first,
		       service::starvation_free, in_model | at_its_end,
		       "tournament: writes on after it has released">,
	busted_subject<"silent_choice", busted::silent_choice, service::fifo,
		       in_model | in_parallel,
		       "bakery: does not say that it is choosing">>;

} // namespace klock::selftest
