/* SPDX-License-Identifier: MIT */
/*
 * preemptable_ticket_lock: its sizes, its wrap, and scripts of who is served
 * when somebody does not run. A step of a waiter is one spin iteration.
 */
#include "../claims/stage.hpp"

#include <klock/preemptable_ticket_lock.hpp>

#include <catch.hpp>

#include <mutex>

using namespace klock;
using namespace claims;

namespace {

using lock8 = preemptable_ticket_lock<u8>;
using lock16 = preemptable_ticket_lock<u16>;

/* Of the default patience, for each ticket ahead. */
constexpr unsigned looks = 32;

/* Others come while 0 holds, 1 first; numbered by their order. */
template <typename L>
void all_come(stage<L> &s)
{
	for (unsigned who = 0; who < s.size(); who++)
		s.step(who);
}

/* Who holds it leaves, and so do the others, in order, each at its 1st look. */
template <typename L>
bool served_in_turn(stage<L> &s)
{
	for (unsigned who = 0; who < s.size(); who++) {
		if (s.where(who) != place::inside)
			return false;
		s.step(who);
		/* All others look before the next in turn does. */
		for (unsigned other = s.size(); other-- > who + 2;)
			if (s.step(other) != place::waits)
				return false;
		if (who + 1 < s.size())
			s.step(who + 1);
	}
	return true;
}

/* At rest, the turn is the next ticket's: else this would fail. */
template <typename L>
bool rests(L &lock)
{
	if (lock.is_locked() || lock.is_contended() || !lock.try_lock())
		return false;
	lock.unlock();
	return true;
}

} // namespace

TEST_CASE("preemptable_ticket_lock: sizes are two counters, zero bytes free")
{
	static_assert(sizeof(lock8) == 2 && alignof(lock8) == 2);
	static_assert(sizeof(lock16) == 4 && alignof(lock16) == 4);
	static_assert(sizeof(preemptable_ticket_lock<u8, 1000>) == 2);
	static_assert(lock8::max_contenders == 64);
	static_assert(lock16::max_contenders == 16384);
	static_assert(same_as<preemptable_ticket_lock_for<1>, lock8>);
	static_assert(same_as<preemptable_ticket_lock_for<64>, lock8>);
	static_assert(same_as<preemptable_ticket_lock_for<65>, lock16>);
	static_assert(same_as<preemptable_ticket_lock_for<16384>, lock16>);
	static constinit lock8 lock;

	CHECK(rests(lock));
}

TEMPLATE_TEST_CASE("preemptable_ticket_lock: alone, it draws no ticket", "",
		   lock8, lock16)
{
	TestType lock;

	for (unsigned i = 0; i < 300; i++) {
		lock.lock();
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.is_contended());
		CHECK_FALSE(lock.try_lock());
		lock.unlock();
		CHECK(rests(lock));
		/* The lower half of next. */
		CHECK(*reinterpret_cast<const u8 *>(&lock) == 0);
	}
}

TEST_CASE("preemptable_ticket_lock: in turn, whoever else looks, at every wrap")
{
	stage<lock8> s(7);

	/* 6 tickets a round: the turn wraps at 128, the tickets at 256. */
	for (unsigned round = 0; round < 100; round++) {
		all_come(s);
		CHECK(s.lock.is_contended());
		CHECK(served_in_turn(s));
		CHECK(rests(s.lock));
	}
}

TEST_CASE("preemptable_ticket_lock: 64 contend for 8-bit counters, in order")
{
	stage<lock8> s(64);

	for (unsigned round = 0; round < 5; round++) {
		all_come(s);
		CHECK(served_in_turn(s));
		CHECK(rests(s.lock));
	}
}

TEST_CASE("preemptable_ticket_lock: patience is spent while it is free")
{
	const unsigned sleepers = GENERATE(1u, 2u, 5u);
	stage<lock8> s(sleepers + 2);
	const unsigned last = sleepers + 1;

	/* However long the section is. */
	all_come(s);
	CHECK_FALSE(s.looks(last, 10 * sleepers * looks));
	s.step(0);
	/* The look that finds it free, and those in vain. */
	CHECK_FALSE(s.looks(last, sleepers * looks));
	CHECK(s.looks(last, 1));
	s.step(last);
	/* Its ticket was the last: the turn is the next one's. */
	CHECK_FALSE(s.lock.is_contended());

	/* Who was passed over gets in by its first look at a free lock. */
	for (unsigned who = 1; who <= sleepers; who++) {
		CHECK(s.step(who) == place::inside);
		CHECK(s.lock.is_locked());
		s.step(who);
	}
	CHECK(rests(s.lock));
	all_come(s);
	CHECK(served_in_turn(s));
}

TEST_CASE("preemptable_ticket_lock: patience begins anew at each turn")
{
	constexpr unsigned runs = 1, sleeps = 2, last = 3;
	stage<lock8> s(4);

	all_come(s);
	s.step(0);
	CHECK_FALSE(s.looks(last, 2 * looks));
	CHECK(s.step(runs) == place::inside);
	CHECK_FALSE(s.looks(last, 5));
	s.step(runs);
	CHECK_FALSE(s.looks(last, looks));
	CHECK(s.looks(last, 1));
	s.step(last);
	CHECK(s.step(sleeps) == place::inside);
	s.step(sleeps);
	CHECK(rests(s.lock));
}

TEST_CASE("preemptable_ticket_lock: patience can be set, and ends")
{
	stage<preemptable_ticket_lock<u8, 3>> s(3);

	all_come(s);
	s.step(0);
	CHECK_FALSE(s.looks(2, 3));
	CHECK(s.looks(2, 1));
	s.step(2);
	CHECK(s.looks(1, 1));
	s.step(1);

	/* Farther back than 64 nobody is more patient: 16 bits, 80 ahead. */
	stage<lock16> far(82);
	all_come(far);
	far.step(0);
	CHECK_FALSE(far.looks(81, 64 * looks));
	CHECK(far.looks(81, 1));
	far.step(81);
	for (unsigned who = 1; who < 81; who++) {
		CHECK(far.step(who) == place::inside);
		far.step(who);
	}
	CHECK(rests(far.lock));
}

namespace {

/* So many tickets are served, past whoever waits and does not run. */
template <typename L>
bool pass(stage<L> &s, unsigned tickets)
{
	for (unsigned i = 0; i < tickets; i++) {
		s.step(0);
		s.step(3);
		s.step(0);
		if (s.step(3) != place::inside)
			return false;
		s.step(3);
	}
	return true;
}

} // namespace

TEST_CASE("preemptable_ticket_lock: late, it gets in at its first look")
{
	constexpr unsigned sleeper = 1, overtaker = 2;
	stage<lock8> s(4);

	s.step(0);
	s.step(sleeper);
	s.step(overtaker);
	s.step(0);
	CHECK(s.looks(overtaker, looks + 1));
	CHECK(s.step(sleeper) == place::waits);
	s.step(overtaker);
	CHECK(pass(s, 10));
	s.step(0);
	s.step(3);
	CHECK(s.step(sleeper) == place::waits);
	s.step(0);
	CHECK(s.step(sleeper) == place::inside);
	s.step(sleeper);
	/* The turn is still that of who has waited. */
	CHECK(s.step(3) == place::inside);
	s.step(3);
	CHECK(rests(s.lock));
}

namespace {

/* Its old ticket looks early, or on turn again; the turn stays right. */
template <typename L>
void sleeps_while_passed(unsigned tickets)
{
	constexpr unsigned sleeper = 1, overtaker = 2;
	stage<L> s(4);

	s.step(0);
	s.step(sleeper);
	s.step(overtaker);
	s.step(0);
	CHECK(s.looks(overtaker, looks + 1));
	s.step(overtaker);
	INFO(tickets << " tickets");
	CHECK(pass(s, tickets));
	CHECK(rests(s.lock));
	CHECK(s.looks(sleeper, 64 * looks + 1));
	s.step(sleeper);
	CHECK(rests(s.lock));
}

} // namespace

TEST_CASE("preemptable_ticket_lock: passed by more turns than its capacity")
{
	/* The overtaker's besides: 128 turns are all there are. */
	for (const unsigned tickets : {62u, 63u, 64u, 70u, 125u, 126u, 127u})
		sleeps_while_passed<lock8>(tickets);
	sleeps_while_passed<lock16>(16390);
}

TEST_CASE("preemptable_ticket_lock: try_lock leaves the turn to who waits")
{
	stage<lock8> s(2);

	s.step(0);
	s.step(1);
	s.step(0);
	/* Free, and 1 has not looked yet. */
	CHECK_FALSE(s.lock.is_locked());
	CHECK_FALSE(s.lock.try_lock());
	CHECK(s.step(1) == place::inside);
	CHECK_FALSE(s.lock.try_lock());
	s.step(1);
	CHECK(rests(s.lock));
}

TEST_CASE("preemptable_ticket_lock: std::scoped_lock takes it")
{
	lock8 a;
	lock16 b;
	{
		std::scoped_lock both(a, b);
		CHECK(a.is_locked());
		CHECK(b.is_locked());
	}
	CHECK_FALSE(a.is_locked());
	CHECK_FALSE(b.is_locked());
}
