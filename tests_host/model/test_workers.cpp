/* SPDX-License-Identifier: MIT */
/*
 * Work that processes share comes to what one of them comes to alone.
 */
#include "lock_cases.hpp"

using klock::atomic;
using klock::plain;
using klock::u8;
using model::bug;
using namespace worlds;

namespace model {
std::string progress_text(u64 executions, double seconds, double share);
}

namespace {

/* Three CPUs add four times each: 12! / 4!^3 executions. */
struct adders {
	atomic<u8> sum;
	plain<u8> data;
};

constexpr u64 ways = 34'650;

options by(unsigned workers)
{
	return {.sections = {4, 4, 4}, .workers = workers};
}

/* The same by two and three processes, and as many as there are cores. */
template <typename Explore>
void same_by_any(Explore explore)
{
	const result alone = explore(1);

	for (unsigned workers : {2u, 3u, 0u}) {
		const result r = explore(workers);
		INFO(workers << " workers\n" << r.timeline);
		CHECK(r.found == alone.found);
		CHECK(r.message == alone.message);
		CHECK(r.timeline == alone.timeline);
		CHECK(r.complete == alone.complete);
		CHECK(r.blocked == alone.blocked);
		CHECK(r.panicked == alone.panicked);
		CHECK(r.exhaustive == alone.exhaustive);
		CHECK(r.limit == alone.limit);
		CHECK(r.left_out == alone.left_out);
	}
}

} // namespace

TEST_CASE("workers: as many executions, whoever explores them")
{
	const auto add = [](unsigned workers) {
		return model::explore<adders>(
			by(workers), [](adders &w, unsigned) {
				(void)w.sum.fetch_add_relaxed(1);
			});
	};

	same_by_any(add);
	CHECK(add(2).complete == ways);
}

TEST_CASE("workers: as many of a lock's executions, complete and blocked")
{
	using klock::selftest::service;
	using mcs = klock::selftest::subject<"mcs_lock", klock::mcs_lock,
					     service::fifo>;

	same_by_any([](unsigned workers) {
		options how = by(workers);
		how.sections = {2, 2, 2};
		const result r = exclusion(kind_of<mcs>, how);
		CHECK(r.complete == 17'670);
		return r;
	});
}

TEST_CASE("workers: code that is run in every execution")
{
	unsigned turns = 0;

	same_by_any([&turns](unsigned workers) {
		return model::explore<adders>(
			by(workers), [&turns](adders &w, unsigned) {
				(void)w.sum.fetch_add_relaxed(1);
				turns++;
			});
	});
}

TEST_CASE("workers: a late fault is found as by one, and shown as well")
{
	const auto fault = [](unsigned workers) {
		return model::explore<adders>(
			by(workers), [](adders &w, unsigned cpu) {
				const u8 sum = w.sum.fetch_add_relaxed(1);
				if (cpu == 1 && sum == 0)
					w.data.set(0);
				if (cpu == 0 && sum == 9)
					(void)w.data.get();
			});
	};

	CHECK(fault(2).found == bug::data_race);
	CHECK(fault(2).ran > 0);
	CHECK(fault(1).complete > 2'000);
	same_by_any(fault);
}

TEST_CASE("workers: panics that are allowed are counted")
{
	same_by_any([](unsigned workers) {
		options how = by(workers);
		how.may_panic = true;
		const result r = model::explore<adders>(how, [](adders &w,
								unsigned cpu) {
			if (w.sum.fetch_add_relaxed(1) == 8 && cpu == 1)
				klock::panic("no_lock", &w, cpu, "the ninth");
		});
		CHECK(r.panicked > 2'000);
		return r;
	});
}

TEST_CASE("workers: what is left out of any worker's share is told")
{
	same_by_any([](unsigned workers) {
		options how = by(workers);
		how.preemptions = 4;
		const result r =
			model::explore<adders>(how, [](adders &w, unsigned) {
				(void)w.sum.fetch_add_relaxed(1);
			});
		CHECK(r.complete > 2'000);
		CHECK(r.left_out > 0);
		return r;
	});
}

TEST_CASE("workers: a limit of executions ends all of them, and says so")
{
	options how = by(2);
	how.max_executions = 10'000;
	const result r = model::explore<adders>(how, [](adders &w, unsigned) {
		(void)w.sum.fetch_add_relaxed(1);
	});

	CHECK(r.ok());
	CHECK_FALSE(r.exhaustive);
	CHECK(r.limit == "max_executions");
	CHECK(r.complete >= 10'000);
	CHECK(r.complete < ways);
}

TEST_CASE("workers: progress says how many, how fast, and what is left")
{
	CHECK(model::progress_text(1'234'567, 4, 0.0001) ==
	      "1,234,567 executions, 308,641 per second, under 0.1 %");
	CHECK(model::progress_text(900, 3, 0.05) ==
	      "900 executions, 300 per second, about 5.0 %, 57 s left");
	CHECK(model::progress_text(1'000, 2, 0.5) ==
	      "1,000 executions, 500 per second, about 50 %, 2 s left");
}
