/* SPDX-License-Identifier: MIT */
/*
 * storm - any lock of the list, used as a kernel uses it, on a bad day
 *
 * Every CPU takes the lock by a guard, in critical sections of random length;
 * under it another, nested; tries it many times in a row; halts or stays long
 * inside; goes away for a while and comes back; sends IPIs and NMIs to the
 * others, into holders and waiters. NMI handlers try_lock. Two ways:
 *
 *	handlers_lock	timer and IPI handlers take the lock, and therefore
 *			everybody by irq_guard
 *	else		they do not: threads keep interrupts on, and a holder
 *			can HLT until the next one
 *
 * All but the calls of the lock is the same for every type, and compiled once:
 * storm. The calls are storm_of's.
 */
#pragma once

#include "options.hpp"

#include <klock/concepts.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/types.hpp>

namespace lab {

using klock::u32;
using klock::u64;

/* The first of the parts, in words: what did not happen. */
constexpr const char *missed(u32 parts)
{
	return parts & part_handler ? "no storm: no handler took the lock"
	       : parts & part_nmi   ? "no storm: no NMI handler took the lock"
	       : parts & part_halt  ? "no storm: no holder halted"
	       : parts & part_leave ? "no storm: no CPU left"
	       : parts & part_nest  ? "no storm: no other lock was taken inside"
	       : parts & part_handoff
		       ? "no storm: the lock did not go from CPU to CPU"
		       : nullptr;
}

struct storm_plan {
	unsigned cpus; /* at most half of the lock's room: NMIs contend, too */
	u32 sections;  /* of all threads together */
	u32 seed;
	bool handlers_lock;
	u32 without; /* parts that are left out: then they must be missed */
	bool nmi_enters = false;
	bool loses_inner = false;
};

struct storm_result {
	u64 sections = 0; /* threads, handlers, NMI handlers */
	u64 by_handlers = 0;
	u64 by_nmis = 0;
	u64 refused = 0; /* try_lock() in vain */
	u64 nested = 0;
	u64 halts = 0;	/* holders that stood still in HLT */
	u64 leaves = 0; /* CPUs that went away and came back */
	u64 overlaps = 0;
	u64 lost = 0;
	u32 missing = 0; /* parts of the storm that did not happen */
	bool gave_up = false;
};

/* A null pointer: passed. Else what is wrong, in words. */
constexpr const char *fault(const storm_result &r)
{
	if (r.overlaps)
		return "two CPUs were in the section at once";
	if (r.lost)
		return "an update made under the lock was lost";
	if (r.gave_up)
		return "no progress: everybody waits";
	return nullptr;
}

/*
 * As klock::selftest::contender, but by guard and irq_guard themselves, which
 * is what users write. Code with interrupts off and the handlers of one CPU can
 * share a seat; an NMI handler needs its own.
 */
template <klock::any_lock L>
struct seat;

/* A node on the stack is the guard's own. */
template <klock::any_lock L>
	requires klock::plain_lock<L> || klock::stack_node_lock<L>
struct seat<L> {
	void renumber(unsigned) {}

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock);
		body();
	}
};

template <klock::node_lock L>
	requires(!klock::stack_node_lock<L>)
struct seat<L> {
	void renumber(unsigned) {}

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock, node);
		body();
	}

      private:
	typename L::node node;
};

template <klock::cpu_lock L>
struct seat<L> {
	void renumber(unsigned to) { number = to; }

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock, number);
		body();
	}

      private:
	unsigned number = 0;
};

struct storm;

/* The work of a CPU inside. */
using storm_section = void (*)(storm &of, unsigned cpu, u32 choice);

/* The contexts of a CPU that try the lock: each is a contender. */
enum tried_by { tried_by_thread, tried_by_nmi };

/*
 * The lock's own part of a storm: its line of the list, and how a CPU takes it.
 */
struct storm_calls {
	const char *name;
	klock::u64 capacity;

	void (*renumber)(storm &of, unsigned cpus);
	/* Takes by guard or irq_guard, and an inner one by irq_guard. */
	void (*hold)(storm &of, unsigned cpu, bool irqs_off,
		     storm_section section, u32 choice);
	void (*hold_inner)(storm &of, unsigned cpu, storm_section section);
	/* Null: it has none. */
	bool (*try_lock)(storm &of, unsigned cpu, tried_by who);
	void (*unlock)(storm &of, unsigned cpu, tried_by who);
};

/* One CPU's. What its NMI handler counts is the handler's alone. */
struct alignas(klock::cache_line) storm_cpu {
	klock::atomic<u32> steps;
	klock::atomic<klock::u8> now;
	klock::selftest::xorshift dice{1};
	u32 sections = 0;
	u32 by_handlers = 0;
	u32 by_nmis = 0;
	u32 refused = 0;
	u32 nested = 0;
	u32 halts = 0;
	u32 leaves = 0;
	u32 overlaps = 0;
	u32 nmi_overlaps = 0;

	void prepare(unsigned cpu, u32 seed);
	void note(bool was_alone) { overlaps += !was_alone; }
};

struct storm {
	using doing = klock::selftest::doing;

	/* CPU 0, before the others start. */
	void prepare(const storm_plan &p);

	/* Each of the plan's CPUs calls this once. */
	void run(unsigned cpu);

	/* In a timer or IPI handler. */
	void interrupt(unsigned cpu);

	/* In an NMI handler: never waits. */
	void nmi(unsigned cpu);

	[[nodiscard]] u32 progress() const;
	[[nodiscard]] doing what(unsigned cpu) const;
	[[nodiscard]] storm_result outcome() const;

	/* The lock's line of the list. */
	const storm_calls &calls;

      protected:
	constexpr storm(const storm_calls &of, storm_cpu *of_each_cpu)
	    : calls(of), cpus(of_each_cpu)
	{
	}

      private:
	struct saying;

	[[nodiscard]] u32 wanted() const;
	[[nodiscard]] u32 missing() const;
	void note_part(u32 part);
	[[nodiscard]] bool is_over() const;
	void offer_free_lock(storm_cpu &mine);

	void live(unsigned cpu);
	void hold_once(unsigned cpu, u32 choice);
	void inside(unsigned cpu, u32 choice);
	void nest(unsigned cpu);
	void stand_still(storm_cpu &mine);
	void leave_and_come_back(storm_cpu &mine);
	void try_many_times(unsigned cpu);
	void try_once(unsigned cpu);

	storm_plan todo{};
	storm_cpu *const cpus;
	alignas(klock::cache_line) klock::selftest::invariant outer_data;
	alignas(klock::cache_line) klock::selftest::invariant inner_data;
	alignas(klock::cache_line) klock::selftest::barrier everyone;
	alignas(klock::cache_line) klock::atomic<u32> done;
	unsigned last = ~0u; /* thread inside: the holder's */
	alignas(klock::cache_line) klock::atomic<u32> happened; /* parts */
};

/* The storm about one type of lock. */
template <typename Subject, unsigned Cpus>
struct storm_of : storm {
	using lock_type = typename Subject::lock;

	constexpr storm_of() : storm(table, of_each_cpu) {}

	[[nodiscard]] const lock_type &watched() const { return outer; }

      private:
	/* One CPU's nodes or numbers for the lock and for the nested one. */
	struct alignas(klock::cache_line) seats {
		seat<lock_type> outer;
		seat<lock_type> inner;
		klock::selftest::contender<lock_type> tries[2];
	};

	static storm_of &self(storm &of) { return static_cast<storm_of &>(of); }

	static void renumber(storm &of, unsigned cpus)
	{
		for (unsigned cpu = 0; cpu < cpus; cpu++) {
			seats &mine = self(of).seat_of[cpu];

			mine.outer.renumber(cpu);
			mine.inner.renumber(cpu);
			mine.tries[tried_by_thread].renumber(cpu);
			mine.tries[tried_by_nmi].renumber(cpus + cpu);
		}
	}

	static void hold(storm &of, unsigned cpu, bool irqs_off,
			 storm_section section, u32 choice)
	{
		auto &mine = self(of).seat_of[cpu].outer;
		const auto body = [&] { section(of, cpu, choice); };

		if (irqs_off)
			mine.template hold<klock::irq_guard>(self(of).outer,
							     body);
		else
			mine.template hold<klock::guard>(self(of).outer, body);
	}

	static void hold_inner(storm &of, unsigned cpu, storm_section section)
	{
		self(of).seat_of[cpu].inner.template hold<klock::irq_guard>(
			self(of).inner, [&] { section(of, cpu, 0); });
	}

	static bool try_lock(storm &of, unsigned cpu, tried_by who)
	{
		return self(of).seat_of[cpu].tries[who].try_lock(
			self(of).outer);
	}
	static void unlock(storm &of, unsigned cpu, tried_by who)
	{
		self(of).seat_of[cpu].tries[who].unlock(self(of).outer);
	}

	static constexpr storm_calls calls_of_it()
	{
		storm_calls c = {Subject::name, Subject::capacity, renumber,
				 hold,		hold_inner,	   nullptr,
				 nullptr};

		if constexpr (klock::try_lockable<lock_type>) {
			c.try_lock = try_lock;
			c.unlock = unlock;
		}
		return c;
	}

	static constexpr storm_calls table = calls_of_it();

	alignas(klock::cache_line) lock_type outer;
	alignas(klock::cache_line) lock_type inner;
	seats seat_of[Cpus];
	storm_cpu of_each_cpu[Cpus];
};

} // namespace lab
