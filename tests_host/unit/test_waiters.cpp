/* SPDX-License-Identifier: MIT */
/*
 * Locks with waiters: in which order they are served, what the holder sees of
 * them, how many there may be. Of every lock of the list, and of tickets where
 * their counters wrap.
 */
#include <klock/selftest/locks.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <limits>

using namespace klock;
using namespace unit;

/* -- Every lock of the list ------------------------------------------------ */

namespace {

/* 0 holds it, 1, 2, .. wait; the last number only tries. */
constexpr unsigned numbers = some_lock::numbers, tries = numbers - 1;

enum class taken_by { lock, try_lock };

void serves_in_order(some_lock &lock, line_of_any &others, unsigned waiters,
		     taken_by how)
{
	if (how == taken_by::try_lock)
		REQUIRE(lock.try_lock(0));
	else
		lock.lock(0);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	for (unsigned number : one_to(waiters)) {
		others.add(number);
		CHECK(lock.is_locked());
		CHECK(lock.is_contended() == lock.tells_contended);
		CHECK_FALSE(lock.try_lock(tries));
	}
	lock.unlock(0);

	/* It comes back at once, and is served behind them all. */
	lock.lock(0);
	CHECK(others.served() == waiters);
	CHECK_FALSE(lock.is_contended());
	lock.unlock(0);
	CHECK(others.leave() == one_to(waiters));
	CHECK_FALSE(lock.is_locked());
}

void tells_of_a_waiter(some_lock &lock, line_of_any &others)
{
	CHECK_FALSE(lock.is_contended());
	lock.lock(0);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock(2));
	lock.unlock(0);
	others.leave();
	CHECK_FALSE(lock.is_contended());
	CHECK_FALSE(lock.is_locked());
}

} // namespace

TEST_CASE("every lock: waiters are served in arrival order, where it says so")
{
	selftest::all_locks<numbers>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		constexpr u64 most = L::max_contenders;
		/* A ring of tickets that is full looks as if it were free. */
		constexpr unsigned waiters =
			(most < numbers ? most : numbers) - 2;

		if constexpr (Subject::order_of_service ==
			      selftest::service::fifo) {
			INFO(Subject::name);
			for (const auto how :
			     {taken_by::lock, taken_by::try_lock}) {
				L it;
				lock_of<L> lock(it);
				line<L> others(it);

				if (how == taken_by::lock || lock.has_try_lock)
					serves_in_order(lock, others, waiters,
							how);
			}
		}
	});
}

TEST_CASE("every lock: the holder sees a waiter, where others may overtake it")
{
	unsigned tested = 0;

	selftest::all_locks<numbers>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (Subject::order_of_service !=
				      selftest::service::fifo &&
			      selftest::tells_contended<L>) {
			L it;
			lock_of<L> lock(it);
			line<L> others(it);

			INFO(Subject::name);
			tells_of_a_waiter(lock, others);
			tested++;
		}
	});
	/* preemptable_ticket_lock, of two widths, and peterson_lock. */
	CHECK(tested == 3);
}

/* -- Tickets, whose counters wrap ------------------------------------------ */

namespace {

/* A lock of tickets, and how one is made that has served so many. */
template <selftest::text Name, typename L, typename Counter>
struct tickets {
	using lock = L;
	static constexpr const char *name = Name.chars;
	static constexpr unsigned bits = std::numeric_limits<Counter>::digits;
	/* A lock has nothing but its counters: bytes can be compared. */
	static constexpr bool is_bare = sizeof(L) <= 2 * sizeof(Counter);

	static L at(u64 served)
	{
		const auto counter = static_cast<Counter>(served);

		if constexpr (requires { L(8u, counter); })
			return L(8u, counter);
		else
			return L(counter);
	}
};

using all_tickets = selftest::list<
	tickets<"ticket_lock<u8>", ticket_lock<u8>, u8>,
	tickets<"ticket_lock<u16>", ticket_lock<u16>, u16>,
	tickets<"ticket_lock<u32>", ticket_lock<u32>, u32>,
	tickets<"narrow_ticket_lock<2>", narrow_ticket_lock<2>, u8>,
	tickets<"narrow_ticket_lock<3>", narrow_ticket_lock<3>, u8>,
	tickets<"narrow_ticket_lock<4>", narrow_ticket_lock<4>, u8>,
	tickets<"padded_ticket_lock<u8>", padded_ticket_lock<u8>, u8>,
	tickets<"padded_ticket_lock<u16>", padded_ticket_lock<u16>, u16>,
	tickets<"padded_ticket_lock<u32>", padded_ticket_lock<u32>, u32>,
	tickets<"proportional_ticket_lock<u8>", proportional_ticket_lock<u8>,
		u8>,
	tickets<"proportional_ticket_lock<u16>", proportional_ticket_lock<u16>,
		u16>,
	tickets<"proportional_ticket_lock<u32>", proportional_ticket_lock<u32>,
		u32>>;

/* Every value of a u8; of wider counters the ends and some between. */
std::vector<u64> interesting_values(unsigned bits)
{
	std::vector<u64> values;
	const u64 end = u64{1} << bits;
	const u64 step = bits == 8 ? 1 : end / 61;

	for (u64 v = 0; v < end; v += step)
		values.push_back(v);
	for (u64 v :
	     {end / 2 - 2, end / 2 - 1, end / 2, end - 3, end - 2, end - 1})
		values.push_back(v);
	return values;
}

/* Taken and released once, in each way. */
void alone(some_lock &lock, some_lock &tried)
{
	REQUIRE_FALSE(lock.is_locked());
	lock.lock();
	REQUIRE(lock.is_locked());
	REQUIRE_FALSE(lock.is_contended());
	REQUIRE_FALSE(lock.try_lock(1));
	lock.unlock();
	REQUIRE_FALSE(lock.is_locked());
	if (!tried.has_try_lock)
		return;
	REQUIRE(tried.try_lock());
	REQUIRE(tried.is_locked());
	REQUIRE_FALSE(tried.try_lock(1));
	tried.unlock();
	REQUIRE_FALSE(tried.is_locked());
}

} // namespace

TEST_CASE("tickets: alone, at every value of their counters", "[wrap]")
{
	all_tickets::for_each([]<typename Row>() {
		using L = typename Row::lock;

		INFO(Row::name);
		for (const u64 served : interesting_values(Row::bits)) {
			L it = Row::at(served), it_tried = Row::at(served);
			const L after = Row::at(served + 1);
			lock_of<L> lock(it), tried(it_tried);

			CAPTURE(served);
			alone(lock, tried);
			if (!Row::is_bare)
				continue;
			REQUIRE(bytes_of(it) == bytes_of(after));
			if (lock.has_try_lock)
				REQUIRE(bytes_of(it_tried) == bytes_of(after));
		}
	});
}

TEST_CASE("tickets: waiters are served in arrival order at the wrap", "[wrap]")
{
	all_tickets::for_each([]<typename Row>() {
		using L = typename Row::lock;
		constexpr u64 most = L::max_contenders;
		constexpr unsigned waiters = most < 6 ? most - 1 : 5;

		INFO(Row::name);
		for (const u64 before : {0, 1, 2, 3, 4, 5}) {
			L lock = Row::at(-before);

			CAPTURE(before);
			REQUIRE(served_behind_holder(lock, waiters) ==
				one_to(waiters));
			REQUIRE_FALSE(lock.is_locked());
		}
	});
}

TEST_CASE("tickets: is_contended counts modulo the counter's width", "[wrap]")
{
	all_tickets::for_each([]<typename Row>() {
		using L = typename Row::lock;

		/* The last number before the wrap, and its waiter has 0. */
		L it = Row::at(-u64{1});
		lock_of<L> lock(it);
		line<L> others(it);

		INFO(Row::name);
		tells_of_a_waiter(lock, others);
	});
}

namespace {

/* Fills the ring of tickets, and then lets one more come. */
void one_too_many(some_lock &lock, line_of_any &others, unsigned most)
{
	lock.lock();
	for (unsigned number : one_to(most - 2))
		others.add(number);
	REQUIRE(lock.is_locked());
	REQUIRE(lock.is_contended() == (most > 2));
	REQUIRE_FALSE(lock.try_lock(1));

	/* The last of them closes the ring: next == owner, as if it were free.
	 */
	others.add(most - 1);
	REQUIRE_FALSE(lock.is_locked());

	/*
	 * That is what Capacity warns of: one context more walks in, while the
	 * holder is inside. It has the holder's number, a wrap later, and
	 * leaves after all others.
	 */
	if (lock.has_try_lock)
		REQUIRE(lock.try_lock(1));
	else
		lock.lock(1);
	lock.unlock(1);
	REQUIRE(others.leave() == one_to(most - 1));
	REQUIRE(lock.is_locked());
	lock.unlock();
	REQUIRE_FALSE(lock.is_locked());
}

} // namespace

TEST_CASE("tickets: capacity is that of the counters, and one more breaks it")
{
	unsigned tested = 0;

	all_tickets::for_each([&]<typename Row>() {
		using L = typename Row::lock;
		constexpr u64 most = L::max_contenders;

		/* More are more than there are threads. */
		if constexpr (most <= 256) {
			INFO(Row::name);
			/* At each value of the narrow ones. */
			const u64 end = most < 256 ? most : 1;
			for (u64 served = 0; served < end; served++) {
				L it = Row::at(200 + served);
				lock_of<L> lock(it);
				line<L> others(it);

				CAPTURE(served);
				one_too_many(lock, others, most);
			}
			tested++;
		}
	});
	CHECK(tested == 6);
}
