/* SPDX-License-Identifier: MIT */
/*
 * torture - any lock of the list, taken by many CPUs in the worst ways
 *
 * Two parts. Convoys: the holder stays inside until all others have queued, one
 * by one in an order that it chooses, so that the lock must go from CPU to CPU
 * and FIFO can be checked. Contention: all take the lock as fast as they can,
 * sometimes by try_lock, until a common count is reached; the CPUs' shares show
 * the fairness.
 *
 * The environment supplies the CPUs: threads on a host, vCPUs in the lab. Each
 * calls run() once with its number; afterwards outcome() has the result. The
 * environment also has a watchdog, which ends the run if progress() stands
 * still.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/parts.hpp>

namespace klock::selftest {

/*
 * torture_run - the part of the torture that does not depend on the lock's type
 *
 * The calls of the lock are functions in a table, so that a program that
 * tortures fifty locks compiles this once. They are no virtual functions, which
 * may need a C++ runtime that a kernel does not have.
 */

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

/* A CPU's activity at the moment, for the report of a hang. */
enum doing : u8 { doing_nothing, doing_wait, doing_section };

/* One CPU's record, on its own line; others read the atomic fields. */
struct alignas(cache_line) torture_record {
	atomic<u32> entered; /* sections, for others to see */
	atomic<u8> now;
	u64 sections = 0; /* `entered` without a wrap */
	u32 in_contention = 0;
	u32 overlaps = 0;
	u32 bypassed = 0;
	u32 refused = 0;
	u32 visits = 0; /* by the NMI handler */
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

struct torture_run;

/* The part that depends on the lock: its line of the list, and its calls. */
struct torture_calls {
	const char *name;
	service promised;
	u64 capacity;
	u32 bytes;

	/* A run of that many CPUs begins. */
	void (*renumber)(torture_run &, unsigned cpus);
	void (*lock)(torture_run &, unsigned cpu);
	void (*unlock)(torture_run &, unsigned cpu);
	/* Calls one CPU to the lock and waits until it has queued. */
	void (*call)(torture_run &, unsigned cpu, u32 number);

	/* Null: it has no try_lock(). The first sometimes uses a deadline; the
	 * others are for an NMI handler. */
	bool (*try_lock)(torture_run &, unsigned cpu, xorshift &dice);
	bool (*try_lock_in_nmi)(torture_run &, unsigned cpu);
	void (*unlock_in_nmi)(torture_run &, unsigned cpu);
};

struct torture_run {
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
		for (unsigned i = 0; i < todo.cpus; i++)
			records[i].clear();
		records[0].sections = todo.made;
		calls.renumber(*this, todo.cpus);
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
	 * Called from an NMI handler on a CPU that may be in run(): takes the
	 * lock if it is free, and never waits; returns whether it took it. Each
	 * such CPU is one contender more, so the plan has at most half as many
	 * CPUs as the lock has room for.
	 */
	bool drop_in(unsigned cpu)
	{
		torture_record &mine = records[cpu];

		if (!calls.try_lock_in_nmi ||
		    !calls.try_lock_in_nmi(*this, cpu))
			return false;
		if (!data.visit(0))
			mine.visits_that_saw_another++;
		mine.visits++;
		calls.unlock_in_nmi(*this, cpu);
		return true;
	}

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

		r.lock = calls.name;
		r.promised = calls.promised;
		r.cpus = todo.cpus;
		r.bytes = calls.bytes;
		r.handoffs = shared.handoffs;
		r.forced = u64{todo.convoys} * (todo.cpus - 1);
		for (unsigned i = 0; i < todo.cpus; i++) {
			const torture_record &of = records[i];
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

	/* The lock's line of the list. */
	const torture_calls &calls;

      protected:
	constexpr torture_run(const torture_calls &of, torture_record *a_cpu)
	    : calls(of), records(a_cpu)
	{
	}

	plan todo{};
	torture_record *const records;
	alignas(cache_line) atomic<u32> called; /* the number that may queue */

      private:
	/* Data that only the holder accesses. */
	struct held_data {
		unsigned last = ~0u; /* the holder before */
		u32 handoffs = 0;    /* entries after another CPU's */
		u32 run = 0; /* consecutive sections of one CPU, so far */
		u32 max_consecutive = 0;
		u32 next_in_line = 0; /* whose turn it is in a convoy */
	};

	void enter(unsigned cpu)
	{
		torture_record &mine = records[cpu];

		mine.now.store_relaxed(doing_wait);
		calls.lock(*this, cpu);
		mine.now.store_relaxed(doing_section);
	}

	/* The section's work, and the unlock. */
	void work_and_leave(unsigned cpu)
	{
		torture_record &mine = records[cpu];

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
		calls.unlock(*this, cpu);
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
			calls.call(*this, (up + round) % n, round * n + k);
		}
		work_and_leave(cpu);
	}

	void follow(unsigned cpu, u32 round, unsigned k)
	{
		const u32 number = round * todo.cpus + k;

		called.await_acquire(
			[=](u32 now) { return now == number || give_up; });
		enter(cpu);
		if (queues(calls.promised) && shared.next_in_line != k)
			records[cpu].bypassed++;
		shared.next_in_line = k + 1;
		work_and_leave(cpu);
	}

	/* -- Contention -- */

	void contend(unsigned cpu)
	{
		torture_record &mine = records[cpu];
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

	/* Returns whether the CPU is inside; false: a try failed. */
	bool come_in(unsigned cpu, xorshift &dice)
	{
		torture_record &mine = records[cpu];

		if (calls.try_lock && todo.try_one_in &&
		    dice.below(todo.try_one_in) == 0) {
			if (calls.try_lock(*this, cpu, dice)) {
				mine.now.store_relaxed(doing_section);
				return true;
			}
			mine.refused++;
			return false;
		}
		const u64 start = cycles();
		enter(cpu);
		const u64 waited = cycles() - start;
		if (waited > mine.longest_wait)
			mine.longest_wait = waited;
		return true;
	}

	alignas(cache_line) invariant data;
	held_data shared;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) atomic<u32> contended; /* sections so far */
};

/* The number of a plan's CPUs that a lock can serve. */
template <typename Subject>
constexpr unsigned participants(unsigned cpus)
{
	return cpus < Subject::capacity
		       ? cpus
		       : static_cast<unsigned>(Subject::capacity);
}

/* The torture of one lock; prepare(), run(), outcome() are torture_run's. */
template <typename Subject, unsigned Cpus>
struct torture : torture_run {
	using lock_type = typename Subject::lock;

	constexpr torture() : torture_run(table, own_records)
	{
		for (unsigned i = 0; i < Cpus; i++)
			seats[i].who.renumber(i);
	}

	[[nodiscard]] const lock_type &watched() const { return lock; }

      private:
	struct alignas(cache_line) seat {
		contender<lock_type> who;
		contender<lock_type> visitor; /* this CPU's NMI handler */
	};

	static torture &self(torture_run &of)
	{
		return static_cast<torture &>(of);
	}
	static seat &at(torture_run &of, unsigned cpu)
	{
		return self(of).seats[cpu];
	}

	static void take(torture_run &of, unsigned cpu)
	{
		at(of, cpu).who.lock(self(of).lock);
	}
	static void leave(torture_run &of, unsigned cpu)
	{
		at(of, cpu).who.unlock(self(of).lock);
	}
	static void renumber(torture_run &of, unsigned cpus)
	{
		for (unsigned i = 0; i < cpus; i++)
			at(of, i).visitor.renumber(cpus + i);
	}

	/* Calls one CPU to the lock and waits until it has queued. */
	static void call(torture_run &run, unsigned cpu, u32 number)
	{
		torture &of = self(run);
		const doorway<lock_type> line(of.lock);
		const torture_record &its = of.records[cpu];
		const u32 before = its.entered.load_relaxed();

		of.called.store_release(number);
		while (its.entered.load_relaxed() == before && !give_up) {
			if (its.now.load_relaxed() == doing_wait &&
			    (!queues(Subject::order_of_service) ||
			     line.passed(cpu)))
				break;
			cpu_relax();
		}
	}

	/* Tries at once; or until a near deadline, if the lock has those. */
	static bool ask(torture_run &of, unsigned cpu, xorshift &dice)
	{
		contender<lock_type> &who = at(of, cpu).who;
		lock_type &lock = self(of).lock;

		if constexpr (timed_lockable<lock_type>)
			if (const u32 kind = dice.below(3))
				return who.try_lock_until(
					lock,
					cycles() +
						(kind - 1) * dice.below(20000));
		return who.try_lock(lock);
	}
	static bool ask_in_nmi(torture_run &of, unsigned cpu)
	{
		return at(of, cpu).visitor.try_lock(self(of).lock);
	}
	static void leave_in_nmi(torture_run &of, unsigned cpu)
	{
		at(of, cpu).visitor.unlock(self(of).lock);
	}

	static constexpr torture_calls calls_of_it()
	{
		torture_calls c = {.name = Subject::name,
				   .promised = Subject::order_of_service,
				   .capacity = Subject::capacity,
				   .bytes = sizeof(lock_type),
				   .renumber = renumber,
				   .lock = take,
				   .unlock = leave,
				   .call = call,
				   .try_lock = nullptr,
				   .try_lock_in_nmi = nullptr,
				   .unlock_in_nmi = nullptr};

		if constexpr (try_lockable<lock_type>) {
			c.try_lock = ask;
			c.try_lock_in_nmi = ask_in_nmi;
			c.unlock_in_nmi = leave_in_nmi;
		}
		return c;
	}

	static constexpr torture_calls table = calls_of_it();

	alignas(cache_line) lock_type lock;
	seat seats[Cpus];
	torture_record own_records[Cpus];
};

/*
 * deadline - a holder that does not leave: all others give up in time
 *
 * CPU 0 takes the lock and keeps it until all others have tried to take it with
 * a deadline, again and again, and have given up. Each must do so at least once
 * in time, which is within twice the deadline. More cannot be demanded, as a
 * busy machine may delay any attempt; the delay of the clock alone, measured
 * for as long just before, is shown beside it. Then CPU 0 releases the lock,
 * which must serve all as if nothing had happened.
 */

struct deadline_result {
	u64 refused = 0; /* attempts that were given up, as they must be */
	u64 let_in = 0;	 /* beside the holder */
	u64 early = 0;	 /* given up before the deadline */
	u64 in_time = 0; /* of them: within twice the deadline */
	u64 never_in_time = 0; /* CPUs */
	u64 longest = 0;       /* cycles from asking to giving up */
	u64 control = 0;       /* `longest` by the clock alone */
	u64 sections = 0;      /* when CPU 0 had left */
	u64 wrong = 0;	       /* of them: saw another, or left no trace */
	u64 deadline = 0;      /* cycles */
	bool gave_up = false;
};

/* The fault in words, or null. */
constexpr const char *fault(const deadline_result &r)
{
	if (r.gave_up)
		return "no progress: everybody waits";
	if (r.let_in)
		return "let in beside the holder";
	if (r.early)
		return "gave up before the deadline";
	if (!r.refused || !r.sections)
		return "nothing was asked for";
	if (r.wrong)
		return "does not exclude when somebody has given up";
	if (r.never_in_time)
		return "always gave up later than twice the deadline";
	return nullptr;
}

template <typename Subject, unsigned Cpus>
struct deadline_trial {
	using lock_type = typename Subject::lock;
	static_assert(timed_lockable<lock_type>);

	constexpr deadline_trial()
	{
		for (unsigned i = 0; i < Cpus; i++)
			seats[i].who.renumber(i);
	}

	/* Before the CPUs run: two at least. */
	void prepare(unsigned cpus, u64 deadline_cycles, u32 attempts)
	{
		count = cpus;
		deadline = deadline_cycles;
		rounds = attempts;
		data.reset();
		everyone.reset();
		steps.store_relaxed(0);
		for (seat &s : seats)
			s.clear();
	}

	/* Each of them calls this once. */
	void run(unsigned cpu)
	{
		everyone.meet(count);
		if (cpu == 0)
			take(cpu);
		everyone.meet(count);
		if (cpu != 0)
			ask_again_and_again(cpu);
		everyone.meet(count);
		if (cpu == 0)
			leave(cpu);
		for (u32 i = 0; i < rounds && !give_up; i++) {
			take(cpu);
			seats[cpu].seen.sections++;
			if (!data.visit(1))
				seats[cpu].seen.wrong++;
			leave(cpu);
		}
		everyone.meet(count);
	}

	[[nodiscard]] u32 progress() const { return steps.load_relaxed(); }
	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(seats[cpu].now.load_relaxed());
	}
	[[nodiscard]] const lock_type &watched() const { return lock; }

	/* After all have returned from run(). */
	[[nodiscard]] deadline_result outcome() const
	{
		deadline_result r;

		r.deadline = deadline;
		r.gave_up = give_up;
		for (unsigned i = 0; i < count; i++) {
			const deadline_result &of = seats[i].seen;

			r.refused += of.refused;
			r.in_time += of.in_time;
			r.never_in_time += i != 0 && !of.in_time;
			r.let_in += of.let_in;
			r.early += of.early;
			r.sections += of.sections;
			r.wrong += of.wrong;
			r.longest = larger(r.longest, of.longest);
			r.control = larger(r.control, of.control);
		}
		r.wrong += data.lost(r.sections);
		return r;
	}

      private:
	struct alignas(cache_line) seat {
		contender<lock_type> who;
		atomic<u8> now;
		deadline_result seen; /* its own part */

		void clear() { seen = {}; }
	};

	static u64 larger(u64 a, u64 b) { return a > b ? a : b; }

	void take(unsigned cpu)
	{
		seats[cpu].now.store_relaxed(doing_wait);
		seats[cpu].who.lock(lock);
		seats[cpu].now.store_relaxed(doing_section);
		steps.fetch_add_relaxed(1);
	}
	void leave(unsigned cpu)
	{
		seats[cpu].now.store_relaxed(doing_nothing);
		seats[cpu].who.unlock(lock);
	}

	/* Tries until one was in time, but at most `chances` times. */
	void ask_again_and_again(unsigned cpu)
	{
		constexpr u32 chances = 500;
		const deadline_result &seen = seats[cpu].seen;

		for (u32 i = 0; i < chances && !give_up; i++) {
			if (i >= rounds && seen.in_time)
				return;
			ask(cpu);
		}
	}

	/* Measures a deadline by the clock alone, then by the lock. */
	void ask(unsigned cpu)
	{
		seat &mine = seats[cpu];
		deadline_result &seen = mine.seen;
		const u64 before = cycles();

		while (cycles() - before < deadline)
			cpu_relax();
		const u64 asked = cycles();
		seen.control = larger(seen.control, asked - before);

		mine.now.store_relaxed(doing_wait);
		const bool in = mine.who.try_lock_until(lock, asked + deadline);
		const u64 took = cycles() - asked;
		mine.now.store_relaxed(doing_nothing);
		seen.longest = larger(seen.longest, took);
		seen.early += !in && took < deadline;
		steps.fetch_add_relaxed(1);
		if (!in) {
			seen.refused++;
			seen.in_time += took <= 2 * deadline;
			return;
		}
		seen.let_in++;
		mine.who.unlock(lock);
	}

	alignas(cache_line) lock_type lock;
	alignas(cache_line) invariant data;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) atomic<u32> steps; /* of all, for the watchdog */
	unsigned count = 0;
	u64 deadline = 0;
	u32 rounds = 0;
	seat seats[Cpus];
};

} // namespace klock::selftest
