/* SPDX-License-Identifier: MIT */
/*
 * The torture is itself tested: locks that are wrong must fail it.
 */
#include "crew.hpp"

#include <klock/selftest/busted.hpp>

#include <catch.hpp>

#include <memory>

using namespace native;

namespace {

constexpr unsigned threads = 4;

/*
 * One run after another until the mistake shows: a race is a matter of luck,
 * and the bound on the runs is what makes not finding it a failure.
 */
template <typename Subject>
const char *find(unsigned most_runs)
{
	const char *found = nullptr;

	for (unsigned run = 0; run < most_runs && !found; run++) {
		auto t = std::make_unique<torture<Subject, threads>>();
		const plan p = {.cpus = participants<Subject>(threads),
				.convoys = 4,
				.sections = 50000,
				.relaxes_a_word = 1,
				.relaxes_outside = 4,
				.try_one_in = 2,
				.seed = run};
		run_on_threads<Subject>(*t, p, stuck::is_meant);
		found = fault(t->outcome());
	}
	return found;
}

} // namespace

TEST_CASE("busted: every lock that is wrong is found", "[busted]")
{
	/* On one core nothing runs in parallel: what shows in turns is left. */
	const unsigned here = std::thread::hardware_concurrency() < 2
				      ? in_turns
				      : in_turns | in_parallel | in_crowd;

	busted_locks::for_each([here]<typename Subject>() {
		if (!(Subject::found_in & here))
			return;
		const char *found = find<Subject>(200);
		INFO(Subject::name << ": " << Subject::mistake);
		CHECK(found != nullptr);
		if (found)
			std::printf("%-20s %-40s %s\n", Subject::name,
				    Subject::mistake, found);
	});
}

/*
 * The other half: what is right passes where what is wrong is found. A stand-
 * still counts as found after a short time, which a slow host could spend on
 * nothing; then this fails, and not only that passes.
 */
TEST_CASE("busted: no lock that is right is found", "[busted]")
{
	all_locks<threads>::for_each([]<typename Subject>() {
		const char *found = find<Subject>(1);

		INFO(Subject::name << ": " << (found ? found : "passes"));
		CHECK(found == nullptr);
	});
}
