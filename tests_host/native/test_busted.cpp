/* SPDX-License-Identifier: MIT */
/*
 * The tortures are themselves tested: locks that are wrong must fail them.
 */
#include <klock/selftest/busted.hpp>
#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/shared_torture.hpp>

#include "threads.hpp"

#include <catch.hpp>

#include <memory>
using namespace native;

/*
 * The torture is itself tested: locks that are wrong must fail it.
 */
namespace busted_tests {

namespace {

constexpr unsigned most_threads = 3;

/*
 * What shows only where two run at once: two threads, each on a core of its
 * own, as fast as they can. All else: a queue of two behind a holder. Small
 * runs, as most of a large one is two threads in step, time and again.
 */
plan to_find(unsigned found_in, unsigned run)
{
	const bool parallel = found_in & in_parallel;

	return {.cpus = parallel ? 2u : most_threads,
		.convoys = parallel ? 0u : 4u,
		.sections = parallel ? 2000u : 400u,
		.relaxes_a_word = 1,
		.relaxes_outside = 4,
		.try_one_in = 2,
		.seed = run};
}

/*
 * One run after another until the mistake shows: a race is a matter of luck,
 * and the bound on the runs is what makes not finding it a failure.
 */
template <typename Subject>
const char *find(unsigned found_in, unsigned most_runs, stuck standing_still)
{
	const char *found = nullptr;

	for (unsigned run = 0; run < most_runs && !found; run++) {
		auto t = std::make_unique<torture<Subject, most_threads>>();
		plan p = to_find(found_in, run);

		p.cpus = participants<Subject>(p.cpus);
		run_on_threads<Subject>(*t, p, standing_still);
		found = fault(t->outcome());
	}
	return found;
}

void check_found(const char *mutant, const char *mistake, const char *found)
{
	INFO(mutant << ": " << mistake);
	CHECK(found != nullptr);
	if (found)
		std::printf("%-20s %-40s %s\n", mutant, mistake, found);
}

void check_passed(const char *lock, const char *found)
{
	INFO(lock << ": " << (found ? found : "passes"));
	CHECK(found == nullptr);
}

} // namespace

TEST_CASE("busted: every mutant is found", "[busted]")
{
	/* On one core nothing runs in parallel: what shows in turns is left. */
	const unsigned here = cores().size() < 2
				      ? in_turns
				      : in_turns | in_parallel | in_crowd;

	busted_locks::for_each([here]<typename Subject>() {
		constexpr unsigned where = Subject::found_in;

		if (!(where & here))
			return;
		check_found(Subject::name, Subject::mistake,
			    find<Subject>(where, 500, stuck::is_meant));
	});
}

/*
 * The other half, and the control of the first: what is right passes in the
 * same runs. One that stands still ends the program, and says so.
 */
TEST_CASE("busted: no correct lock is found", "[busted]")
{
	all_locks<most_threads>::for_each([]<typename Subject>() {
		for (unsigned where : {in_parallel, in_crowd})
			check_passed(Subject::name,
				     find<Subject>(where, 1, stuck::is_a_bug));
	});
}

} // namespace busted_tests

/*
 * Locks for readers and writers that are wrong must fail the shared torture.
 */
namespace shared_busted_tests {

namespace {

constexpr unsigned most_threads = 3;

/* As busted.cpp's: small runs, with a queue where it needs one. */
plan to_find(unsigned found_in, unsigned run)
{
	const bool parallel = found_in & in_parallel;

	return {.cpus = parallel ? 2u : most_threads,
		.convoys = parallel ? 0u : 4u,
		.sections = parallel ? 2000u : 400u,
		.relaxes_a_word = 1,
		.relaxes_outside = 4,
		.try_one_in = 2,
		.seed = run,
		.write_one_in = 2 + run % 3};
}

template <typename Subject>
const char *find(unsigned found_in, unsigned most_runs, stuck standing_still)
{
	const char *found = nullptr;

	for (unsigned run = 0; run < most_runs && !found; run++) {
		auto t = std::make_unique<
			shared_torture<Subject, most_threads>>();

		run_on_threads<Subject>(*t, to_find(found_in, run),
					standing_still);
		found = fault(t->outcome());
	}
	return found;
}

} // namespace

TEST_CASE("shared: every mutant is found", "[busted]")
{
	const unsigned here = cores().size() < 2
				      ? in_turns
				      : in_turns | in_parallel | in_crowd;

	busted_shared_locks::for_each([here]<typename Subject>() {
		constexpr unsigned where = Subject::found_in;

		if (!(where & here))
			return;
		const char *found = find<Subject>(where, 500, stuck::is_meant);
		INFO(Subject::name << ": " << Subject::mistake);
		CHECK(found != nullptr);
		if (found)
			std::printf("%-20s %-44s %s\n", Subject::name,
				    Subject::mistake, found);
	});
}

TEST_CASE("shared: no correct lock is found", "[busted]")
{
	all_shared_locks<most_threads>::for_each([]<typename Subject>() {
		for (unsigned where : {in_parallel, in_crowd}) {
			const char *found =
				find<Subject>(where, 1, stuck::is_a_bug);

			INFO(Subject::name << ": "
					   << (found ? found : "passes"));
			CHECK(found == nullptr);
		}
	});
}

} // namespace shared_busted_tests
