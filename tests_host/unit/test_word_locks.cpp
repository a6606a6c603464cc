/* SPDX-License-Identifier: MIT */
/*
 * Locks of one word, or two: tickets, test-and-set; each by a script.
 */
#include <klock/narrow_ticket_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/peterson_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <atomic>
#include <mutex>
#include <set>
using namespace klock;
using namespace unit;

/*
 * ticket_lock and its kin, each by a script.
 */

/*
 * ticket_lock: the wrap of its counters, its capacity, its try_lock.
 */
namespace ticket_tests {

/* Every value of a u8; of wider counters the ends and some between. */
template <typename Counter>
static std::vector<Counter> interesting_values()
{
	std::vector<Counter> values;
	const u64 end = u64{1} << 8 * sizeof(Counter);
	const u64 step = sizeof(Counter) == 1 ? 1 : end / 61;

	for (u64 v = 0; v < end; v += step)
		values.push_back(static_cast<Counter>(v));
	for (u64 v :
	     {end / 2 - 2, end / 2 - 1, end / 2, end - 3, end - 2, end - 1})
		values.push_back(static_cast<Counter>(v));
	return values;
}

TEST_CASE("ticket_lock: sizes are two counters, and zero bytes are free")
{
	static_assert(sizeof(ticket_lock<u8>) == 2);
	static_assert(sizeof(ticket_lock<u16>) == 4);
	static_assert(sizeof(ticket_lock<u32>) == 8);
	static_assert(alignof(ticket_lock<u8>) == 2);
	static_assert(alignof(ticket_lock<u32>) == 8);

	static constinit ticket_lock<u8> small;
	static constinit ticket_lock<u16> middle;
	static constinit ticket_lock<u32> large;
	CHECK(all_zero(small));
	CHECK(all_zero(middle));
	CHECK(all_zero(large));
}

TEST_CASE("ticket_lock: ticket_lock_for is the smallest that is safe")
{
	static_assert(same_as<ticket_lock_for<1>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<256>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<257>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65536>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65537>, ticket_lock<u32>>);
	static_assert(same_as<ticket_lock_for<u64{1} << 32>, ticket_lock<u32>>);
	SUCCEED();
}

TEMPLATE_TEST_CASE(
	"ticket_lock: alone, it works at every value of its counters", "[wrap]",
	u8, u16, u32)
{
	for (const TestType served : interesting_values<TestType>()) {
		ticket_lock<TestType> lock(served);
		ticket_lock<TestType> after(static_cast<TestType>(served + 1));
		CAPTURE(u64{served});

		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.is_contended());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
		REQUIRE(bytes_of(lock) == bytes_of(after));

		REQUIRE(lock.try_lock());
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"ticket_lock: waiters are served in arrival order at the wrap",
	"[wrap]", u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4, 5}) {
		ticket_lock<TestType> lock(static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 5) == one_to(5));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"ticket_lock: is_contended counts modulo the counter's width", "[wrap]",
	u8, u16, u32)
{
	/* The holder has the last number before the wrap, the waiter 0. */
	ticket_lock<TestType> lock(static_cast<TestType>(-1));
	line<ticket_lock<TestType>> others(lock);

	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	others.leave();
	CHECK_FALSE(lock.is_contended());
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("ticket_lock: 256 contend for 8-bit counters, in order; 257 is too "
	  "many")
{
	ticket_lock<u8> lock(200);
	line<ticket_lock<u8>> others(lock);

	static_assert(ticket_lock<u8>::max_contenders == 256);
	lock.lock();
	for (unsigned number = 1; number < 255; number++)
		others.add(number);
	CHECK(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock());

	/* The 256th closes the ring: next == owner, as if it were free. */
	others.add(255);
	CHECK_FALSE(lock.is_locked());

	/*
	 * That is what Capacity warns of: one context more walks in, while the
	 * holder is inside. It has the holder's number, a wrap later, and
	 * leaves after all others.
	 */
	CHECK(lock.try_lock());
	lock.unlock();
	CHECK(others.leave() == one_to(255));
	CHECK(lock.is_locked());
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("ticket_lock: lock_paced tells how many are ahead, modulo the width")
{
	/* Numbers 254 (the holder), 255 and 0. */
	ticket_lock<u8> lock(254);
	std::atomic<int> ahead[2] = {-1, -1};
	std::vector<std::thread> waiters;

	lock.lock();
	for (std::atomic<int> &mine : ahead) {
		const selftest::doorway<ticket_lock<u8>> door(lock);
		waiters.emplace_back([&] {
			lock.lock_paced([&mine](u8 distance) {
				mine = distance;
				return 1u;
			});
			lock.unlock();
		});
		wait_until([&] { return door.passed(0) && mine != -1; },
			   "a pause");
	}
	CHECK(ahead[0] == 1);
	CHECK(ahead[1] == 2);
	lock.unlock();
	for (std::thread &waiter : waiters)
		waiter.join();
	CHECK_FALSE(lock.is_locked());
}

} // namespace ticket_tests

/*
 * narrow_ticket_lock: two counters in a byte, and what must not carry.
 */
namespace narrow_ticket_tests {

TEMPLATE_TEST_CASE("narrow_ticket_lock: sizes are a byte, a zero byte is free",
		   "", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
		   narrow_ticket_lock<4>)
{
	static_assert(sizeof(TestType) == 1);
	static constinit TestType lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

TEMPLATE_TEST_CASE("narrow_ticket_lock: alone, it works at every value",
		   "[wrap]", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
		   narrow_ticket_lock<4>)
{
	for (unsigned served = 0; served < 256; served++) {
		TestType lock(static_cast<u8>(served));
		const TestType after(static_cast<u8>(served + 1));
		CAPTURE(served);

		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.is_contended());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE(bytes_of(lock) == bytes_of(after));
		REQUIRE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"narrow_ticket_lock: an unlock leaves the tickets taken alone",
	"[wrap]", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
	narrow_ticket_lock<4>)
{
	constexpr unsigned n = TestType::max_contenders;

	/* Every owner, with one waiter, whose ticket the unlock must keep. */
	for (unsigned served = 0; served < n; served++) {
		TestType lock(static_cast<u8>(served));
		line<TestType> others(lock);
		CAPTURE(served);

		lock.lock();
		others.add(1);
		REQUIRE(lock.is_contended());
		lock.unlock();
		REQUIRE(others.leave() == one_to(1));
		const TestType after(static_cast<u8>(served + 2));
		REQUIRE(bytes_of(lock) == bytes_of(after));
	}
}

TEMPLATE_TEST_CASE(
	"narrow_ticket_lock: capacity is 2^Bits, and one more breaks it", "",
	narrow_ticket_lock<2>, narrow_ticket_lock<3>, narrow_ticket_lock<4>)
{
	constexpr unsigned n = TestType::max_contenders;

	for (unsigned served = 0; served < n; served++) {
		TestType lock(static_cast<u8>(served));
		line<TestType> others(lock);
		CAPTURE(served);

		lock.lock();
		for (unsigned number = 1; number < n - 1; number++)
			others.add(number);
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		others.add(n - 1);
		REQUIRE_FALSE(lock.is_locked());

		/* One more walks in beside the holder. */
		REQUIRE(lock.try_lock());
		lock.unlock();
		REQUIRE(others.leave() == one_to(n - 1));
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}

} // namespace narrow_ticket_tests

namespace padded_ticket_tests {

namespace {

template <typename L>
concept has_try_lock = requires(L &lock) { lock.try_lock(); };

} // namespace
TEST_CASE("padded_ticket_lock: sizes are two lines, and zero bytes are free")
{
	static_assert(sizeof(padded_ticket_lock<u8>) == 2 * cache_line);
	static_assert(sizeof(padded_ticket_lock<u32>) == 2 * cache_line);
	static_assert(alignof(padded_ticket_lock<u8>) == cache_line);
	static constinit padded_ticket_lock<u16> lock;

	CHECK(all_zero(lock));
}

TEST_CASE("padded_ticket_lock: an arrival leaves the line they wait on")
{
	padded_ticket_lock<u8> lock;
	line<padded_ticket_lock<u8>> others(lock);

	lock.lock();
	const auto before = bytes_of(lock);
	others.add(1);
	const auto after = bytes_of(lock);
	CHECK(std::memcmp(&before[0], &after[0], cache_line) != 0);
	CHECK(std::memcmp(&before[cache_line], &after[cache_line],
			  cache_line) == 0);
	lock.unlock();
}

TEMPLATE_TEST_CASE(
	"padded_ticket_lock: waiters are served in order at the wrap", "[wrap]",
	u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4, 5}) {
		padded_ticket_lock<TestType> lock(
			static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 5) == one_to(5));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEST_CASE("padded_ticket_lock: hints count modulo the counter's width")
{
	padded_ticket_lock<u8> lock(255);
	line<padded_ticket_lock<u8>> others(lock);

	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_contended());
	lock.unlock();
	others.leave();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("padded_ticket_lock: 256 contend for 8-bit counters; 257 is too many")
{
	padded_ticket_lock<u8> lock(99);
	line<padded_ticket_lock<u8>> others(lock);

	lock.lock();
	for (unsigned number : one_to(255))
		others.add(number);
	CHECK_FALSE(lock.is_locked());

	/* One more is inside at once, beside the holder: see Capacity. */
	lock.lock();
	lock.unlock();
	CHECK(others.leave() == one_to(255));
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

} // namespace padded_ticket_tests

/*
 * proportional_ticket_lock: how long a waiter pauses.
 */
namespace proportional_ticket_tests {

TEST_CASE("proportional_ticket_lock: sizes are the counters and the base")
{
	static_assert(sizeof(proportional_ticket_lock<u8>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u16>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u32>) == 16);
	static constinit proportional_ticket_lock<u16> zero(0);
	static constinit proportional_ticket_lock<u16> usual;

	CHECK(all_zero(zero));
	CHECK_FALSE(all_zero(usual));
	zero.lock();
	CHECK(zero.is_locked());
	zero.unlock();
	CHECK_FALSE(zero.is_locked());
}

TEST_CASE("proportional_ticket_lock: pauses for each waiter ahead, never for "
	  "none")
{
	using lock8 = proportional_ticket_lock<u8>;
	using lock32 = proportional_ticket_lock<u32>;

	static_assert(lock8::turns_for(1, 64) == 64);
	static_assert(lock8::turns_for(255, 64) == 255 * 64);
	static_assert(lock32::turns_for(3, 100) == 300);
	static_assert(lock8::turns_for(1, 0) == 1);
	static_assert(lock32::turns_for(u32{1} << 31, 2) == 1);
	SUCCEED();
}

TEMPLATE_TEST_CASE("proportional_ticket_lock: served in order at the wrap",
		   "[wrap]", u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4}) {
		proportional_ticket_lock<TestType> lock(
			8, static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 4) == one_to(4));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEST_CASE("proportional_ticket_lock: the base may change while others wait")
{
	proportional_ticket_lock<u8> lock(1);
	line<proportional_ticket_lock<u8>> others(lock);

	lock.lock();
	for (unsigned number : one_to(4)) {
		others.add(number);
		lock.set_base(number);
	}
	lock.unlock();
	CHECK(others.leave() == one_to(4));
}

TEST_CASE("proportional_ticket_lock: 256 contend for 8-bit counters, in order")
{
	proportional_ticket_lock<u8> lock(1, 77);

	CHECK(served_behind_holder(lock, 255) == one_to(255));
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
}

} // namespace proportional_ticket_tests

TEMPLATE_TEST_CASE("every lock: is_contended tells who waits from who holds",
		   "", ticket_lock<u8>, preemptable_ticket_lock<u8>,
		   preemptable_ticket_lock<u16>, proportional_ticket_lock<u8>,
		   peterson_lock)
{
	TestType lock;
	selftest::contender<TestType> holder(0);
	line<TestType> others(lock);

	CHECK_FALSE(lock.is_contended());
	holder.lock(lock);
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_contended());
	holder.unlock(lock);
	others.leave();
	CHECK_FALSE(lock.is_contended());
}

/*
 * tas_lock, ttas_lock, backoff_ttas_lock.
 */

namespace tas_tests {

TEST_CASE("tas_lock: size is a byte, and a zero byte is free")
{
	static_assert(sizeof(tas_lock) == 1);
	static constinit tas_lock lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	CHECK(all_zero(lock));
}

} // namespace tas_tests

/*
 * ttas_lock and backoff_ttas_lock: how long its waiters pause.
 */
namespace ttas_tests {

TEST_CASE("ttas_lock: sizes are a byte, and a zero byte is free")
{
	static_assert(sizeof(ttas_lock) == 1);
	static_assert(sizeof(backoff_ttas_lock) == 1);
	static constinit ttas_lock plain;
	static constinit backoff_ttas_lock polite;

	CHECK(all_zero(plain));
	CHECK(all_zero(polite));
}

TEST_CASE("ttas_lock: a back-off grows with the doublings, up to its cap")
{
	constexpr u32 first = exponential_backoff::first_limit;
	constexpr u32 last = exponential_backoff::last_limit;
	u32 largest = 0;

	for (usize place = 0; place < 4096; place += 16) {
		exponential_backoff pause(place);
		u32 limit = first;

		for (int look = 0; look < 40; look++) {
			const u32 turns = pause();
			REQUIRE(turns >= 1);
			REQUIRE(turns <= limit);
			largest = turns > largest ? turns : largest;
			limit = limit < last ? 2 * limit : last;
		}
	}
	CHECK(largest > last - last / 16);
}

/* The pauses that a waiter makes whose stack lies so far from the lock. */
static std::vector<u32> pauses_at(usize place)
{
	exponential_backoff pause(place);
	std::vector<u32> pauses;

	for (int i = 0; i < 4; i++)
		pauses.push_back(pause());
	return pauses;
}

TEST_CASE("ttas_lock: waiters on different stacks do not march in step")
{
	/* 64 stacks, as far apart as kernels and hosts lay them out. */
	for (usize apart : {usize{1} << 12, usize{1} << 13, usize{1} << 14,
			    usize{1} << 16, usize{1} << 20, usize{1} << 23}) {
		std::set<std::vector<u32>> different;

		for (usize cpu = 0; cpu < 64; cpu++)
			different.insert(pauses_at(0x7f00 + cpu * apart));
		CAPTURE(apart);
		CHECK(different.size() == 64);
	}
}

} // namespace ttas_tests

/*
 * initially_held: nobody gets in before one unlock(), and then it is a lock as
 * any other. The first use of each counter, so also the first of its wrap.
 */
namespace {

template <typename L>
constinit L gate(initially_held);

template <typename L>
void opens_once()
{
	L &lock = gate<L>;

	CHECK(lock.is_locked());
	if constexpr (requires { lock.is_contended(); })
		CHECK_FALSE(lock.is_contended());
	for (int i = 0; i < 300; i++) {
		if constexpr (requires { lock.try_lock(); })
			CHECK_FALSE(lock.try_lock());
		lock.unlock();
		CHECK_FALSE(lock.is_locked());
		if constexpr (requires { lock.try_lock(); })
			REQUIRE(lock.try_lock());
		else
			lock.lock();
		CHECK(lock.is_locked());
	}
}

} // namespace

TEST_CASE("initially_held: one unlock() opens it")
{
	opens_once<ticket_lock<u8>>();
	opens_once<ticket_lock<u32>>();
	opens_once<narrow_ticket_lock<2>>();
	opens_once<narrow_ticket_lock<4>>();
	opens_once<padded_ticket_lock<u16>>();
	opens_once<preemptable_ticket_lock<u8>>();
	opens_once<proportional_ticket_lock<u8>>();
	opens_once<tas_lock>();
	opens_once<ttas_lock>();
	opens_once<backoff_ttas_lock>();
}
