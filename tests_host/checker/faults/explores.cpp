/* SPDX-License-Identifier: MIT */
/*
 * Explores the programs that faults.py has made, and prints what the checker
 * says of each. Argument: the number of the first.
 */
#include "programs.h"

#include <model/model.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

/* So that the variables with a first value lie in a segment of their own. */
alignas(1 << 20) volatile char aligned[1 << 20];

struct world {
	alignas(16) unsigned char members[256] = {};
};

const char *verdict(const model::result &r)
{
	if (r.found == model::bug::unseen)
		return "refused";
	if (r.found != model::bug::none)
		return "found";
	return r.proved() ? "silent" : "not explored";
}

model::result explore(const program &p)
{
	const auto cpu = [&p](int number) {
		return [run = p.cpus[number]](world &w) { run(w.members); };
	};
	const auto at_end = [&p](world &w) {
		if (p.end)
			p.end(w.members);
	};

	const model::options how = {.idle_seconds = 1};

	if (p.cpus[2])
		return model::explore_threads<world>(how, at_end, cpu(0),
						     cpu(1), cpu(2));
	return model::explore_threads<world>(how, at_end, cpu(0), cpu(1));
}

} // namespace

void must(int holds) { model::check(holds, "what must hold"); }

int main(int argc, char **argv)
{
	int number = argc > 1 ? std::atoi(argv[1]) : 0;

	aligned[0] = 0;

	for (; number < number_of_programs; number++) {
		const model::result r = explore(programs[number]);

		std::printf("%d\t%s\t%s\n", number, verdict(r),
			    r.message.c_str());
		std::fflush(stdout);
	}
}
