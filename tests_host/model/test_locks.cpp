/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the list, in every execution of a few CPUs: nobody is inside
 * with another, what one leaves the next sees, nobody waits for ever.
 */
#include "lock_cases.hpp"
#include "lock_counts.hpp"

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>

using klock::u32;
using namespace worlds;

TEST_CASE("locks: pairs split, with either rule for release sequences",
	  "[deep]")
{
	using model::release_sequence;

	tested_locks<3>::for_each([]<typename Subject>() {
		std::vector<unsigned> sections = {2, 2};
		if (Subject::capacity > 2)
			sections.push_back(1);
		INFO(Subject::name);
		for (const auto by :
		     {release_sequence::cxx20, release_sequence::rc11})
			good(exclusion<Subject>({.sections = sections,
						 .patient = everybody,
						 .split_pairs = true,
						 .sequence = by}));
	});
}

/* The bakery's looks at numbers are such loads; they do not harm it. */
TEST_CASE("locks: none breaks by load buffering, which ISO C++ leaves open",
	  "[deep]")
{
	model::u64 met = 0;

	tested_locks<3>::for_each([&met]<typename Subject>() {
		const bool of_two = Subject::capacity == 2;
		const result r = exclusion<Subject>(
			{.sections = std::vector<unsigned>(of_two ? 2 : 3,
							   of_two ? 2 : 1),
			 .patient = everybody,
			 .load_buffering = true});

		INFO(Subject::name);
		good(r);
		met += r.load_buffered;
	});
	CHECK((met > 0 || visits_widths));
}

TEST_CASE("locks: pairs split have the padded ticket lock's executions")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using compact = subject<"", klock::ticket_lock<u8>, service::fifo>;
	using padded =
		subject<"", klock::padded_ticket_lock<u8>, service::fifo>;

	for (const auto &sections : std::vector<std::vector<unsigned>>{
		     {2, 2}, {3, 1}, {2, 2, 2}, {1, 1, 1, 1}}) {
		const result split = exclusion<compact>(
			{.sections = sections, .split_pairs = true});
		const result apart = exclusion<padded>({.sections = sections});
		good(split);
		CHECK(split.complete == apart.complete);
		CHECK(split.blocked == apart.blocked);
	}
}

TEST_CASE("locks: nodes on the CPUs' stacks, new for each section")
{
	for_each_lock<3>([]<typename Subject>() {
		if constexpr (klock::stack_node_lock<typename Subject::lock>) {
			good(exclusion_on_stack<Subject>({.sections = {2, 2}}));
			good(exclusion_on_stack<Subject>(
				{.sections = {2, 2, 1}}));
		}
	});
}

TEST_CASE("locks: uneven sections, from every count around the wrap")
{
	for_each_lock<3>([]<typename Subject>() {
		if constexpr (counts_sections<Subject>) {
			const u64 wrap = Subject::capacity;
			for (u64 start = wrap - 2; start <= wrap + 1; start++) {
				INFO("from " << start % wrap);
				for (const auto &sections :
				     std::vector<std::vector<unsigned>>{
					     {4, 1}, {1, 3}, {2, 1, 1}})
					good(exclusion_from<Subject>(
						{.sections = sections},
						served{start}));
			}
		}
	});
}

TEST_CASE("locks: try_lock mixed in")
{
	for_each_lock<3>([]<typename Subject>() {
		if constexpr (klock::try_lockable<typename Subject::lock>) {
			good(tries_mixed_in<Subject>({.sections = {2, 2}}));
			good(tries_mixed_in<Subject>({.sections = {2, 1, 1}}));
			if (try_can_split<typename Subject::lock>)
				good(tries_mixed_in<Subject>(
					{.sections = {2, 1, 1},
					 .split_pairs = true}));
		}
	});
}

TEST_CASE("locks: try_lock does not fail while the lock is free")
{
	for_each_lock<3>([]<typename Subject>() {
		if constexpr (klock::try_lockable<typename Subject::lock>) {
			good(tries_only<Subject>({.sections = {1, 1}}));
			good(tries_only<Subject>({.sections = {1, 1, 1}}));
			const auto r =
				try_after_unlock<Subject>({.sections = {1, 1}});
			INFO(r.timeline);
			CHECK(r.ok());
			CHECK(r.exhaustive);
			CHECK(r.complete >= 1);
		}
	});
}

/* -- Guards -----------------------------------------------------------------
 */

namespace {

/* The guard that a user would write for this kind of lock. */
template <template <typename> typename Guard, typename World>
void guarded(World &w, unsigned cpu)
{
	using lock = decltype(w.lock);

	if constexpr (klock::cpu_lock<lock>) {
		Guard<lock> held(w.lock, cpu);
		w.count.set(w.count.get() + 1);
	} else if constexpr (klock::node_lock<lock> &&
			     !klock::stack_node_lock<lock>) {
		Guard<lock> held(w.lock, w.node[cpu]);
		w.count.set(w.count.get() + 1);
	} else {
		Guard<lock> held(w.lock);
		w.count.set(w.count.get() + 1);
	}
}

struct no_node {};
template <typename L>
struct node_of {
	using type = no_node;
};
template <klock::node_lock L>
struct node_of<L> {
	using type = typename L::node;
};

template <typename Subject, template <typename> typename Guard>
result by_guard()
{
	struct world {
		typename Subject::lock lock;
		typename node_of<typename Subject::lock>::type node[2];
		klock::plain<unsigned> count;
	};

	return model::explore<world>({.sections = {2, 2}, .patient = everybody},
				     guarded<Guard, world>, [](world &w) {
					     model::check(w.count.get() == 4);
				     });
}

} // namespace

TEST_CASE("locks: by guard and by irq_guard")
{
	for_each_lock<2>([]<typename Subject>() {
		const pinned *p = pinned_of(Subject::name);
		const result plain = by_guard<Subject, klock::guard>();
		const result irq = by_guard<Subject, klock::irq_guard>();

		good(plain);
		good(irq);
		if (!p) /* test_counts.cpp says so */
			return;
		CHECK(plain.complete == p->two);
		CHECK(irq.complete == p->two);
	});
}

/* -- Capacity ---------------------------------------------------------------
 */

TEST_CASE("locks: as many CPUs as the capacity pass, one more is found")
{
	tested_locks<4>::for_each([]<typename Subject>() {
		if constexpr (klock::plain_lock<typename Subject::lock>) {
			if (Subject::capacity != 4 && !bits<Subject>(2))
				return;
			options how{.sections = {1, 1, 1, 1},
				    .counter_bits = bits<Subject>(2)};
			INFO(Subject::name);
			good(exclusion<Subject>(how));
			how.sections.push_back(1);
			CHECK(exclusion<Subject>(how).found ==
			      one_too_many<typename Subject::lock>);
		}
	});
}

TEST_CASE("locks: three bits hold 8, not 9", "[deep]")
{
	using padded =
		klock::selftest::subject<"", klock::padded_ticket_lock<u8>,
					 klock::selftest::service::fifo>;
	const std::vector<unsigned> eight(8, 1), nine(9, 1);

	const auto r =
		exclusion<padded>({.sections = eight, .counter_bits = 3});
	good(r);
	CHECK(r.complete == 40320);
	CHECK(exclusion<padded>({.sections = nine, .counter_bits = 3}).found ==
	      model::bug::data_race);
}

TEST_CASE("locks: uneven sections over a whole wrap of two bits")
{
	tested_locks<2>::for_each([]<typename Subject>() {
		INFO(Subject::name);
		for (const bool split : {false, true})
			good(exclusion<Subject>(
				{.sections = {4, 1},
				 .split_pairs = split,
				 .counter_bits = bits<Subject>(2)}));
	});
}
