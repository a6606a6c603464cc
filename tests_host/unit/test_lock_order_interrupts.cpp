/* SPDX-License-Identifier: MIT */
/*
 * lock_order and handlers: what they take counts, over any number of locks; and
 * wherever one comes, it sees what is held, and leaves what it found.
 */
#include <klock/guard.hpp>
#include <klock/order_calls.hpp>
#include <klock/ticket_lock.hpp>

#include "hooked_lock.hpp"
#include "order_kernel.hpp"

using namespace klock;

namespace {

using byte_lock = ticket_lock<u8>;

std::string line(int number) { return site_text(__FILE__, number); }

struct three_locks {
	checked_lock<byte_lock, "device"> device;
	checked_lock<byte_lock, "middle"> middle;
	checked_lock<byte_lock, "log"> log;
};

template <typename Lock>
std::string handler_takes(unsigned cpu, Lock &lock)
{
	return panic_of([&] {
		as(cpu, context::interrupt, [&] {
			lock.lock();
			lock.unlock();
		});
	});
}

template <typename Lock>
std::string open_takes(unsigned cpu, Lock &lock)
{
	return panic_of([&] {
		as(cpu, context::thread, [&] {
			irqs on(true);
			lock.lock();
			lock.unlock();
		});
	});
}

/* CPU 1 holds what a handler of CPU 0 waits for, and waits for what CPU 0 has
 * held when it was interrupted. */
bool is_inversion(const std::string &said)
{
	return has(said, "interrupts: a handler waits for device at ") &&
	       has(said, "; log is held or waited for with interrupts on at ");
}

} // namespace

TEST_CASE("lock_order: interrupts: the edge closes it; all lines are named")
{
	new_order<> fresh;
	three_locks of;
	const int handler = __LINE__ + 1;
	as(0, context::interrupt, [&] { guard held(of.device); });
	const int open = __LINE__ + 1;
	of.log.lock();
	of.log.unlock();
	on_cpu(1, [&] {
		const int first = __LINE__ + 1;
		of.device.lock();
		const std::string said = panic_of([&] { of.log.lock(); });

		CHECK(said ==
		      "log, CPU 1: interrupts: a handler waits for "
		      "device at " +
			      line(handler) +
			      "; log is held or waited for with "
			      "interrupts on at " +
			      line(open) + "; known: device (" + line(first) +
			      ") then log (" + line(first + 1) +
			      ") on CPU 1; found at " + line(first + 1));
	});
}

TEST_CASE("lock_order: interrupts: the handler closes it")
{
	new_order<> fresh;
	three_locks of;

	CHECK(taking(1, of.device, of.log) == "");
	CHECK(open_takes(0, of.log) == "");
	is_inversion(handler_takes(2, of.device));
}

TEST_CASE("lock_order: interrupts: who has them on closes it")
{
	new_order<> fresh;
	three_locks of;

	CHECK(handler_takes(2, of.device) == "");
	CHECK(taking(1, of.device, of.log) == "");
	is_inversion(open_takes(0, of.log));
}

TEST_CASE("lock_order: interrupts: over three locks, by any of its edges")
{
	for (const bool first_last : {true, false}) {
		new_order<> fresh;
		three_locks of;

		CHECK(handler_takes(2, of.device) == "");
		CHECK(open_takes(0, of.log) == "");
		std::string said;
		if (first_last) {
			CHECK(taking(1, of.middle, of.log) == "");
			said = taking(1, of.device, of.middle);
		} else {
			CHECK(taking(1, of.device, of.middle) == "");
			said = taking(1, of.middle, of.log);
		}
		is_inversion(said);
		has(said, "known: device (");
		has(said, ") then middle (");
		has(said, ", middle (");
		has(said, ") then log (");
	}
}

TEST_CASE("lock_order: interrupts: two locks of one class, one in a handler")
{
	new_order<> fresh;
	three_locks of, others;

	CHECK(handler_takes(0, of.device) == "");
	const std::string said = open_takes(1, others.device);

	has(said, "a handler waits for device at ");
	has(said, "; device is held or waited for with interrupts on at ");
	has(said, "; found at ");
}

TEST_CASE("lock_order: interrupts off, and all is right")
{
	new_order<> fresh;
	three_locks of;

	CHECK(taking(0, of.device, of.middle, of.log) == "");
	CHECK(handler_takes(1, of.device) == "");
	CHECK(handler_takes(2, of.log) == "");
	CHECK(taking(3, of.device, of.log) == "");
	/* Nothing that handlers wait for comes before these. */
	checked_lock<byte_lock, "outer"> outer;
	CHECK(open_takes(0, outer) == "");
	CHECK(taking(0, outer, of.device) == "");
}

TEST_CASE("lock_order: a handler that only tries waits for nobody")
{
	new_order<> fresh;
	three_locks of;

	CHECK(open_takes(0, of.log) == "");
	CHECK(taking(1, of.device, of.log) == "");
	as(0, context::interrupt, [&] {
		CHECK(of.device.try_lock());
		of.device.unlock();
	});
}

TEST_CASE("lock_order: interrupts that go on inside of a section, and a lock")
{
	new_order<> fresh;
	three_locks of;
	int inside = 0;

	on_cpu(0, [&] {
		of.log.lock();
		{
			irqs on(true);
			inside = __LINE__ + 1;
			of.middle.lock();
			of.middle.unlock();
		}
		of.log.unlock();
	});
	CHECK(taking(1, of.device, of.log) == "");
	has(handler_takes(1, of.device),
	    "log is held or waited for with interrupts on at " + line(inside));
}

TEST_CASE("lock_order: a try with interrupts on is held with interrupts on")
{
	new_order<> fresh;
	three_locks of;

	CHECK(taking(1, of.device, of.log) == "");
	as(0, context::thread, [&] {
		CHECK(of.log.try_lock());
		of.log.unlock();
	});
	is_inversion(handler_takes(2, of.device));
}

TEST_CASE("lock_order: a handler that has interrupted a waiter or a holder")
{
	for (const place where :
	     {place::before_ticket, place::taken, place::before_release}) {
		new_order<> fresh;
		checked_lock<hooked_lock, "outer"> outer;
		three_locks of;
		bool ran = false;

		next_hook = {where, [&] {
				     CHECK(handler_takes(0, of.log) == "");
				     ran = true;
			     }};
		on_cpu(0, [&] {
			outer.lock();
			outer.unlock();
		});
		CHECK(ran);
		CHECK(fresh.order.mine() == nullptr);
		has(taking(1, of.log, outer), "known: outer (");
	}
}

TEST_CASE("lock_order: the same in try_lock()")
{
	new_order<> fresh;
	checked_lock<hooked_lock, "outer"> outer;
	three_locks of;

	next_hook = {place::taken,
		     [&] { CHECK(handler_takes(0, of.log) == ""); }};
	on_cpu(0, [&] {
		CHECK(outer.try_lock());
		outer.unlock();
	});
	CHECK_FALSE(next_hook.run);
	has(taking(1, of.log, outer), "known: outer (");
}

TEST_CASE("lock_order: might_wait() in a handler, with the thread's lock held")
{
	new_order<> fresh;
	three_locks of;

	on_cpu(0, [&] {
		of.log.lock();
		as(0, context::interrupt, [] {
			has(panic_of([] { might_wait(); }),
			    "log, CPU 0: might_wait() with a lock held");
		});
	});
}
