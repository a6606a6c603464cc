/* SPDX-License-Identifier: MIT */
/*
 * How often a native wait looks, and how long it pauses in between.
 *
 * One thread: its spin iterations are watched (tests_host/watched),
 * and the watcher is who ends the wait. A wait without a pause would never end:
 * each predicate gives up after a number of looks.
 */
#include <klock/atomic.hpp>
#include <klock/atomic_pair.hpp>

#include <catch.hpp>

using namespace klock;

namespace {

constexpr unsigned too_many = 1000;

/* Counts turns; from the last on, the value is what is waited for. */
struct ending : arch::watcher {
	atomic<u8> &value;
	unsigned last;
	unsigned turns = 0;

	ending(atomic<u8> &v, unsigned at_turn) : value(v), last(at_turn)
	{
		arch::watched_by = this;
	}
	~ending() { arch::watched_by = nullptr; }
	void turn() override
	{
		if (++turns == last)
			value.store_relaxed(1);
	}
};

/* Until the value is 1; counts the looks. */
struct until_one {
	unsigned &looks;

	bool operator()(u8 v) const { return ++looks > too_many || v == 1; }
};

} // namespace

TEST_CASE("waits: a pause between two looks, and none after the last")
{
	atomic<u8> x;
	unsigned looks = 0;
	const until_one done{looks};
	const unsigned turns = GENERATE(1u, 2u, 7u);
	ending watch(x, turns);

	SECTION("await_relaxed") { CHECK(x.await_relaxed(done) == 1); }
	SECTION("await_acquire") { CHECK(x.await_acquire(done) == 1); }
	SECTION("await_seq_cst") { CHECK(x.await_seq_cst(done) == 1); }
	SECTION("await_either_acquire, the first")
	{
		atomic<u8> y;
		unsigned others = 0;
		x.await_either_acquire(done, y, until_one{others});
		CHECK(others == looks - 1);
	}
	SECTION("await_either_acquire, the second")
	{
		atomic<u8> y;
		unsigned others = 0;
		y.await_either_acquire(until_one{others}, x, done);
		CHECK(others == looks);
	}
	CHECK(watch.turns == turns);
	CHECK(looks == turns + 1);
}

TEST_CASE("waits: an exchange is tried again after each pause")
{
	atomic<u8> x{2};
	unsigned looks = 0;
	ending watch(x, 5);

	CHECK(x.await_exchange_acquire(2, until_one{looks}) == 1);
	CHECK(x.load_relaxed() == 2);
	CHECK(watch.turns == 5);
	CHECK(looks == 6);
}

TEST_CASE("waits: a paced wait pauses for as long as the pace says")
{
	atomic<u8> x{2};
	unsigned looks = 0, asked = 0;
	const until_one done{looks};
	/* 1, 2, 3 turns: the sixth ends the wait. It keeps state, by reference.
	 */
	const auto pace = [&asked](u8 found) {
		CHECK(found == 2);
		return ++asked;
	};
	ending watch(x, 6);

	SECTION("await_paced_relaxed")
	{
		CHECK(x.await_paced_relaxed(done, pace) == 1);
	}
	SECTION("await_paced_acquire")
	{
		CHECK(x.await_paced_acquire(done, pace) == 1);
	}
	CHECK(watch.turns == 6);
	CHECK(asked == 3);
	CHECK(looks == 4);
}

TEST_CASE("waits: patience counts looks at one value, and gives up")
{
	atomic<u8> x{2};
	unsigned asked = 0;
	/* 2 ends after five looks in vain, 1 at once, else never. */
	const auto patience = [&asked](u8 found) {
		CHECK(++asked < too_many);
		return found == 2 ? 5u : found == 1 ? 0u : endless;
	};

	SECTION("it runs out")
	{
		ending watch(x, 0);
		CHECK(x.await_patient_relaxed(patience) == 2);
		CHECK(watch.turns == 5);
		CHECK(asked == 6);
	}
	SECTION("the value comes before")
	{
		ending watch(x, 4);
		CHECK(x.await_patient_acquire(patience) == 1);
		CHECK(watch.turns == 4);
	}
	SECTION("endless: until the value is another")
	{
		x.store_relaxed(3);
		ending watch(x, 100);
		CHECK(x.await_patient_acquire(patience) == 1);
		CHECK(watch.turns == 100);
	}
}

namespace {

/* As ending, but the value is another for one turn: the third. */
struct changing final : arch::watcher {
	atomic<u8> &value;
	unsigned turns = 0;

	explicit changing(atomic<u8> &v) : value(v) { arch::watched_by = this; }
	~changing() { arch::watched_by = nullptr; }
	void turn() override { value.store_relaxed(++turns == 3 ? 3 : 2); }
};

} // namespace

TEST_CASE("waits: patience begins anew when the value has changed")
{
	atomic<u8> x{2};
	changing watch(x);
	const auto patience = [&watch](u8) {
		return watch.turns < too_many ? 5u : 0u;
	};

	/* Two looks in vain, one at 3, then 2 again, and five in vain. */
	CHECK(x.await_patient_relaxed(patience) == 2);
	CHECK(watch.turns == 9);
}

namespace {

/* And each look at the clock finds it one on. */
struct ticking final : ending {
	using ending::ending;
	u64 clock = 100;

	u64 time() override { return clock++; }
};

} // namespace

TEST_CASE("waits: a deadline ends one, and so does what it waits for")
{
	atomic<u8> x{2};
	unsigned looks = 0;
	const until_one done{looks};

	SECTION("the deadline")
	{
		ticking watch(x, 0);
		CHECK(x.await_until_relaxed(done, 105) == 2);
		CHECK(watch.turns == 5);
		CHECK(looks == 6);
	}
	SECTION("the value, before it")
	{
		ticking watch(x, 3);
		CHECK(x.await_until_acquire(done, 1000) == 1);
		CHECK(watch.turns == 3);
		CHECK(looks == 4);
	}
	SECTION("one that has passed: one look, and no pause")
	{
		ticking watch(x, 0);
		CHECK(x.await_until_acquire(done, 7) == 2);
		CHECK(watch.turns == 0);
		CHECK(looks == 1);
	}
	SECTION("the value at the last look is what was waited for")
	{
		ticking watch(x, 5);
		CHECK(x.await_until_acquire(done, 105) == 1);
	}
}

TEST_CASE("waits: half of a pair is paced as a value is")
{
	atomic<u8> ended;
	atomic_pair<u8> x{{2, 3}};
	unsigned looks = 0;
	ending watch(ended, 12);

	CHECK(x.await_paced_acquire<half::second>(
		      [&](u8 v) {
			      return ++looks > too_many ||
				     (v == 3 && ended.load_relaxed());
		      },
		      [](u8 v) { return v + 1u; }) == 3);
	CHECK(watch.turns == 12);
	CHECK(looks == 4);
}
