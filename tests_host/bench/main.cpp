/* SPDX-License-Identifier: MIT */
/*
 * klock_bench - klock's locks beside what a user would pick instead
 */
#include "experiments.hpp"
#include "shared_rows.hpp"

#include <cstdio>
#include <ctime>

using namespace bench;

namespace {

void print_list(bool shared)
{
	if (shared)
		for (const shared_row &r : shared_rows_for(1))
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
	for (const std::string &name : missing_peers())
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
		  "try\n");
}

} // namespace

int main(int argc, char **argv)
{
	const options opts = parse(argc, argv);

	if (opts.list) {
		print_list(opts.shared);
		return 0;
	}
	std::filesystem::create_directories(opts.out);
	const machine here = look_around();
	report out(opts.out / "report.txt");
	crew threads(most_threads_a_core *
			     (opts.cores ? opts.cores : here.cores),
		     here.cycles_a_second);
	context c{opts, here, out, threads, {}};

	introduce(c);
	calibrate_handoff(c);
	if (opts.scaling_only) {
		measure_scaling(c);
		say_how_quiet(c);
		return 0;
	}
	if (opts.crowded) {
		measure_crowded(c);
		say_how_quiet(c);
		return 0;
	}
	if (opts.shared) {
		measure_folder(c);
		measure_shared(c);
		print_shared_bars(c);
		say_how_quiet(c);
		return 0;
	}
	read_other_programs(c);
	measure_uncontended(c);
	measure_contended(c);
	measure_handoff(c);
	measure_layout(c);
	measure_objects(c);
	measure_folder(c);
	measure_shared(c);
	if (c.cores() > 2 || opts.smoke)
		measure_scaling(c);
	print_summary(c);
	print_bars(c);
	say_how_quiet(c);
	return 0;
}
