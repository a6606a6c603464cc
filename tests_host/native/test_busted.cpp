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

#include <memory>
using namespace native;

namespace {

/* On one core nothing runs in parallel: what shows in turns is left. */
unsigned found_here()
{
	return cores().size() < 2 ? in_turns
				  : in_turns | in_parallel | in_crowd;
}

/*
 * One run after another until the mistake shows: a race is a matter of luck,
 * and the bound on the runs is what makes not finding it a failure.
 */
template <typename Subject, typename Torture>
void must_be_found()
{
	constexpr unsigned where = Subject::found_in;
	const char *found = nullptr;

	if (!(where & found_here()))
		return;
	for (unsigned run = 0; run < 500 && !found; run++) {
		auto t = std::make_unique<Torture>();
		plan p = plan_to_find(where & in_parallel, run);

		p.cpus = participants<Subject>(p.cpus);
		run_on_threads<Subject>(*t, p, stuck::is_meant);
		found = fault(t->outcome());
	}
	INFO(Subject::name << ": " << Subject::mistake);
	CHECK(found != nullptr);
	if (found)
		std::printf("%-20s %-44s %s\n", Subject::name, Subject::mistake,
			    found);
}

} // namespace

TEST_CASE("busted: every mutant is found", "[busted]")
{
	busted_locks::for_each([]<typename Subject>() {
		must_be_found<Subject, torture<Subject, most_to_find>>();
	});
}

TEST_CASE("shared: every mutant is found", "[busted]")
{
	busted_shared_locks::for_each([]<typename Subject>() {
		must_be_found<Subject, shared_torture<Subject, most_to_find>>();
	});
}
