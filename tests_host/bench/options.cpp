/* SPDX-License-Identifier: MIT */
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bench {

namespace {

const char usage[] =
	"usage: klock_bench [options]\n"
	"  --out DIR      where CSV files and report.txt go (bench-results)\n"
	"  --cores N      threads that count as \"all cores\" (what we may "
	"use)\n"
	"  --rounds N     rounds of each trial (25)\n"
	"  --trial-us N   microseconds of a contended trial (2000)\n"
	"  --scaling      only the curve from 1 to all cores\n"
	"  --shared       only locks that readers share, and sequences\n"
	"  --crowded      only waiters that do not run: 1, 2, 4 and 8 threads "
	"a core\n"
	"  --smoke        everything, as short as can be: figures mean "
	"nothing\n"
	"  --list         print the names of klock's locks and end; with\n"
	"                 --shared the rows of all that readers share\n";

[[noreturn]] void fail(const char *what, std::string_view arg)
{
	std::fprintf(stderr, "%s: %.*s\n%s", what, static_cast<int>(arg.size()),
		     arg.data(), usage);
	std::exit(2);
}

unsigned number(const char *text)
{
	char *end;
	const unsigned long value = std::strtoul(text, &end, 10);

	if (*end || value == 0 || value > 1000000)
		fail("not a number from 1 to 1000000", text);
	return static_cast<unsigned>(value);
}

} // namespace

options parse(int argc, char **argv)
{
	options o;

	for (int i = 1; i < argc; i++) {
		const std::string_view arg = argv[i];
		if (arg == "--scaling") {
			o.scaling_only = true;
		} else if (arg == "--shared") {
			o.shared = true;
		} else if (arg == "--crowded") {
			o.crowded = true;
		} else if (arg == "--list") {
			o.list = true;
		} else if (arg == "--smoke") {
			o.smoke = true;
			o.rounds = 1;
			o.trial = std::chrono::microseconds(500);
		} else if (i + 1 == argc) {
			fail("unknown, or its value is missing", arg);
		} else if (arg == "--out") {
			o.out = argv[++i];
		} else if (arg == "--cores") {
			o.cores = number(argv[++i]);
		} else if (arg == "--rounds") {
			o.rounds = number(argv[++i]);
		} else if (arg == "--trial-us") {
			o.trial = std::chrono::microseconds(number(argv[++i]));
		} else {
			fail("unknown option", arg);
		}
	}
	return o;
}

} // namespace bench
