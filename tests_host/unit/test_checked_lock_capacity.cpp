/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: a CPU that arrives while the holder releases. The holder has
 * noted it and not yet released, or has released, which nobody can note: so the
 * last place is given away when the next holder is noted.
 *
 * Steps of several CPUs, each by hand: model/checked_lock tries all orders.
 */
#include <klock/detail/usage.hpp>

#include "pretended_kernel.hpp"

#include <thread>

using namespace klock;

namespace {

constexpr u64 two = 2;

/* What lock() says before it waits. */
void wants(lock_usage &usage, u64 capacity)
{
	usage.before_wait({});
	usage.count_in(capacity, {});
}

/* CPU 0 leaves, CPU 1 waits: the lock is full until CPU 1 has it. */
struct full_while_left {
	lock_usage usage;

	full_while_left()
	{
		running here(0, context::thread);
		irqs off(false);
		wants(usage, two);
		usage.after_lock(0, {});
		as(1, context::thread, [&] { wants(usage, two); });
		usage.before_unlock(0, {});
	}

	void next_has_it()
	{
		as(1, context::thread, [&] { usage.after_lock(0, {}); });
	}

	[[nodiscard]] bool nmi_may_try()
	{
		running here(0, context::nmi);
		return usage.before_try_lock(two, {});
	}
};

} // namespace

TEST_CASE("checked_lock: a try while the holder leaves and another waits")
{
	full_while_left w;

	CHECK_FALSE(w.nmi_may_try());
	CHECK_FALSE(w.nmi_may_try());
	w.next_has_it();
	CHECK(w.nmi_may_try());
	has(panic_of([&] { (void)w.nmi_may_try(); }),
	    "more contenders than its capacity");
}

TEST_CASE("checked_lock: a wait while the holder leaves and another waits")
{
	full_while_left w;
	atomic<u8> waits, got_in;

	std::thread third([&] {
		running here(2, context::thread);
		irqs off(false);
		waits.store_release(1);
		wants(w.usage, two);
		got_in.store_release(1);
	});
	waits.await_eq_acquire(1);
	/* Not a proof that it waits; that it gets in then, and in peace, is. */
	for (int i = 0; i < 1000; i++)
		CHECK(got_in.load_acquire() == 0);
	w.next_has_it();
	third.join();
	CHECK(got_in.load_acquire() == 1);
}

TEST_CASE("checked_lock: the only contender there is room for comes again")
{
	lock_usage usage;

	for (int i = 0; i < 3; i++) {
		wants(usage, 1);
		usage.after_lock(0, {});
		has(panic_of([&] { (void)usage.before_try_lock(1, {}); }),
		    "more contenders than its capacity");
		usage.before_unlock(0, {});
	}
}
