/* SPDX-License-Identifier: MIT */
/*
 * torture - any lock of the list, taken by many CPUs in the worst ways
 *
 * Two parts. Convoys: the holder stays inside until all others have queued,
 * one by one in an order of its choosing, so that the lock must go from CPU to
 * CPU and FIFO can be seen, not guessed. Contention: everybody takes the lock
 * as fast as it can, some of the time by try_lock, until a common count is
 * reached, so that fairness shows in who got how much.
 *
 * The world brings the CPUs: threads on a host, vCPUs in the lab. Each calls
 * run() once with its number; afterwards outcome() says what was seen. A world
 * also brings a watchdog: progress() that stands still is its sign.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/arithmetic.hpp>
#include <klock/selftest/barrier.hpp>
#include <klock/selftest/doorway.hpp>
#include <klock/selftest/invariant.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/result.hpp>

namespace klock::selftest {

struct plan {
	unsigned cpus;	     /* that contend; at most the lock's capacity */
	u32 convoys;	     /* rounds in which all queue behind one */
	u32 sections;	     /* of free contention, all CPUs together */
	u32 relaxes_a_word;  /* inside: cpu_relax() between two stores */
	u32 relaxes_outside; /* between two critical sections: fewer than this
			      */
	u32 try_one_in;	     /* one attempt in so many is try_lock; 0: none */
	u32 seed;
	u64 made = 0;	       /* count as made already: tests of the wrap */
	u32 write_one_in = 4;  /* shared_torture: one section in so many */
	bool irqs_off = false; /* shared_torture: handlers take the lock, too */
	/* shared_torture: while true, it goes on, 16 times as long at most. */
	bool (*is_missing)() = nullptr;
};

/* What a CPU is about, for the report of a hang. */
enum doing : u8 { doing_nothing, doing_wait, doing_section };

/* How many CPUs of a plan a lock can serve. */
template <typename Subject>
constexpr unsigned participants(unsigned cpus)
{
	return cpus < Subject::capacity
		       ? cpus
		       : static_cast<unsigned>(Subject::capacity);
}

template <typename Subject, unsigned Cpus>
struct torture {
	using lock_type = typename Subject::lock;

	constexpr torture()
	{
		for (unsigned i = 0; i < Cpus; i++)
			records[i].who.renumber(i);
	}

	/* Before the CPUs run; the lock itself goes on as it is. */
	void prepare(const plan &p)
	{
		todo = p;
		data.reset(todo.made);
		everyone.reset();
		called.store_relaxed(0);
		contended.store_relaxed(0);
		shared.last = ~0u;
		shared.handoffs = shared.run = shared.max_consecutive = 0;
		for (unsigned i = 0; i < Cpus; i++) {
			records[i].clear();
			records[i].visitor.renumber(todo.cpus + i);
		}
		records[0].sections = todo.made;
	}

	/* Each of the plan's CPUs calls this once, 0 .. cpus - 1. */
	void run(unsigned cpu)
	{
		everyone.meet(todo.cpus);
		for (u32 round = 0; round < todo.convoys && !give_up; round++) {
			convoy(cpu, round);
			everyone.meet(todo.cpus);
		}
		const u64 start = cycles();
		contend(cpu);
		everyone.meet(todo.cpus);
		records[cpu].elapsed = cycles() - start;
	}

	/*
	 * From an NMI handler on a CPU that may be in run(): takes the lock if
	 * it is free and never waits. Each such CPU is a contender more: the
	 * plan has half as many CPUs as the lock has room for. True: was in.
	 */
	bool drop_in(unsigned cpu) requires try_lockable<lock_type>
	{
		record &mine = records[cpu];

		if (!mine.visitor.try_lock(lock))
			return false;
		if (!data.visit(0))
			mine.visits_that_saw_another++;
		mine.visits++;
		mine.visitor.unlock(lock);
		return true;
	}

	[[nodiscard]] const lock_type &watched() const { return lock; }

	/*
	 * Changes for as long as somebody gets the lock, and wraps. Any CPU,
	 * any time.
	 */
	[[nodiscard]] u32 progress() const
	{
		u32 sum = 0;

		for (unsigned i = 0; i < todo.cpus; i++)
			sum += records[i].entered.load_relaxed();
		return sum;
	}

	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(records[cpu].now.load_relaxed());
	}

	/* After all have returned from run(). */
	[[nodiscard]] result outcome() const
	{
		result r{};

		r.lock = Subject::name;
		r.promised = Subject::order_of_service;
		r.cpus = todo.cpus;
		r.bytes = sizeof(lock_type);
		r.handoffs = shared.handoffs;
		r.forced = u64{todo.convoys} * (todo.cpus - 1);
		for (unsigned i = 0; i < todo.cpus; i++) {
			const record &of = records[i];
			r.acquisitions += of.sections;
			r.visits += of.visits;
			r.exclusion_errors +=
				of.overlaps + of.visits_that_saw_another;
			r.fifo_violations += of.bypassed;
			r.try_failures += of.refused;
			if (of.longest_wait > r.longest_wait)
				r.longest_wait = of.longest_wait;
		}
		r.jain_permille = jain_permille(todo.cpus, [this](unsigned i) {
			return u64{records[i].in_contention};
		});
		r.lost_updates = data.lost(r.acquisitions + r.visits);
		r.max_consecutive = shared.max_consecutive;
		r.cycles = divide(records[0].elapsed, contended.load_relaxed());
		r.gave_up = give_up;
		return r;
	}

      private:
	/* One CPU's own, on lines of its own; others read the atomic ones. */
	struct alignas(cache_line) record {
		contender<lock_type> who;
		contender<lock_type> visitor; /* this CPU's NMI handler */
		atomic<u32> entered;	      /* sections, for others to see */
		atomic<u8> now;
		u64 sections = 0; /* the same, and does not wrap */
		u32 in_contention = 0;
		u32 overlaps = 0;
		u32 bypassed = 0;
		u32 refused = 0;
		u32 visits = 0; /* the NMI handler's own */
		u32 visits_that_saw_another = 0;
		u64 longest_wait = 0;
		u64 elapsed = 0;

		void clear()
		{
			entered.store_relaxed(0);
			sections = 0;
			now.store_relaxed(doing_nothing);
			in_contention = overlaps = bypassed = refused = 0;
			visits = visits_that_saw_another = 0;
			longest_wait = elapsed = 0;
		}
	};

	/* What the holder alone touches. */
	struct held_data {
		unsigned last = ~0u; /* who was inside before */
		u32 handoffs = 0;    /* entries after another CPU's */
		u32 run = 0; /* consecutive sections of one CPU, so far */
		u32 max_consecutive = 0;
		u32 next_in_line = 0; /* whose turn it is in a convoy */
	};

	void enter(unsigned cpu)
	{
		record &mine = records[cpu];

		mine.now.store_relaxed(doing_wait);
		mine.who.lock(lock);
		mine.now.store_relaxed(doing_section);
	}

	/* The section's work and the way out. */
	void work_and_leave(unsigned cpu)
	{
		record &mine = records[cpu];

		if (shared.last != cpu) {
			shared.last = cpu;
			shared.handoffs++;
			shared.run = 0;
		}
		if (++shared.run > shared.max_consecutive)
			shared.max_consecutive = shared.run;
		if (!data.visit(todo.relaxes_a_word))
			mine.overlaps++;
		mine.entered.store_relaxed(mine.entered.load_relaxed() + 1);
		mine.sections++;
		mine.now.store_relaxed(doing_nothing);
		mine.who.unlock(lock);
	}

	/* -- Convoys -- */

	/* A CPU's place in a round: up or down the numbers from the leader. */
	unsigned place(unsigned cpu, u32 round) const
	{
		const unsigned n = todo.cpus;
		const unsigned up = (cpu + n - round % n) % n;

		return round & 1 && up ? n - up : up;
	}

	void convoy(unsigned cpu, u32 round)
	{
		const unsigned k = place(cpu, round);

		if (k == 0)
			lead(cpu, round);
		else
			follow(cpu, round, k);
	}

	void lead(unsigned cpu, u32 round)
	{
		enter(cpu);
		shared.next_in_line = 1;
		for (unsigned k = 1; k < todo.cpus; k++) {
			/* place() is its own inverse, up to the leader. */
			const unsigned n = todo.cpus;
			const unsigned up = round & 1 ? n - k : k;
			call((up + round) % n, round * n + k);
		}
		work_and_leave(cpu);
	}

	/* Calls one CPU to the lock and waits until it stands in line. */
	void call(unsigned cpu, u32 number)
	{
		const doorway<lock_type> line(lock);
		const record &its = records[cpu];
		const u32 before = its.entered.load_relaxed();

		called.store_release(number);
		while (its.entered.load_relaxed() == before && !give_up) {
			if (its.now.load_relaxed() == doing_wait &&
			    (!in_line || line.passed(cpu)))
				break;
			cpu_relax();
		}
	}

	void follow(unsigned cpu, u32 round, unsigned k)
	{
		const u32 number = round * todo.cpus + k;

		called.await_acquire(
			[=](u32 now) { return now == number || give_up; });
		enter(cpu);
		if (in_line && shared.next_in_line != k)
			records[cpu].bypassed++;
		shared.next_in_line = k + 1;
		work_and_leave(cpu);
	}

	/* -- Contention -- */

	void contend(unsigned cpu)
	{
		record &mine = records[cpu];
		xorshift dice(todo.seed + cpu);

		while (contended.load_relaxed() < todo.sections && !give_up) {
			relax_for(dice.below(todo.relaxes_outside + 1));
			if (!come_in(cpu, dice))
				continue;
			contended.store_relaxed(contended.load_relaxed() + 1);
			mine.in_contention++;
			work_and_leave(cpu);
		}
	}

	/* At once; where there are deadlines, by one that is soon, or now. */
	bool ask(contender<lock_type> &who,
		 xorshift &dice) requires try_lockable<lock_type>
	{
		if constexpr (timed_lockable<lock_type>)
			if (const u32 kind = dice.below(3))
				return who.try_lock_until(
					lock,
					cycles() +
						(kind - 1) * dice.below(20000));
		return who.try_lock(lock);
	}

	/* True: inside. False: try_lock() found it taken, or gave up. */
	bool come_in(unsigned cpu, xorshift &dice)
	{
		record &mine = records[cpu];

		if constexpr (try_lockable<lock_type>) {
			if (todo.try_one_in &&
			    dice.below(todo.try_one_in) == 0) {
				if (ask(mine.who, dice)) {
					mine.now.store_relaxed(doing_section);
					return true;
				}
				mine.refused++;
				return false;
			}
		}
		const u64 start = cycles();
		enter(cpu);
		const u64 waited = cycles() - start;
		if (waited > mine.longest_wait)
			mine.longest_wait = waited;
		return true;
	}

	/* One that is not run may be passed over: seen, and no fault. */
	static constexpr bool in_line = queues(Subject::order_of_service);

	plan todo{};
	alignas(cache_line) lock_type lock;
	alignas(cache_line) invariant data;
	held_data shared;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) atomic<u32> called;	   /* who is to queue now */
	alignas(cache_line) atomic<u32> contended; /* sections so far */
	record records[Cpus];
};

} // namespace klock::selftest
