/* SPDX-License-Identifier: MIT */
/*
 * Load buffering: random programs against the enumerator, which leaves out the
 * rule that RC11 has against it.
 */
#include "reference/run.hpp"

#include <catch.hpp>

#include <random>

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

TEST_CASE("load buffering: the executions that brute force finds")
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

/* Where what is written depends on what is read there may be others. */
TEST_CASE("load buffering: no execution that brute force does not find")
{
	using enum klock::order;
	using enum reference::action;

	CHECK(compare({relaxed, relaxed, acquire, release},
		      {load, store, add, cas}, 200, false) > 2);
}

/* As brute force found two, in many more programs than are drawn here. */
TEST_CASE("load buffering: programs that are easily got wrong")
{
	using enum klock::order;
	using enum reference::action;
	const litmus some[] = {
		/* A load that is served again, by a later store. */
		{2,
		 {{{load, 1, relaxed, 0, 0},
		   {load, 0, relaxed, 0, 0},
		   {load, 1, relaxed, 0, 0},
		   {store, 0, relaxed, 7, 0},
		   {store, 0, relaxed, 9, 0}},
		  {{load, 0, relaxed, 0, 0},
		   {load, 0, relaxed, 0, 0},
		   {store, 1, relaxed, 6, 0},
		   {store, 1, relaxed, 8, 0}}}},
		/* Which of two is early: one cannot be. */
		{2,
		 {{{load, 0, acquire, 0, 0}, {store, 0, release, 9, 0}},
		  {{load, 0, relaxed, 0, 0},
		   {store, 1, release, 6, 0},
		   {load, 0, acquire, 0, 0}},
		  {{load, 1, relaxed, 0, 0}, {store, 0, release, 7, 0}}}},
		/* A place in the order of stores that seq_cst forbids. */
		{4,
		 {{{load, 0, relaxed, 0, 0}, {store, 1, relaxed, 1, 0}},
		  {{store, 2, seq_cst, 1, 0},
		   {load, 3, relaxed, 0, 0},
		   {load, 1, relaxed, 0, 0},
		   {store, 0, seq_cst, 1, 0}},
		  {{store, 0, seq_cst, 2, 0},
		   {load, 2, seq_cst, 0, 0},
		   {store, 3, relaxed, 1, 0}}}}};

	for (const litmus &l : some) {
		outcomes expected;
		model::result r;

		REQUIRE(enumerate(l, release_sequence::cxx20, 100'000, expected,
				  sc_axiom::rc11, machine::rc11,
				  causality::open));
		CHECK(run(l, {.load_buffering = true}, r) == expected);
		CHECK(r.load_buffered > 0);
	}
}
