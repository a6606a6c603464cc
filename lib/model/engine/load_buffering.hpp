/* SPDX-License-Identifier: MIT */
/*
 * load_buffering - reads of what comes after them: options.load_buffering
 */
#pragma once

#include "bounds.hpp"
#include "exploration.hpp"
#include "learnt.hpp"
#include "operations.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "work_list.hpp"

#include <set>
#include <vector>

namespace model {

struct load_buffering {
	load_buffering(exploration &of, work_list &graphs, scheduler &those,
		       reporter &to, operation_table &those_of_code,
		       bounds &keep_to)
	    : task(of), work(graphs), cpus(those), reports(to),
	      operations(those_of_code), limits(keep_to)
	{
	}

	/* An exploration begins, or is over. */
	void clear();

	/* Adds the graphs in which causes of the new write read it.
	 */
	void serve_causes(const graph &with, ref write);
	/* All of RC11's executions are explored: begins with the others. */
	void put_on(work_list &to) { to.swap(later); }
	bool empty() const { return later.empty(); }

	/* Whether this execution was not met before. */
	bool add_new(const graph &);

	/* -- In a replay, of the current CPU -- */

	/* Waits until all events that happen before its next event are
	 * replayed. */
	void wait_for_past(const event &e)
	{
		if (work.running().core)
			wait_for_all_before(e);
	}
	/* Gives its next event, a read, the value that its write has now. */
	void read_again(const reading &);
	/* Whether its next write is the promised one, with its value. */
	bool keeps_promise(const reading &, u64 word);
	/* The replay is over; returns whether the code has done what the graph
	 * says.
	 */
	void be_sure();

      private:
	void wait_for_all_before(const event &);
	void serve_early(const graph &with, ref write,
			 const std::vector<ref> &reads);

	exploration &task;
	work_list &work;
	scheduler &cpus;
	reporter &reports;
	operation_table &operations;
	bounds &limits;

	std::vector<some_graph> later; /* for when the work list is done */
	std::set<u64> seen;	       /* prints of executions */
};

} // namespace model
