/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the lists under real threads: exclusion, order, progress.
 */
#include <klock/selftest/shared_torture.hpp>

#include "../widths.hpp"
#include "threads.hpp"

#include <catch.hpp>

#include <string>
using namespace native;

/*
 * Every lock of the list under real threads: exclusion, order, progress.
 */
namespace torture_tests {

namespace {

constexpr unsigned most_threads = 8;

/*
 * As large as what finds the mutants (test_busted.cpp), and no larger: on
 * a busy host a handoff to one of 8 threads on 2 cores may last milliseconds.
 */
constexpr unsigned rounds = 12;
constexpr unsigned sections_of_few = 4000, sections_of_many = 400;

/* A line to read when it fails, and in a verbose run. */
std::string describe(const result &r)
{
	char line[256];

	std::snprintf(line, sizeof(line),
		      "%s: %u cpus, %llu acquisitions, %llu handoffs "
		      "(%llu forced), %llu overlaps, %llu lost, %llu bypassed, "
		      "jain %u, max consecutive %u",
		      r.lock, r.cpus, (unsigned long long)r.acquisitions,
		      (unsigned long long)r.handoffs,
		      (unsigned long long)r.forced,
		      (unsigned long long)r.exclusion_errors,
		      (unsigned long long)r.lost_updates,
		      (unsigned long long)r.fifo_violations, r.jain_permille,
		      r.max_consecutive);
	return line;
}

enum class part { convoys, contention };

plan plan_for(unsigned threads, part which)
{
	const bool convoys = which == part::convoys;

	return {.cpus = threads,
		.convoys = convoys ? rounds : 2u,
		.sections = convoys || threads > 2 ? sections_of_many
						   : sections_of_few,
		.relaxes_a_word = 0,
		.relaxes_outside = 8,
		.try_one_in = convoys ? 0u : 8u,
		.seed = threads};
}

void check(const result &r, const plan &p)
{
	const char *wrong = fault(r);

	INFO(describe(r));
	INFO((wrong ? wrong : "passed"));
	CHECK(wrong == nullptr);
	CHECK(r.acquisitions >= p.sections + r.forced);
}

void passes(const tortured &lock, unsigned threads, part which)
{
	plan p = plan_for(threads, which);

	check(run_on_threads(lock, p), p);
}

void all_pass(unsigned threads, part which)
{
	widths_of<all_locks<most_threads>>::for_each([&]<typename Subject>() {
		passes(tortured_as<Subject, torture<Subject, most_threads>>,
		       threads, which);
	});
}

} // namespace

TEST_CASE("torture: FIFO where it is promised, 3 threads", "[torture]")
{
	all_pass(3, part::convoys);
}

TEST_CASE("torture: FIFO where it is promised, 8 threads", "[torture]")
{
	all_pass(8, part::convoys);
}

TEST_CASE("torture: exclusion and progress, 1 thread", "[torture]")
{
	all_pass(1, part::contention);
}

TEST_CASE("torture: exclusion and progress, 2 threads", "[torture]")
{
	all_pass(2, part::contention);
}

TEST_CASE("torture: exclusion and progress, 8 threads", "[torture]")
{
	all_pass(8, part::contention);
}

} // namespace torture_tests

/*
 * Every lock that readers share under real threads: readers together, writers
 * alone, who goes before whom; and those that are wrong are found.
 */
namespace shared_tests {

namespace {

constexpr unsigned most_threads = 8;

enum class part { convoys, contention };

void passes(const tortured &lock, unsigned threads, unsigned readers,
	    part which, unsigned write_one_in)
{
	const bool convoys = which == part::convoys;
	plan p = {.cpus = threads,
		  .convoys = convoys ? 12u : 0u,
		  .sections = convoys	    ? 40u
			      : threads > 2 ? 400u
					    : 4000u,
		  .relaxes_a_word = 1,
		  .relaxes_outside = 8,
		  .try_one_in = convoys ? 0u : 8u,
		  .seed = threads,
		  .write_one_in = write_one_in};
	const result r = run_on_threads(lock, p);
	const char *wrong = fault(r);

	INFO(r.lock << ", " << r.cpus << " threads: " << r.acquisitions
		    << " sections, " << r.reads << " of them read, "
		    << r.most_together << " at once, " << r.fifo_violations
		    << " out of order");
	INFO((wrong ? wrong : "passed"));
	CHECK(wrong == nullptr);
	CHECK(r.acquisitions >= p.sections);
	CHECK(r.reads > 0);
	/* All have met inside. */
	CHECK(r.most_together == readers);
}

void all_pass(unsigned threads, part which, unsigned write_one_in = 4)
{
	widths_of<all_shared_locks<most_threads>>::for_each(
		[=]<typename Subject>() {
			using torture = shared_torture<Subject, most_threads>;

			passes(tortured_as<Subject, torture>, threads,
			       readers_of<Subject>(threads), which,
			       write_one_in);
		});
}

} // namespace

TEST_CASE("shared: who goes before whom, 3 threads", "[shared]")
{
	all_pass(3, part::convoys);
}

TEST_CASE("shared: who goes before whom, 8 threads", "[shared]")
{
	all_pass(8, part::convoys);
}

TEST_CASE("shared: writers alone, readers together, 2 threads", "[shared]")
{
	all_pass(2, part::contention);
	all_pass(2, part::contention, 2);
}

TEST_CASE("shared: writers alone, readers together, 8 threads", "[shared]")
{
	for (const unsigned write_one_in : {2u, 10u, 100u})
		all_pass(8, part::contention, write_one_in);
}

} // namespace shared_tests

/*
 * Uses the number of threads of the tests above, so templates are compiled
 * once.
 */
namespace control_tests {

namespace {

constexpr unsigned most_threads = 8;

void not_found(const tortured &lock)
{
	for (const bool parallel : {true, false}) {
		plan p = plan_to_find(parallel, 0);
		const result r = run_on_threads(lock, p);
		const char *wrong = fault(r);

		INFO(lock.name);
		INFO((wrong ? wrong : "passed"));
		CHECK(wrong == nullptr);
	}
}

} // namespace

/* A lock that stands still ends the program, with a message. */
TEST_CASE("busted: no correct lock is found", "[busted]")
{
	widths_of<all_locks<most_threads>>::for_each([]<typename Subject>() {
		not_found(tortured_as<Subject, torture<Subject, most_threads>>);
	});
	widths_of<all_shared_locks<most_threads>>::for_each(
		[]<typename Subject>() {
			using torture = shared_torture<Subject, most_threads>;

			not_found(tortured_as<Subject, torture>);
		});
}

} // namespace control_tests
