/* SPDX-License-Identifier: MIT */
/*
 * interrupts - each CPU's flag, and the interrupts that may yet come
 */
#pragma once

#include "graph.hpp"

#include <model/options.hpp>

namespace model {

struct interrupt_state {
	bool on = true; /* the flag */
	unsigned left = 0;
	unsigned handlers = 0; /* that run now: they nest */

	friend bool operator==(const interrupt_state &,
			       const interrupt_state &) = default;
};

struct interrupts {
	void start_run(unsigned count, const options &given)
	{
		non_maskable = given.non_maskable;
		for (unsigned c = 0; c < count; c++)
			states[c] = {true, given.interrupts, 0};
	}

	const interrupt_state &at(unsigned cpu) const { return states[cpu]; }
	bool may_come(unsigned cpu) const
	{
		const interrupt_state &s = states[cpu];

		return s.left && (s.on || non_maskable);
	}
	void set_flag(unsigned cpu, bool on) { states[cpu].on = on; }
	/* Sets what is known of a CPU that has not run. */
	void set(unsigned cpu, unsigned left, bool on)
	{
		states[cpu].left = left;
		states[cpu].on = on;
	}

	/* A handler begins; returns the flag to end it with. */
	bool begin(unsigned cpu)
	{
		interrupt_state &s = states[cpu];
		const bool before = s.on;

		s.on = false;
		s.left--;
		s.handlers++;
		return before;
	}
	void end(unsigned cpu, bool before)
	{
		states[cpu].handlers--;
		states[cpu].on = before;
	}

      private:
	interrupt_state states[max_cpus];
	bool non_maskable = false;
};

} // namespace model
