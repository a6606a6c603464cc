/* SPDX-License-Identifier: MIT */
/*
 * What the self-tests themselves are made of.
 */
#include <klock/selftest/parts.hpp>
#include <klock/selftest/torture.hpp>
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
		r.forced = r.handoffs = 10;
		spoil(r);
		const char *wrong = fault(r);
		return std::string(wrong ? wrong : "");
	};

	CHECK(verdict([](result &) {}) == "");
	CHECK(verdict([](result &r) { r.exclusion_errors = 1; }) != "");
	CHECK(verdict([](result &r) { r.lost_updates = 1; }) != "");
	CHECK(verdict([](result &r) { r.fifo_violations = 1; }) != "");
	CHECK(verdict([](result &r) { r.gave_up = true; }) != "");
	CHECK(verdict([](result &r) { r.handoffs = 9; }) != "");
	CHECK(verdict([](result &r) {
		      r.fifo_violations = 1;
		      r.promised = service::none;
	      }) == "");
}

TEST_CASE("selftest: no update is lost where a count passes 2^32")
{
	using lock = subject<"ticket_lock<u8>", ticket_lock<u8>, service::fifo>;
	static torture<lock, 1> t;
	const plan p = {.cpus = 1,
			.convoys = 0,
			.sections = 100,
			.relaxes_a_word = 0,
			.relaxes_outside = 0,
			.try_one_in = 0,
			.seed = 1,
			.made = (u64{1} << 32) - 120};

	t.prepare(p);
	for (int i = 0; i < 50; i++)
		REQUIRE(t.drop_in(0)); /* with it: beyond 2^32 */
	t.run(0);
	CHECK(t.outcome().acquisitions == (u64{1} << 32) - 20);
	CHECK(t.outcome().visits == 50);
	CHECK(t.outcome().lost_updates == 0);

	plan over = p;
	over.sections = 200; /* beyond it without visits */
	t.prepare(over);
	t.run(0);
	CHECK(t.outcome().acquisitions == (u64{1} << 32) + 80);
	CHECK(t.outcome().lost_updates == 0);
}

TEST_CASE("selftest: a lost update shows, also where the count wraps")
{
	invariant data;

	data.reset((u64{1} << 32) - 1);
	CHECK(data.visit(0));
	CHECK(data.lost(u64{1} << 32) == 0);
	CHECK(data.lost((u64{1} << 32) + 1) == 1);
}
