/* SPDX-License-Identifier: MIT */
/*
 * scheduler - events in virtual time
 *
 * A CPU has one event at most: the end of its request, or its turn to go on. A
 * parked one and one that queues for a line have none. A line that serves has
 * one: when it is free for the next request.
 */
#include "engine.hpp"

#include <algorithm>

namespace sim {

namespace {

engine *the_one = nullptr;

} // namespace

engine &the_engine() { return *the_one; }

engine::engine(const machine &which, unsigned cpus_in, u64 patient)
    : on(which), count(cpus_in), patience(patient), cpus(cpus_in)
{
	simulated_memory &memory = simulated_memory::the();

	for (unsigned c = 0; c < count; c++)
		cpus[c].runs = &memory.stack(c);
}

void engine::at(u64 when, unsigned cpu, line *free)
{
	events.push({when, orders++, cpu, free});
}

void engine::begin(void *)
{
	engine &e = the_engine();

	(*e.body)(e.current);
	e.me().finished = true;
}

void engine::settle()
{
	processor &p = me();

	if (events.empty() || events.top().time > p.now)
		return;
	at(p.now, current);
	fiber::suspend();
}

void engine::go_on(unsigned cpu)
{
	current = cpu;
	hooked::running = this;
	cpus[cpu].runs->resume();
	hooked::running = nullptr;
	current = nobody;
}

void engine::stop()
{
	stopped = true;
	for (;;)
		fiber::suspend();
}

outcome engine::run(const std::function<void(unsigned)> &what)
{
	const char *why = "everybody waits, and nobody is left to end it";

	u64 end = 0;

	the_one = this;
	body = &what;
	unfinished = count;
	for (unsigned c = 0; c < count; c++) {
		cpus[c].runs->start(begin, nullptr);
		at(0, c);
	}

	while (!events.empty() && !stopped) {
		const event e = events.top();

		events.pop();
		time = e.time;
		if (time > last_progress + patience) {
			why = "no progress";
			break;
		}
		if (e.free) {
			hand_on(*e.free, time);
			continue;
		}
		processor &p = cpus[e.cpu];
		p.now = time;
		go_on(e.cpu);
		if (p.finished) {
			unfinished--;
			end = std::max(end, p.now);
			last_progress = std::max(last_progress, p.now);
		}
	}
	the_one = nullptr;
	if (stopped || unfinished == 0)
		return {true, std::max(end, time), ""};
	return {false, time, stuck(why)};
}

} // namespace sim
