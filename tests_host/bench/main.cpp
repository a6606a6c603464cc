/* SPDX-License-Identifier: MIT */
/*
 * klock_bench - klock's locks beside what a user would pick instead
 */
#include "bench.hpp"

#include "../tool.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

/* inheriting_mutex asks for them, where it is misused. */
unsigned klock_os_cpu_id(void) { return 0; }
void klock_os_panic(const char *name, const void *, unsigned, const char *what)
{
	std::fprintf(stderr, "%s: %s\n", name, what);
	std::abort();
}

using namespace bench;

namespace {

/* -- Experiments: all in a row, or one alone, by its word -- */

void measure_readers(context &c)
{
	measure_sequences(c);
	measure_shared(c);
	print_bars(c, judged::shared);
}

void measure_sleepers(context &c)
{
	measure_uncontended(c);
	measure_shared_alone(c);
	measure_sleeping(c);
	print_bars(c, judged::sleeping);
}

void measure_all(context &c)
{
	measure_sizes(c);
	measure_uncontended(c);
	measure_contended(c);
	measure_handoff(c);
	measure_sequences(c);
	measure_shared(c);
	if (c.cores() > 2 || c.opts.smoke)
		measure_scaling(c);
	if (c.opts.smoke)
		measure_sleeping(c);
	print_bars(c, judged::exclusive | judged::sleeping | judged::shared);
}

struct experiment {
	const char *word; /* null: without any */
	const char *means;
	void (*measure)(context &);
	bool of_readers = false;
};

constexpr experiment experiments[] = {
	{nullptr, nullptr, measure_all},
	{"--scaling", "the curve from 1 to all cores", measure_scaling},
	{"--shared", "locks that readers share, and sequences", measure_readers,
	 true},
	{"--sleep", "locks that sleep, beside each other, and all alone",
	 measure_sleepers},
	{"--sizes", "accesses of two sizes on one word: a second",
	 measure_sizes},
	{"--crowded", "waiters that do not run: 1, 2, 4 and 8 threads a core",
	 measure_crowded},
};

/* Null: no experiment has the word. */
const experiment *find_experiment(std::string_view word)
{
	for (const experiment &one : experiments)
		if (one.word && word == one.word)
			return &one;
	return nullptr;
}

std::string usage()
{
	std::string text =
		"usage: klock_bench [options]\n"
		"  --help         print this and end\n"
		"  --out DIR      where CSV files and report.txt go "
		"(bench-results)\n"
		"  --cores N      threads that count as \"all cores\" (what we "
		"may use)\n"
		"  --rounds N     rounds of each trial (25)\n"
		"  --trial-us N   microseconds of a contended trial (2000)\n"
		"  --smoke        everything, as short as can be: figures mean "
		"nothing\n"
		"  --list         print the names of klock's locks and end; "
		"with\n"
		"                 --shared the rows of all that readers share\n"
		"only:\n";

	for (const experiment &one : experiments)
		if (one.word)
			text += "  " + std::string(one.word) +
				std::string(15 - std::strlen(one.word), ' ') +
				one.means + "\n";
	return text;
}

/* -- The command line -- */

struct command {
	options opts;
	const experiment *what = experiments;
	bool list = false;
};

unsigned number(const char *text)
{
	return static_cast<unsigned>(tool::number(text, 1, 1000000));
}

/* Ends the program where argv is wrong. */
command parse(int argc, char **argv)
{
	command c;
	options &o = c.opts;

	for (int i = 1; i < argc; i++) {
		const std::string_view arg = argv[i];
		if (const experiment *only = find_experiment(arg)) {
			if (c.what != experiments && c.what != only)
				tool::mistake("two words that say only");
			c.what = only;
		} else if (arg == "--list") {
			c.list = true;
		} else if (arg == "--smoke") {
			o.smoke = true;
			o.rounds = 1;
			o.trial = std::chrono::microseconds(500);
		} else if (i + 1 == argc) {
			tool::mistake(std::string(arg) +
				      ": unknown, or its value is missing");
		} else if (arg == "--out") {
			o.out = argv[++i];
		} else if (arg == "--cores") {
			o.cores = static_cast<unsigned>(
				tool::number(argv[++i], 1, 1024));
		} else if (arg == "--rounds") {
			o.rounds = number(argv[++i]);
		} else if (arg == "--trial-us") {
			o.trial = std::chrono::microseconds(number(argv[++i]));
		} else {
			tool::mistake(std::string(arg) + ": unknown");
		}
	}
	return c;
}

void print_list(bool shared)
{
	if (shared)
		for (const row &r : shared_rows_for(1))
			std::printf("%s\n", r.name.c_str());
	else
		for (const row &r : rows_for(1))
			if (r.what == kind::klock)
				std::printf("%s\n", r.name.c_str());
}

std::string today()
{
	char text[32];
	const std::time_t now = std::time(nullptr);

	std::strftime(text, sizeof(text), "%Y-%m-%d", std::localtime(&now));
	return text;
}

void introduce(context &c)
{
	c.out.say("klock bench, " + today() + "\n" + c.here.model + ", " +
		  std::to_string(c.cores()) + " cores; clock " +
		  fixed(c.here.cycles_a_second / 1e9, 2) +
		  " GHz (cycles are of this clock); PAUSE " +
		  fixed(c.here.cycles_a_pause, 0) + " cycles\n");
	c.out.say("compiler " __VERSION__ ", x86 port in user mode\n");
	for (const std::string &name : peers_found())
		c.out.say("peers of: " + name + "\n");
	for (const std::string &name : peers_missing())
		c.out.say("not found, left out: " + name + "\n");
	if (c.opts.smoke)
		c.out.say("SMOKE RUN: the figures mean nothing\n");
}

/* Other processes on the same cores make FIFO locks look slow. */
void say_how_quiet(context &c)
{
	c.out.say("\n" + std::to_string(c.disturbed) + " of " +
		  std::to_string(c.trials) +
		  " contended trials lost a core to another process in every "
		  "try; the cores moved in every try of " +
		  std::to_string(c.moved) + " of " + std::to_string(c.blocks) +
		  " blocks of trials\n");
}

/* Files are written when it returns. */
void measure(const options &opts, const experiment &what)
{
	tool::make_folder(opts.out);
	const machine here = look_around();
	report out(opts.out / "report.txt");
	workers threads(most_threads_a_core *
				(opts.cores ? opts.cores : here.cores),
			here.cycles_a_second);
	context c{opts, here, out, threads, {}};

	introduce(c);
	measure_distance(c);
	what.measure(c);
	say_how_quiet(c);
}

} // namespace

int main(int argc, char **argv)
{
	tool::begin(argc, argv, usage().c_str());
	const command asked = parse(argc, argv);

	if (asked.list)
		print_list(asked.what->of_readers);
	else
		measure(asked.opts, *asked.what);
	return tool::end(0);
}
