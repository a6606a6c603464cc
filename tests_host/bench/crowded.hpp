/* SPDX-License-Identifier: MIT */
/*
 * crowded - tickets of a preemptable_ticket_lock that were passed over
 *
 * Exact, and no burden on the lock: each holder looks at the lock's turn, in
 * the line that it has just written, and compares it with the one that the
 * holder before it left behind. A turn that is further on passed tickets over.
 */
#pragma once

#include "report.hpp"
#include "trial.hpp"

#include <klock/preemptable_ticket_lock.hpp>

#include <cstring>

namespace bench {

/* What several trials found. */
struct overtakings {
	u64 acquisitions = 0;
	u64 passed = 0; /* tickets */
	/* Of these: in trials in which a thread lost its core to another. */
	u64 passed_disturbed = 0;
	/* Cycles that a thread whose ticket was passed over waited in all. */
	series waits;

	/* A trial's; quiet: no thread lost its core in it. */
	void add(const overtakings &trial, u64 taken, bool quiet)
	{
		acquisitions += taken;
		passed += trial.passed;
		passed_disturbed += quiet ? 0 : trial.passed;
		waits.insert(waits.end(), trial.waits.begin(),
			     trial.waits.end());
	}

	double per_thousand() const
	{
		return acquisitions ? 1000.0 * static_cast<double>(passed) /
					      static_cast<double>(acquisitions)
				    : 0;
	}
};

/* What the holders know of the turn, one after another. */
template <typename Counter>
struct turn_watch {
	/*
	 * The tickets that this holder passed over, by the lock's state while
	 * it holds: turn x 2 + 1. On turn it is the state that was left, and 1;
	 * one less: a holder without a ticket, or one who was passed over.
	 */
	u64 note(Counter held)
	{
		const Counter moved = static_cast<Counter>(held - left);

		left = static_cast<Counter>(held + 1);
		return moved == static_cast<Counter>(-1) ? 0 : moved / 2;
	}

      private:
	Counter left = 0; /* when the holder before unlocked */
};

/* Two threads, one lock: whose ticket is passed over is the other. */
template <typename Counter>
struct passing_contest {
	using lock_type = klock::preemptable_ticket_lock<Counter>;

	/* The second of two counters, turn x 2 + held: the holder asks. */
	static Counter state_of(const lock_type &l)
	{
		static_assert(sizeof(l) == 2 * sizeof(Counter));
		Counter state;

		std::memcpy(&state,
			    reinterpret_cast<const char *>(&l) + sizeof(state),
			    sizeof(state));
		return state;
	}

	void contend(unsigned thread, const load &l, whistle &end, tally &seen)
	{
		until(end, l, thread, seen, [&] {
			const u64 before = klock::cycles();
			lock.lock();
			enter(thread, before);
			work(l.section);
			lock.unlock();
		});
	}

	/* The holder: thread, which called lock() at that time. */
	void enter(unsigned thread, u64 since)
	{
		const u64 passed = turn.note(state_of(lock));

		if (passed) {
			found.passed += passed;
			late = thread ^ 1;
		} else if (late == thread) {
			found.waits.push_back(
				static_cast<double>(klock::cycles() - since));
			late = nobody;
		}
	}

	alignas(128) lock_type lock;
	/* The holder's alone. */
	alignas(128) overtakings found;

      private:
	static constexpr unsigned nobody = ~0u;

	turn_watch<Counter> turn;
	unsigned late = nobody; /* who was passed over, and is not in yet */
};

} // namespace bench
