/* SPDX-License-Identifier: MIT */
/*
 * Who is served before whom, in every execution. A lock that promises an order
 * keeps it; one that promises none is seen to break it, which shows that the
 * tests can tell.
 */
#include "lock_worlds.hpp"

#include <klock/selftest/busted.hpp>

#include <catch.hpp>

using klock::selftest::all_locks;
using klock::selftest::queues;
using klock::selftest::service;
using namespace worlds;

namespace {

/*
 * CPU 0 enters `sections` times; how often, at most, it enters knowing that CPU
 * 1 has come and not been served. With a third CPU where cpus is 3.
 */
template <typename Subject>
unsigned most_bypasses(unsigned cpus, unsigned sections, result &r)
{
	using world = queue<Subject>;
	std::vector<unsigned> sizes(cpus, 1);
	unsigned most = 0;

	sizes[0] = sections;
	r = model::explore<world>(
		{.sections = sizes, .patient = everybody},
		[](world &w, unsigned cpu) {
			if (cpu == 1)
				w.come(cpu);
			else if (cpu == 2)
				w.section(w.who[cpu]);
			else {
				w.who[cpu].lock(w.lock);
				if (w.came.load_acquire() && !w.served.get())
					w.bypassed++;
				w.who[cpu].unlock(w.lock);
			}
		},
		[&most](world &w) { most = std::max(most, w.bypassed); });
	return most;
}

} // namespace

TEST_CASE("fairness: first come, first served, where promised and nowhere else")
{
	all_locks<3>::for_each([]<typename Subject>() {
		if constexpr (Subject::capacity >= 3) {
			const auto r = first_come_first_served<Subject>();
			INFO(Subject::name << " " << r.complete << " "
					   << r.message << "\n"
					   << r.timeline);
			if (queues(Subject::order_of_service)) {
				CHECK(r.ok());
				CHECK(r.exhaustive);
				CHECK(r.complete > 1);
			} else {
				CHECK(r.found == model::bug::failed_check);
			}
		}
	});
}

TEST_CASE("fairness: a stack that claims to be a queue is found")
{
	using lifo =
		klock::selftest::subject<"lifo", klock::selftest::busted::lifo,
					 service::fifo>;

	/* Two in the stack and one inside: CPU 2, CPU 0, CPU 1. */
	CHECK(first_come_first_served<lifo>().found ==
	      model::bug::failed_check);
}

TEST_CASE("fairness: a waiter is bypassed so often, and no more")
{
	all_locks<2>::for_each([]<typename Subject>() {
		result r;
		const unsigned most = most_bypasses<Subject>(2, 4, r);

		INFO(Subject::name << ", 2 CPUs: " << most << ", " << r.complete
				   << " " << r.message);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		/* None: as often as it tries. Others: who was ahead. */
		if (Subject::order_of_service == service::none)
			CHECK(most == 4);
		else
			CHECK(most == 1);
	});
}

TEST_CASE("fairness: of three, a tree's waiter is bypassed without bound")
{
	all_locks<3>::for_each([]<typename Subject>() {
		if constexpr (Subject::capacity >= 3) {
			result r;
			const unsigned most = most_bypasses<Subject>(3, 3, r);

			INFO(Subject::name << ", 3 CPUs: " << most << ", "
					   << r.complete << " " << r.message);
			CHECK(r.ok());
			CHECK(r.exhaustive);
			/*
			 * The tree: while CPU 2, ahead at their node, is slow
			 * to climb, CPU 0 passes at the root as often as it
			 * likes.
			 */
			if (queues(Subject::order_of_service))
				CHECK(most == 1);
			else
				CHECK(most == 3);
		}
	});
}
