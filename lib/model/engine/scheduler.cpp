/* SPDX-License-Identifier: MIT */
#include "scheduler.hpp"

#include <unistd.h>

namespace model {

void scheduler::make(unsigned many, std::size_t stack_bytes)
{
	const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

	/* Room for a frame at least, in whole pages. */
	stack_bytes = stack_bytes < 2 * page
			      ? 2 * page
			      : (stack_bytes + page - 1) & ~(page - 1);
	if (made() && stack_bytes != static_cast<std::size_t>(stack(0).high() -
							      stack(0).low()))
		cpus.clear();
	while (cpus.size() < many)
		cpus.push_back(std::make_unique<one>(stack_bytes));
	give_turn(0);
}

void scheduler::start(unsigned many, void (*code)(void *), void *with,
		      watcher *watches)
{
	count = many;
	told = watches;
	for (unsigned c = 0; c < count; c++) {
		cpus[c]->is = state::runs;
		cpus[c]->ran = 0;
		cpus[c]->stack.start(code, with);
	}
}

void scheduler::resume(unsigned which)
{
	give_turn(which);
	mine->is = state::runs;
	inside = true;
	if (told)
		told->resumed();
	locals.enter(which);
	mine->stack.resume();
	locals.leave();
	if (told)
		told->left();
	inside = false;
}

void scheduler::run_apart(fiber &on, void (*code)(void *), void *with)
{
	const thread_locals::as_maker now(locals);

	on.start(code, with);
	inside = true;
	on.resume();
	inside = false;
}

void scheduler::leave(state why)
{
	mine->is = why;
	fiber::suspend();
}

void scheduler::wait_for_turn(bool rmw_write)
{
	if (at == phase::replaying || at == phase::comparing)
		leave(rmw_write ? state::before_rmw_write : state::at_end);
	while (at == phase::finishing_rmws && !rmw_write)
		leave(state::at_end);
}

void scheduler::stop()
{
	over = true;
	for (;;)
		fiber::suspend();
}

void scheduler::replay(phase as)
{
	bool again = true;

	at = as;
	while (again && !over) {
		again = false;
		for (unsigned c = 0; c < count && !over; c++) {
			const one &s = *cpus[c];
			if (s.is == state::at_source &&
			    ran(s.source.cpu) < s.source.index)
				continue;
			if (s.is != state::runs && s.is != state::at_source)
				continue;
			resume(c);
			again = true;
		}
	}
}

void scheduler::extend()
{
	at = phase::finishing_rmws;
	for (unsigned c = 0; c < count && !over; c++)
		if (cpus[c]->is == state::before_rmw_write)
			resume(c);
	at = phase::extending;
	for (unsigned c = 0; c < count && !over; c++)
		if (cpus[c]->is == state::at_end)
			resume(c);
}

} // namespace model
