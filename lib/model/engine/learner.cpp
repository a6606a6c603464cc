/* SPDX-License-Identifier: MIT */
#include "checker.hpp"

#include <algorithm>

namespace model {

void learnt::forget()
{
	steps.clear();
	steps.resize(1 + max_cpus);
	accesses.clear();
	accesses.resize(1);
	for (step &s : steps)
		s.accesses = &accesses.front();
	places.clear();
	plains.clear();
	plain_numbers.clear();
}

u32 learnt::went(u32 from, u64 value)
{
	if (const u32 to = steps[from].after(value))
		return to;
	if (full())
		return 0;

	const u32 to = static_cast<u32>(steps.size());
	steps.emplace_back();
	steps.back().accesses = steps[from].accesses;
	steps[from].next.push_back({value, to});
	return to;
}

u32 learnt::accessed(u32 from, unsigned epoch, u64 value)
{
	const step &s = steps[from];
	const bool writes = s.what == step::does::write_plain;

	if (const u32 to = s.after(writes ? 0 : value))
		return to;

	const u32 to = went(from, writes ? 0 : value);
	if (!to)
		return 0;
	auto those = *s.accesses;
	if (those.size() <= s.place)
		those.resize(s.place + 1u);
	if (writes) {
		those[s.place].written = static_cast<u8>(epoch);
		those[s.place].value = value;
	} else {
		those[s.place].read = static_cast<u8>(epoch);
	}
	accesses.push_back(std::move(those));
	steps[to].accesses = &accesses.back();
	return to;
}

void learnt::meet(unsigned place, const window &w)
{
	if (place >= places.size())
		places.resize(place + 1);

	location &l = places[place];
	if (l.at)
		return;
	l.at = w.at;
	l.bytes = w.bytes;
	std::memcpy(&l.initial, w.at, w.bytes);
}

unsigned learnt::plain_at(const void *at, usize bytes)
{
	const auto [number, is_new] = plain_numbers.try_emplace(
		at, static_cast<unsigned>(plains.size()));

	if (bytes > sizeof(u64))
		return none;
	if (is_new) {
		plains.push_back({at, bytes, 0});
		std::memcpy(&plains.back().initial, at, bytes);
	}
	return plains[number->second].bytes == bytes ? number->second : none;
}

/*
 * learn - what the code does next, written down by the runs
 *
 * Each operation of a run is compared with the step that is known there, or
 * becomes it. A body that keeps anything in the world itself, beside atomic and
 * plain data, is not learnt: what it does may depend on that. Nor is one that
 * makes such data on its stack.
 */

void checker::start_learning()
{
	const u8 *const world = static_cast<const u8 *>(task.code->world);

	for (unsigned c = 0; c < execution().cpus; c++)
		code_on[c].step = learning ? code.root(c) : 0;
	if (learning)
		host.assign(world, world + task.code->world_bytes);
}

void checker::not_walkable()
{
	learning = false;
	symmetry.cannot_tell(); /* nothing tells now whether they are alike */
	for (cpu_state &c : code_on)
		c.step = 0;
}

/* The step that this CPU is about to take; null: nothing is to be learnt. */
step *checker::doing(step::does it)
{
	if (!learning || !me().step)
		return nullptr;
	if (std::memcmp(host.data(), task.code->world, host.size()) != 0) {
		not_walkable();
		return nullptr;
	}

	step &s = code.steps[me().step];
	if (s.what == step::does::unknown)
		s.what = it;
	else if (s.what != it)
		does_otherwise();
	return &s;
}

void checker::does_otherwise()
{
	reports.report(bug::not_repeatable,
		       "the code does something else than before, having read "
		       "the same",
		       {nullptr, 0});
}

/* The step is taken, and this is what it read. */
void checker::went(u64 value)
{
	if (learning && me().step)
		me().step = code.went(me().step, value);
}

void checker::learn(const reading &q, unsigned place)
{
	step *const s = doing(step::does::read);

	if (!s)
		return;
	code.meet(place, q.at);
	s->place = static_cast<u16>(place);
	s->how = q;
	s->until = {known_to_end, s};
	if (q.until)
		s->how.until = &s->until;
	if (q.expected) {
		s->expected = *q.expected;
		s->how.expected = &s->expected;
	}
}

/* Whether the values that could be read now would end the wait. */
void checker::learn_ends(const reading &q, unsigned place)
{
	if (!q.until || !learning || !me().step)
		return;

	step &s = code.steps[me().step];
	for (unsigned p = floor(execution(), place,
				execution().seen_before(
					execution().next_of(cpus.current())));
	     p <= execution().last(place); p++) {
		const u64 value = q.at.look(word_at(place, p, q.at));
		add(s.verdicts, value, (*q.until)(value));
	}
}

void checker::learn_write(const reading &q, unsigned place, u64 word)
{
	step *const s = doing(step::does::write);

	if (!s)
		return;
	code.meet(place, q.at);
	s->place = static_cast<u16>(place);
	s->how = q;
	s->how.until = nullptr;
	s->how.expected = nullptr;
	s->value = word;
}

/* A plain access; with is what is read, or will be there. */
void checker::learn_plain(step::does it, const void *at, usize bytes,
			  const void *with)
{
	step *const s = doing(it);

	if (!s)
		return;
	const unsigned plain = code.plain_at(at, bytes);
	if (plain == learnt::none) {
		not_walkable();
		return;
	}
	s->place = static_cast<u16>(plain);
	std::memcpy(&s->value, with, bytes);
	me().step = code.accessed(me().step, cpus.ran() + 1u, s->value);

	const usize in_world =
		static_cast<usize>(static_cast<const u8 *>(at) -
				   static_cast<const u8 *>(task.code->world));
	if (it == step::does::write_plain && in_world < host.size())
		std::memcpy(&host[in_world], with, bytes);
}

void checker::learn_block()
{
	step *const s = doing(step::does::block);

	if (!s || !s->waits.empty())
		return;
	for (unsigned i = 0; i < me().waits_for; i++) {
		const auto &w = me().waits[i];
		s->waits.push_back({w.at, w.place, w.where, {}});
	}
	s->irqs_left = me().irqs_left;
	s->irqs_on = me().irqs_on;
}

/* Whether a value would end one of the waits of a CPU that is blocked. */
bool checker::frees(unsigned blocked, unsigned wait, u64 value)
{
	const cpu_state &s = code_on[blocked];

	if (!walking) {
		const bool ends = s.waits[wait].done(value);
		if (learning && s.step)
			add(code.steps[s.step].waits[wait].verdicts, value,
			    ends);
		return ends;
	}
	const verdict *const known =
		find(code.steps[s.step].waits[wait].verdicts, value);
	missed |= !known;
	return !known || known->ends;
}

/*
 * walk - a run by what is known of the code, without it
 *
 * The events that the graph has are not replayed: each CPU goes on from the
 * step after its last. Branches are made by the same functions, in the same
 * order, as in a run of the code. What is not known yet, and what looks like a
 * fault, ends the walk: the code then runs, from the graph as it is.
 */

/* False: nothing came of it, but for events of the graph. */
bool checker::walk()
{
	const u64 complete = task.out.complete, explored = task.out.explored;
	const u64 blocked = task.out.blocked, panicked = task.out.panicked;

	cpus.set_going();
	missed = false;
	walking = true;
	cpus.run_apart(walker, walk_main, this);
	if (!cpus.stopped() && !missed)
		finish();
	walking = false;
	if (!missed && task.out.ok())
		return true;

	suspected = !task.out.ok();
	task.out.found = bug::none;
	task.out.message.clear();
	task.out.complete = complete;
	task.out.explored = explored;
	task.out.blocked = blocked;
	task.out.panicked = panicked;
	return false;
}

void checker::walk_main(void *self)
{
	static_cast<checker *>(self)->walk_cpus();
}

/* Lets the CPUs take the turns that they take in a run (run.cpp). */
void checker::walk_cpus()
{
	kept_work = work.size();
	for (unsigned c = 0; c < execution().cpus; c++) {
		cpus.set_ran(c, execution().length(c));
		code_on[c].waits_for = 0;
		code_on[c].in_loop = false;
		code_on[c].panicked = code_on[c].assumed = false;
		code_on[c].step = step_reached(c);
	}
	cpus.walk(execution().cpus, [this] { return walk_on(); });
}

/* The step after the last of the CPU's events. */
u32 checker::step_reached(unsigned c)
{
	if (!execution().length(c))
		return code.root(c);

	const event &e = execution().at(execution().last_of(c));
	const bool reads = e.what == kind::read || e.what == kind::choice;
	const u32 to =
		e.step ? code.steps[e.step].after(reads ? e.value : 0) : 0;
	if (!to)
		miss();
	return to;
}

/* Runs into what is not known. */
void checker::miss()
{
	work.shrink_to(kept_work);
	missed = true;
	cpus.stop();
}

bool checker::known_to_end(void *of, u64 value)
{
	const verdict *const known =
		find(static_cast<step *>(of)->verdicts, value);

	if (!known)
		the_checker().miss();
	return known->ends;
}

/* The CPU's next steps, as far as its turn goes. */
scheduler::state checker::walk_on()
{
	using does = step::does;

	for (;;) {
		const step &s = code.steps[me().step];
		const bool rmw = s.what == does::write && s.how.writes;

		if (s.what == does::unknown)
			miss();
		if (s.what == does::end) {
			return scheduler::state::done;
		}
		if (s.what == does::block || s.what == does::drop) {
			walk_block(s);
			return scheduler::state::blocked;
		}
		if (s.what == does::read_plain || s.what == does::write_plain) {
			walk_plain(s);
			continue;
		}
		if (cpus.now() == scheduler::phase::replaying ||
		    (cpus.now() == scheduler::phase::finishing_rmws && !rmw)) {
			return rmw ? scheduler::state::before_rmw_write
				   : scheduler::state::at_end;
		}
		if (s.what == does::read &&
		    symmetry.holds_back(execution(), s.how)) {
			return scheduler::state::at_end;
		}
		walk_event(s);
	}
}

void checker::walk_event(const step &s)
{
	const bool writes = s.what == step::does::write;

	wait_for_turn(writes && s.how.writes);
	kept_work = work.size();
	if (s.what == step::does::read) {
		branch_read(s.how, s.place);
	} else if (writes) {
		branch_write(s.how, s.place, s.value);
	} else if (s.what == step::does::choose) {
		branch_choice(s.value);
	} else {
		execution().step = me().step;
		execution().op = s.how.op;
		execution().add_fence(cpus.current(), s.how.ord);
	}
	kept_work = work.size();
	cpus.count_event();
	me().step = step_reached(cpus.current());
}

void checker::walk_block(const step &s)
{
	if (s.what == step::does::block &&
	    execution().at(execution().last_of(cpus.current())).behind &&
	    !task.given->stale_waits)
		cpus.stop();
	me().assumed = s.what == step::does::drop;
	me().irqs_left = s.irqs_left;
	me().irqs_on = s.irqs_on;
	for (const known_wait &w : s.waits)
		me().waits[me().waits_for++] = {w.at, {}, w.where, w.place};
}

/* -- Plain data -------------------------------------------------------------
 */

void checker::walk_plain(const step &s)
{
	const bool writes = s.what == step::does::write_plain;
	const clock seen =
		execution().seen_before(execution().next_of(cpus.current()));

	for (unsigned c = 0; c < execution().cpus; c++) {
		const last_access by = code.last(code_on[c].step, s.place);
		if (c != cpus.current() && (by.written > seen.at[c] ||
					    (writes && by.read > seen.at[c])))
			miss(); /* a race: let the code show it */
		const u8 last =
			writes ? std::max(by.written, by.read) : by.written;
		if (memory.in_order && c != cpus.current() && last)
			note_order(c, last, seen, none);
	}
	me().step = s.after(writes ? 0 : last_plain(s.place));
	if (!me().step)
		miss();
}

/* The value by the last write, as the writes happened one before another. */
u64 checker::last_plain(unsigned plain) const
{
	u64 value = code.plains[plain].initial;
	unsigned writer = 0;
	u8 epoch = 0;

	for (unsigned c = 0; c < execution().cpus; c++) {
		const last_access by = code.last(code_on[c].step, plain);
		if (!by.written)
			continue;
		/* The epoch's accesses come after the event before it. */
		const clock seen = execution().seen_before(
			{static_cast<u8>(c), by.written});
		if (epoch && seen.at[writer] < epoch)
			continue;
		value = by.value;
		writer = c;
		epoch = by.written;
	}
	return value;
}

/* A world made anew, as the walk's end leaves it. */
void checker::put_known_values()
{
	const auto put = [this](const learnt::location &l, u64 value) {
		void *const at = const_cast<void *>(l.at);
		save(at, l.bytes);
		std::memcpy(at, &value, l.bytes);
	};

	task.code->make_world();
	for (unsigned p = 0; p < code.places.size(); p++)
		if (const unsigned newest = execution().last(p))
			put(code.places[p],
			    execution()
				    .at(execution().write_at(p, newest))
				    .value);
	for (unsigned p = 0; p < code.plains.size(); p++)
		put(code.plains[p], last_plain(p));
}

} // namespace model
