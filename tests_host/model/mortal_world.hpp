/* SPDX-License-Identifier: MIT */
/*
 * mortal_world - a lock that whoever leaves last ends
 */
#pragma once

#include "lock_worlds.hpp"

#include <klock/selftest/mortal.hpp>

namespace worlds {

template <typename Subject>
struct mortal_world {
	using object =
		klock::selftest::mortal<typename Subject::lock, most_cpus>;

	/* Its life is not the world's. */
	union {
		object it;
	};
	unsigned ends = 0; /* on the host */

	explicit mortal_world(unsigned references) : it(references)
	{
		model::name(it.lock, "lock");
		model::name(it.references, "references");
	}
	~mortal_world() {}

	void section(unsigned cpu)
	{
		if (!it.put(cpu))
			return;
		it.~object();
		ends++;
	}
};

/* The last to leave ends the lock: nobody else is still at it. */
template <typename Subject>
result ended_by_the_last(const options &how)
{
	using world = mortal_world<Subject>;
	const unsigned references = sum(how.sections);

	return model::explore_from(
		how, [references] { return world(references); },
		[](world &w, unsigned cpu) { w.section(cpu); },
		[](world &w) { model::check(w.ends == 1, "ended once"); });
}

} // namespace worlds
