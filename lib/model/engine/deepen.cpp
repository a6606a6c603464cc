/* SPDX-License-Identifier: MIT */
/*
 * deepen - one exploration after another, each with wider bounds
 *
 * The first level is what preemptions = max_reorder = 1 leaves of all
 * executions, or what the options say instead; then both rise by one. Each
 * level has all of the one before it, explored anew: there are so many more
 * that this costs little. The first level is always explored to its end, so
 * that there is a result whatever the time. A later one that is not says
 * nothing, unless it has found something: the result is of the one before.
 */
#include "checker.hpp"

#include <chrono>
#include <cstdio>

namespace model {

using seconds = std::chrono::duration<double>;
using steady = std::chrono::steady_clock;

static const char *const late = "the time is up";

/* A replay takes longer, and must reach the same point. */
void checker::set_deadline(steady::time_point start, double budget)
{
	deadline = steady::time_point::max();
	if (!reports.is_replay() && budget < 1e9)
		deadline = start + std::chrono::duration_cast<steady::duration>(
					   seconds(budget));
}

bool checker::is_late() const { return steady::now() >= deadline; }

/* Ends the level under way if the time is up. */
void checker::look_at_clock()
{
	if (task.out.limit.empty() && is_late())
		task.out.limit = late;
}

/* Reports what was explored, and why the next level was not. */
static void say(result &of, const options &level, const std::string &next)
{
	of.limit = "deepen: all executions with at most " +
		   std::to_string(level.preemptions) + " preemptions and " +
		   std::to_string(level.max_reorder) +
		   " reorderings; the next level " + next;
	of.timeline = "NOT EXHAUSTIVE: " + of.limit + "\n";
}

void checker::explore_deeper(const options &given, unsigned count)
{
	const auto start = steady::now();
	options level = given, last = given;
	result whole; /* by the last options */
	char too_late[64];

	std::snprintf(too_late, sizeof(too_late), "was not finished in %g s",
		      *given.deepen);
	for (unsigned *const bound : {&level.preemptions, &level.max_reorder})
		if (*bound == unbounded)
			*bound = 1;
	task.given = &level;
	for (unsigned n = 1;; n++) {
		explore_whole(count);
		task.out.levels = n - !level_ended;
		if (!task.out.ok() || !task.out.levels ||
		    task.out.left_out == task.turns_left_out)
			break;
		if (!level_ended) {
			const std::string limit = std::move(task.out.limit);

			task.out = std::move(whole);
			say(task.out, last,
			    limit == late ? too_late : "ended by " + limit);
			break;
		}
		set_deadline(start, *given.deepen);
		if (is_late()) {
			say(task.out, level, too_late);
			break;
		}
		whole = task.out;
		last = level;
		level.preemptions++;
		level.max_reorder++;
	}
	deadline = steady::time_point::max();
	task.given = &given;
}

} // namespace model
