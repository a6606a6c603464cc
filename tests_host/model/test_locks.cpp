/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the list, in every execution of a few CPUs: nobody is inside
 * with another, what one leaves the next sees, nobody waits for ever.
 */
#include "lock_worlds.hpp"

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>

#include <catch.hpp>

#include <cstring>
#include <type_traits>

using klock::u32;
using klock::selftest::all_locks;
using namespace worlds;

namespace {

/*
 * Complete executions: what RC11 allows each algorithm, and so what any checker
 * that leaves nothing out and counts nothing twice must find.
 *
 * Where the order of entry decides an execution there are 4! / 2!^2 = 6, then
 * 6! / 2!^3 = 90 and 4! = 24: padded tickets, flags, CLH, test-and-set.
 * Anderson's has a few more: bringing its counter back falls between draws.
 * The compact tickets have many more, as their two counters are one location,
 * whose modification order also says how draws lie between unlocks; apart, they
 * have the padded one's (below). MCS: a leaver that finds its successor late.
 * Test, test-and-set: how often each looked in vain.
 */
struct pinned {
	const char *name;
	u64 two;   /* {2,2} */
	u64 three; /* {2,2,2}; {3,3} for a lock of two */
	u64 four;  /* {1,1,1,1}; none for a lock of two */
};

/* From here on it takes ten seconds and more. */
constexpr u64 many = 1'000'000;

const pinned counts[] = {
	{"ticket_lock<u8>", 168, 102204, 3360},
	{"ticket_lock<u16>", 168, 102204, 3360},
	{"ticket_lock<u32>", 168, 102204, 3360},
	{"narrow_ticket_lock<2>", 168, 102204, 3360},
	{"narrow_ticket_lock<3>", 168, 102204, 3360},
	{"narrow_ticket_lock<4>", 168, 102204, 3360},
	{"padded_ticket_lock<u8>", 6, 90, 24},
	{"padded_ticket_lock<u32>", 6, 90, 24},
	{"proportional_ticket_lock<u8>", 168, 102204, 3360},
	{"proportional_ticket_lock<u32>", 168, 102204, 3360},
	{"tas_lock", 6, 90, 24},
	{"ttas_lock", 118, 897000, 20760},
	{"backoff_ttas_lock", 248, 5753550, 76032},
	{"anderson_lock", 10, 198, 24},
	{"graunke_thakkar_lock", 6, 90, 24},
	{"mcs_lock", 78, 17670, 1080},
	{"clh_lock", 6, 90, 24},
	{"peterson_lock", 48, 588, 0},
	{"tournament_lock", 48, 11904, 768},
	{"bakery_lock", 226, 2391496, 263664},
};

const pinned *pinned_of(const char *name)
{
	for (const pinned &p : counts)
		if (std::strcmp(p.name, name) == 0)
			return &p;
	return nullptr;
}

void good(const result &r)
{
	UNSCOPED_INFO(r.complete << " complete, " << r.blocked << " blocked, "
				 << r.time << " s " << r.message << "\n"
				 << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 1);
}

/* So many sections served: any counter's value, at its own width. */
struct served {
	u64 sections;
	template <klock::counter T>
	operator T() const
	{
		return static_cast<T>(sections);
	}
};

template <typename Subject>
inline constexpr bool counts_sections =
	std::is_constructible_v<typename Subject::lock, served>;

/* For each lock that so many CPUs may take. */
template <unsigned Cpus, typename Visit>
void for_each_lock(Visit visit)
{
	all_locks<Cpus>::for_each([&]<typename Subject>() {
		if constexpr (Subject::capacity >= Cpus) {
			INFO(Subject::name << ", " << Cpus << " CPUs");
			visit.template operator()<Subject>();
		}
	});
}

} // namespace

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

TEST_CASE("locks: with C++20's release sequences, and pairs split")
{
	all_locks<3>::for_each([]<typename Subject>() {
		std::vector<unsigned> sections = {2, 2};
		if (Subject::capacity > 2)
			sections.push_back(1);
		INFO(Subject::name);
		good(exclusion<Subject>(
			{.sections = sections,
			 .split_pairs = true,
			 .sequence = model::release_sequence::cxx20}));
	});
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
			good(tries_mixed_in<Subject>(
				{.sections = {2, 1, 1}, .split_pairs = true}));
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

	return model::explore<world>(
		{.sections = {2, 2}}, guarded<Guard, world>,
		[](world &w) { model::check(w.count.get() == 4); });
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
		REQUIRE(p != nullptr);
		CHECK(plain.complete == p->two);
		CHECK(irq.complete == p->two);
	});
}

/* -- Capacity ---------------------------------------------------------------
 */

TEST_CASE("locks: as many CPUs as the capacity pass, one more is found")
{
	all_locks<4>::for_each([]<typename Subject>() {
		if constexpr (klock::plain_lock<typename Subject::lock>) {
			if (Subject::capacity != 4 && !bits<Subject>(2))
				return;
			options how{.sections = {1, 1, 1, 1},
				    .counter_bits = bits<Subject>(2)};
			INFO(Subject::name);
			good(exclusion<Subject>(how));
			how.sections.push_back(1);
			CHECK(exclusion<Subject>(how).found ==
			      model::bug::data_race);
		}
	});
}

TEST_CASE("locks: three bits hold 8, not 9")
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
	all_locks<2>::for_each([]<typename Subject>() {
		INFO(Subject::name);
		for (const bool split : {false, true})
			good(exclusion<Subject>(
				{.sections = {4, 1},
				 .split_pairs = split,
				 .counter_bits = bits<Subject>(2)}));
	});
}
