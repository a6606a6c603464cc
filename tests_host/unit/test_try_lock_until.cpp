/* SPDX-License-Identifier: MIT */
/*
 * try_lock_until, try_lock_for: of every lock that can be tried, by a clock
 * that the test moves, a pause at a time.
 */
#include <klock/selftest/locks.hpp>
#include <klock/try_lock_until.hpp>

#include <catch.hpp>

#include <functional>
#include <memory>

using namespace klock;

namespace {

/* Each pause moves the clock by one, from 100; then something happens. */
struct script final : arch::watcher {
	u64 clock = 100;
	std::function<void(u64)> at = [](u64) {};

	script() { arch::watched_by = this; }
	~script() { arch::watched_by = nullptr; }
	void turn() override { at(++clock); }
	u64 time() override { return clock; }
};

/* Whatever the lock is asked with: nothing, a node, a number. */
template <typename L>
struct caller {
	explicit caller(unsigned cpu) : number(cpu) {}

	bool until(L &l, u64 deadline)
	{
		if constexpr (plain_lock<L>)
			return try_lock_until(l, deadline);
		else if constexpr (node_lock<L>)
			return try_lock_until(l, node, deadline);
		else
			return try_lock_until(l, number, deadline);
	}
	bool in(L &l, u64 how_long)
	{
		if constexpr (plain_lock<L>)
			return try_lock_for(l, how_long);
		else if constexpr (node_lock<L>)
			return try_lock_for(l, node, how_long);
		else
			return try_lock_for(l, number, how_long);
	}
	void unlock(L &l)
	{
		if constexpr (plain_lock<L>)
			l.unlock();
		else if constexpr (node_lock<L>)
			l.unlock(node);
		else
			l.unlock(number);
	}

      private:
	struct none {};
	template <typename T>
	struct node_of {
		using type = none;
	};
	template <node_lock T>
	struct node_of<T> {
		using type = typename T::node;
	};

	unsigned number;
	typename node_of<L>::type node;
};

template <typename Visit>
void for_each_lock_that_can_be_tried(Visit visit)
{
	unsigned tried = 0;

	selftest::all_locks<2>::for_each([&]<typename Subject>() {
		using lock = typename Subject::lock;
		if constexpr (try_lockable<lock>) {
			INFO(Subject::name);
			auto l = std::make_unique<lock>();
			visit(*l, caller<lock>(0), caller<lock>(1));
			tried++;
		}
	});
	CHECK(tried >= 20);
}

} // namespace

TEST_CASE("try_lock_until: a free lock is taken at once, deadline or not")
{
	for_each_lock_that_can_be_tried([](auto &lock, auto me, auto) {
		script s;

		for (const u64 deadline : {u64{0}, u64{100}, ~u64{0}}) {
			CHECK(me.until(lock, deadline));
			CHECK(lock.is_locked());
			me.unlock(lock);
			CHECK(me.in(lock, deadline));
			me.unlock(lock);
		}
		CHECK(s.clock == 100);
	});
}

TEST_CASE("try_lock_until: a lock that stays held is given up when it is time")
{
	for_each_lock_that_can_be_tried([](auto &lock, auto holder, auto me) {
		script s;

		REQUIRE(holder.until(lock, 0));
		CHECK_FALSE(me.until(lock, 107));
		CHECK(s.clock == 107);
		CHECK_FALSE(me.in(lock, 5));
		CHECK(s.clock == 112);
		/* Asked once, and not waited for. */
		CHECK_FALSE(me.until(lock, 3));
		CHECK_FALSE(me.in(lock, 0));
		CHECK(s.clock == 112);
		holder.unlock(lock);
		CHECK(me.until(lock, 0));
		me.unlock(lock);
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("try_lock_until: one that comes free in time is taken")
{
	for_each_lock_that_can_be_tried([](auto &lock, auto holder, auto me) {
		script s;

		REQUIRE(holder.until(lock, 0));
		s.at = [&](u64 now) {
			if (now == 104)
				holder.unlock(lock);
		};
		CHECK(me.in(lock, ~u64{0}));
		CHECK(s.clock == 104);
		CHECK(lock.is_locked());
		me.unlock(lock);
	});
}
