/* SPDX-License-Identifier: MIT */
/*
 * Every lock that readers share under real threads: readers together, writers
 * alone, who goes before whom; and those that are wrong are found.
 */
#include "crew.hpp"

#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/shared_torture.hpp>

#include <catch.hpp>

#include <memory>

using namespace native;

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
	all_shared_locks<most_threads>::for_each([=]<typename Subject>() {
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
