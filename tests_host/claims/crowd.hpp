/* SPDX-License-Identifier: MIT */
/*
 * crowd - a lock in a random schedule, and who was bypassed how often
 *
 * Each step somebody else moves, one of them more often than the others: a
 * fast CPU. A doorway is one step, so who arrived first is never in doubt. The
 * schedule is the seed's: the same at every run.
 */
#pragma once

#include "stage.hpp"

#include <klock/selftest/parts.hpp>

#include <vector>

namespace claims {

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
	u32 jain_permille = 0;
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
		mine.entries++;
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

	crowd_result result() const
	{
		crowd_result r = sum;

		r.jain_permille = klock::selftest::jain_permille(
			static_cast<unsigned>(all.size()),
			[this](unsigned i) { return all[i].entries; });
		return r;
	}

      private:
	struct record {
		unsigned arrival = 0;
		bool waiting = false;
		unsigned bypassed = 0;
		klock::u64 entries = 0;
	};
	std::vector<record> all;
	crowd_result sum;
	unsigned clock = 0, last = ~0u, run = 0;
};

template <typename L>
crowd_result play(const crowd &c)
{
	/* Some hundred to an entry are many; then a lock is at a standstill. */
	const unsigned most_steps = 1000 * c.entries;
	stage<L> s(c.actors);
	crowd_books books(c.actors);
	klock::selftest::xorshift dice(c.seed);

	/* Else most turns of its wait are pauses, and no looks. */
	if constexpr (requires { s.lock.set_base(1u); })
		s.lock.set_base(1);
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

} // namespace claims
