/* SPDX-License-Identifier: MIT */
/*
 * symmetry - one execution for all that differ only in the CPUs' numbers:
 * options.symmetric
 */
#pragma once

#include "graph.hpp"
#include "learnt.hpp"
#include "scheduler.hpp"

#include <model/options.hpp>

namespace model {

struct symmetry {
	explicit symmetry(scheduler &those) : cpus(those) {}

	/* An exploration begins: which CPUs may change places, if asked for. */
	void start(const options &, bool asked);
	/* Everything is explored from the first graph on. */
	void start_over();

	/* Whether one execution is explored for all that are alike. */
	bool reduces() const { return is_on; }
	void turn_off() { is_on = false; }

	/*
	 * Whether the CPUs have proved not to be alike. The results so far then
	 * say nothing: everything is explored once more without symmetry.
	 */
	bool failed() const { return is_refuted; }
	/* It cannot be checked any more: everything is explored without
	 * symmetry. */
	void cannot_tell() { is_refuted = is_on; }

	/* Whether this operation, the current CPU's next, is its gate. */
	bool enters_gate(const graph &g, const reading &q) const
	{
		return is_on && q.writes && is_before_gate(g);
	}
	/* Whether the CPU must wait there, as the one before has not passed. */
	bool holds_back(const graph &g, const reading &q)
	{
		return enters_gate(g, q) && waits_at_gate(g, q);
	}
	/* Whether the read of this CPU's gate may read that write. */
	bool in_turn(const graph &, unsigned of, ref write) const;
	/* The current CPU has added a write: it may be a gate. */
	void look_at_gate(graph &g, unsigned location, bool exclusive)
	{
		if (is_on)
			note_write(g, location, exclusive);
	}

	/* How many executions this one stands for. */
	u64 stands_for(const graph &) const;
	/* Whether all that is known of the code is the same for the CPUs. */
	bool seems_right(const learnt &) const;

      private:
	bool is_before_gate(const graph &) const;
	bool waits_at_gate(const graph &, const reading &);
	void note_write(graph &, unsigned location, bool exclusive);
	[[noreturn]] void fail();

	static constexpr unsigned none = ~0u;

	scheduler &cpus;
	bool is_on = false;
	bool is_refuted = false;
	unsigned count = 0; /* CPUs */
	unsigned gate_location = none;
	unsigned predecessor[max_cpus] = {}; /* the next lower one like it */
	unsigned alike[max_cpus] = {};	     /* how many are like it, and it */
};

} // namespace model
