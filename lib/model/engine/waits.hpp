/* SPDX-License-Identifier: MIT */
/*
 * waits - blocked CPUs, and whether they are deadlocked
 *
 * A graph has only the last turn of a wait: one read, which ends the wait, or
 * ends the CPU's part in this execution. In other executions, later writes
 * revisit that read. The turns before the last would not lead to other
 * outcomes. A loop of the code's own (loops.hpp) waits the same way: its turn
 * in vain is its last.
 */
#pragma once

#include "brancher.hpp"
#include "interrupts.hpp"
#include "learner.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "turns.hpp"

#include <string>

namespace model {

struct loop_cutter;

struct waits {
	waits(exploration &of, scheduler &those, const work_list &graphs,
	      learner &known, const brancher &adds, const interrupts &flags,
	      reporter &to)
	    : task(of), cpus(those), work(graphs), learning(known),
	      branches(adds), irqs(flags), reports(to)
	{
	}

	/* A run begins: of the code, or by what is known of it. */
	void start_run(unsigned count);

	/* -- The current CPU -- */

	/* It reads this location, too, before it is blocked. */
	void look_at(const wait &);
	/* Its last read did not end the wait. */
	[[noreturn]] void block(const wait &);
	/* The read has ended the wait. */
	void end() { of[cpus.current()].count = 0; }
	/* Its loop has made a turn in vain, and waits for a write that ends
	 * it. */
	[[noreturn]] void block_in_loop(const turn &, bool reads_plain);
	/* An assumption does not hold: this is no execution. */
	[[noreturn]] void drop();

	/* -- A walk -- */
	void set_blocked(const step &);

	/* -- The end of a run -- */
	bool deadlocked();
	/* Adds the rows; "cpu0 waits for full at ring.hpp:12" */
	std::string show(unsigned cpu, const loop_cutter &);

      private:
	struct of_cpu {
		wait all[2] = {{{}, {}, {nullptr, 0}, 0},
			       {{}, {}, {nullptr, 0}, 0}};
		unsigned count = 0;
		bool dropped = false;
		bool in_loop = false; /* at the end of a turn in vain */
		turn last{};
	};

	bool could_go_on(unsigned blocked);
	bool frees(unsigned blocked, unsigned wait, u64 value);
	bool leads_nowhere(const turn &) const;
	bool goes_on_for_ever(const turn &) const;

	exploration &task;
	scheduler &cpus;
	const work_list &work;
	learner &learning;
	const brancher &branches;
	const interrupts &irqs;
	reporter &reports;

	of_cpu of[max_cpus];
};

} // namespace model
