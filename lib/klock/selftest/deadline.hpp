/* SPDX-License-Identifier: MIT */
/*
 * deadline - a holder that does not leave: everybody else gives up in time
 *
 * CPU 0 takes the lock and keeps it until all others have asked for it by a
 * deadline, again and again, and have been refused: each of them in time at
 * least once, which is within twice the deadline. More cannot be asked for, as
 * a busy machine takes any attempt's time away; how late the bare clock was,
 * looked at for as long just before, is shown beside it. Then CPU 0 leaves, and
 * the lock must serve everybody as if nothing had been.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/barrier.hpp>
#include <klock/selftest/invariant.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/torture.hpp>

namespace klock::selftest {

struct deadline_result {
	u64 refused = 0; /* attempts that were given up, as they must be */
	u64 let_in = 0;	 /* beside the holder */
	u64 early = 0;	 /* given up before the deadline */
	u64 in_time = 0; /* of them: within twice the deadline */
	u64 never_in_time = 0; /* CPUs */
	u64 longest = 0;       /* cycles from asking to giving up */
	u64 control = 0;       /* the same by the clock alone */
	u64 sections = 0;      /* when CPU 0 had left */
	u64 wrong = 0;	       /* of them: saw another, or left no trace */
	u64 deadline = 0;      /* cycles */
	bool gave_up = false;
};

/* Null: nothing wrong. Else what is, in words. */
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

	/* Until one was in time; a lock that never is has had its chance. */
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

	/* By the clock alone, then by the lock. */
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
	alignas(cache_line) atomic<u32> steps; /* of all, for who watches */
	unsigned count = 0;
	u64 deadline = 0;
	u32 rounds = 0;
	seat seats[Cpus];
};

} // namespace klock::selftest
