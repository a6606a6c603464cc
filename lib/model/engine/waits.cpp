/* SPDX-License-Identifier: MIT */
/*
 * wait - waits, and whether the blocked are deadlocked
 *
 * A wait is its last turn: one read, which ends it or ends the CPU's part in
 * this execution. Later writes serve that read in other executions. The turns
 * before the last are left out: with them there are fewer executions, never
 * others. A loop of the code's own (loops.hpp) waits the same way: its turn in
 * vain is its last.
 */
#include "checker.hpp"

namespace model {

/* A wait is about to begin: what the test wants to be told. */
void checker::about_to_wait()
{
	if (me().on_wait)
		me().on_wait(me().on_wait_what);
}

void checker::block_unless(const reading &q, u64 word, site s)
{
	if (q.ends(word))
		return;
	/* Served a write that was not the newest: leads nowhere. */
	if (execution()
		    .at({static_cast<u8>(cpus.current()), cpus.ran()})
		    .behind &&
	    !task.given->stale_waits)
		cpus.stop();
	me().waits[me().waits_for] = {q.at, *q.until, s, place_known(q.at)};
	me().waits_for++;
	learn_block();
	for (;;)
		cpus.leave(scheduler::state::blocked);
}

u64 checker::await(window w, hooked::test done, hooked::pace, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	const unsigned place = place_of(w, s);
	reading q(w, effective(operation::load, o, s));

	q.until = &done;
	const u64 word = read(q, place).value;
	note("await", q, s, place);
	block_unless(q, word, s);
	return w.look(word);
}

/*
 * How often a value is looked at in vain is no event. What is explored: each
 * look at a value with which patience may run out is the last in some
 * execution. The CPUs of options.patient wait on until the value needs none.
 */
u64 checker::await_patient(window w, hooked::patience patience, order o, site s)
{
	struct {
		hooked::patience left;
		bool runs_out;
	} of{patience, !(task.given->patient >> cpus.current() & 1)};
	const auto ends = [](void *what, u64 v) {
		const auto &mine = *static_cast<decltype(of) *>(what);
		const u32 looks = mine.left(v);

		return mine.runs_out ? looks != klock::endless : looks == 0;
	};

	return await(w, {ends, &of}, {}, o, s);
}

/* Time does not pass here: a deadline may have come at any look, or never. */
u64 checker::await_until(window w, hooked::test done, u64, order o, site s)
{
	const auto looks = [](void *what, u64 v) -> u32 {
		return !(*static_cast<hooked::test *>(what))(v);
	};

	return await_patient(w, {looks, &done}, o, s);
}

u64 checker::await_exchange(window w, u64 v, hooked::test done, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	reading q = asking(w, effective(operation::rmw, o, s));

	q.until = &done;
	q.writes = true;
	q.operand = v;
	return w.look(do_rmw(q, s, "await_exchange"));
}

/* The last turn: the first read ends it, or else the second. */
void checker::await_either(window w, hooked::test done, window other,
			   hooked::test other_done, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	const effect with = effective(operation::load, o, s);
	const unsigned place = place_of(w, s);
	const reading first(w, with);
	const u64 word = read(first, place).value;

	note("await", first, s, place);
	if (done(w.look(word)))
		return;

	me().waits[0] = {first.at, done, s, place};
	me().waits_for = 1;
	branch_over_interrupts();
	const unsigned other_place = place_of(other, s);
	reading second(other, with);
	second.until = &other_done;
	const u64 other_word = read(second, other_place).value;
	note("or", second, s, other_place);
	block_unless(second, other_word, s);
	me().waits_for = 0;
}

/* -- Loops ------------------------------------------------------------------
 */

/*
 * Whether no execution that comes of this one ends the loop: the turn's last
 * read did not take the newest write that there was, so that no later one
 * serves it, nor anything before it (brancher.cpp: last_settled).
 */
bool checker::leads_nowhere(const turn &t) const
{
	for (unsigned i = t.last; i > t.first; i--) {
		const event &e = execution().sb[t.cpu][i - 1];
		if (e.what != kind::read)
			continue;
		bool stale = e.behind;
		for (unsigned p = execution().position(e) + 1;
		     p <= execution().last(e.place); p++)
			stale |= execution()
					 .at(execution().write_at(e.place, p))
					 .stamp < e.stamp;
		return stale;
	}
	return false;
}

/* The CPU has made a turn in vain, and waits for what ends its loop. */
void checker::block_in(const turn &t, bool reads_plain)
{
	/* A race of a plain read may come yet, whatever becomes of the loop. */
	if (!t.stays && !reads_plain && !task.given->stale_waits &&
	    leads_nowhere(t))
		cpus.stop();
	me().in_loop = true;
	me().last_turn = t;
	for (;;)
		cpus.leave(scheduler::state::blocked);
}

/* Whether the turn would be the same if it read the newest values. */
bool checker::goes_on_for_ever(const turn &t) const
{
	for (unsigned i = t.first; i < t.last; i++) {
		const event &e = execution().sb[t.cpu][i];
		if (e.what == kind::choice)
			return false;
		if (e.what != kind::read)
			continue;
		const unsigned newest = execution().last(e.place);
		if (newest &&
		    execution().at(execution().write_at(e.place, newest))
				    .value != e.value)
			return false;
	}
	return true;
}

/* -- Deadlocks ---------------------------------------------------------------
 */

/*
 * Whether a blocked CPU would go on if it read the newest values: a fair
 * machine shows it those in the end. Also if an interrupt may yet reach it.
 */
bool checker::could_go_on(unsigned blocked)
{
	const cpu_state &s = code_on[blocked];

	if (s.assumed)
		return true;
	if (s.irqs_left && (s.irqs_on || task.given->non_maskable))
		return true;
	if (s.in_loop)
		return !goes_on_for_ever(s.last_turn);
	for (unsigned i = 0; i < s.waits_for; i++) {
		const window &w = s.waits[i].at;
		const unsigned place = s.waits[i].place;
		const u64 word = word_at(place, execution().last(place), w);
		if (frees(blocked, i, w.look(word)))
			return true;
	}
	return false;
}

/* The rows of what it waits for; "cpu0 waits for full at ring.hpp:12". */
std::string checker::show_waits(unsigned which)
{
	const cpu_state &s = code_on[which];
	std::string all;
	const auto show = [&](const char *how, const void *at, site where) {
		const std::string row = how + reports.known.of(at);

		reports.add({which, row, where});
		if (all.empty())
			all = "cpu" + std::to_string(which) + " " + row +
			      " at " + text(where);
	};

	for (unsigned i = 0; i < s.waits_for; i++)
		show("waits for ", s.waits[i].at.at, s.waits[i].where);
	if (!s.in_loop)
		return all;
	for (const call &e : way_in.calls_of(which))
		if (e.at && e.ran >= s.last_turn.first &&
		    e.ran <= s.last_turn.last)
			show("loops for ", e.at, e.where);
	return all;
}

bool checker::deadlocked()
{
	for (unsigned c = 0; c < execution().cpus; c++)
		if (cpus.state_of(c) == scheduler::state::blocked &&
		    could_go_on(c))
			return false;
	return true;
}

} // namespace model
