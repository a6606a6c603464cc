/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the list has as many executions as its row says, and none in
 * which two are inside at once, an update is lost, or somebody waits for ever.
 */
#include "lock_cases.hpp"
#include "lock_counts.hpp"

#include <klock/tas_lock.hpp>

using klock::selftest::all_locks;
using namespace worlds;

namespace {

/* A lock passes, in so many executions as this column of its row says. */
template <typename Subject>
void as_pinned(std::vector<unsigned> sections, u64 pinned::*column)
{
	const pinned *const p = pinned_of(Subject::name);
	const result r = counted_as<Subject>(sections);
	std::string size;

	for (unsigned s : sections)
		size += (size.empty() ? "{" : ", ") + std::to_string(s);
	INFO(the_table << ", " << Subject::name << ", sections " << size
		       << "}: " << r.complete << " found"
		       << (p ? "" : "; no row: lib/docs/add-a-lock.md"));
	good(r);
	CHECK(r.complete == (p ? p->*column : 0));
}

/* Two widths of a lock: of those with millions one is explored for both. */
bool is_of_one_lock(const std::string &a, const std::string &b)
{
	const auto width = a.find('<');

	return width != std::string::npos &&
	       a.substr(0, width) == b.substr(0, b.find('<'));
}

/* Whether a lock has too many executions for the quick tests. */
template <typename Subject>
bool has_many()
{
	const pinned *const p = pinned_of(Subject::name);

	return p && p->three >= many;
}

} // namespace

TEST_CASE("locks: two CPUs, two sections each, as many executions as pinned")
{
	for_each_lock<2>([]<typename Subject>() {
		as_pinned<Subject>(two_by_two(), &pinned::two);
	});
}

TEST_CASE("locks: three CPUs, two sections each, as many executions as pinned")
{
	all_locks<3>::for_each([]<typename Subject>() {
		INFO(Subject::name);
		if (!has_many<Subject>())
			as_pinned<Subject>(three_by_two(Subject::capacity),
					   &pinned::three);
		else
			good(counted_as<Subject>({2, 2, 1}));
	});
}

TEST_CASE("locks: the same, of those that have millions", "[.large]")
{
	const pinned *before = nullptr;

	all_locks<3>::for_each([&]<typename Subject>() {
		const pinned *const p = pinned_of(Subject::name);

		INFO(Subject::name);
		if (!has_many<Subject>() || p->three >= too_many)
			return;
		if (before && is_of_one_lock(before->name, p->name)) {
			CHECK(p->three == before->three);
			return;
		}
		as_pinned<Subject>(three_by_two(Subject::capacity),
				   &pinned::three);
		before = p;
	});
}

TEST_CASE("locks: the same, of those that take minutes", "[.largest]")
{
	all_locks<3>::for_each([]<typename Subject>() {
		const pinned *const p = pinned_of(Subject::name);

		if (p && p->three >= too_many)
			as_pinned<Subject>(three_by_two(Subject::capacity),
					   &pinned::three);
	});
}

TEST_CASE("locks: four CPUs, as many executions as pinned")
{
	for_each_lock<4>([]<typename Subject>() {
		as_pinned<Subject>(four_by_one(), &pinned::four);
	});
}

TEST_CASE("locks: a row that is missing or wrong is named and told")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using newcomer = subject<"new_lock", klock::tas_lock, service::none>;
	const pinned wrong{"new_lock", 6, 91, 24}, right{"new_lock", 6, 90, 24};
	const std::string table =
		"counts[] in tests_host/model/lock_counts.hpp ";
	const std::string found = "\n\tfound: {\"new_lock\", 6, 90, 24},";

	CHECK(wrong_counts<newcomer>() ==
	      table + "has no row for new_lock" + found);
	CHECK(wrong_counts<newcomer>(&wrong) ==
	      table + "is wrong about new_lock" +
		      "\n\tsays:  {\"new_lock\", 6, 91, 24}," + found);
	CHECK(wrong_counts<newcomer>(&right) == "");
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
			 .patient = everybody,
			 .sequence = model::release_sequence::rc11});
		good(r);
		CHECK(r.complete == expected);
	};

	for_each_lock<2>([&]<typename Subject>() {
		if (const pinned *p = pinned_of(Subject::name))
			count.template operator()<Subject>(two_by_two(),
							   p->two);
	});
	for_each_lock<3>([&]<typename Subject>() {
		if (const pinned *p = pinned_of(Subject::name))
			count.template operator()<Subject>(three_by_two(3),
							   p->three);
	});
	for_each_lock<4>([&]<typename Subject>() {
		if (const pinned *p = pinned_of(Subject::name))
			count.template operator()<Subject>(four_by_one(),
							   p->four);
	});
}
