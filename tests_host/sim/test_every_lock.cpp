/* SPDX-License-Identifier: MIT */
/*
 * Every lock at every size: it comes to an end, nobody overlaps, who promises
 * order keeps it; test_identical.cmake: all of it is the same the next time.
 */
#include "every_lock.hpp"

#include <sim/table.hpp>

#include <catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>

#ifdef KLOCK_OTHER_WIDTHS
#include <operations/values.hpp>
#endif

using namespace klock;
using namespace sim;

namespace {

/* Bypasses that a FIFO lock may show: before its doorway, never behind it. */
constexpr double most_on_the_way = 0.5;

selftest::service promised(const std::string &name)
{
	auto found = selftest::service::none;

	selftest::all_locks<8>::for_each([&]<typename Subject>() {
		if (name == Subject::name)
			found = Subject::order_of_service;
	});
	return found;
}

} // namespace

namespace {

void each_is_sound(const std::vector<figures> &rows)
{
	for (const figures &f : rows) {
		CAPTURE(f.lock, f.cpus, f.stuck);
		CHECK(f.stuck.empty());
		CHECK(f.overlaps == 0);
		CHECK(f.acquisitions >= 512);
		if (promised(f.lock) == selftest::service::fifo)
			CHECK(f.bypasses < most_on_the_way);
	}
}

} // namespace

TEST_CASE("every lock: at 2 to 128 CPUs")
{
	each_is_sound(every_lock_measured(128).rows);
}

#ifdef KLOCK_OTHER_WIDTHS
TEST_CASE("every lock: at 2 to 1,024 CPUs, in time")
{
	const std::vector<figures> &rows = every_lock_measured(1024).rows;

	each_is_sound(rows);
	CHECK(rows.size() > 90);
	CHECK(rows.back().cpus == 1024);
	CHECK(every_lock_measured(1024).seconds < 60);

	/* test_identical.cmake reads these files. */
	const std::string folder = KLOCK_SIM_MEASURED;
	std::filesystem::create_directories(folder);
	CHECK(std::ofstream(folder + "/table.txt") << text(rows));
	CHECK(std::ofstream(folder + "/table.md") << markdown(rows));
	CHECK(std::ofstream(folder + "/table.csv") << csv(rows));
}

TEST_CASE("every lock: to 128 CPUs, twice the same in one process")
{
	const std::vector<figures> again =
		measure_every_lock(xeon_8180, first::small, 128);
	std::vector<figures> rows = every_lock_measured(1024).rows;

	CHECK(again.size() > 40);
	REQUIRE(rows.size() > again.size());
	rows.resize(again.size());
	CHECK(csv(again) == csv(rows));
}

TEST_CASE("operations: a simulated CPU computes what the name says")
{
	simulator s(xeon_8180, 1);
	klock::tests::report r;

	const auto out =
		s.run([&](unsigned) { r = klock::tests::try_all_values(); });
	INFO(out.stuck);
	CHECK(out.finished);
	INFO(r.operation << " of " << r.bytes << " bytes: found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 100'000);
}
#endif

namespace {

/*
 * Counts the tickets that were passed over, by the turn that each holder
 * leaves: on its own turn it moves by one. The look costs no simulated time.
 */
template <typename Lock>
struct turn_watched;
template <typename Counter>
struct turn_watched<preemptable_ticket_lock<Counter>>
    : preemptable_ticket_lock<Counter> {
	static inline u64 passed;

	turn_watched() { passed = 0; }
	void lock()
	{
		Counter held;

		preemptable_ticket_lock<Counter>::lock();
		std::memcpy(&held, static_cast<const void *>(&this->state),
			    sizeof(held));
		const Counter moved = static_cast<Counter>(held - left) / 2;

		passed += moved ? moved - 1 : 0;
		left = static_cast<Counter>(held - 1);
	}

      private:
	Counter left = 0;
};

} // namespace

/* A CPU looks before it takes a ticket: the first to come may be the second. */
TEST_CASE("every lock: in turn, where all run and patience outlasts a handoff")
{
	unsigned seen = 0;
	const auto check = [&]<typename Subject>(unsigned cpus) {
		using watched = turn_watched<typename Subject::lock>;
		const figures f = measure<watched>(Subject::name, xeon_8180,
						   {.cpus = cpus});
		CAPTURE(f.lock, f.cpus);
		CHECK(f.stuck.empty());
		CHECK(watched::passed == 0);
		CHECK(f.bypassed_most <= 1);
		seen++;
	};

	tested<selftest::all_locks<128>>::for_each([&]<typename Subject>() {
		if constexpr (Subject::order_of_service ==
			      selftest::service::fifo_if_all_run)
			for (const unsigned cpus : {2u, 8u, 32u, 64u, 128u})
				if (cpus <= Subject::capacity)
					check.template operator()<Subject>(
						cpus);
	});
	CHECK(seen >= 4);
}

TEST_CASE("every lock: another machine, other cycles, the same shape")
{
	const workload w = {.cpus = 64};
	const figures one = measure<mcs_lock>("", xeon_8180, w);
	const figures other = measure<mcs_lock>("", xeon_e5_2699v3, w);

	CHECK(one.cycles > 1.1 * other.cycles);
	CHECK(one.misses < 1.1 * other.misses);
	CHECK(other.misses < 1.1 * one.misses);
}
