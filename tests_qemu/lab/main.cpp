/* SPDX-License-Identifier: MIT */
/*
 * The lab: the self-tests of lib/klock/selftest on the kernel of boot/.
 */
#include "endings.hpp"
#include "options.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace {

using namespace klock::selftest;

int torture_locks(const lab::options &o)
{
	using locks = all_locks<lab::most_cpus>;
	unsigned rows = 0;

	locks::for_each([&]<typename Subject>() {
		rows += lab::asks_for(o, Subject::name);
	});
	lab::begin_report(o, rows);
	locks::for_each([&]<typename Subject>() {
		if (!lab::asks_for(o, Subject::name))
			return;
		lab::say_running(o, Subject::name);
		lab::print_row(o, lab::run_torture<Subject>(
					  lab::plan_for<Subject>(o)));
	});
	return lab::end_report();
}

/* One run after another until the mistake shows, or not within the bound. */
template <typename Subject>
const char *find_mistake(const lab::options &o)
{
	constexpr unsigned most_runs = 50;
	const char *found = nullptr;

	for (unsigned run = 0; run < most_runs && !found; run++) {
		plan p = lab::plan_for<Subject>(o);
		p.seed += run;
		found = fault(
			lab::run_torture<Subject>(p, lab::stuck::is_meant));
	}
	return found;
}

int find_busted(const lab::options &o)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;

	lab::begin_report(o, busted_locks::size);
	busted_locks::for_each([&]<typename Subject>() {
		if (!(Subject::found_in & here))
			lab::print_skipped(o, Subject::name,
					   "cannot show on this machine");
		else
			lab::print_busted_row(o, Subject::name,
					      Subject::mistake,
					      find_mistake<Subject>(o));
	});
	return lab::end_report();
}

} // namespace

int payload_main()
{
	lab::options o;

	if (!lab::read_options(o))
		return 1;
	switch (o.run) {
	case lab::job::locks:
		return torture_locks(o);
	case lab::job::busted:
		return find_busted(o);
	default:
		return lab::end_badly(o.run);
	}
}
