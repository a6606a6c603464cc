/* SPDX-License-Identifier: MIT */
/*
 * checker - the engine behind the hooked port: its parts, and the exploration
 *
 * Method: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly
 * Stateless, Optimal Dynamic Partial Order Reduction, POPL 2022). The work is a
 * stack of graphs. A run of a graph replays its events, and then adds events
 * until no CPU can go on. For each read of an older write, each other position
 * of a write in modification order, and each earlier read that the write may
 * revisit, a copy of the graph goes onto the stack.
 *
 * A part knows parts above it in this list, those that its constructor takes,
 * and no others; but relaxed_data, loop_cutter and interpreter know each other.
 *
 *	graph		an execution as relations; consistency: the axioms
 *	exploration	what is asked, and what has come of it
 *	scheduler	the CPUs as fibers, and who goes on
 *	work_list	the graphs that are still to be explored
 *	reporter	the shortest finding, its timeline, the names in it
 *	symmetry	of executions that differ in who is who, one
 *	operation_table	the operations of the code, and what was seen of them
 *	bounds		executions that are left out
 *	load_buffering	reads of what comes after them
 *	learner		what the code does next (learnt: as a tree)
 *	brancher	adds events, and what could have been instead: revisits
 *	interrupts	each CPU's flag
 *	waits		who is blocked, and whether that is a deadlock
 *	memory		objects, races, the CPUs' stacks; what a run changes
 *	repair_list	orders that are made stronger; cause_finder: which ones
 *	lookout		accesses that the compiler does not tell of
 *	relaxed_data	plain data that are taken as relaxed atomics
 *	loop_cutter	the code's own loops (turns: as parts of a graph)
 *	interpreter	the hooks: operations as events
 *	walker		a run by what is known
 *	order_uses	what the client has shown of each order
 *	runner		one run, from the world's making to its end
 */
#pragma once

#include "cause.hpp"
#include "interpreter.hpp"
#include "loops.hpp"
#include "runner.hpp"
#include "uses.hpp"
#include "walker.hpp"
#include "workers.hpp"

#include <chrono>

namespace model {

struct checker {
	result explore(program &, const options &);

	/* -- Calls by the code under test, its crashes and its compiler -- */
	scheduler cpus;
	reporter reports{task, cpus, work};
	model::memory memory{task, cpus, work, reports};
	lookout looks{task, cpus};
	relaxed_data relaxed{task,   cpus,     work, reports,
			     memory, branches, irqs, loops};
	loop_cutter loops{task, cpus, work, reports, waits, irqs, code};
	interpreter code{{task, cpus, work, reports, symmetry, operations,
			  early, learning, branches, irqs, waits, memory,
			  repairs, looks, relaxed, loops}};
	runner runs{{task, cpus, work, reports, symmetry, early, learning,
		     branches, irqs, waits, memory, repairs, looks, relaxed,
		     loops, code, walks, uses}};

      private:
	exploration task;
	work_list work;
	model::symmetry symmetry{cpus};
	operation_table operations;
	bounds limits{task};
	load_buffering early{task, work, cpus, reports, operations, limits};
	learner learning{task, cpus, symmetry, reports};
	brancher branches{task,	    work,	cpus,	symmetry,
			  learning, operations, limits, early};
	interrupts irqs;
	model::waits waits{task, cpus, work, learning, branches, irqs, reports};
	repair_list repairs;
	cause_finder cause{task, operations, reports, memory, repairs};
	walker walks{cpus, work, symmetry, learning, branches, waits, irqs};
	order_uses uses{work, operations};

	void explore_once();
	void explore_whole(unsigned count);
	void explore_all(unsigned count);
	void note_limits();
	void explore_work();
	void explore_next();
	void explore_early();

	/* -- One exploration after another, with wider and wider bounds -- */
	using time_point = std::chrono::steady_clock::time_point;
	void explore_deeper(const options &, unsigned count);
	void set_deadline(time_point start, double budget);
	bool is_late() const;
	void look_at_clock();

	/* -- Processes that share the work list -- */
	bool share_work(progress &);
	[[noreturn]] void work_for(pool &, unsigned me);

	time_point deadline = time_point::max();
	bool level_ended = false;
};

checker &the_checker();

} // namespace model
