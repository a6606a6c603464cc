/* SPDX-License-Identifier: MIT */
/*
 * What the self-tests themselves are made of.
 */
#include <klock/selftest/arithmetic.hpp>
#include <klock/selftest/doorway.hpp>
#include <klock/selftest/result.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <string>

using namespace klock;
using namespace klock::selftest;

TEST_CASE("selftest: divide agrees with the CPU's own division")
{
	xorshift dice(7);

	for (int i = 0; i < 100000; i++) {
		const u64 a = u64{dice.next()} << 32 | dice.next();
		const u64 b = (u64{dice.next()} << 32 | dice.next()) >>
			      dice.below(64);
		if (b != 0 && divide(a, b) != a / b)
			FAIL(a << " / " << b << " gave " << divide(a, b));
	}
	CHECK(divide(1, 0) == 0);
}

TEST_CASE("selftest: Jain's index is 1000 when even, 1000/n when one has all")
{
	CHECK(jain_permille(4, [](unsigned) { return u64{25}; }) == 1000);
	CHECK(jain_permille(4, [](unsigned i) { return u64{i == 2}; }) == 250);
	CHECK(jain_permille(256, [](unsigned) { return ~u64{0}; }) == 1000);
	CHECK(jain_permille(2, [](unsigned i) { return u64{i ? 3u : 1u}; }) ==
	      800);
}

TEST_CASE("selftest: a doorway is seen from outside the lock")
{
	ticket_lock<u8> lock;

	lock.lock();
	const doorway<ticket_lock<u8>> line(lock);
	CHECK_FALSE(line.passed(1));
	CHECK_FALSE(lock.try_lock());
	CHECK_FALSE(line.passed(1));
	lock.unlock();
	CHECK(line.passed(1));
}

TEST_CASE("selftest: each kind of fault is named, a vacuous run too")
{
	const auto verdict = [](auto spoil) {
		result r{};
		r.promised = service::fifo;
		r.forced = r.handovers = 10;
		spoil(r);
		const char *wrong = fault(r);
		return std::string(wrong ? wrong : "");
	};

	CHECK(verdict([](result &) {}) == "");
	CHECK(verdict([](result &r) { r.exclusion_errors = 1; }) != "");
	CHECK(verdict([](result &r) { r.lost_updates = 1; }) != "");
	CHECK(verdict([](result &r) { r.fifo_violations = 1; }) != "");
	CHECK(verdict([](result &r) { r.gave_up = true; }) != "");
	CHECK(verdict([](result &r) { r.handovers = 9; }) != "");
	CHECK(verdict([](result &r) {
		      r.fifo_violations = 1;
		      r.promised = service::none;
	      }) == "");
}
