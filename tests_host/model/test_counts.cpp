/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the list has as many executions as its row says, and none in
 * which two are inside at once, an update is lost, or somebody waits for ever.
 */
#include "lock_cases.hpp"
#include "lock_counts.hpp"

using klock::selftest::all_locks;
using namespace worlds;

TEST_CASE("locks: two CPUs, two sections each, as many executions as pinned")
{
	for_each_lock<2>([]<typename Subject>() {
		const pinned *p = pinned_of(Subject::name);
		const result r = exclusion<Subject>({.sections = {2, 2}});

		good(r);
		REQUIRE(p != nullptr);
		CHECK(r.complete == p->two);
	});
}

namespace {

template <typename Subject>
void three_by_two()
{
	const pinned *p = pinned_of(Subject::name);
	const bool two = Subject::capacity == 2;
	const options how{.sections = two ? std::vector<unsigned>{3, 3}
					  : std::vector<unsigned>{2, 2, 2}};
	const result r = exclusion<Subject>(how);

	good(r);
	CHECK(r.complete == p->three);
}

} // namespace

TEST_CASE("locks: three CPUs, two sections each, as many executions as pinned")
{
	all_locks<3>::for_each([]<typename Subject>() {
		const pinned *p = pinned_of(Subject::name);

		INFO(Subject::name);
		REQUIRE(p != nullptr);
		if (p->three < many)
			three_by_two<Subject>();
		else
			good(exclusion<Subject>({.sections = {2, 2, 1}}));
	});
}

TEST_CASE("locks: the same, of those that have millions", "[.large]")
{
	all_locks<3>::for_each([]<typename Subject>() {
		const pinned *p = pinned_of(Subject::name);

		INFO(Subject::name);
		REQUIRE(p != nullptr);
		if (p->three >= many)
			three_by_two<Subject>();
	});
}

TEST_CASE("locks: four CPUs, as many executions as pinned")
{
	for_each_lock<4>([]<typename Subject>() {
		const pinned *p = pinned_of(Subject::name);
		const result r = exclusion<Subject>({.sections = {1, 1, 1, 1}});

		good(r);
		REQUIRE(p != nullptr);
		CHECK(r.complete == p->four);
	});
}

/*
 * What C++20 took out of release sequences orders nothing in any lock: as many
 * executions with it as without. The largest are left out here.
 */
TEST_CASE("locks: as many executions with RC11's release sequences")
{
	const auto count = []<typename Subject>(std::vector<unsigned> sections,
						u64 expected) {
		INFO(Subject::name << ", " << sections.size() << " CPUs");
		if (expected > 110'000)
			return;
		const result r = exclusion<Subject>(
			{.sections = sections,
			 .sequence = model::release_sequence::rc11});
		good(r);
		CHECK(r.complete == expected);
	};

	for_each_lock<2>([&]<typename Subject>() {
		const u64 two = pinned_of(Subject::name)->two;
		count.template operator()<Subject>({2, 2}, two);
	});
	for_each_lock<3>([&]<typename Subject>() {
		const u64 three = pinned_of(Subject::name)->three;
		count.template operator()<Subject>({2, 2, 2}, three);
	});
	for_each_lock<4>([&]<typename Subject>() {
		const u64 four = pinned_of(Subject::name)->four;
		count.template operator()<Subject>({1, 1, 1, 1}, four);
	});
}
