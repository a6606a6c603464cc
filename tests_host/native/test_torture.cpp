/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the lists under real threads: exclusion, order, progress.
 */
#include <klock/selftest/shared_torture.hpp>

#include "../widths.hpp"
#include "threads.hpp"

#include <catch.hpp>

#include <memory>
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

template <typename Subject>
void passes(unsigned threads, part which)
{
	auto t = std::make_unique<torture<Subject, most_threads>>();
	plan p = plan_for(threads, which);

	p.cpus = participants<Subject>(threads);
	run_on_threads<Subject>(*t, p);
	check(t->outcome(), p);
}

void all_pass(unsigned threads, part which)
{
	widths_of<all_locks<most_threads>>::for_each(
		[&]<typename Subject>() { passes<Subject>(threads, which); });
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

template <typename Subject>
void passes(unsigned threads, part which, unsigned write_one_in)
{
	const bool convoys = which == part::convoys;
	auto t = std::make_unique<shared_torture<Subject, most_threads>>();
	const plan p = {.cpus = participants<Subject>(threads),
			.convoys = convoys ? 12u : 0u,
			.sections = convoys	  ? 40u
				    : threads > 2 ? 400u
						  : 4000u,
			.relaxes_a_word = 1,
			.relaxes_outside = 8,
			.try_one_in = convoys ? 0u : 8u,
			.seed = threads,
			.write_one_in = write_one_in};

	run_on_threads<Subject>(*t, p);
	const result r = t->outcome();
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
	CHECK(r.most_together == readers_of<Subject>(threads));
}

void all_pass(unsigned threads, part which, unsigned write_one_in = 4)
{
	widths_of<all_shared_locks<most_threads>>::for_each(
		[=]<typename Subject>() {
			passes<Subject>(threads, which, write_one_in);
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

/* As many threads as above: the templates are compiled once. */
namespace control_tests {

namespace {

constexpr unsigned most_threads = 8;

template <typename Subject, typename Torture>
void not_found()
{
	for (const bool parallel : {true, false}) {
		auto t = std::make_unique<Torture>();
		plan p = plan_to_find(parallel, 0);

		p.cpus = participants<Subject>(p.cpus);
		run_on_threads<Subject>(*t, p);
		INFO(Subject::name);
		const char *wrong = fault(t->outcome());
		INFO((wrong ? wrong : "passed"));
		CHECK(wrong == nullptr);
	}
}

} // namespace

/* One that stands still ends the program, and says so. */
TEST_CASE("busted: no correct lock is found", "[busted]")
{
	widths_of<all_locks<most_threads>>::for_each([]<typename Subject>() {
		not_found<Subject, torture<Subject, most_threads>>();
	});
	widths_of<all_shared_locks<most_threads>>::for_each(
		[]<typename Subject>() {
			not_found<Subject,
				  shared_torture<Subject, most_threads>>();
		});
}

} // namespace control_tests
