/* SPDX-License-Identifier: MIT */
#include "waits.hpp"
#include "loops.hpp"

namespace model {

void waits::start_run(unsigned count)
{
	for (unsigned c = 0; c < count; c++) {
		of[c].count = 0;
		of[c].in_loop = of[c].dropped = false;
	}
}

void waits::look_at(const wait &one)
{
	of_cpu &mine = of[cpus.current()];

	mine.all[mine.count++] = one;
}

void waits::block(const wait &last)
{
	const graph &g = work.running();
	const unsigned cpu = cpus.current();

	/* It reads a write that was not the newest: that leads nowhere. */
	if (g.at({static_cast<u8>(cpu), cpus.ran()}).behind &&
	    !task.given->stale_waits)
		cpus.stop();
	look_at(last);
	learning.blocks(of[cpu].all, of[cpu].count, irqs.at(cpu));
	for (;;)
		cpus.leave(scheduler::state::blocked);
}

void waits::drop()
{
	learning.drops();
	of[cpus.current()].dropped = true;
	for (;;)
		cpus.leave(scheduler::state::blocked);
}

void waits::set_blocked(const step &s)
{
	of_cpu &mine = of[cpus.current()];

	mine.dropped = s.what == step::does::drop;
	for (const known_wait &w : s.waits)
		look_at({w.at, {}, w.where, w.location});
}

/* -- Loops ------------------------------------------------------------------
 */

/*
 * Whether no execution that this one leads to ends the loop: the turn's last
 * read did not take the newest write, so no later write revisits it, nor any
 * read before it (see the brancher's last_settled()).
 */
bool waits::leads_nowhere(const turn &t) const
{
	const graph &g = work.running();

	for (unsigned i = t.last; i > t.first; i--) {
		const event &e = g.sb[t.cpu][i - 1];
		if (e.what != kind::read)
			continue;
		return e.behind || g.was_newer(e);
	}
	return false;
}

void waits::block_in_loop(const turn &t, bool reads_plain)
{
	of_cpu &mine = of[cpus.current()];

	/* A plain read of the loop may still race, even if the loop does not
	 * end. */
	if (!t.stays && !reads_plain && !task.given->stale_waits &&
	    leads_nowhere(t))
		cpus.stop();
	mine.in_loop = true;
	mine.last = t;
	for (;;)
		cpus.leave(scheduler::state::blocked);
}

/* Whether the turn would be the same if it read the newest values. */
bool waits::goes_on_for_ever(const turn &t) const
{
	const graph &g = work.running();

	for (unsigned i = t.first; i < t.last; i++) {
		const event &e = g.sb[t.cpu][i];
		if (e.what == kind::choice)
			return false;
		if (e.what != kind::read)
			continue;
		const event *const newest = g.newest(e.location);
		if (newest && newest->value != e.value)
			return false;
	}
	return true;
}

/* -- Deadlocks ---------------------------------------------------------------
 */

/* Whether a value would end one of the waits of a CPU that is blocked. */
bool waits::frees(unsigned blocked, unsigned number, u64 value)
{
	if (learning.is_walk())
		return learning.ask_free(blocked, number, value);
	const bool ends = of[blocked].all[number].done(value);

	learning.note_end(blocked, number, value, ends);
	return ends;
}

/*
 * Whether a blocked CPU would go on if it read the newest values: a fair
 * machine shows it those in the end. Also if an interrupt may yet reach it.
 */
bool waits::could_go_on(unsigned blocked)
{
	const of_cpu &s = of[blocked];

	if (s.dropped || irqs.may_come(blocked))
		return true;
	if (s.in_loop)
		return !goes_on_for_ever(s.last);
	for (unsigned i = 0; i < s.count; i++) {
		const wait &w = s.all[i];
		const u64 word = branches.word_at(
			w.location, work.running().last(w.location), w.at);
		if (frees(blocked, i, w.at.look(word)))
			return true;
	}
	return false;
}

bool waits::deadlocked()
{
	for (unsigned c = 0; c < work.running().cpus; c++)
		if (cpus.state_of(c) == scheduler::state::blocked &&
		    could_go_on(c))
			return false;
	return true;
}

std::string waits::show(unsigned which, const loop_cutter &calls)
{
	const of_cpu &s = of[which];
	std::string all;
	const auto show_one = [&](const char *verb, const void *at,
				  site where) {
		const std::string row = verb + reports.known.of(at);

		reports.add({which, row, where});
		if (all.empty())
			all = "cpu" + std::to_string(which) + " " + row +
			      " at " + text(where);
	};

	for (unsigned i = 0; i < s.count; i++)
		show_one("waits for ", s.all[i].at.at, s.all[i].where);
	if (!s.in_loop)
		return all;
	for (const call &e : calls.calls_of(which))
		if (e.at && e.ran >= s.last.first && e.ran <= s.last.last)
			show_one("loops for ", e.at, e.where);
	return all;
}

} // namespace model
