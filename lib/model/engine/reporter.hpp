/* SPDX-License-Identifier: MIT */
/*
 * reporter - finds the shortest execution that shows a fault, and shows it
 */
#pragma once

#include "exploration.hpp"
#include "objects.hpp"
#include "scheduler.hpp"
#include "timeline.hpp"
#include "work_list.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model {

/* The execution that a finding shows, and its rows. */
struct shown_fault {
	std::unique_ptr<graph> of; /* null: none is shown */
	timeline rows;

	/* Two accesses without an order: the first one, and the CPU of the
	 * second. */
	conflict first;
	unsigned cpu = 0;
	unsigned ran = 0; /* events of that CPU before it */
};

struct reporter {
	reporter(exploration &of, scheduler &those, const work_list &graphs)
	    : task(of), cpus(those), work(graphs)
	{
	}

	/* A call of explore() begins. */
	void start();
	/* An exploration begins within it. */
	void forget();
	/* A run begins. */
	void start_run();

	/* Ends the run; on a fiber it does not come back. */
	void report(bug, const std::string &message, site);
	/*
	 * Gives the reports that were made before the graph was known to be an
	 * execution.
	 */
	void report_withheld();

	/* -- The shortest -- */

	/* Whether something was found, and the exploration goes on for shorter
	 * ones. */
	bool has_finding() const { return best.shows != nullptr; }
	/* Whether the exploration goes on: nothing was found, or the search for
	 * a shorter one is not over. */
	bool goes_on() const { return !best.shows || task.runs < best.until; }
	/* The run has found something; keeps it if it is shorter. */
	void keep_finding();
	/* Ends the search for a shorter one: each run takes long. */
	void keep_first() { shortens = false; }
	/* The code loops and does nothing that is seen: each run of it takes
	 * as long as options.idle_seconds. */
	void note_idle()
	{
		keep_first();
		idle = true;
	}
	bool found_idle() const { return idle; }
	/* A sanitizer ends the program after the next run was shown. */
	void expect_death();
	/* Whether it is run under a debugger. */
	bool is_replay() const { return traps; }
	void end_replay() { traps = false; }
	/* If a replay is asked for: it has shown nothing. */
	void say_nothing_shown() const;

	/* -- A run that is shown -- */

	/* Returns the execution to run once more, whose rows are then written
	 * down. */
	some_graph begin_showing();
	void end_showing();
	bool is_showing() const { return rows != nullptr; }
	void add(timeline::row r) { rows->add(std::move(r)); }
	/* The current CPU's access is not ordered with this one. */
	void note_conflict(const conflict &);
	/* The execution that was shown, for a cause to be sought. */
	shown_fault take_shown() { return std::exchange(shown, {}); }

	names known;

      private:
	void write_down(const std::string &message, site);
	std::vector<bool> who_takes_part(const std::string &message) const;
	void keep_shown();

	exploration &task;
	scheduler &cpus;
	const work_list &work;

	/* The shortest execution yet that shows a fault. */
	struct {
		some_graph shows; /* null: none has been found */
		u64 events = 0;
		unsigned switches = 0;
		result first;  /* what the first one left */
		u64 until = 0; /* the number of runs to make */
	} best;
	struct {
		bug found = bug::none;
		std::string message;
		site where{nullptr, 0};
	} withheld;
	bool traps = false;
	bool shortens = true;
	bool idle = false;		/* found in this call of explore() */
	std::unique_ptr<timeline> rows; /* null: nothing is shown */
	shown_fault shown;
};

} // namespace model
