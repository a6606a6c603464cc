/* SPDX-License-Identifier: MIT */
/*
 * timeout_lock - first come, first served, until a deadline
 *
 *	if (!lock.try_lock_for(cpu, one_second))	in cycles()
 *		return timed_out;
 *	klock::guard held(lock, cpu, klock::adopt);
 *
 * Algorithm:   A ring of slots, one for each ticket. The one slot that is
 *              granted is the lock: a CPU takes the next ticket and holds the
 *              lock once its slot is granted. A CPU that gives up marks its
 *              slot abandoned, by one compare-and-swap; the releasing CPU
 *              passes over such slots to the first that is not abandoned. A CPU
 *              that comes back before its slot is passed takes its former
 *              position again.
 * Source:      slots: Anderson, IEEE TPDS 1(1), 1990; queues that are left by a
 *              deadline: Scott and Scherer, PPoPP 2001. We differ: slots go by
 *              ticket, and the CPU that passes over a slot empties it, so that
 *              nobody waits in order to leave, and no heap is needed.
 * Use when:    a wait needs a timeout: a deadlock or a dead holder must become
 *              an error and not a hang. Nobody gives up: anderson_lock, with
 *              half the memory; order does not matter: any lock's try_lock().
 * Size:        (slots + Cpus + 1) cache lines, 2 to 3 for each CPU; slots is
 *              Cpus rounded up to a power of two
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket among waiters; a CPU that gave up and comes
 *              back has its former position if it was not passed
 *                          Checked: native/torture: FIFO,
 *                          model/timeout_lock: in turn
 * Capacity:    Cpus, each at most once, under its own number; a number of Cpus
 *              or more is outside the array
 *                                      Checked: unit/timeout_lock: all CPUs
 * Context:     any; where a handler takes it too, by irq_guard, or under a
 *              number of its own. NMI: under a number of its own; try_lock
 *              only. No recursion. Everybody waits for a preempted holder, and
 *              for any preempted waiter ahead: as long as the deadline says.
 * Assumes:     an atomic add and a compare-and-swap of 4 bytes
 *
 * State (a ticket's slot):  exactly one slot is GRANTED; while the lock is
 *                           free, it is the slot of the next ticket
 *	EMPTY --announced--> WAITING --unlock--> GRANTED held --unlock--> EMPTY
 *	EMPTY --unlock--> GRANTED free --taken--> GRANTED held
 *	WAITING --gives up--> ABANDONED by c --c is back--> WAITING
 *	ABANDONED by c --unlock passes over it--> EMPTY
 *
 * Ordering:
 *	O1   come_back       compare_exchange_acquire       pairs with O10
 *	O2   arrive          next.fetch_add_acq_rel         pairs with O2, O9
 *	O3   announce        load_acquire                   pairs with O11
 *	O4   announce        compare_exchange_acquire       pairs with O11
 *	O5   lock            await_eq_acquire               pairs with O11
 *	O6   try_lock_until  await_until_acquire            pairs with O11
 *	O7   leave           compare_exchange_acquire       pairs with O11
 *	O8   try_lock        load_acquire                   pairs with O10
 *	O9   try_lock        next.compare_exchange_acq_rel  pairs with O2, O9
 *	O10  serve           compare_exchange_release       pairs with O1, O8
 *	O11  serve           compare_exchange_release       pairs with O3 to O7
 *                                      Checked: model/orders_needed
 *
 * The ring does not overflow. Tickets are served in order, and no two that are
 * out belong to one CPU, as a CPU that retries keeps its ticket. So at most
 * Cpus tickets are out, and each has a slot of its own. The number of slots
 * divides the counter's range, so the counter may wrap.
 *
 * unlock() passes over each abandoned slot once. It waits for nobody, but has
 * no bound: CPUs that give up and come back all the time may keep it going.
 *
 * try_lock() takes a ticket only if it saw the slot granted. If the ring has
 * gone round since, it finds itself waiting, and gives up at once.
 *
 * Cost:        uncontended: 2 RMW, 4 stores, 4 lines; handoff with w waiters:
 *              about 5 to 6 misses, whatever w is     Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>

namespace klock {

/* In a class template g++ -Wshadow would name a kernel's globals of such names.
 */
namespace detail {

/*
 * A slot's state: empty, granted, waiting, or abandoned by CPU 0, 1 and so on.
 * In slot 0 the first two values are exchanged, so that zero bytes are a free
 * lock.
 */
enum class timeout_slot_state : u32 { first, second, waiting, abandoned };

/* left: it gave up; its slot may have been emptied since. */
enum class timeout_cpu_status : u8 { away, queued, left };

} // namespace detail

/* Counter: a ticket's type; narrower ones are for tests. */
template <unsigned Cpus, counter Counter = u32>
struct timeout_lock {
	static_assert(Cpus >= 1, "a lock needs a CPU");
	static_assert(Cpus <= u32{1} << 31, "slots divide the counter's range");

	/* CPUs that may hold or wait at once. */
	static constexpr u64 max_contenders = Cpus;

	constexpr timeout_lock() = default;
	timeout_lock(const timeout_lock &) = delete;
	timeout_lock &operator=(const timeout_lock &) = delete;

	/* Waits for its turn; on return CPU cpu, the caller, is the holder. */
	void lock(unsigned cpu)
	{
		if (!arrive(cpu))
			slot_of(cpu).await_eq_acquire(
				granted(index_of(cpu))); /* O5 */
	}

	/*
	 * Waits until cycles() (cpu.hpp) shows the deadline; true: the caller
	 * is the holder. If the deadline has passed, it tries once. Needs the
	 * CPU's clock: cycles_usable().
	 */
	[[nodiscard]] bool try_lock_until(unsigned cpu, u64 deadline)
	{
		if (arrive(cpu))
			return true;
		const slot_state now_mine = granted(index_of(cpu));

		return slot_of(cpu).await_until_acquire(
			       [=](slot_state seen) {
				       return seen == now_mine;
			       },
			       deadline) == now_mine || /* O6 */
		       !leave(cpu);
	}

	/* try_lock_until() a deadline that many cycles from now. */
	[[nodiscard]] bool try_lock_for(unsigned cpu, u64 how_long)
	{
		return try_lock_until(cpu, deadline_in(how_long));
	}

	/* Deleted: the deadline and the number in the other order. */
	template <same_as<u64> Time, same_as<unsigned> Cpu>
	bool try_lock_until(Time deadline, Cpu cpu) = delete;
	template <same_as<u64> Time, same_as<unsigned> Cpu>
	bool try_lock_for(Time how_long, Cpu cpu) = delete;

	/* Takes the lock if it is free; never waits. */
	[[nodiscard]] bool try_lock(unsigned cpu)
	{
		record &mine = records[cpu];

		if (mine.status.load_relaxed() == cpu_status::left) {
			if (slot_of(cpu).load_acquire() == abandoned_by(cpu))
				return false; /* O8 */
			mine.status.store_relaxed(cpu_status::away);
		}
		Counter ticket = next.load_relaxed();
		if (slots[ticket % ring].state.load_relaxed() !=
		    granted(ticket % ring))
			return false;
		if (!next.compare_exchange_acq_rel(ticket,
						   successor(ticket))) /* O9 */
			return false;
		take_slot(cpu, ticket);
		return announce(cpu) || !leave(cpu);
	}

	/* Called by the holder, with the number that it gave to lock(). */
	void unlock(unsigned cpu)
	{
		Counter ticket = records[cpu].ticket.get();

		slot_of(cpu).store_relaxed(empty(index_of(cpu)));
		records[cpu].status.store_relaxed(cpu_status::away);
		do
			ticket = successor(ticket);
		while (!serve(ticket % ring));
	}

	/*
	 * Whether that CPU holds or waits: CPUs that arrive later are served
	 * after it. A hint, stale on arrival.
	 */
	[[nodiscard]] bool is_queued(unsigned cpu) const
	{
		return records[cpu].status.load_relaxed() == cpu_status::queued;
	}

	/* Whether somebody holds it: a hint, too. */
	[[nodiscard]] bool is_locked() const
	{
		const u32 at = next.load_relaxed() % ring;

		if (slots[at].state.load_relaxed() != granted(at))
			return true;
		/* The slot of the next ticket is the holder's if the ring is
		 * full, which it is if no CPU is away. */
		return count(cpu_status::away) == 0;
	}

	/* Whether somebody waits: a hint, too. */
	[[nodiscard]] bool is_contended() const
	{
		return count(cpu_status::queued) > 1;
	}

      private:
	/* Slots: a power of two, so that the tickets' counter may wrap. */
	static constexpr u32 ring_for(u32 slots)
	{
		return slots >= Cpus ? slots : ring_for(2 * slots);
	}
	static constexpr u32 ring = ring_for(1);
	static_assert(ring - 1 <= static_cast<Counter>(~Counter{0}),
		      "each CPU's ticket is another");

	using slot_state = detail::timeout_slot_state;
	using cpu_status = detail::timeout_cpu_status;

	static constexpr slot_state empty(u32 at)
	{
		return at == 0 ? slot_state::second : slot_state::first;
	}
	static constexpr slot_state granted(u32 at)
	{
		return at == 0 ? slot_state::first : slot_state::second;
	}
	static constexpr slot_state abandoned_by(unsigned cpu)
	{
		return static_cast<slot_state>(
			static_cast<u32>(slot_state::abandoned) + cpu);
	}

	u32 index_of(unsigned cpu) const
	{
		return records[cpu].ticket.get() % ring;
	}
	atomic<slot_state> &slot_of(unsigned cpu)
	{
		return slots[index_of(cpu)].state;
	}

	/*
	 * True: the lock is the caller's already. Else it waits in its slot.
	 *
	 * O2, like O9, passes on what the tickets before it knew: the user of a
	 * slot must see that the user one round earlier has emptied it.
	 */
	bool arrive(unsigned cpu)
	{
		if (records[cpu].status.load_relaxed() == cpu_status::left &&
		    come_back(cpu))
			return false;
		take_slot(cpu, next.fetch_add_acq_rel(1)); /* O2 */
		return announce(cpu);
	}

	void take_slot(unsigned cpu, Counter ticket)
	{
		records[cpu].ticket.set(ticket);
		records[cpu].status.store_relaxed(cpu_status::queued);
	}

	/*
	 * Takes its former slot again. Returns false if unlock() has passed
	 * over it: then O1 fails. The acquire of O1 is for that case: a
	 * failed compare-and-swap acquires, too. So do those of O4 and O7.
	 */
	bool come_back(unsigned cpu)
	{
		slot_state left = abandoned_by(cpu);

		if (!slot_of(cpu).compare_exchange_acquire(
			    left, slot_state::waiting)) /* O1 */
			return false;
		records[cpu].status.store_relaxed(cpu_status::queued);
		return true;
	}

	/* Marks a new ticket's slot as waiting; true: it is already granted. */
	bool announce(unsigned cpu)
	{
		const u32 at = index_of(cpu);
		atomic<slot_state> &slot = slots[at].state;
		slot_state seen = empty(at);

		return slot.load_acquire() == granted(at) || /* O3 */
		       !slot.compare_exchange_acquire(
			       seen, slot_state::waiting); /* O4 */
	}

	/* Gives up; false: the lock was granted at that moment. */
	bool leave(unsigned cpu)
	{
		slot_state seen = slot_state::waiting;

		if (!slot_of(cpu).compare_exchange_acquire(
			    seen, abandoned_by(cpu))) /* O7 */
			return false;
		records[cpu].status.store_relaxed(cpu_status::left);
		return true;
	}

	/* Grants that slot; false: it was abandoned, and is emptied. */
	bool serve(u32 at)
	{
		atomic<slot_state> &slot = slots[at].state;
		slot_state seen =
			empty(at); /* a load would cost a second miss */

		for (;;) {
			if (seen >= slot_state::abandoned) {
				if (slot.compare_exchange_release(
					    seen, empty(at))) /* O10 */
					return false;
			} else if (slot.compare_exchange_release(
					   seen, granted(at))) /* O11 */
				return true;
		}
	}

	/* The number of CPUs in that state. */
	unsigned count(cpu_status which) const
	{
		unsigned sum = 0;

		for (const record &of : records)
			sum += of.status.load_relaxed() == which;
		return sum;
	}

	struct slot_line {
		alignas(cache_line) atomic<slot_state> state;
	};

	/* One CPU's state, with the last ticket that it took. */
	struct record {
		alignas(cache_line) plain<Counter> ticket;
		atomic<cpu_status> status;
	};

	/* The next ticket to be taken. */
	alignas(cache_line) atomic<Counter> next;
	slot_line slots[ring];
	record records[Cpus];
};

} // namespace klock
