/* SPDX-License-Identifier: MIT */
/*
 * counted_lock and what it is made of, in every execution: no acquisition is
 * lost, no wait is counted twice, and who looks meanwhile sees whole figures.
 */
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "../checker/verdict.hpp"
#include "lock_worlds.hpp"

#include <catch.hpp>

using namespace klock;
using model::check;
using model::result;

namespace {

/* Out of the list, which outlives every execution. */
template <typename L>
struct mortal : counted_lock<L, "lock"> {
	~mortal() { this->forget_counts(); }
};

count_view view_of_those(bool shared)
{
	count_view view = {};

	for_each_count([&](const count_view &one) {
		if (one.shared == shared)
			view = one;
	});
	return view;
}

/* A guard takes it. */
template <typename L>
constexpr worlds::kind counted =
	worlds::describe<mortal<L>,
			 worlds::guarding<mortal<L>, guard<mortal<L>>>>("lock");

/* The number of executions in which so many acquisitions waited. */
unsigned writes[4], reads[4];

/* Compares the reports with what was done: CPU 0 writes, where others read. */
template <typename L>
void count_reports(worlds::lock_of_kind &lock, unsigned)
{
	const auto &now = worlds::world::alive->now;
	const unsigned readers = now.any_reads ? now.all_sections - 1 : 0;
	const unsigned writers = now.all_sections - readers;

	lock.as<mortal<L>>().list_counts();
	const count_view to_read = view_of_those(true);
	const count_view to_write = view_of_those(false);

	check(to_write.acquired == writers, "a write is lost");
	check(readers || to_write.contended < writers, "who came first waited");
	check(to_read.acquired == readers, "a read is lost");
	writes[to_write.contended]++;
	reads[to_read.contended]++;
}

template <typename L>
void counts(const char *roles, const model::options &how = {})
{
	std::fill_n(writes, std::size(writes), 0);
	std::fill_n(reads, std::size(reads), 0);
	verdict::right(worlds::play({.lock = counted<L>,
				     .roles = roles,
				     .at_rest = count_reports<L>},
				    how));
}

} // namespace

TEST_CASE("counted_lock: counts are exact, whoever comes when")
{
	counts<ticket_lock<u8>>("ll", {.sections = {2, 2}});
	CHECK(writes[0] > 0);
	CHECK(writes[1] > 0);
	CHECK(writes[2] > 0);
	counts<tas_lock>("lll");
}

namespace {

/* In some executions nobody waits, in some the second does. */
template <typename L>
void says_where_it_waits()
{
	counts<L>("ll");
	CHECK(writes[0] > 0);
	CHECK(writes[1] > 0);
}

} // namespace

TEST_CASE("counted_lock: counts of locks that say where they wait")
{
	says_where_it_waits<mcs_lock>();
	says_where_it_waits<padded_ticket_lock<u8>>();
	says_where_it_waits<rw_ticket_lock<u8>>();
	says_where_it_waits<phase_fair_lock<u8>>();
	says_where_it_waits<reader_lock<2>>();
}

namespace {

/* CPU 0 writes, the others read: with it, or with each other. */
template <typename L>
void counts_readers(const char *roles)
{
	counts<L>(roles);
	for (unsigned waited = 0; roles[waited]; waited++)
		CHECK(reads[waited] > 0);
	CHECK(writes[1] > 0);
}

} // namespace

TEST_CASE("counted_lock: counts of readers, who come at once")
{
	counts_readers<rw_ticket_lock<u8>>("lrr");
	counts_readers<phase_fair_lock<u8>>("lr");
	counts_readers<reader_lock<3>>("lr");
}

TEST_CASE("counted_lock: counts of two readers, who come at once", "[deep]")
{
	counts_readers<phase_fair_lock<u8>>("lrr");
	counts_readers<reader_lock<3>>("lrr");
}

TEST_CASE("counted_lock: order of service, first come, first served")
{
	using subject = selftest::subject<"counted", mortal<ticket_lock<u8>>,
					  selftest::service::fifo>;
	const result r =
		worlds::first_come_first_served(worlds::kind_of<subject>);

	verdict::good(r);
}

namespace {

/*
 * The worlds below are of what a counted_lock is made of: no lock is taken, and
 * so no role says what a CPU does.
 *
 * CPU 0 counts a wait of 7 cycles, resets, counts one of 5; CPU 1 looks.
 */
struct epochs {
	epochs() : first(counted_locks.epoch.load_relaxed())
	{
		counts.list(waits, "lock");
	}
	~epochs() { counted_locks.remove(counts); }

	void count(u64 cycles)
	{
		counts.prepare(waits, "lock");
		waits.count(cycles);
	}

	u32 first;
	lock_counts counts;
	wait_counts waits;
};

} // namespace

TEST_CASE("counted_lock: counts after a reset are of none before it")
{
	const result r = model::explore<epochs>(
		{.sections = {1, 1}}, [](epochs &w, unsigned cpu) {
			if (cpu == 0) {
				w.count(7);
				reset_counts();
				w.count(5);
				return;
			}
			const bool is_reset =
				counted_locks.epoch.load_relaxed() != w.first;
			const count_view seen = detail::view_of(w.counts);

			if (is_reset)
				check(seen.waited == 0 || seen.waited == 5);
		});

	verdict::right(r);
}

namespace {

/* Two come, of whom one goes, and one looks. */
struct listing {
	~listing()
	{
		for (lock_counts &one : all)
			counted_locks.remove(one);
	}

	lock_counts all[2];
	wait_counts waits[2];
};

} // namespace

TEST_CASE("counted_lock: counts come into the list and leave it, any time")
{
	const result r = model::explore<listing>(
		{.sections = {1, 1, 1}},
		[](listing &w, unsigned cpu) {
			if (cpu == 2)
				return counted_locks.for_each(
					[](lock_counts &one) {
						check(one.called.load_relaxed(),
						      "a lock without a name");
					});
			w.all[cpu].list(w.waits[cpu], "lock");
			if (cpu == 0)
				counted_locks.remove(w.all[0]);
		},
		[](listing &) {
			unsigned found = 0;

			counted_locks.for_each([&](lock_counts &) { found++; });
			check(found == 1, "one is left, or lost");
		});

	verdict::right(r);
}

namespace {

struct counting {
	split_count<u8> count;
};

} // namespace

TEST_CASE("wide_count: who reads while it grows past its lower half sees no "
	  "other")
{
	const result r = model::explore_from(
		{.sections = {3, 1}}, [] { return counting(); },
		[](counting &w, unsigned cpu) {
			if (cpu == 0) {
				const u64 now = w.count.get();

				w.count.add(60);
				check(w.count.get() == now + 60);
				return;
			}
			const u64 seen = w.count.get();

			check(seen % 60 == 0 && seen <= 180);
		},
		[](counting &w) { check(w.count.get() == 180); });

	verdict::good(r);
}
