/* SPDX-License-Identifier: MIT */
/*
 * The checker against the brute-force enumerator, on random small programs:
 * the same outcomes, each as often. A miss or a false alarm of either shows.
 */
#include "reference/rc11.hpp"

#include <catch.hpp>

#include <iterator>
#include <random>

namespace of_enumerator {

using namespace reference;

namespace {

/* A kind of programs to draw. */
struct profile {
	const char *name;
	unsigned threads, locations, ops;
	std::vector<order> orders;
	std::vector<action> actions;
	unsigned programs = 400;
	bool two_orders = false; /* of each compare-and-swap */
};

using enum action;
using enum klock::order;

const std::vector<order> any{relaxed, acquire, release, acq_rel, seq_cst};

const profile profiles[] = {
	{"relaxed", 3, 2, 7, {relaxed}, {load, store, exchange, cas}},
	{"release and acquire",
	 3,
	 2,
	 8,
	 {relaxed, acquire, release},
	 {load, store, store, add, cas}},
	{"release sequences",
	 3,
	 2,
	 8,
	 {relaxed, acquire, release, acq_rel},
	 {load, store, store, exchange, fence}},
	{"own stores",
	 2,
	 2,
	 7,
	 {relaxed, release, acquire},
	 {load, store, store},
	 1500},
	{"RMWs", 3, 1, 6, any, {exchange, add, cas, cas, load}},
	{"fences",
	 3,
	 2,
	 9,
	 {relaxed, seq_cst, acq_rel},
	 {load, store, fence, fence},
	 1500},
	{"SC", 4, 2, 8, {seq_cst, seq_cst, relaxed}, {load, load, store}, 1500},
	{"SC access and fence, two threads",
	 2,
	 2,
	 7,
	 {seq_cst},
	 {load, store, store, fence},
	 1500},
	{"SC mixed", 3, 3, 8, any, {load, store, fence, exchange}, 1500},
	{"SC fences and accesses",
	 4,
	 2,
	 9,
	 {seq_cst, seq_cst, acquire, release},
	 {load, store, fence},
	 1500},
	{"compare-and-swaps of two orders",
	 3,
	 2,
	 7,
	 any,
	 {cas, cas, store, load},
	 500,
	 true},
	{"RMWs of all kinds",
	 3,
	 1,
	 5,
	 any,
	 {subtract, bit_or, bit_and, bit_xor, add, load},
	 300},
	{"loops of loads", 3, 2, 7, any, {loads, store, store, load, add}, 200},
	{"loops of swaps", 3, 2, 7, any, {swaps, store, store, cas, load}, 200},
	{"loops of exchanges", 3, 2, 7, any, {exchanges, store, load}, 200},
	{"loops of two loads", 3, 2, 7, any, {pairs, store, store, add}, 200},
	{"loops, with SC fences",
	 3,
	 2,
	 8,
	 {seq_cst, relaxed},
	 {loads, swaps, store, store, fence, load},
	 200},
	{"waits", 3, 2, 7, any, {await, store, store, load, cas}, 1500},
};

/* An order that this action may have. */
order fit(action what, order o)
{
	const bool strong = o == acq_rel || o == release;

	const bool only_loads =
		what == load || what == await || what == loads || what == pairs;

	if (only_loads && strong)
		return acquire;
	if (what == store && (o == acq_rel || o == acquire))
		return release;
	return o;
}

litmus draw(const profile &p, std::mt19937 &random)
{
	const auto below = [&random](std::size_t n) {
		return static_cast<unsigned>(random() % n);
	};
	const auto pick = [&](auto &from) { return from[below(from.size())]; };
	litmus l{p.locations, std::vector<thread>(p.threads)};
	const unsigned ops = p.ops - below(3);

	for (unsigned i = 0; i < ops; i++) {
		const action what = pick(p.actions);
		op o{what, below(p.locations), fit(what, pick(p.orders)), i + 1,
		     0};
		if (what == cas)
			o.expected = below(2) ? 0 : below(ops) + 1;
		if (what == cas && p.two_orders)
			o.failed = fit(load, pick(any));
		if (what == await || what == loads)
			o.value = below(ops) + 1;
		if (what == swaps)
			o.expected = below(2) ? 0 : below(ops) + 1;
		if (what == pairs)
			o.expected = below(p.locations);
		if (p.actions[0] == exchanges && what != load)
			o.value = what == exchanges ? 1 : below(2);
		if (what == add)
			o.value = 100u << i;
		if (what == fence && o.ord == relaxed)
			o.ord = seq_cst;
		l.threads[below(p.threads)].push_back(o);
	}
	return l;
}

/* Compares so many programs; how many executions they had. */
u64 compare(const profile &p, model::options how, unsigned programs,
	    unsigned seed = 20260101)
{
	std::mt19937 random(seed);
	u64 executions = 0;

	for (unsigned done = 0; done < programs;) {
		const litmus l = draw(p, random);
		outcomes expected;

		if (!enumerate(l, how.sequence, 4000, expected, sc_axiom::rc11,
			       how.machine))
			continue; /* too many candidates for brute force */
		model::result r;
		const outcomes found = run(l, how, r);
		INFO(p.name << ", program " << done << "\n" << text(l));
		REQUIRE(r.exhaustive);
		REQUIRE(found == expected);
		executions += r.complete;
		done++;
	}
	return executions;
}

} // namespace

TEST_CASE("enumerator: some programs of each kind")
{
	const model::options others[] = {{.sequence = release_sequence::rc11},
					 {.machine = model::machine::sc},
					 {.machine = model::machine::x86}};

	for (const profile &p : profiles) {
		CHECK(compare(p, {}, 25) > 10);
		for (const model::options &how : others)
			CHECK(compare(p, how, 8) > 0);
	}
}

TEST_CASE("enumerator: the checker finds the executions that brute force finds",
	  "[deep]")
{
	for (const profile &p : profiles) {
		SECTION(p.name) { CHECK(compare(p, {}, p.programs) > 200); }
	}
}

TEST_CASE("enumerator: with RC11's release sequences too", "[deep]")
{
	const model::options rc11{.sequence = release_sequence::rc11};

	for (const profile &p : profiles) {
		SECTION(p.name) { CHECK(compare(p, rc11, 100) > 80); }
	}
}

TEST_CASE("enumerator: on machines, too", "[deep]")
{
	for (const auto on : {model::machine::sc, model::machine::x86})
		for (const profile &p : profiles)
			CHECK(compare(p, {.machine = on}, 30) > 10);
}

TEST_CASE("enumerator: random programs tell the release sequences apart",
	  "[deep]")
{
	const profile &p = profiles[3];
	const model::options rc11{.sequence = release_sequence::rc11};

	CHECK(p.name == std::string("own stores"));
	CHECK(compare(p, {}, p.programs) > compare(p, rc11, p.programs));
}

/* As in test_litmus.cpp, where it is the named programs that must agree. */
TEST_CASE("enumerator: no execution of ISO C++20 is left out for SC's sake",
	  "[deep]")
{
	for (const profile &p : profiles) {
		std::mt19937 random(20260102);

		if (std::string(p.name).find("SC") != 0)
			continue;
		for (unsigned i = 0; i < 600; i++) {
			const litmus l = draw(p, random);
			outcomes rc11, iso;

			if (!enumerate(l, release_sequence::cxx20, 600, rc11))
				continue;
			CHECK(enumerate(l, release_sequence::cxx20, 600, iso,
					sc_axiom::iso));
			for (const auto &[what, times] : iso) {
				INFO(text(l) << what);
				REQUIRE(rc11[what] >= times);
			}
		}
	}
}

TEST_CASE("enumerator: failed waits explored or not, the same comes out")
{
	CHECK(compare(std::end(profiles)[-1], {.stale_waits = true}, 200) >
	      200);
}

TEST_CASE("enumerator: ten thousand programs more", "[.large]")
{
	u64 executions = 0;

	for (const profile &p : profiles)
		executions += compare(p, {}, 600, 20260103);
	CHECK(std::size(profiles) * 600 >= 10'000);
	CHECK(executions > 10'000);
}

} // namespace of_enumerator

namespace of_load_buffering_random {

/*
 * Load buffering: random programs against the enumerator, which leaves out the
 * rule that RC11 has against it.
 */

namespace {

using namespace reference;

/* Stores of constants, so that nothing depends on what is read. */
litmus draw(std::mt19937 &random, const std::vector<order> &orders,
	    const std::vector<action> &actions)
{
	const auto below = [&random](std::size_t n) {
		return static_cast<unsigned>(random() % n);
	};
	litmus l{2, std::vector<thread>(2 + below(2))};
	const unsigned ops = 6 + below(2);

	for (unsigned i = 0; i < ops; i++) {
		const action what = actions[below(actions.size())];
		order o = orders[below(orders.size())];

		if (what == action::load &&
		    (o == order::release || o == order::acq_rel))
			o = order::acquire;
		if (what == action::store &&
		    (o == order::acquire || o == order::acq_rel))
			o = order::release;
		if (what == action::fence && o == order::relaxed)
			o = order::acq_rel;
		l.threads[below(l.threads.size())].push_back(
			{what, below(2), o, i + 1, 0});
	}
	/* Loads come first: what they may read comes after them. */
	for (thread &t : l.threads)
		if (t.size() > 1 && t.front().what == action::store)
			t.front() = {action::load, t.front().location,
				     order::relaxed, 0, 0};
	return l;
}

/* Executions beyond RC11 in so many programs, each the enumerator's. */
klock::u64 compare(const std::vector<order> &orders,
		   const std::vector<action> &actions, unsigned programs,
		   bool all_of_them = true)
{
	std::mt19937 random(20261122);
	klock::u64 beyond = 0;

	for (unsigned done = 0; done < programs;) {
		const litmus l = draw(random, orders, actions);
		outcomes expected;

		if (!enumerate(l, release_sequence::cxx20, 4000, expected,
			       sc_axiom::rc11, machine::rc11, causality::open))
			continue;
		model::result r;
		const outcomes found = run(l, {.load_buffering = true}, r);
		INFO("program " << done << "\n" << text(l));
		REQUIRE(r.exhaustive);
		for (const auto &[what, times] : found) {
			INFO(what);
			REQUIRE(expected[what] >= times);
		}
		if (all_of_them)
			REQUIRE(found == expected);
		beyond += r.load_buffered;
		done++;
	}
	return beyond;
}

} // namespace

TEST_CASE("load buffering: some programs")
{
	using enum klock::order;
	using enum reference::action;

	CHECK(compare({relaxed}, {load, store}, 300) > 20);
	CHECK(compare({relaxed, relaxed, acquire, release, acq_rel, seq_cst},
		      {load, load, store, fence, exchange}, 300) > 5);
}

TEST_CASE("load buffering: the executions that brute force finds", "[deep]")
{
	using enum klock::order;
	using enum reference::action;

	CHECK(compare({relaxed}, {load, store}, 3000) > 200);
	CHECK(compare({relaxed, relaxed, acquire, release},
		      {load, store, fence}, 3000) > 50);
	CHECK(compare({relaxed, seq_cst, seq_cst}, {load, load, store, fence},
		      3000) > 50);
	CHECK(compare({relaxed, relaxed, acq_rel}, {load, store, exchange},
		      300) > 20);
}

/* If a written value depends on a read one, brute force may find others. */
TEST_CASE("load buffering: no execution that brute force does not find",
	  "[deep]")
{
	using enum klock::order;
	using enum reference::action;

	CHECK(compare({relaxed, relaxed, acquire, release},
		      {load, store, add, cas}, 200, false) > 2);
}

} // namespace of_load_buffering_random
