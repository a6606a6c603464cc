/* SPDX-License-Identifier: MIT */
#include "learner.hpp"

#include <cstring>

namespace model {

void learner::start_run(unsigned count)
{
	const u8 *const world = static_cast<const u8 *>(task.code->world);

	for (unsigned c = 0; c < count; c++)
		step_of[c] = is_on ? code.root(c) : 0;
	if (is_on)
		host.assign(world, world + task.code->world_bytes);
}

void learner::give_up()
{
	is_on = false;
	symmetry.cannot_tell();
	for (u32 &s : step_of)
		s = 0;
}

/* The step that this CPU is about to take; null: it is not learnt. */
step *learner::doing(step::does it)
{
	if (!is_learning_step())
		return nullptr;

	step &s = code.steps[current_step()];
	if (s.what != step::does::unknown) {
		if (s.what != it)
			report_otherwise();
		return &s;
	}
	/* On the way to a known step the code does what it did then. */
	if (std::memcmp(host.data(), task.code->world, host.size()) != 0) {
		give_up();
		return nullptr;
	}
	s.what = it;
	return &s;
}

void learner::report_otherwise()
{
	reports.report(bug::not_repeatable,
		       "the code does something else than before, having read "
		       "the same",
		       {nullptr, 0});
}

void learner::went(u64 value)
{
	if (is_learning_step())
		step_of[cpus.current()] = code.went(current_step(), value);
}

void learner::reads(const reading &q, unsigned location)
{
	step *const s = doing(step::does::read);

	if (!s)
		return;
	code.meet(location, q.at);
	s->location = static_cast<u16>(location);
	s->access = q;
	s->until = {known_verdict, s};
	if (q.until)
		s->access.until = &s->until;
	if (q.expected) {
		s->expected = *q.expected;
		s->access.expected = &s->expected;
	}
}

void learner::note_end(u64 value, bool ends)
{
	add(code.steps[current_step()].verdicts, value, ends);
}

void learner::note_end(unsigned cpu, unsigned wait, u64 value, bool ends)
{
	if (is_on && step_of[cpu])
		add(code.steps[step_of[cpu]].waits[wait].verdicts, value, ends);
}

void learner::writes(const reading &q, unsigned location, u64 word)
{
	step *const s = doing(step::does::write);

	if (!s)
		return;
	code.meet(location, q.at);
	s->location = static_cast<u16>(location);
	s->access = q;
	s->access.until = nullptr;
	s->access.expected = nullptr;
	s->value = word;
}

void learner::fences(effect with)
{
	if (step *const s = doing(step::does::fence)) {
		s->access.ord = with.ord;
		s->access.op = with.op;
	}
}

void learner::chooses(u64 of)
{
	if (step *const s = doing(step::does::choose))
		s->value = of;
}

void learner::accesses(step::does it, const void *at, usize bytes,
		       const void *with)
{
	step *const s = doing(it);

	if (!s)
		return;
	const unsigned plain = code.plain_at(at, bytes);
	if (plain == learnt::none) {
		give_up();
		return;
	}
	s->location = static_cast<u16>(plain);
	std::memcpy(&s->value, with, bytes);
	step_of[cpus.current()] =
		code.accessed(current_step(), cpus.ran() + 1u, s->value);

	const usize in_world =
		static_cast<usize>(static_cast<const u8 *>(at) -
				   static_cast<const u8 *>(task.code->world));
	if (it == step::does::write_plain && in_world < host.size())
		std::memcpy(&host[in_world], with, bytes);
}

void learner::blocks(const wait *all, unsigned count, const interrupt_state &is)
{
	step *const s = doing(step::does::block);

	if (!s || !s->waits.empty())
		return;
	for (unsigned i = 0; i < count; i++)
		s->waits.push_back(
			{all[i].at, all[i].location, all[i].where, {}});
	s->irqs_left = is.left;
	s->irqs_on = is.on;
}

bool learner::ask_free(unsigned cpu, unsigned wait, u64 value)
{
	const verdict *const known =
		find(at(step_of[cpu]).waits[wait].verdicts, value);

	missing |= !known;
	return !known || known->ends;
}

} // namespace model
