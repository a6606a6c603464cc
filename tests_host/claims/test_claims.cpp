/* SPDX-License-Identifier: MIT */
/*
 * The claims of the source texts, each decided.
 */
#include <klock/selftest/busted.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "schedules.hpp"
#include "stage.hpp"

#include <catch.hpp>

#include <memory>
using namespace claims;
using namespace klock;
using namespace klock::selftest;

/*
 * Claim 1: tickets of n bits serve 2^n contenders; with one more two are
 * inside. Shown at every start value of the counters.
 */
namespace overflow_claim {

namespace {

/*
 * Checks that `most` contenders exclude each other and one more does not, with
 * the lock's counters at `served` in the beginning.
 */
template <typename L>
void pass_then_break(unsigned most, unsigned served)
{
	CAPTURE(served);
	{
		stage<L> s(most, static_cast<u8>(served));
		s.all_come();
		const auto [next, owner] = counters_of<L>::in(s.bytes());
		CHECK(next == owner); /* a full circle */
		CHECK(s.count(place::inside) == 1);
		s.all_look();
		CHECK(s.count(place::inside) == 1);
		CHECK(served_one_by_one(s) == most);
		CHECK_FALSE(s.lock.is_locked());
	}
	stage<L> s(most + 1, static_cast<u8>(served));
	s.all_come();
	CHECK(s.count(place::inside) == 2);
	CHECK(s.where(0) == place::inside);
	CHECK(s.where(most) == place::inside);
}

} // namespace

template <unsigned Bits>
static void pass_then_break_from_each_value()
{
	constexpr unsigned most = 1u << Bits;

	static_assert(narrow_ticket_lock<Bits>::max_contenders == most);
	for (unsigned served = 0; served < most; served++)
		pass_then_break<narrow_ticket_lock<Bits>>(most, served);
}

TEST_CASE(
	"overflow: tickets of 2, 3, 4 bits: 4, 8, 16 contenders pass, one more "
	"breaks")
{
	pass_then_break_from_each_value<2>();
	pass_then_break_from_each_value<3>();
	pass_then_break_from_each_value<4>();
}

TEST_CASE("overflow: 8-bit tickets: 256 contenders pass, 257 break")
{
	static_assert(ticket_lock<u8>::max_contenders == 256);

	pass_then_break<ticket_lock<u8>>(256, 0);
}

} // namespace overflow_claim

/*
 * Claim 2: the two timelines of source text 003, expected as data, played for
 * real.
 */
namespace timelines_claim {

namespace {

/* Time, then who, what, next_ticket, now_serving. */
const std::vector<row> fifo = {
	/* t1 */ {A, "takes 0", {1, 0}},
	/* t2 */ {A, "is inside", {1, 0}},
	/* t3 */ {B, "takes 1", {2, 0}},
	/* t4 */ {B, "waits", {2, 0}},
	/* t5 */ {C, "takes 2", {3, 0}},
	/* t6 */ {C, "waits", {3, 0}},
	/* t7 */ {A, "is done", {3, 0}},
	/* t8 */ {A, "releases", {3, 1}},
	/* t9 */ {B, "enters", {3, 1}},
	/* t10 */ {B, "is done", {3, 1}},
	/* t11 */ {B, "releases", {3, 2}},
	/* t12 */ {C, "enters", {3, 2}},
};

/* Time, then who, what, flag. */
const std::vector<row> starvation = {
	/* t1 */ {A, "finds 0, has it", {1}},
	/* t2 */ {A, "is inside", {1}},
	/* t3 */ {B, "finds 1", {1}},
	/* t4 */ {B, "waits", {1}},
	/* t5 */ {C, "finds 1", {1}},
	/* t6 */ {C, "waits", {1}},
	/* t7 */ {A, "releases", {0}},
	/* t8 */ {A, "finds 0, has it", {1}},
	/* t9 */ {A, "is inside", {1}},
	/* t10 */ {A, "releases", {0}},
	/* t11 */ {A, "finds 0, has it", {1}},
	/* t12 */ {A, "is inside", {1}},
	/* t13 */ {B, "looks again", {1}},
	/* t14 */ {B, "waits", {1}},
	/* t15 */ {C, "looks again", {1}},
	/* t16 */ {C, "waits", {1}},
	/* t17 */ {A, "releases", {0}},
	/* t18 */ {A, "finds 0, has it", {1}},
};

/* The schedule of starvation, in a ticket lock: A queues, B has it. */
const std::vector<row> no_starvation = {
	/* t1 */ {A, "takes 0", {1, 0}},
	/* t2 */ {A, "is inside", {1, 0}},
	/* t3 */ {B, "takes 1", {2, 0}},
	/* t4 */ {B, "waits", {2, 0}},
	/* t5 */ {C, "takes 2", {3, 0}},
	/* t6 */ {C, "waits", {3, 0}},
	/* t7 */ {A, "releases", {3, 1}},
	/* t8 */ {A, "takes 3", {4, 1}},
	/* t9 */ {A, "waits", {4, 1}},
	/* t10 */ {A, "looks again", {4, 1}},
	/* t11 */ {A, "looks again", {4, 1}},
	/* t12 */ {A, "waits", {4, 1}},
	/* t13 */ {B, "enters", {4, 1}},
	/* t14 */ {B, "is inside", {4, 1}},
	/* t15 */ {C, "looks again", {4, 1}},
	/* t16 */ {C, "waits", {4, 1}},
	/* t17 */ {A, "looks again", {4, 1}},
	/* t18 */ {A, "looks again", {4, 1}},
};

void same(const std::vector<row> &found, const std::vector<row> &expected)
{
	REQUIRE(found.size() == expected.size());
	for (usize i = 0; i < found.size(); i++) {
		INFO("t" << i + 1);
		CHECK(found[i].who == expected[i].who);
		CHECK(found[i].cell == expected[i].cell);
		CHECK(found[i].values == expected[i].values);
	}
}

} // namespace

TEMPLATE_TEST_CASE("timeline: ticket_lock serves A, B, C as they came", "",
		   ticket_lock<u8>, ticket_lock<u16>, ticket_lock<u32>)
{
	same(play<TestType>(one_after_another, 3), fifo);
}

TEST_CASE("timeline: ticket_lock: who looks when makes no difference")
{
	same(play<ticket_lock<u8>>(one_after_another, 3,
				   others::look_all_the_time),
	     fifo);
}

TEST_CASE("timeline: tas_lock lets A come back while B and C starve")
{
	same(play<tas_lock>(one_comes_back, 3), starvation);
}

TEST_CASE("timeline: ticket_lock, in the same schedule, does not")
{
	same(play<ticket_lock<u8>>(one_comes_back, 3), no_starvation);
}

} // namespace timelines_claim

/*
 * Claim 3: with test-and-set one CPU can have the lock again and again while
 * another waits; with tickets never twice.
 */
namespace monopoly_claim {

/* Ends long before, unless the host is at a standstill. */
constexpr auto patience = std::chrono::seconds(20);

TEST_CASE("monopoly: as often as it likes by test-and-set, once by tickets")
{
	CHECK(times_in_a_row(stage<tas_lock>(2), 1000) == 1000);
	CHECK(times_in_a_row(stage<ttas_lock>(2), 1000) == 1000);
	CHECK(times_in_a_row(stage<backoff_ttas_lock>(2), 1000) == 1000);
	CHECK(times_in_a_row(stage<ticket_lock<u8>>(2), 1000) == 1);
	CHECK(times_in_a_row(stage<narrow_ticket_lock<2>>(2), 1000) == 1);
}

TEST_CASE("monopoly: two cores: runs of tas_lock are 10 times ticket_lock's")
{
	auto tickets = std::make_unique<rivals<ticket_lock<u8>>>();
	auto tas = std::make_unique<rivals<tas_lock>>();

	tickets->run(patience,
		     [](const rivalry &r) { return r.contended >= 200; });
	const u64 fair = tickets->seen.max_consecutive;
	tas->run(patience, [fair](const rivalry &r) {
		return r.max_consecutive >= 10 * fair;
	});
	INFO("ticket_lock: " << tickets->seen.contended << " contended, run "
			     << fair);
	INFO("tas_lock: " << tas->seen.contended << " contended, run "
			  << tas->seen.max_consecutive);
	CHECK(tickets->seen.contended >= 200);
	CHECK(fair == 1);
	CHECK(tas->seen.max_consecutive >= 10 * fair);
}

} // namespace monopoly_claim

/*
 * Claim 6, what it comes from: the next in line does not run, and a lock that
 * is first come, first served lets nobody else in. What that costs is measured
 * by klock_bench --crowded.
 */
namespace preempted_claim {

TEST_CASE("preempted: who waits behind a sleeper waits, where order is kept")
{
	unsigned seen = 0;

	all_locks<3>::for_each([&]<typename Subject>() {
		constexpr service kept = Subject::order_of_service;
		constexpr bool passes = kept == service::none ||
					kept == service::fifo_if_all_run;
		constexpr bool decides = kept == service::fifo || passes;

		/* Two more than the holder; and a lock that says either. */
		if constexpr (Subject::capacity >= 3 && decides) {
			INFO(Subject::name);
			const bool entered = enters_past_a_sleeper(
				stage<typename Subject::lock>(3));
			CHECK(entered == passes);
			seen++;
		}
	});
	CHECK(seen >= all_locks<3>::size - 2);
}

TEST_CASE("preempted: a time slice is lost to all, or to one")
{
	constexpr unsigned slice = 2000;
	const unsigned unfair =
		sections_in_a_slice(stage<klock::ttas_lock>(2), slice);

	CHECK(unfair >= slice / 2 - 1);
	CHECK(sections_in_a_slice(stage<ticket_lock<u8>>(2), slice) == 0);
	CHECK(sections_in_a_slice(stage<mcs_lock>(2), slice) == 0);
	/* Some looks in vain, once. */
	CHECK(sections_in_a_slice(stage<preemptable_ticket_lock<u8>>(2),
				  slice) >= 0.95 * unfair);
}

TEST_CASE("preempted: a lock that serves the last first is found")
{
	CHECK(enters_past_a_sleeper(stage<busted::lifo>(3)));
}

} // namespace preempted_claim

/*
 * Claim 7: first come, first served by the doorway (bakery, ticket) is more
 * than freedom from starvation (tournament): counted bypasses.
 */
namespace bypass_claim {

TEST_CASE("bypass: a slow climber of tournament_lock is bypassed at will")
{
	for (unsigned times : {1u, 10u, 100u}) {
		const slow_climb r =
			climb_slowly(stage<tournament_lock<4>>(4), times);

		CHECK(r.bypassed == times);
		/* It is not starved: at the root it is next. */
		CHECK(r.stopped_at_root);
		CHECK(r.enters);
	}
}

static void nobody_bypasses(stage_of_any &&s)
{
	const slow_climb r = climb_slowly(static_cast<stage_of_any &&>(s), 100);

	CHECK(r.bypassed == 0);
	CHECK(r.enters);
}

TEST_CASE("bypass: with the doorway behind it, nobody bypasses")
{
	nobody_bypasses(stage<bakery_lock<4>>(4));
	nobody_bypasses(stage<ticket_lock<u8>>(4));
	nobody_bypasses(stage<narrow_ticket_lock<2>>(4));
	nobody_bypasses(stage<mcs_lock>(4));
}

static void keeps_its_promise(const char *name, service kept,
			      const crowd_result &r)
{
	INFO(name << ": " << r.entries << " entries, " << r.waited
		  << " after a wait, bypassed " << r.bypassed);
	CHECK(r.entries == 200);
	switch (kept) {
	case service::fifo_if_all_run: /* here all do, in turns */
	case service::fifo:
		CHECK(r.bypassed == 0);
		/* Enough waited that a bypass was possible. */
		CHECK(r.waited >= 150);
		break;
	case service::bounded:
		CHECK(r.bypassed <= 1);
		CHECK(r.waited >= 50);
		break;
	case service::starvation_free:
	case service::none:
		CHECK(r.bypassed >= 2);
		break;
	}
}

TEST_CASE("bypass: counted for every lock, 4 CPUs at random, one of them fast")
{
	constexpr unsigned cpus = 4;

	all_locks<cpus>::for_each([]<typename Subject>() {
		constexpr unsigned most = Subject::capacity < cpus ? 2 : cpus;

		keeps_its_promise(Subject::name, Subject::order_of_service,
				  play<typename Subject::lock>({.actors = most,
								.entries = 200,
								.speed = 6,
								.seed = 1}));
	});
}

TEST_CASE("bypass: a lock that serves the last first is found")
{
	const crowd_result r = play<busted::lifo>(
		{.actors = 4, .entries = 200, .speed = 6, .seed = 1});

	CHECK(r.bypassed >= 2);
	CHECK(climb_slowly(stage<busted::lifo>(4), 10).bypassed >= 1);
}

} // namespace bypass_claim

/*
 * Claim 8: without read-modify-write, registers are linear in CPUs, and not
 * fewer than CPUs; with it, one is enough for any number.
 */
namespace registers_claim {

namespace {

/* Checks that each further CPU costs `each` registers. */
template <template <unsigned> typename Lock, unsigned Cpus>
void check_linear(usize each)
{
	CAPTURE(Cpus);
	CHECK(registers_of<Lock<2 * Cpus>> - registers_of<Lock<Cpus>> ==
	      each * Cpus);
	CHECK(registers_of<Lock<Cpus + 1>> - registers_of<Lock<Cpus>> == each);
	/* The bound. */
	CHECK(registers_of<Lock<Cpus>> >= Cpus);
}

template <template <unsigned> typename Lock>
void check_linear(usize each)
{
	check_linear<Lock, 2>(each);
	check_linear<Lock, 3>(each);
	check_linear<Lock, 8>(each);
	check_linear<Lock, 64>(each);
	check_linear<Lock, 255>(each);
	check_linear<Lock, 1024>(each);
}

template <unsigned Cpus>
using bakery = bakery_lock<Cpus>;

} // namespace

TEST_CASE("registers: bakery_lock has one for each CPU, and uses them all")
{
	check_linear<bakery>(1);
	CHECK(registers_of<bakery_lock<17>> == 17);
	CHECK(registers_in_use<bakery_lock<17>>(17) == 17);
	CHECK(registers_in_use<bakery_lock<17>>(5) == 5);
}

TEST_CASE("registers: tournament_lock has three for each CPU but one")
{
	check_linear<tournament_lock>(3);
	CHECK(registers_of<tournament_lock<17>> == 3 * 16);
	/* Each CPU's at its leaf, and those of who has come further. */
	CHECK(registers_in_use<tournament_lock<17>>(17) >= 17);
}

TEST_CASE("registers: with read-modify-write their number does not grow")
{
	CHECK(registers_of<tas_lock> == 1);
	CHECK(sizeof(ticket_lock_for<2>) == 2);
	CHECK(sizeof(ticket_lock_for<256>) == 2);
	CHECK(registers_in_use<tas_lock>(17) == 1);
}

} // namespace registers_claim
