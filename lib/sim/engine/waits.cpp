/* SPDX-License-Identifier: MIT */
/*
 * waits - a CPU that looks again and again, without an event for each look
 *
 * A wait natively is: read, test, PAUSE, again. While the line stays in the
 * CPU's cache each look finds the same. So the CPU is parked, and when it loses
 * the line it goes on with the first look after that, at the very cycle at
 * which it would have come. The looks in between are counted, not simulated.
 *
 * A wait with a pace of its own is simulated look by look: its pauses are long,
 * its looks few, and the pace may itself read memory.
 */
#include "engine.hpp"

namespace sim {

void engine::begin_wait(const char *word, const hooked::window &w, site s)
{
	processor &p = me();

	p.waits = word;
	p.where = s;
	p.waits_at = w.at;
	p.since = p.now;
}

/*
 * The running CPU has looked in vain, and its clock is at the end of that look.
 * Comes back when it is time to look again.
 */
void engine::park(line &l, line *other, bool to_write, const counts &a_turn,
		  u64 turn)
{
	processor &p = me();

	p.now += on.pause;
	/* Lost already, while the look was on its way: nothing will tell. */
	if (!l.serves(current, to_write) ||
	    (other && !other->serves(current, to_write)))
		return;
	p.parked = true;
	p.to_write = to_write;
	p.watched[0] = &l;
	p.watched[1] = other;
	p.next_turn = p.now;
	p.turn = turn + on.pause;
	p.each_turn = a_turn;
	fiber::suspend();
}

/* It loses the line: on with the first look that is not before that. */
void engine::unpark(unsigned cpu, u64 when)
{
	processor &p = cpus[cpu];

	p.parked = false;
	if (p.next_turn < when) {
		const u64 looks = (when - p.next_turn + p.turn - 1) / p.turn;

		p.next_turn += looks * p.turn;
		p.did.loads += looks * p.each_turn.loads;
		p.did.rmws += looks * p.each_turn.rmws;
	}
	at(p.next_turn, cpu);
}

u64 engine::await(hooked::window w, hooked::test done, hooked::pace pace,
		  order o, site s)
{
	begin_wait("reads", w, s);
	for (;;) {
		const u64 v = load(w, o, s);

		me().sees = v;
		if (done(v)) {
			end_wait();
			return v;
		}
		if (pace.call)
			relax(pace(v));
		else
			park(lines.of(w.at), nullptr, false, {.loads = 1},
			     on.hit);
	}
}

/* Parked while the value can only change; look by look while it counts. */
u64 engine::await_patient(hooked::window w, hooked::patience patience, order o,
			  site s)
{
	begin_wait("reads", w, s);
	u64 last = load(w, o, s);

	for (u32 in_vain = 0;;) {
		const u32 most = patience(last);

		me().sees = last;
		if (most == klock::endless) {
			park(lines.of(w.at), nullptr, false, {.loads = 1},
			     on.hit);
		} else if (in_vain >= most) {
			end_wait();
			return last;
		} else {
			relax(1);
		}
		const u64 v = load(w, o, s);
		in_vain = v == last ? in_vain + 1 : 0;
		last = v;
	}
}

/* Look by look: the clock is read between two. */
u64 engine::await_until(hooked::window w, hooked::test done, u64 deadline,
			order o, site s)
{
	begin_wait("reads", w, s);
	for (;;) {
		const u64 v = load(w, o, s);

		me().sees = v;
		if (done(v) || me().now >= deadline) {
			end_wait();
			return v;
		}
		relax(1);
	}
}

u64 engine::await_exchange(hooked::window w, u64 v, hooked::test done, order o,
			   site s)
{
	begin_wait("exchanges", w, s);
	for (;;) {
		const u64 found = rmw(w, hooked::update::exchange, v, o, s);

		me().sees = found;
		if (done(found)) {
			end_wait();
			return found;
		}
		park(lines.of(w.at), nullptr, true, {.rmws = 1},
		     on.hit + on.rmw);
	}
}

/* Reads the one, then the other, turn by turn; sleeps until it loses either. */
void engine::await_either(hooked::window w, hooked::test done,
			  hooked::window other, hooked::test other_done,
			  order o, site s)
{
	begin_wait("reads, or another,", w, s);
	for (;;) {
		me().sees = load(w, o, s);
		if (done(me().sees) || other_done(load(other, o, s))) {
			end_wait();
			return;
		}
		line &l = lines.of(w.at);
		park(l, &lines.of(other.at), false, {.loads = 2}, 2 * on.hit);
	}
}

} // namespace sim
