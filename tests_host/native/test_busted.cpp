/* SPDX-License-Identifier: MIT */
/*
 * The tortures are themselves tested: locks that are wrong must fail them. That
 * no correct lock fails the same plans is seen in test_torture.cpp.
 */
#include <klock/selftest/busted.hpp>
#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/shared_torture.hpp>

#include "threads.hpp"

#include <catch.hpp>

using namespace native;

namespace {

/* The mutants that show here: on one core, only those that show in turns. */
unsigned found_here()
{
	return cores().size() < 2 ? in_turns
				  : in_turns | in_parallel | in_crowd;
}

/*
 * One run after another until the mistake shows: a race is a matter of luck,
 * and the bound on the runs is what makes not finding it a failure. A run in
 * which the CPUs hardly took turns shows no race, as on a busy host, where one
 * of the threads often has no core: such a run is not counted.
 */
void must_be_found(const tortured &lock, const char *mistake, unsigned where)
{
	constexpr unsigned enough = 500, most = 40 * enough;
	const bool parallel = where & in_parallel;
	const char *found = nullptr;
	unsigned counted = 0;

	if (!(where & found_here()))
		return;
	for (unsigned run = 0; run < most && counted < enough && !found;
	     run++) {
		plan p = plan_to_find(parallel, run);
		const result r = run_on_threads(lock, p, stuck::is_meant);

		found = fault(r);
		if (!parallel || r.handoffs * 20 >= p.sections)
			counted++;
	}
	INFO(lock.name << ": " << mistake << "; runs: " << counted);
	CHECK(found != nullptr);
	if (found)
		std::printf("%-20s %-44s run %u: %s\n", lock.name, mistake,
			    counted, found);
}

} // namespace

TEST_CASE("busted: every mutant is found", "[busted]")
{
	busted_locks::for_each([]<typename Subject>() {
		must_be_found(
			tortured_as<Subject, torture<Subject, most_to_find>>,
			Subject::mistake, Subject::found_in);
	});
}

TEST_CASE("shared: every mutant is found", "[busted]")
{
	busted_shared_locks::for_each([]<typename Subject>() {
		using torture = shared_torture<Subject, most_to_find>;

		must_be_found(tortured_as<Subject, torture>, Subject::mistake,
			      Subject::found_in);
	});
}
