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

#include <klock/selftest/doorway.hpp>
#include <klock/selftest/torture_run.hpp>

namespace klock::selftest {

/* How many CPUs of a plan a lock can serve. */
template <typename Subject>
constexpr unsigned participants(unsigned cpus)
{
	return cpus < Subject::capacity
		       ? cpus
		       : static_cast<unsigned>(Subject::capacity);
}

/* What can be done to it is torture_run's: prepare(), run(), outcome(). */
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

	/* Calls one CPU to the lock and waits until it stands in line. */
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

	/* At once; where there are deadlines, by one that is soon, or now. */
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

} // namespace klock::selftest
