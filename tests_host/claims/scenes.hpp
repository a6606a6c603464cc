/* SPDX-License-Identifier: MIT */
/*
 * scenes - short scripts that tell one lock's promise from another's
 */
#pragma once

#include "stage.hpp"

namespace claims {

/* Of a back-off that has just begun, these are more than one pause. */
inline constexpr unsigned some_looks = 100;

/*
 * CPU 0 leaves and comes back again and again while CPU 1 waits, and looks
 * whenever 0 is inside. How often in a row 0 has it, up to a bound.
 */
template <typename L>
unsigned times_in_a_row(unsigned bound)
{
	stage<L> s(2);
	unsigned times = 1;

	s.step(0);
	s.step(1);
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
template <typename L>
slow_climb climb_slowly(unsigned bound)
{
	constexpr unsigned A = 1, B = 2;
	stage<L> s(4);
	slow_climb r;
	const auto leave_and_come = [&] {
		s.step(B);
		return s.step(B);
	};

	s.step(0);
	s.step(A);
	s.step(B);
	s.step(0);
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
template <typename L>
bool enters_past_a_sleeper()
{
	stage<L> s(3);

	s.step(0);
	s.step(1);
	s.step(2);
	s.step(0);
	return s.looks(2, some_looks);
}

/*
 * CPU 0 holds, CPU 1 comes and is preempted for a time slice: for so many steps
 * of CPU 0, which leaves and comes back as often as it can. Its sections.
 */
template <typename L>
unsigned sections_in_a_slice(unsigned steps)
{
	stage<L> s(2);
	unsigned sections = 0;

	s.step(0);
	s.step(1);
	for (unsigned i = 0; i < steps; i++) {
		const place was = s.where(0);
		sections += s.step(0) == place::inside && was != place::inside;
	}
	return sections;
}

} // namespace claims
