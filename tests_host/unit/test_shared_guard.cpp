/* SPDX-License-Identifier: MIT */
/*
 * shared_guard, irq_shared_guard and their try forms, over every lock that
 * readers share.
 */
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>

#include <catch.hpp>

using namespace klock;
using arch::irqs_enabled;

namespace {

template <typename L>
L fresh;

template <typename Test>
void for_each_shared_lock(Test test)
{
	selftest::all_shared_locks<4>::for_each([&]<typename Subject>() {
		INFO(Subject::name);
		test.template operator()<typename Subject::lock>();
	});
}

/* Whether a writer could come now: nobody reads. */
template <typename L>
bool writable(L &lock)
{
	if constexpr (try_lockable<L>) {
		if (!lock.try_lock())
			return false;
		lock.unlock();
		return true;
	}
	return !lock.is_locked();
}

} // namespace

TEST_CASE("shared_guard: several hold the lock at once, for their blocks")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		for (int i = 0; i < 3; i++) {
			{
				shared_guard one(lock);
				CHECK_FALSE(writable(lock));
			}
			CHECK(writable(lock));
		}
		{
			guard writer(lock);
			if constexpr (try_shared_lockable<L>) {
				shared_try_guard reader{lock};
				CHECK_FALSE(reader);
			}
		}
		CHECK(writable(lock));
	});
}

TEST_CASE("shared_guard: released early, once; a try says whether it holds")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		shared_guard held(lock);
		held.unlock();
		CHECK(writable(lock));
		held.unlock();
		CHECK(writable(lock));
		if constexpr (try_shared_lockable<L>) {
			shared_try_guard tried{lock};
			CHECK(tried);
			shared_try_guard again{lock};
			CHECK(again);
			CHECK_FALSE(writable(lock));
			tried.unlock();
			CHECK_FALSE(tried);
			again.unlock();
			CHECK(writable(lock));
		}
	});
}

TEST_CASE("irq_shared_guard: interrupts are off inside, then as they were")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		REQUIRE(irqs_enabled());
		{
			irq_shared_guard outer(lock);
			CHECK_FALSE(irqs_enabled());
			CHECK_FALSE(writable(lock));
			outer.unlock();
			CHECK(irqs_enabled());
			CHECK(writable(lock));
		}
		CHECK(irqs_enabled());
		{
			irq_guard writer(lock);
			CHECK_FALSE(irqs_enabled());
		}
		{
			guard writer(lock);
			if constexpr (try_shared_lockable<L>) {
				irq_shared_try_guard reader{lock};
				CHECK_FALSE(reader);
				CHECK(irqs_enabled());
			}
		}
		if constexpr (try_shared_lockable<L>) {
			irq_shared_try_guard reader{lock};
			CHECK(reader);
			CHECK_FALSE(irqs_enabled());
			reader.unlock();
			CHECK(irqs_enabled());
		}
		CHECK(irqs_enabled());
		CHECK(writable(lock));
	});
}

TEST_CASE("shared_guard: sizes are those of a guard")
{
	using lock = rw_ticket_lock<u8>;

	static_assert(sizeof(shared_guard<lock>) == sizeof(void *));
	static_assert(sizeof(shared_try_guard<lock>) == sizeof(void *));
	static_assert(!shared_lockable<ticket_lock<u8>>);
	static_assert(shared_lockable<lock> && plain_lock<lock>);
	SUCCEED();
}
