/* SPDX-License-Identifier: MIT */
/*
 * learn - what the code does next, written down by the runs
 *
 * Each operation of a run is compared with the step that is known there, or
 * becomes it. A body that keeps anything in the world itself, beside atomic and
 * plain data, is not learnt: what it does may depend on that. Nor is one that
 * makes such data on its stack.
 */
#include "checker.hpp"

namespace model {

void checker::start_learning()
{
	const u8 *const world = static_cast<const u8 *>(what->world);

	for (unsigned c = 0; c < g->cpus; c++)
		cpus[c]->step = learning ? code.root(c) : 0;
	if (learning)
		host.assign(world, world + what->world_bytes);
}

void checker::not_walkable()
{
	learning = false;
	asymmetric = reduces; /* nothing tells now whether they are alike */
	for (const auto &c : cpus)
		c->step = 0;
}

/* The step that this CPU is about to take; null: nothing is to be learnt. */
step *checker::doing(step::does it)
{
	if (!learning || !me().step)
		return nullptr;
	if (std::memcmp(host.data(), what->world, host.size()) != 0) {
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
	report(bug::not_repeatable,
	       "the code does something else than before, having read the same",
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
	for (unsigned p = floor(*g, place, g->seen_before(g->next_of(cpu)));
	     p <= g->last(place); p++) {
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
	me().step = code.accessed(me().step, me().ran + 1u, s->value);

	const usize in_world =
		static_cast<usize>(static_cast<const u8 *>(at) -
				   static_cast<const u8 *>(what->world));
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
	const cpu_state &s = *cpus[blocked];

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

} // namespace model
