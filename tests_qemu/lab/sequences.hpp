/* SPDX-License-Identifier: MIT */
/*
 * sequences - seq_lock, seq_latch, once and barrier under interrupts, IPIs and
 * NMIs
 *
 * What is no lock of the list: no lock() and unlock() to take them by. Each
 * trial says what a thread, an interrupt handler and an NMI handler do with its
 * subject, and whether what they saw was right; trial<> runs it on all CPUs.
 */
#pragma once

#include "faults.hpp"
#include "options.hpp"

#include <boot/kernel.hpp>
#include <klock/barrier.hpp>
#include <klock/irq.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/once.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>

namespace lab {

using klock::u32;
using klock::u64;
using klock::selftest::xorshift;

/* The context that looks: an index of what each keeps for itself. */
enum looker : u32 { by_thread, by_handler, by_nmi, lookers };

/*
 * The counts of a trial. wrong counts values that were torn, older than before,
 * made twice or too early.
 */
struct trial_result {
	u64 looks[lookers] = {};
	u64 wrong = 0;
	u64 lost = 0;
	bool gave_up = false;
	bool wants_handlers = false;
	bool wants_nmis = false;
};

/* Null: its subject is right, as far as was seen. Else what is wrong. */
constexpr const char *fault(const trial_result &r)
{
	if (r.wrong)
		return "what was seen was not whole, or not the newest";
	if (r.lost)
		return "an update was lost";
	if (r.gave_up)
		return "no progress: all wait";
	return nullptr;
}

/* Null: all came that was to come. A mutant is not found out by what did not.
 */
constexpr const char *missed(const trial_result &r)
{
	if (r.wants_handlers && !r.looks[by_handler])
		return "no storm: no handler took part";
	if (r.wants_nmis && !r.looks[by_nmi])
		return "no storm: no NMI handler took part";
	return nullptr;
}

/* Each kind of fault is named, a vacuous run too. */
static_assert(!fault(trial_result{}) && !missed(trial_result{}));
static_assert(fault(trial_result{.wrong = 1}));
static_assert(fault(trial_result{.lost = 1}));
static_assert(fault(trial_result{.gave_up = true}));
static_assert(missed(trial_result{.wants_handlers = true}));
static_assert(missed(trial_result{.wants_nmis = true}));
static_assert(!missed(trial_result{
	.looks = {0, 1, 1}, .wants_handlers = true, .wants_nmis = true}));

/* So large that a copy of it is a loop, which an interrupt can come into. */
struct words {
	u32 at[64];
};

inline words all(u32 v)
{
	words w;

	for (u32 &one : w.at)
		one = v;
	return w;
}

/* Whole, and not older than what the same one saw before. */
inline bool fits(const words &w, u32 &last)
{
	const u32 before = last;

	for (u32 v : w.at)
		if (v != w.at[0])
			return false;
	last = w.at[0];
	return last - before < 1u << 31;
}

/* Interrupts off, for the length of a block. */
struct irqs_are_off {
	irqs_are_off() : before(klock::irq_save()) {}
	~irqs_are_off() { klock::irq_restore(before); }
	irqs_are_off(const irqs_are_off &) = delete;
	irqs_are_off &operator=(const irqs_are_off &) = delete;

      private:
	klock::irq_state before;
};

/* How often each CPU has written. */
struct write_counts {
	void note(unsigned cpu) { by_cpu[cpu]++; }

	[[nodiscard]] u32 of(unsigned cpus) const
	{
		u32 made = 0;

		for (unsigned cpu = 0; cpu < cpus; cpu++)
			made += by_cpu[cpu];
		return made;
	}

      private:
	u32 by_cpu[boot::max_cpus] = {};
};

/* Threads and handlers read and write, NMI handlers try to read. */
template <typename Lock>
struct seq_trial {
	static constexpr bool wants_handlers = true;

	void prepare(unsigned)
	{
		writes = {};
		lock.write(all(0));
	}

	bool look(looker who, unsigned cpu, xorshift &dice, u32 &last)
	{
		if (who == by_nmi)
			return try_it(last);
		if (dice.below(4) != 0)
			return fits(lock.read(), last);
		const irqs_are_off here;

		count_write(cpu);
		lock.update([](words &w) {
			for (u32 &v : w.at)
				v++;
		});
		return true;
	}

	void count_write(unsigned cpu) { writes.note(cpu); }

	[[nodiscard]] u64 lost(unsigned cpus) const
	{
		return writes.of(cpus) - lock.read().at[0];
	}

	[[nodiscard]] const Lock &watched() const { return lock; }

      private:
	bool try_it(u32 &last)
	{
		words w;

		if constexpr (requires { lock.try_read(w); })
			return !lock.try_read(w) || fits(w, last);
		else if constexpr (Lock::read_never_waits)
			return fits(lock.read(), last);
		else
			return true;
	}

	Lock lock;
	write_counts writes;
};

/* CPU 0's thread writes, interrupts on; all else reads, NMIs over it, too. */
struct latch_trial {
	static constexpr bool wants_handlers = true;

	void prepare(unsigned) { latch.write(all(newest = 0)); }

	bool look(looker who, unsigned cpu, xorshift &, u32 &last)
	{
		if (who != by_thread || cpu != 0)
			return fits(latch.read(), last);
		latch.write(all(++newest));
		return fits(latch.read(), last) && last == newest;
	}

	[[nodiscard]] u64 lost(unsigned) const
	{
		return newest - latch.read().at[0];
	}

	[[nodiscard]] const auto &watched() const { return latch; }

      private:
	klock::seq_latch<words> latch;
	u32 newest = 0;
};

/*
 * Many onces, one after another, each for all CPUs; of some the first try
 * fails. A thread calls with interrupts off: its handler calls the same.
 */
struct once_trial {
	static constexpr bool wants_handlers = true;

	/* Zero bytes are onces that are not done. */
	void prepare(unsigned)
	{
		auto *const bytes = reinterpret_cast<volatile klock::u8 *>(
			static_cast<void *>(this));

		for (klock::usize i = 0; i < sizeof(*this); i++)
			bytes[i] = 0;
	}

	bool look(looker who, unsigned cpu, xorshift &, u32 &)
	{
		const irqs_are_off here;
		const u32 i = at[cpu];

		if (i == many)
			return true;
		if (who == by_nmi)
			return !done[i].is_done() || made[i] == i + 1;
		if (done[i].call([&] { return make(i); })) {
			at[cpu] += who == by_thread;
			return made[i] == i + 1 && tries[i] == fails(i) + 1;
		}
		return fails(i) == 1;
	}

	[[nodiscard]] u64 lost(unsigned) const { return 0; }
	[[nodiscard]] const auto &watched() const { return done[0]; }

      private:
	static constexpr u32 many = 4096;

	/* How often. */
	static u32 fails(u32 i) { return i % 4 == 0; }

	/* klock::once runs it in one context only: nothing here is atomic. */
	bool make(u32 i)
	{
		if (++tries[i] <= fails(i))
			return false;
		klock::relax_for(i % 32);
		made[i] = i + 1;
		return true;
	}

	klock::once done[many];
	u32 tries[many] = {};
	u32 made[many] = {};
	/* Each CPU's next. */
	u32 at[boot::max_cpus] = {};
};

/* All CPUs meet, and see what all wrote before. */
struct barrier_trial {
	static constexpr bool wants_handlers = false;

	void prepare(unsigned with)
	{
		cpus = with;
		for (u32 &round : wrote)
			round = 0;
	}

	bool look(looker who, unsigned cpu, xorshift &, u32 &)
	{
		if (who != by_thread)
			return true;
		const u32 round = ++wrote[cpu];
		bool right = true;

		meeting.arrive_and_wait(cpus);
		for (unsigned other = 0; other < cpus; other++)
			right &= wrote[other] == round;
		meeting.arrive_and_wait(cpus);
		return right;
	}

	[[nodiscard]] u64 lost(unsigned) const { return 0; }
	[[nodiscard]] const auto &watched() const { return meeting; }

      private:
	klock::spin_barrier meeting;
	unsigned cpus = 0;
	u32 wrote[boot::max_cpus] = {};
};

/* A trial on all CPUs. */
template <typename What>
struct trial {
	void prepare(unsigned with, u32 looks, u32 seed)
	{
		cpus = with;
		rounds = looks;
		happened.store_relaxed(0);
		subject.prepare(with);
		if constexpr (requires { subject.count_write(0); })
			if (asks_for(seeded::lost_update))
				subject.count_write(0);
		for (unsigned cpu = 0; cpu < with; cpu++)
			own[cpu].prepare(seed * 31 + cpu);
	}

	/* Longer while no handler has come, but not without end. */
	void run(unsigned cpu)
	{
		constexpr u32 most_more = 16;
		const u32 wanted =
			boot::has_nmi() ? by_handler | by_nmi : by_handler;

		for (u32 i = 0;
		     i < rounds ||
		     (What::wants_handlers && i / most_more < rounds &&
		      happened.load_relaxed() != wanted);
		     i++) {
			if (klock::selftest::give_up)
				return;
			look(by_thread, cpu);
			klock::relax_for(own[cpu].dice[by_thread].below(8));
		}
	}

	void look(looker who, unsigned cpu)
	{
		mine &of = own[cpu];

		of.looks[who]++;
		of.wrong[who] +=
			!subject.look(who, cpu, of.dice[who], of.last[who]);
		if (who == by_thread)
			of.steps.store_relaxed(of.steps.load_relaxed() + 1);
		else if (!(happened.load_relaxed() & who))
			happened.fetch_or_relaxed(who);
	}

	[[nodiscard]] u32 progress() const
	{
		u32 sum = 0;

		for (unsigned cpu = 0; cpu < cpus; cpu++)
			sum += own[cpu].steps.load_relaxed();
		return sum;
	}

	[[nodiscard]] klock::selftest::doing what(unsigned) const
	{
		return klock::selftest::doing_wait;
	}

	[[nodiscard]] const auto &watched() const { return subject.watched(); }

	[[nodiscard]] trial_result outcome() const
	{
		trial_result r;

		for (unsigned cpu = 0; cpu < cpus; cpu++)
			for (u32 who = 0; who < lookers; who++) {
				r.looks[who] += own[cpu].looks[who];
				r.wrong += own[cpu].wrong[who];
			}
		r.gave_up = klock::selftest::give_up;
		r.lost = r.gave_up ? 0 : subject.lost(cpus);
		r.wants_handlers = What::wants_handlers;
		r.wants_nmis = What::wants_handlers && boot::has_nmi();
		return r;
	}

      private:
	/* One CPU's, and of that each looker's: none interrupts its like. */
	struct alignas(klock::cache_line) mine {
		klock::atomic<u32> steps;
		xorshift dice[lookers] = {xorshift(1), xorshift(2),
					  xorshift(3)};
		u32 looks[lookers] = {};
		u32 wrong[lookers] = {};
		u32 last[lookers] = {};

		void prepare(u32 seed)
		{
			steps.store_relaxed(0);
			for (u32 who = 0; who < lookers; who++) {
				dice[who] = xorshift(seed * lookers + who + 1);
				looks[who] = wrong[who] = last[who] = 0;
			}
		}
	};

	What subject;
	unsigned cpus = 0;
	u32 rounds = 0;
	klock::atomic<u32> happened; /* by_handler | by_nmi */
	mine own[boot::max_cpus];
};

/*
 * Threads write with interrupts off and read with interrupts on, handlers read
 * over them, NMI handlers try to.
 */
struct handlers_read_trial {
	static constexpr bool wants_handlers = true;

	void prepare(unsigned)
	{
		writes = {};
		data = all(0);
	}

	bool look(looker who, unsigned cpu, xorshift &dice, u32 &last)
	{
		if (who == by_nmi) {
			klock::handler_shared_try_guard held(lock);
			return !held || fits(data, last);
		}
		if (who == by_handler) {
			klock::handler_shared_guard held(lock);
			return fits(data, last);
		}
		if (dice.below(4) != 0) {
			klock::shared_guard held(lock);
			return fits(data, last);
		}
		klock::irq_guard held(lock);
		count_write(cpu);
		for (u32 &v : data.at) {
			v++;
			/* If vCPUs take turns, lets another run. */
			if (dice.below(64) == 0)
				klock::cpu_relax();
		}
		return true;
	}

	void count_write(unsigned cpu) { writes.note(cpu); }

	[[nodiscard]] u64 lost(unsigned cpus) const
	{
		return writes.of(cpus) - data.at[0];
	}

	[[nodiscard]] const auto &watched() const { return lock; }

      private:
	klock::irq_shared_lock<klock::phase_fair_lock<klock::u16>> lock;
	words data = {};
	write_counts writes;
};

} // namespace lab
