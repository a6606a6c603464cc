/* SPDX-License-Identifier: MIT */
/*
 * brancher - adds the next event to the graph, and its alternatives to the work
 * list
 *
 * The run itself takes the newest write, and the last position in modification
 * order: an event with nothing after it breaks no axiom. Source: TruSt (see
 * checker.hpp), algorithm 2.
 */
#pragma once

#include "exploration.hpp"
#include "learner.hpp"
#include "load_buffering.hpp"
#include "operations.hpp"
#include "scheduler.hpp"
#include "symmetry.hpp"
#include "work_list.hpp"

#include <vector>

namespace model {

struct brancher {
	brancher(exploration &of, work_list &graphs, scheduler &those,
		 model::symmetry &alike, learner &known,
		 operation_table &those_of_code, bounds &keep_to,
		 load_buffering &beyond)
	    : task(of), work(graphs), cpus(those), symmetry(alike),
	      learning(known), operations(those_of_code), limits(keep_to),
	      early(beyond)
	{
	}

	void start_run(unsigned count);

	/* -- The current CPU's next event -- */
	void read(const reading &, unsigned location);
	void write(const reading &, unsigned location, u64 word);
	void fence(effect);
	void choose(u64 of);

	/* Sets the order of a compare-and-swap, which depends on the value that
	 * it read. */
	void note_swap(const reading &);

	/* The value of a location at this position in modification order. */
	u64 word_at(unsigned location, unsigned position, const window &) const;

      private:
	struct swap {
		u8 index; /* the read's */
		window at;
		u64 expected;
		order ord, failed;
	};

	void note_read(const graph &, u16 op, ref write);
	void only_revisit(const reading &, unsigned location,
			  unsigned position);
	void revisit(const graph &with, ref write);
	void serve(const graph &with, ref read, ref write);
	order order_found(ref read, u64 word) const;
	/* added: the new access, if it is the only new event. */
	bool keep_if_consistent(some_graph &&, ref added = {});

	exploration &task;
	work_list &work;
	scheduler &cpus;
	model::symmetry &symmetry;
	learner &learning;
	operation_table &operations;
	bounds &limits;
	load_buffering &early;

	std::vector<swap> swaps[max_cpus]; /* of the run */
};

} // namespace model
