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

	for (const kind &k : tested<3>()) {
		std::vector<unsigned> sections = {2, 2};
		if (k.capacity > 2)
			sections.push_back(1);
		INFO(k.name);
		for (const auto by :
		     {release_sequence::cxx20, release_sequence::rc11})
			good(exclusion(k, {.sections = sections,
					   .patient = everybody,
					   .split_pairs = true,
					   .sequence = by}));
	}
}

/* The bakery's looks at numbers are such loads; they do not harm it. */
TEST_CASE("locks: none breaks by load buffering, which ISO C++ leaves open",
	  "[deep]")
{
	model::u64 met = 0;

	for (const kind &k : tested<3>()) {
		const bool of_two = k.capacity == 2;
		const result r =
			exclusion(k, {.sections = std::vector<unsigned>(
					      of_two ? 2 : 3, of_two ? 2 : 1),
				      .patient = everybody,
				      .load_buffering = true});

		INFO(k.name);
		good(r);
		met += r.load_buffered;
	}
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
		const result split =
			exclusion(kind_of<compact>,
				  {.sections = sections, .split_pairs = true});
		const result apart =
			exclusion(kind_of<padded>, {.sections = sections});
		good(split);
		CHECK(split.complete == apart.complete);
		CHECK(split.blocked == apart.blocked);
	}
}

TEST_CASE("locks: nodes on the CPUs' stacks, new for each section")
{
	for_each_lock<3>([](const kind &k) {
		if (k.node_on_stack) {
			good(exclusion_on_stack(k, {.sections = {2, 2}}));
			good(exclusion_on_stack(k, {.sections = {2, 2, 1}}));
		}
	});
}

TEST_CASE("locks: uneven sections, from every count around the wrap")
{
	for_each_lock<3>([](const kind &k) {
		if (k.counts_sections) {
			const u64 wrap = k.capacity;
			for (u64 start = wrap - 2; start <= wrap + 1; start++) {
				INFO("from " << start % wrap);
				for (const auto &sections :
				     std::vector<std::vector<unsigned>>{
					     {4, 1}, {1, 3}, {2, 1, 1}})
					good(exclusion_from(
						k, {.sections = sections},
						served{start}));
			}
		}
	});
}

TEST_CASE("locks: try_lock mixed in")
{
	for_each_lock<3>([](const kind &k) {
		if (k.by.try_lock) {
			good(tries_mixed_in(k, {.sections = {2, 2}}));
			good(tries_mixed_in(k, {.sections = {2, 1, 1}}));
			if (k.splits_tries)
				good(tries_mixed_in(k, {.sections = {2, 1, 1},
							.split_pairs = true}));
		}
	});
}

TEST_CASE("locks: try_lock does not fail while the lock is free")
{
	for_each_lock<3>([](const kind &k) {
		if (k.by.try_lock) {
			good(tries_only(k, {.sections = {1, 1}}));
			good(tries_only(k, {.sections = {1, 1, 1}}));
			const auto r =
				try_after_unlock(k, {.sections = {1, 1}});
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
template <typename Subject, template <typename> typename Guard>
void guarded(counted &w, unsigned cpu)
{
	using lock = typename Subject::lock;
	auto &it = w.lock.as<lock>();

	if constexpr (klock::cpu_lock<lock>) {
		Guard<lock> held(it, cpu);
		w.add();
	} else if constexpr (klock::node_lock<lock> &&
			     !klock::stack_node_lock<lock>) {
		/* All that who takes it brings along. */
		Guard<lock> held(it, w.who.as<typename lock::node>(cpu));
		w.add();
	} else {
		Guard<lock> held(it);
		w.add();
	}
}

/* Of each lock, in tested<2>()'s order. */
using guard_user = void (*)(counted &, unsigned cpu);

template <template <typename> typename Guard>
std::vector<guard_user> users()
{
	std::vector<guard_user> all;

	tested_locks<2>::for_each([&all]<typename Subject>() {
		all.push_back(guarded<Subject, Guard>);
	});
	return all;
}

result by_guard(const kind &k, guard_user section)
{
	return explore<counted>(
		k, {.sections = {2, 2}, .patient = everybody},
		[section](counted &w, unsigned cpu) { section(w, cpu); },
		[](counted &w) { w.all_counted(4); });
}

} // namespace

TEST_CASE("locks: by guard and by irq_guard")
{
	for (const auto &by :
	     {users<klock::guard>(), users<klock::irq_guard>()})
		for (std::size_t i = 0; i < by.size(); i++) {
			const kind &k = tested<2>()[i];
			const pinned *const p = pinned_of(k.name);
			const result r = by_guard(k, by[i]);

			INFO(k.name);
			good(r);
			CHECK((!p || r.complete == p->two));
		}
}

/* -- Capacity ---------------------------------------------------------------
 */

TEST_CASE("locks: as many CPUs as the capacity pass, one more is found")
{
	for (const kind &k : tested<4>()) {
		if (k.plain) {
			if (k.capacity != 4 && !bits(k, 2))
				continue;
			options how{.sections = {1, 1, 1, 1},
				    .counter_bits = bits(k, 2)};
			INFO(k.name);
			good(exclusion(k, how));
			how.sections.push_back(1);
			CHECK(exclusion(k, how).found == k.one_too_many);
		}
	}
}

TEST_CASE("locks: three bits hold 8, not 9", "[deep]")
{
	using padded =
		klock::selftest::subject<"", klock::padded_ticket_lock<u8>,
					 klock::selftest::service::fifo>;
	const std::vector<unsigned> eight(8, 1), nine(9, 1);

	const auto r = exclusion(kind_of<padded>,
				 {.sections = eight, .counter_bits = 3});
	good(r);
	CHECK(r.complete == 40320);
	CHECK(exclusion(kind_of<padded>, {.sections = nine, .counter_bits = 3})
		      .found == model::bug::data_race);
}

TEST_CASE("locks: uneven sections over a whole wrap of two bits")
{
	for (const kind &k : tested<2>()) {
		INFO(k.name);
		for (const bool split : {false, true})
			good(exclusion(k, {.sections = {4, 1},
					   .split_pairs = split,
					   .counter_bits = bits(k, 2)}));
	}
}
