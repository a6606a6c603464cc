/* SPDX-License-Identifier: MIT */
/*
 * walker - a run without the code, by what is known of it
 *
 * The graph's events are not replayed: each CPU goes on from the step after its
 * last event. Branches are made by the same functions, in the same order, as in
 * a run of the code. The walk ends at a step that is not known, and at anything
 * that looks like a fault: the code then runs, from the graph as it is.
 */
#pragma once

#include "brancher.hpp"
#include "interrupts.hpp"
#include "learner.hpp"
#include "objects.hpp"
#include "scheduler.hpp"
#include "symmetry.hpp"
#include "waits.hpp"
#include "work_list.hpp"

namespace model {

struct walker {
	walker(scheduler &those, work_list &graphs, model::symmetry &alike,
	       learner &known, brancher &adds, model::waits &those_blocked,
	       interrupts &flags)
	    : cpus(those), work(graphs), symmetry(alike), learning(known),
	      branches(adds), waits(those_blocked), irqs(flags)
	{
	}

	/*
	 * Walks the graph under way. Up to the learner's end_walk(), everything
	 * is done by what is known. The watcher, or null, is told of plain
	 * accesses that are in order.
	 */
	void walk(const options &, order_watcher *);

	/* The value of plain data, by its number, at the end of the walk. */
	u64 last_plain(unsigned plain) const;

	/* Ends the walk, which has come to a step that is not known. */
	[[noreturn]] void miss();

      private:
	void walk_cpus();
	u32 step_reached(unsigned cpu);
	scheduler::state go_on();
	void add_event(const step &);
	void access_plain(const step &);
	void block(const step &);

	scheduler &cpus;
	work_list &work;
	model::symmetry &symmetry;
	learner &learning;
	brancher &branches;
	model::waits &waits;
	interrupts &irqs;

	const options *given = nullptr;
	order_watcher *in_order = nullptr;
	usize kept = 0; /* of the work list: right whatever a step says */
	fiber stack{256 * 1024};
};

} // namespace model
