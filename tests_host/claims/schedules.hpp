/* SPDX-License-Identifier: MIT */
#pragma once

#include <klock/bakery_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/tournament_lock.hpp>

#include "stage.hpp"
#include "../native/cores.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace claims {
/*
 * schedules - what the claims let the CPUs of a stage do, and what they count
 */

/*
 * crowd - a lock in a random schedule, and who was bypassed how often
 *
 * Each step somebody else moves, one of them more often than the others: a
 * fast CPU. A doorway is one step, so who arrived first is never in doubt. The
 * schedule is the seed's: the same at every run.
 */

struct crowd {
	unsigned actors;
	unsigned entries; /* the run ends after so many */
	unsigned speed;	  /* of actor 0; the others' is 1 */
	u32 seed;
};

struct crowd_result {
	unsigned entries = 0;	      /* all */
	unsigned waited = 0;	      /* of them, after a wait */
	unsigned bypassed = 0;	      /* most, by later comers, in one wait */
	unsigned max_consecutive = 0; /* by one, past somebody who waited */
};

/* Keeps the books of a crowd: told of each arrival and each entry. */
struct crowd_books {
	explicit crowd_books(unsigned actors) : all(actors) {}

	void arrives(unsigned who) { all[who].arrival = ++clock; }
	void waits(unsigned who) { all[who].waiting = true; }

	void enters(unsigned who)
	{
		record &mine = all[who];
		bool past_somebody = false;

		sum.entries++;
		sum.waited += mine.waiting;
		mine.waiting = false;
		mine.bypassed = 0;
		for (record &r : all) {
			if (!r.waiting || r.arrival > mine.arrival)
				continue;
			past_somebody = true;
			if (++r.bypassed > sum.bypassed)
				sum.bypassed = r.bypassed;
		}
		run = last == who && past_somebody ? run + 1 : 1;
		last = who;
		if (run > sum.max_consecutive)
			sum.max_consecutive = run;
	}

	crowd_result result() const { return sum; }

      private:
	struct record {
		unsigned arrival = 0;
		bool waiting = false;
		unsigned bypassed = 0;
	};
	std::vector<record> all;
	crowd_result sum;
	unsigned clock = 0, last = ~0u, run = 0;
};

inline crowd_result play(stage_of_any &s, const crowd &c)
{
	/* Some hundred to an entry are many; then a lock is at a standstill. */
	const unsigned most_steps = 1000 * c.entries;
	crowd_books books(c.actors);
	klock::selftest::xorshift dice(c.seed);

	for (unsigned i = 0; i < most_steps; i++) {
		if (books.result().entries == c.entries)
			break;
		const u32 thrown = dice.below(c.actors - 1 + c.speed);
		const unsigned who =
			thrown < c.speed ? 0 : thrown - c.speed + 1;
		const place was = s.where(who);

		if (was == place::outside)
			books.arrives(who);
		const place now = s.step(who);
		if (now == place::inside)
			books.enters(who);
		else if (was == place::outside)
			books.waits(who);
	}
	return books.result();
}

template <typename L>
crowd_result play(const crowd &c)
{
	stage<L> s(c.actors);

	/*
	 * A base of 1 makes a waiter's turns reads, and not pauses of its
	 * back-off.
	 */
	if constexpr (requires { s.lock.set_base(1u); })
		s.lock.set_base(1);
	return play(s, c);
}

/*
 * scenes - short scripts that tell one lock's promise from another's
 */

/* More turns than the first pause of a back-off. */
inline constexpr unsigned some_looks = 100;

/*
 * CPU 0 leaves and comes back again and again while CPU 1 waits, and looks
 * whenever 0 is inside. How often in a row 0 has it, up to a bound.
 */
inline unsigned times_in_a_row(stage_of_any &&s, unsigned bound)
{
	unsigned times = 1;

	s.steps({0, 1});
	while (times < bound) {
		s.step(0);
		if (s.step(0) != place::inside)
			break;
		times++;
		s.step(1);
	}
	return times;
}

struct slow_climb {
	unsigned bypassed = 0; /* while A took no step */
	bool stopped_at_root = false;
	bool enters = false; /* A, once it takes its steps */
};

/*
 * CPU 0 holds. A, CPU 1, comes and waits, its doorway behind it; then B, CPU
 * 2, comes. 0 leaves. A takes no step for a while; B takes all it can, and
 * when it leaves it comes again. Then A takes a step, B one round, A another.
 * In a tournament of four, 0 and 1 meet first, and B at the root.
 */
inline slow_climb climb_slowly(stage_of_any &&s, unsigned bound)
{
	constexpr unsigned A = 1, B = 2;
	slow_climb r;
	const auto leave_and_come = [&] {
		s.step(B);
		return s.step(B);
	};

	s.steps({0, A, B, 0});
	for (; s.looks(B, some_looks); leave_and_come())
		if (++r.bypassed == bound)
			break;
	r.enters = s.step(A) == place::inside;
	if (r.enters)
		return r;
	r.stopped_at_root = leave_and_come() != place::inside;
	r.enters = s.step(A) == place::inside;
	return r;
}

/*
 * CPU 0 holds, CPU 1 comes, CPU 2 comes. 1 is preempted: no more steps. 0
 * leaves. Whether 2 gets in.
 */
inline bool enters_past_a_sleeper(stage_of_any &&s)
{
	s.steps({0, 1, 2, 0});
	return s.looks(2, some_looks);
}

/*
 * CPU 0 holds, CPU 1 comes and is preempted for a time slice: for so many steps
 * of CPU 0, which leaves and comes back as often as it can. Its sections.
 */
inline unsigned sections_in_a_slice(stage_of_any &&s, unsigned steps)
{
	unsigned sections = 0;

	s.steps({0, 1});
	for (unsigned i = 0; i < steps; i++) {
		const place was = s.where(0);
		sections += s.step(0) == place::inside && was != place::inside;
	}
	return sections;
}

/*
 * rivals - two CPUs that want the same lock all the time, each on its core
 *
 * Who takes the lock again although another waits? Counted are only critical
 * sections behind an unlock() before which the other took a turn of its wait,
 * since the holder last looked: it runs, and its doorway is done. So a lock
 * that is first come, first served gives it the next section, however the host
 * schedules the threads.
 */

using klock::u32;
using klock::u64;

/* The counts up to now: the holder writes them, anybody reads them. */
struct rivalry {
	std::atomic<u64> sections{0};	     /* all */
	std::atomic<u64> contended{0};	     /* of them, counted: see above */
	std::atomic<u64> max_consecutive{0}; /* in a row, past who waited */
};

template <typename L>
struct rivals {
	static constexpr unsigned threads = 2;

	/* Runs until enough(seen) is true, or the time is over. */
	template <typename Enough>
	void run(std::chrono::milliseconds most, Enough enough)
	{
		const auto end = std::chrono::steady_clock::now() + most;
		std::array<std::thread, threads> running;

		for (unsigned i = 0; i < threads; i++) {
			running[i] = std::thread([this, i] { contend(i); });
			native::pin_to_core(running[i], i, native::cores());
		}
		while (!enough(seen) && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(
				std::chrono::milliseconds(1));
		stop.store(true, std::memory_order_relaxed);
		for (std::thread &thread : running)
			thread.join();
	}

	rivalry seen;

      private:
	struct alignas(128) rival final : klock::arch::watcher {
		/*
		 * It took a turn of its wait. Off when the holder has seen it,
		 * and before its own section ends.
		 */
		std::atomic<bool> waits{false};
		u32 turns = 0;

		/* Two threads on one core must get on, too: now and then. */
		void turn() override
		{
			if (!waits.load(std::memory_order_relaxed))
				waits.store(true, std::memory_order_relaxed);
			if (++turns % 128 == 0)
				sched_yield();
		}
	};

	void contend(unsigned me)
	{
		klock::selftest::contender<L> who(me);

		klock::arch::watched_by = &all[me];
		while (!stop.load(std::memory_order_relaxed)) {
			who.lock(lock);
			all[me].waits.store(false, std::memory_order_relaxed);
			enter(me);
			for (volatile int work = 0; work < 20;)
				work = work + 1;
			one_waited =
				all[!me].waits.load(std::memory_order_relaxed);
			who.unlock(lock);
		}
	}

	/* Inside: nobody else writes. */
	void enter(unsigned me)
	{
		add_one(seen.sections);
		if (one_waited)
			add_one(seen.contended);
		in_a_row = last == me ? in_a_row + one_waited : 1;
		last = me;
		if (in_a_row >
		    seen.max_consecutive.load(std::memory_order_relaxed))
			seen.max_consecutive.store(in_a_row,
						   std::memory_order_relaxed);
	}

	static void add_one(std::atomic<u64> &count)
	{
		count.store(count.load(std::memory_order_relaxed) + 1,
			    std::memory_order_relaxed);
	}

	alignas(128) L lock;
	/* The holder's alone. */
	alignas(128) bool one_waited = false;
	unsigned last = ~0u;
	u64 in_a_row = 0;
	std::array<rival, threads> all;
	alignas(128) std::atomic<bool> stop{false};
};

/*
 * overflow - a queue of tickets as long as the counters allow, and longer
 */

/* next and owner, as a lock's bytes have them. */
template <typename L>
struct counters_of;

template <unsigned Bits>
struct counters_of<klock::narrow_ticket_lock<Bits>> {
	static std::pair<u32, u32> in(const auto &bytes)
	{
		return {bytes[0] >> (8 - Bits), bytes[0] & ((1 << Bits) - 1)};
	}
};

template <>
struct counters_of<klock::ticket_lock<u8>> {
	static std::pair<u32, u32> in(const auto &bytes)
	{
		return {bytes[1], bytes[0]};
	}
};

/*
 * Empties a full queue: each leaves, the next 16 look, the last of them first,
 * and the one next in order is inside. Returns how many were served so.
 */
inline unsigned served_one_by_one(stage_of_any &s)
{
	constexpr unsigned near = 16;
	unsigned served = 0;

	while (served < s.size() && s.count(place::inside) == 1 &&
	       s.where(served) == place::inside) {
		s.step(served++);
		for (unsigned i = std::min(served + near, s.size());
		     i-- > served;)
			if (s.where(i) == place::waits)
				s.step(i);
	}
	return served;
}

/*
 * registers - how many a lock without read-modify-write has, and uses
 *
 * Burns and Lynch, Information and Computation 107(2), 1993: by loads and
 * stores alone, n CPUs need n registers at least, however wide.
 */

/* The bytes of a lock's register, which a CPU reads or writes at once. */
template <typename L>
inline constexpr usize register_bytes = 1;
template <unsigned Cpus>
inline constexpr usize register_bytes<klock::bakery_lock<Cpus>> = sizeof(u32);

template <typename L>
inline constexpr usize registers_of = sizeof(L) / register_bytes<L>;

/* How many hold something when so many CPUs contend: seen, not counted. */
inline unsigned registers_in_use(stage_of_any &&s, usize bytes_each)
{
	unsigned used = 0;

	s.all_come();
	const auto bytes = s.bytes();
	for (usize at = 0; at < bytes.size(); at += bytes_each) {
		bool zero = true;
		for (usize i = 0; i < bytes_each; i++)
			zero &= bytes[at + i] == 0;
		used += !zero;
	}
	return used;
}

template <typename L>
unsigned registers_in_use(unsigned cpus)
{
	return registers_in_use(stage<L>(cpus), register_bytes<L>);
}

} // namespace claims
