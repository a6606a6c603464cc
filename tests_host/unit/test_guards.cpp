/* SPDX-License-Identifier: MIT */
/*
 * guard and irq_guard, over every kind of lock.
 *
 * The hosted port's interrupt flag is a pretended one, of this thread:
 * klock::arch::irqs_enabled().
 */
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/locks.hpp>

#include <catch.hpp>

#include "guards.hpp"

#include <atomic>
#include <thread>

using namespace klock;
using arch::irqs_enabled;

/* What a kernel supplies. */
thread_local unsigned current_cpu = 0;

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

/* Every lock of the list that says whether it is held. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		INFO(Subject::name);
		test.template operator()<typename Subject::lock>();
	});
}

/* Makes a Guard of this lock in whatever way it wants, and calls inside(). */
template <template <typename> typename Guard, typename L, typename Inside>
static void under(L &lock, Inside inside)
{
	if constexpr (node_lock<L> && !stack_node_lock<L>) {
		static typename L::node node;
		Guard<L> held(lock, node);
		inside();
	} else {
		Guard<L> held(lock);
		inside();
	}
}

template <typename L>
static L fresh;

TEST_CASE("guard: holds every kind of lock for the length of its block")
{
	for_each_lock([]<typename L>() {
		L &lock = fresh<L>;

		for (int i = 0; i < 3; i++) {
			bool locked = false;
			under<guard>(lock, [&] { locked = lock.is_locked(); });
			CHECK(locked);
			CHECK_FALSE(lock.is_locked());
		}
	});
}

TEST_CASE("guard: asks the kernel for the CPU's number, or takes the one given")
{
	bakery_lock<4> lock;

	current_cpu = 3;
	{
		guard held(lock);
		CHECK(lock.is_queued(3));
	}
	{
		guard held(lock, 1);
		CHECK(lock.is_queued(1));
		CHECK_FALSE(lock.is_queued(3));
	}
	current_cpu = 0;
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("guard: leaves the interrupt flag alone")
{
	ticket_lock<u8> lock;
	guard held(lock);

	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: interrupts are off inside and back after, for every lock")
{
	for_each_lock([]<typename L>() {
		L &lock = fresh<L>;
		bool locked = false, enabled = true;

		REQUIRE(irqs_enabled());
		under<irq_guard>(lock, [&] {
			locked = lock.is_locked();
			enabled = irqs_enabled();
		});
		CHECK(locked);
		CHECK_FALSE(enabled);
		CHECK(irqs_enabled());
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("irq_guard: finds interrupts off and leaves them off")
{
	for_each_lock([]<typename L>() {
		const arch::irq_state before = arch::irq_save();

		under<irq_guard>(fresh<L>, [] {});
		CHECK_FALSE(irqs_enabled());
		arch::irq_restore(before);
		CHECK(irqs_enabled());
	});
}

TEMPLATE_TEST_CASE(
	"irq_guard: off before the lock is touched, on after the unlock", "",
	watchful_lock, watchful_node_lock, watchful_cpu_lock)
{
	TestType lock;
	{
		guard held(lock);
	}
	CHECK(lock.seen == "LU");
	{
		irq_guard held(lock);
	}
	CHECK(lock.seen == "LUlu");
}

TEST_CASE("irq_guard: nests, and only the outermost turns interrupts on again")
{
	ticket_lock<u8> outer;
	mcs_lock middle;
	graunke_thakkar_lock<2> inner;
	{
		irq_guard a(outer);
		{
			irq_guard b(middle);
			{
				irq_guard c(inner, 1u);
				CHECK_FALSE(irqs_enabled());
			}
			CHECK_FALSE(irqs_enabled());
		}
		CHECK_FALSE(irqs_enabled());
	}
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: a waiter does not overwrite what the holder found")
{
	/*
	 * The mistake that real kernels shipped: the flags kept in the lock.
	 * The holder came with interrupts on; the waiter comes with them off.
	 */
	ticket_lock<u8> lock;
	std::thread waiter;
	bool off_after = false;
	{
		irq_guard held(lock);
		waiter = std::thread([&] {
			(void)arch::irq_save();
			{
				irq_guard waiting(lock);
			}
			off_after = !irqs_enabled();
		});
		while (!lock.is_contended())
			std::this_thread::yield();
	}
	CHECK(irqs_enabled());
	waiter.join();
	CHECK(off_after);
}

namespace {

/* The same with the flags in the lock: shown to fail, so that we know. */
struct flags_in_lock {
	void lock()
	{
		flags = arch::irq_save();
		inner.lock();
	}
	void unlock()
	{
		const arch::irq_state found = flags;
		inner.unlock();
		arch::irq_restore(found);
	}

	ticket_lock<u8> inner;
	std::atomic<arch::irq_state> flags{false};
};

} // namespace

TEST_CASE("irq_guard: flags that are kept in the lock are found out that way")
{
	flags_in_lock lock;
	std::thread waiter;

	lock.lock();
	waiter = std::thread([&] {
		(void)arch::irq_save();
		lock.lock();
		lock.unlock();
	});
	while (!lock.inner.is_contended())
		std::this_thread::yield();
	lock.unlock();
	waiter.join();
	CHECK_FALSE(irqs_enabled());
	arch::irq_restore(true);
}
