/* SPDX-License-Identifier: MIT */
/*
 * finding - of the executions that show a fault, the shortest; and shown
 *
 * The first one found need not be the clearest. The exploration goes on for as
 * many runs as it took, and some, and keeps the one with the fewest events, of
 * these the one with the fewest changes from CPU to CPU. It is run once more
 * and written down; under a debugger, if that is asked for, with a stop before
 * it begins and one at the fault. What is explored, and so what is found, is
 * the same in each process.
 */
#include "checker.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

/* Where a debugger stops in a replay. With a frame of their own: no tail call.
 */
extern "C" [[gnu::noinline]] void model_replay_begins()
{
	std::raise(SIGTRAP);
	asm volatile("");
}
extern "C" [[gnu::noinline]] void model_replay_fault()
{
	std::raise(SIGTRAP);
	asm volatile("");
}

namespace model {

namespace {

/* Which exploration of the process this is, counted from 1. */
unsigned explorations = 0;

/* 0: none. */
unsigned asked_for()
{
	const char *const text = std::getenv("KLOCK_MODEL_REPLAY");
	char *end = nullptr;

	if (!text)
		return 0;
	const unsigned long number = std::strtoul(text, &end, 10);
	if (end != text && !*end && number && number < 1'000'000)
		return static_cast<unsigned>(number);
	if (explorations == 1)
		std::fprintf(stderr,
			     "klock::model: KLOCK_MODEL_REPLAY=%s is "
			     "no exploration's number\n",
			     text);
	return 0;
}

/* What a debugger shows before it stops; without one, the last words. */
void say_replay(const char *what)
{
	std::fprintf(stderr, "klock::model: the replay %s (SIGTRAP, for gdb)\n",
		     what);
}

void write_picture(const std::string &svg)
{
	const char *const name = std::getenv("KLOCK_MODEL_SVG");

	if (!name)
		return;
	std::ofstream file(name);
	file << svg << std::flush;
	if (!file)
		std::fprintf(stderr,
			     "klock::model: KLOCK_MODEL_SVG=%s cannot "
			     "be written\n",
			     name);
}

/* In quotes, where a shell would take it apart. */
std::string quoted(const std::string &word)
{
	std::string all = "'";

	if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+./:=,@%") == word.npos)
		return word;
	for (const char c : word)
		all += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return all + "'";
}

/* Of this process, ready to be run again. */
std::string command_line()
{
	std::ifstream from("/proc/self/cmdline", std::ios::binary);
	std::string all, word;

	while (std::getline(from, word, '\0'))
		all += (all.empty() ? "" : " ") + quoted(word);
	return all;
}

/* What the code did; choices are the exploration's own. */
u64 events_of(const graph &g)
{
	u64 many = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			many += e.what != kind::choice;
	return many;
}

/* How often the next event is another CPU's, in the order they were added. */
unsigned switches_of(const graph &g)
{
	std::vector<std::pair<u32, unsigned>> order;
	unsigned many = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			order.push_back({e.stamp, c});
	std::sort(order.begin(), order.end());
	for (std::size_t i = 1; i < order.size(); i++)
		many += order[i].second != order[i - 1].second;
	return many;
}

} // namespace

void checker::begin_finding()
{
	explorations++;
	traps = asked_for() == explorations;
	best = {};
}

/* Whether the exploration goes on: nothing found, or not looked for long. */
bool checker::goes_on() const { return !best.shows || runs < best.until; }

/* The run has found something: kept, if it is shorter. */
void checker::keep_finding()
{
	const u64 events = events_of(*g);
	const unsigned switches = switches_of(*g);

	if (!best.shows) {
		best.first = out;
		best.until = runs;
		if (out.found != bug::not_repeatable)
			best.until += std::min(runs + 64, how->shorten);
	}
	if (!best.shows || (out.found == best.first.found &&
			    std::pair(events, switches) <
				    std::pair(best.events, best.switches))) {
		best.shows = copy_of(*g);
		best.events = events;
		best.switches = switches;
	}
	/* As if there had been nothing. */
	out.found = bug::none;
	out.message.clear();
}

/* The shortest, run once more and written down. */
void checker::show_finding()
{
	const result first = std::move(best.first);

	g = std::move(best.shows);
	out = first;
	out.found = bug::none;
	trace = std::make_unique<timeline>();
	if (traps) {
		say_replay("begins");
		model_replay_begins();
	}
	run_one();
	trace.reset();

	const result shown = std::move(out);
	out = first;
	if (!shown.ok()) { /* code that does not repeat may hide it */
		out.found = shown.found;
		out.message = shown.message;
	}
	out.timeline = shown.timeline;
	out.svg = shown.svg;
	out.replay = "KLOCK_MODEL_REPLAY=" + std::to_string(explorations) +
		     " gdb --args " + command_line();
	out.ran = first.ran;
	recycle(std::move(g));
	write_picture(out.svg);
}

/* What a report adds where the run is written down. */
void checker::write_down(const std::string &message, site where)
{
	out.timeline = trace->text(*g, message, where);
	out.svg = trace->svg(*g, message, where);
	if (traps) {
		say_replay("has come to the fault");
		model_replay_fault();
	}
}

} // namespace model
