/* SPDX-License-Identifier: MIT */
/*
 * Parts of the engine alone: the axioms on graphs that are built by hand, who
 * goes on, and who is held back. None of them runs an exploration.
 */
#include <model/engine/consistency.hpp>
#include <model/engine/scheduler.hpp>
#include <model/engine/symmetry.hpp>
#include <model/engine/timeline.hpp>
#include <model/engine/turns.hpp>
#include <model/engine/work_list.hpp>

#include <catch.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace of_engine {

using namespace model;

namespace {

constexpr unsigned x = 0, y = 1;
constexpr auto relaxed = order::relaxed, seq_cst = order::seq_cst;

graph of_cpus(unsigned cpus)
{
	graph g;

	g.reset(cpus, release_sequence::cxx20);
	return g;
}

/* Adds a write that is the newest. */
ref write(graph &g, unsigned cpu, unsigned location, order o, u64 value,
	  bool exclusive = false)
{
	g.add_write(cpu, location, o, value, exclusive);
	g.insert(g.last_of(cpu), g.last(location) + 1);
	return g.last_of(cpu);
}

void read(graph &g, unsigned cpu, unsigned location, order o, ref from = {})
{
	g.add_read(cpu, location, o, from,
		   from.initial() ? 0 : g.at(from).value);
}

/* x = 1; read y, beside y = 1; read x: both read what was there at first. */
graph store_buffering(order stores, order loads, bool fences)
{
	graph g = of_cpus(2);

	for (unsigned cpu : {0u, 1u}) {
		write(g, cpu, cpu ? y : x, stores, 1);
		if (fences)
			g.add_fence(cpu, seq_cst);
		read(g, cpu, cpu ? x : y, loads);
	}
	return g;
}

} // namespace

TEST_CASE("consistency: who has store buffering, and what forbids it")
{
	const graph weak = store_buffering(relaxed, relaxed, false);

	CHECK(is_consistent(weak, machine::rc11));
	CHECK(is_consistent(
		store_buffering(order::release, order::acquire, false),
		machine::x86));
	CHECK_FALSE(is_consistent(weak, machine::sc));
	CHECK_FALSE(is_consistent(store_buffering(seq_cst, seq_cst, false),
				  machine::rc11));
	CHECK_FALSE(is_consistent(store_buffering(relaxed, relaxed, true),
				  machine::rc11));
	CHECK_FALSE(is_consistent(
		store_buffering(order::release, order::acquire, true),
		machine::x86));
}

TEST_CASE("consistency: one access more is as the whole graph")
{
	for (const bool newest : {false, true}) {
		graph g = of_cpus(2);
		write(g, 0, x, relaxed, 1);
		g.add_fence(0, seq_cst);
		read(g, 0, y, relaxed);
		const ref w = write(g, 1, y, relaxed, 1);
		g.add_fence(1, seq_cst);
		read(g, 1, x, relaxed, newest ? ref{0, 1} : ref{});

		INFO("cpu" << unsigned{w.cpu});
		CHECK(is_consistent(g, machine::rc11) == newest);
		CHECK(is_consistent(g, machine::rc11, g.last_of(1)) == newest);
	}
}

TEST_CASE("consistency: a CPU's reads of a location do not go back")
{
	graph g = of_cpus(2);
	const ref one = write(g, 0, x, relaxed, 1);
	const ref two = write(g, 0, x, relaxed, 2);

	read(g, 1, x, relaxed, two);
	CHECK(coherent(g));
	CHECK(model::floor(g, x, g.seen_before(g.next_of(1))) == 2);
	read(g, 1, x, relaxed, one);
	CHECK_FALSE(coherent(g));
}

TEST_CASE("consistency: nothing comes between the halves of an RMW")
{
	graph g = of_cpus(2);

	read(g, 0, x, relaxed);
	write(g, 0, x, relaxed, 1, true);
	CHECK(model::atomic(g));
	CHECK(splits_rmw(g, x, 1));
	g.add_write(1, x, relaxed, 2, false);
	g.insert(g.last_of(1), 1);
	CHECK_FALSE(model::atomic(g));
}

TEST_CASE("graph: its newest write, and whether it was there before an event")
{
	graph g = of_cpus(2);

	CHECK(g.newest(x) == nullptr);
	const ref one = write(g, 0, x, relaxed, 1);
	read(g, 1, x, relaxed, one);
	CHECK_FALSE(g.was_newer(g.at({1, 1})));
	const ref two = write(g, 0, x, relaxed, 2);
	CHECK(g.newest(x) == &g.at(two));
	CHECK_FALSE(g.was_newer(g.at({1, 1})));
	read(g, 1, x, relaxed, one);
	CHECK(g.was_newer(g.at({1, 2})));
}

TEST_CASE("graph: a CPU is full with as many events as it may have")
{
	graph g = of_cpus(1);

	for (u64 i = 0; i + 1 < max_index; i++) {
		CHECK_FALSE(g.is_full(0, max_index));
		CHECK_FALSE(g.is_full(0, g.length(0) + 1));
		write(g, 0, x, relaxed, i);
		CHECK(g.is_full(0, g.length(0)));
	}
	CHECK(g.is_full(0, max_index));
}

TEST_CASE("turns: what is left of a graph without one")
{
	graph g = of_cpus(2), result;
	const ref one = write(g, 0, x, relaxed, 1);
	const ref again = write(g, 0, x, relaxed, 1);

	for (const ref from : {ref{}, ref{}, one, again})
		read(g, 1, x, relaxed, from);
	read(g, 0, y, relaxed, write(g, 1, y, relaxed, 1));
	CHECK(is_like_the_turn_before(g, {1, 1, 2, false}));
	CHECK_FALSE(has_the_values_of_the_turn_before(g, {1, 2, 3, false}));
	/* Its value is that of another write. */
	CHECK(has_the_values_of_the_turn_before(g, {1, 3, 4, false}));
	CHECK_FALSE(is_like_the_turn_before(g, {1, 3, 4, false}));
	REQUIRE(take_out({1, 1, 2, false}, g, result));
	CHECK(result.length(1) == 4);
	CHECK(result.at({1, 2}).from == one);
	/* The write behind the turn is one of a lower number now. */
	CHECK(result.at({0, 3}).from == ref{1, 4});
}

namespace {

struct two_cpus {
	scheduler cpus;
	std::vector<unsigned> order;

	static void code(void *with)
	{
		two_cpus &of = *static_cast<two_cpus *>(with);
		const unsigned cpu = of.cpus.current();

		/* CPU 1 is between the halves of an RMW. */
		of.cpus.wait_for_turn(cpu == 1);
		of.order.push_back(cpu);
		of.cpus.set_done(cpu);
	}
};

} // namespace

TEST_CASE("scheduler: an RMW's second half goes first, then the lowest CPU")
{
	two_cpus of;

	of.cpus.make(3, options().stack_bytes);
	of.cpus.start(3, two_cpus::code, &of, nullptr);
	of.cpus.set_going();
	of.cpus.replay(scheduler::phase::replaying);
	CHECK(of.order.empty());
	CHECK(of.cpus.state_of(0) == scheduler::state::at_end);
	CHECK(of.cpus.state_of(1) == scheduler::state::before_rmw_write);
	of.cpus.extend();
	CHECK(of.order == std::vector<unsigned>{1, 0, 2});
	CHECK(of.cpus.state_of(2) == scheduler::state::done);
}

TEST_CASE("symmetry: a CPU is held back until the one before it has passed")
{
	two_cpus of;
	symmetry alike(of.cpus);
	graph g = of_cpus(2);
	reading q(window{}, relaxed);

	q.writes = true;
	alike.start({.sections = {1, 1}}, true);
	alike.start_over();
	REQUIRE(alike.reduces());
	CHECK(alike.enters_gate(g, q));
	/* The current CPU is 0. */
	CHECK_FALSE(alike.holds_back(g, q));
	CHECK_FALSE(alike.in_turn(g, 1, ref{}));
	read(g, 0, x, relaxed);
	write(g, 0, x, relaxed, 1, true);
	alike.look_at_gate(g, x, true);
	CHECK_FALSE(alike.enters_gate(g, q));
	CHECK(alike.in_turn(g, 1, g.last_of(0)));
	CHECK(alike.stands_for(g) == 2);
	alike.turn_off();
	CHECK(alike.stands_for(g) == 1);
}

TEST_CASE("work list: the youngest first, and shares that add up")
{
	work_list work;

	work.start(2, release_sequence::cxx20);
	work.run_next();
	work.push(work.copy(work.running()));
	work.push(work.make());
	work.top().reset(1, release_sequence::cxx20);
	work.divide_share(0, 1);
	CHECK(work.size() == 2);
	CHECK(work.lowest().cpus == 2);
	work.run_next();
	CHECK(work.running().cpus == 1);
	work.divide_share(1, work.running().share);
	work.run_next();
	work.divide_share(0, work.running().share);
	CHECK(work.empty());
	CHECK(std::abs(work.share_done() - 1) < 1e-9);
}

TEST_CASE("names: without debugging information a struct is its bytes")
{
	const int tagged = 0, other = 0;
	names known;

	known.add_struct(&tagged, nullptr, 0xffffffff000000ff);
	CHECK(known.value_at(&tagged, 0xfffffffd00000061, 8) ==
	      "61 .. .. .. fd ff ff ff");
	CHECK(known.value_at(&other, 97, 4) == "97");
}

} // namespace of_engine
