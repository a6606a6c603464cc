/* SPDX-License-Identifier: MIT */
/*
 * reporter - finds the shortest execution that shows a fault, and shows it
 *
 * The first one found need not be the clearest. The exploration goes on for at
 * least as many runs as it took, and keeps the execution with the fewest
 * events; of several, the one with the fewest changes from CPU to CPU. That one
 * is run once more and written down; if a debugger is wanted, under it, with a
 * stop before the run and one at the fault. Each process explores the same
 * executions, and so finds the same.
 */
#include "reporter.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Functions where a debugger stops in a replay. The asm prevents a tail call,
 * so that each has a frame of its own.
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

/* The number of this exploration in the process, from 1. */
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

/* Prints the text that a debugger shows before it stops. */
void say_replay(const char *what)
{
	std::fprintf(stderr, "klock::model: the replay %s\n", what);
}

void write_picture(const std::string &svg)
{
	const char *const name = std::getenv("KLOCK_MODEL_SVG");

	struct stat is;

	if (!name)
		return;
	/* A device, such as /dev/stdout, can have no file beside it. */
	const bool aside = stat(name, &is) != 0 || S_ISREG(is.st_mode);
	const std::string part = name + std::string(aside ? ".part" : "");
	std::ofstream file(part);
	file << svg;
	file.close();
	if (file && (!aside || std::rename(part.c_str(), name) == 0))
		return;
	if (aside)
		std::remove(part.c_str());
	std::fprintf(stderr,
		     "klock::model: KLOCK_MODEL_SVG=%s cannot be written\n",
		     name);
}

/* Quotes the word if a shell would split or expand it. */
std::string shell_quoted(const std::string &word)
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

/* The command line of this process, quoted for a shell. */
std::string command_line()
{
	std::ifstream from("/proc/self/cmdline", std::ios::binary);
	std::string all, word;

	while (std::getline(from, word, '\0'))
		all += (all.empty() ? "" : " ") + shell_quoted(word);
	return all;
}

/* The number of the code's events, without choices. */
u64 events_of(const graph &g)
{
	u64 many = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			many += e.what != kind::choice;
	return many;
}

/* How often the next event is another CPU's, in the order in which they were
 * added. */
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

void reporter::start()
{
	explorations++;
	traps = asked_for() == explorations;
	shortens = true;
	idle = false;
	forget();
}

void reporter::forget()
{
	best = {};
	shown = {};
}

void reporter::start_run()
{
	withheld.found = bug::none;
	if (rows)
		*rows = {};
}

static const char *const beyond =
	", by load buffering: RC11 rules it out, ISO C++ leaves it open";

void reporter::report(bug found, const std::string &message, site where)
{
	const graph &g = work.running();

	if (cpus.now() == scheduler::phase::comparing)
		cpus.stop();
	if (task.forbids && task.forbids(g))
		return;
	if (g.unsure) {
		if (withheld.found == bug::none)
			withheld = {found, message, where};
		return;
	}
	const std::string whole = g.core ? message + beyond : message;
	if (task.out.ok()) {
		task.out.found = found;
		task.out.message = whole;
		task.out.open = g.core != 0;
	}
	if (rows)
		write_down(whole, where);
	cpus.set_stopped();
	if (cpus.on_fiber())
		cpus.stop();
}

void reporter::report_withheld()
{
	graph &g = work.running();

	g.unsure = false;
	if (withheld.found == bug::none)
		return;
	report(withheld.found, withheld.message, withheld.where);
	g.unsure = true; /* so is what is shown: whole */
}

void reporter::expect_death()
{
	shortens = false;
	timeline::aloud = true;
}

void reporter::keep_finding()
{
	const graph &g = work.running();
	const u64 events = events_of(g);
	const unsigned switches = switches_of(g);

	if (!best.shows) {
		best.first = task.out;
		best.until = task.runs;
		if (task.out.found != bug::not_repeatable && shortens)
			best.until +=
				std::min(task.runs + 64, task.given->shorten);
	}
	if (!best.shows || (task.out.found == best.first.found &&
			    std::pair(events, switches) <
				    std::pair(best.events, best.switches))) {
		best.shows = std::make_unique<graph>(g);
		best.events = events;
		best.switches = switches;
	}
	/* As if there had been nothing. */
	task.out.found = bug::none;
	task.out.message.clear();
}

void reporter::say_nothing_shown() const
{
	if (traps)
		say_replay("shows nothing: under a debugger, accesses that the "
			   "compiler does not tell of are not looked for");
}

some_graph reporter::begin_showing()
{
	task.out = best.first;
	task.out.found = bug::none;
	shown = {};
	rows = std::make_unique<timeline>();
	if (traps) {
		say_replay("begins (SIGTRAP, for gdb)");
		model_replay_begins();
	}
	return std::move(best.shows);
}

void reporter::end_showing()
{
	const result first = std::move(best.first);

	/* The sanitizer has reported this before, and does not do so again. */
	if (timeline::aloud)
		::_exit(1);
	keep_shown();
	rows.reset();

	const result last = std::move(task.out);
	task.out = first;
	if (!last.ok()) { /* code that does not repeat may hide it */
		task.out.found = last.found;
		task.out.message = last.message;
	}
	if (last.ok() && task.most_runs == ~u64{0}) {
		task.out.found = bug::not_repeatable;
		task.out.message =
			"the execution has no fault when it is run once more: "
			"the world's maker, its end or the check at the end "
			"changes what outlives it, a global or a static (" +
			first.message + ")";
	}
	task.out.timeline =
		last.ok() ? "BUG: " + task.out.message + "\n" : last.timeline;
	task.out.svg = last.svg;
	task.out.replay = "KLOCK_MODEL_REPLAY=" + std::to_string(explorations) +
			  " gdb --args " + command_line();
	/* An exploration for the cause does not show its finding. */
	if (task.most_runs == ~u64{0})
		write_picture(task.out.svg);
}

/* Keeps the part of the graph that was run until the fault. */
void reporter::keep_shown()
{
	const graph &g = work.running();
	clock had;

	for (unsigned c = 0; c < g.cpus; c++)
		had.at[c] = cpus.ran(c);
	shown.of = std::make_unique<graph>();
	shown.of->copy_kept(g, had);
	shown.rows = *rows;
}

void reporter::note_conflict(const conflict &c)
{
	shown.first = c;
	shown.cpu = cpus.current();
	shown.ran = cpus.ran();
}

/*
 * The CPU at fault, and those that the message names; all CPUs at the end, in a
 * deadlock, or if there is no such CPU.
 */
std::vector<bool> reporter::who_takes_part(const std::string &message) const
{
	const unsigned count = work.running().cpus;
	/* A deadlock is caused by events that other CPUs do not have. */
	const bool all = cpus.now() == scheduler::phase::ending ||
			 message.starts_with("deadlock");
	std::vector<bool> those(count, all);
	bool any = all;
	const auto add = [&](usize which) {
		if (which < those.size())
			any = those[which] = true;
	};

	if (cpus.on_fiber())
		add(cpus.current());
	for (auto at = message.find("cpu"); at != message.npos;
	     at = message.find("cpu", at + 1))
		if (std::isdigit(static_cast<unsigned char>(message[at + 3])))
			add(std::strtoul(&message[at + 3], nullptr, 10));
	if (!any)
		those.assign(count, true);
	return those;
}

/* Makes the run's rows the report. */
void reporter::write_down(const std::string &message, site where)
{
	const graph &g = work.running();

	if (!task.given->every_row) {
		rows->leave_out(g, who_takes_part(message));
		rows->fold_own();
	}
	task.out.timeline = rows->text(g, message, where);
	task.out.svg = rows->svg(g, message, where);
	if (traps) {
		say_replay("has come to the fault (SIGTRAP, for gdb)");
		model_replay_fault();
	}
}

} // namespace model
