/* SPDX-License-Identifier: MIT */
/*
 * invariant - data that only holds together if critical sections do not overlap
 *
 * Several words that are equal whenever nobody is inside. A section checks
 * that, adds one to each with a pause between two, and checks again: whoever
 * is inside at the same time is seen by one of the two, or loses an update.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock::selftest {

struct invariant {
	static constexpr unsigned words = 4;

	/* One section; false if it saw another. */
	[[nodiscard]] bool visit(u32 relaxes_a_word)
	{
		const u32 before = word[0].get();
		bool whole = all_are(before);

		for (unsigned i = 0; i < words; i++) {
			word[i].set(before + 1);
			/* A barrier at least: each store is a store. */
			keep();
			relax_for(relaxes_a_word);
		}
		return all_are(before + 1) && whole;
	}

	/* A reader's section, which changes nothing; false if it saw a
	 * writer's.
	 */
	[[nodiscard]] bool look(u32 relaxes) const
	{
		const u32 before = word[0].get();
		const bool whole = all_are(before);

		keep();
		relax_for(relaxes);
		return all_are(before) && whole;
	}

	/* Of so many visits, how many left no trace. Both counts wrap at 2^32,
	 * and the difference does not mind. */
	[[nodiscard]] u32 lost(u64 made) const
	{
		return static_cast<u32>(made) - word[0].get();
	}

	/* As if so many visits had been made. */
	void reset(u64 made = 0)
	{
		for (unsigned i = 0; i < words; i++)
			word[i].set(static_cast<u32>(made));
	}

      private:
	static void keep() { asm volatile("" ::: "memory"); }

	bool all_are(u32 value) const
	{
		bool all = true;

		for (unsigned i = 0; i < words; i++)
			all &= word[i].get() == value;
		return all;
	}

	plain<u32> word[words];
};

} // namespace klock::selftest
