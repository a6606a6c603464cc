/* SPDX-License-Identifier: MIT */
/*
 * wait - waits, and whether the blocked are deadlocked
 *
 * A wait is its last turn: one read, which ends it or ends the CPU's part in
 * this execution. Later writes serve that read in other executions. The turns
 * before the last are left out: with them there are fewer executions, never
 * others.
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
	if (g->at({static_cast<u8>(cpu), me().ran}).behind && !how->stale_waits)
		stop();
	me().waits[me().waits_for] = {q.at, *q.until, s, place_known(q.at)};
	me().waits_for++;
	learn_block();
	for (;;)
		leave(cpu_state::where::blocked);
}

u64 checker::await(window w, hooked::test done, hooked::pace, order o, site s)
{
	about_to_wait();
	may_interrupt();
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
	} of{patience, !(how->patient >> cpu & 1)};
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
	may_interrupt();
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
	may_interrupt();
	const order with = effective(operation::load, o, s);
	const unsigned place = place_of(w, s);
	const reading first(w, with);
	const u64 word = read(first, place).value;

	note("await", first, s, place);
	if (done(w.look(word)))
		return;

	me().waits[0] = {first.at, done, s, place};
	me().waits_for = 1;
	may_interrupt();
	const unsigned other_place = place_of(other, s);
	reading second(other, with);
	second.until = &other_done;
	const u64 other_word = read(second, other_place).value;
	note("or", second, s, other_place);
	block_unless(second, other_word, s);
	me().waits_for = 0;
}

/*
 * Whether every blocked CPU would be so still if it read the newest values: a
 * fair machine shows it those in the end. One that an interrupt may yet reach
 * does not count.
 */
bool checker::deadlocked()
{
	for (unsigned c = 0; c < g->cpus; c++) {
		const cpu_state &s = *cpus[c];
		if (s.state != cpu_state::where::blocked)
			continue;
		if (s.assumed)
			return false;
		if (s.irqs_left && (s.irqs_on || how->non_maskable))
			return false;
		for (unsigned i = 0; i < s.waits_for; i++) {
			const window &w = s.waits[i].at;
			const unsigned place = s.waits[i].place;
			const u64 word = word_at(place, g->last(place), w);
			if (frees(c, i, w.look(word)))
				return false;
		}
	}
	if (!trace)
		return true;
	for (unsigned c = 0; c < g->cpus; c++) {
		const cpu_state &s = *cpus[c];
		for (unsigned i = 0;
		     s.state == cpu_state::where::blocked && i < s.waits_for;
		     i++)
			trace->add({c,
				    "waits for " + known.of(s.waits[i].at.at),
				    s.waits[i].where});
	}
	return true;
}

} // namespace model
