/* SPDX-License-Identifier: MIT */
/*
 * checked_lock and interrupts: whatever a handler interrupts, in the critical
 * section, in the wait or between two instructions around them, a wait for the
 * code that was interrupted is named.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/ticket_lock.hpp>

#include "hooked_lock.hpp"
#include "pretended_kernel.hpp"

using namespace klock;

using byte_lock = checked_lock<ticket_lock<u8>, "runqueue">;
using interrupted_lock = checked_lock<hooked_lock, "runqueue">;

/* "this file:line", as a panic prints it */
static std::string line(int number)
{
	return misuse_text().add(call_site{__FILE__, number}).c_str();
}

static int handler_line;

/* What is said of a section on CPU 0 that is interrupted there. */
template <typename Section>
static std::string interrupted_at(place where, interrupted_lock &lock,
				  Section section)
{
	std::string said = "(no handler ran)";

	next_hook = {where, [&] {
			     as(0, context::interrupt, [&] {
				     said = panic_of([&] {
					     handler_line = __LINE__ + 1;
					     lock.lock();
					     lock.unlock();
				     });
			     });
		     }};
	/* It would have ended there; what it says later does not count. */
	(void)panic_of(section);
	CHECK_FALSE(next_hook.run);
	next_hook.run = nullptr;
	return said;
}

TEST_CASE("checked_lock: interrupts on where a handler takes it too")
{
	byte_lock lock;
	const int open = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const int handler = __LINE__ + 2;
	const std::string said = panic_of(
		[&] { as(1, context::interrupt, [&] { lock.lock(); }); });

	has(said, "with interrupts on at " + line(open));
	has(said, "waited for in an interrupt handler at " + line(handler));
}

TEST_CASE("checked_lock: the same the other way round: the handler was first")
{
	byte_lock lock;
	const int handler = __LINE__ + 1;
	as(1, context::interrupt, [&] { guard held(lock); });
	{
		irq_guard held(lock);
	}
	const int open = __LINE__ + 1;
	const std::string said = panic_of([&] { lock.lock(); });

	has(said, "with interrupts on at " + line(open));
	has(said, "waited for in an interrupt handler at " + line(handler));
}

TEST_CASE("checked_lock: a handler that only tries is no danger")
{
	byte_lock lock;

	lock.lock();
	as(0, context::interrupt, [&] { CHECK_FALSE(lock.try_lock()); });
	as(0, context::nmi, [&] { CHECK_FALSE(lock.try_lock()); });
	lock.unlock();
	as(0, context::nmi, [&] {
		CHECK(lock.try_lock());
		lock.unlock();
	});
}

TEST_CASE("checked_lock: lock() in an NMI handler is named")
{
	byte_lock lock;

	has(panic_of([&] { as(0, context::nmi, [&] { lock.lock(); }); }),
	    "lock() in an NMI handler");
}

TEST_CASE("checked_lock: an interrupted waiter is named before it hangs")
{
	interrupted_lock lock;
	const int open = __LINE__ + 2;
	const auto section = [&] {
		lock.lock();
		lock.unlock();
	};
	const std::string said =
		interrupted_at(place::before_ticket, lock, section);

	has(said, "with interrupts on at " + line(open));
	has(said,
	    "but waited for in an interrupt handler at " + line(handler_line));
}

TEST_CASE("checked_lock: interrupted between taking it and noting that")
{
	for (place where : {place::taken, place::before_release}) {
		interrupted_lock lock;

		has(interrupted_at(where, lock,
				   [&] {
					   lock.lock();
					   lock.unlock();
				   }),
		    "but waited for in an interrupt handler at");
	}
}

TEST_CASE("checked_lock: interrupted in try_lock()")
{
	interrupted_lock lock;

	has(interrupted_at(place::taken, lock,
			   [&] {
				   CHECK(lock.try_lock());
				   lock.unlock();
			   }),
	    "but waited for in an interrupt handler at");
}

TEST_CASE("checked_lock: interrupted by a handler that only tries")
{
	for (place where : {place::before_ticket, place::taken,
			    place::before_release, place::released}) {
		interrupted_lock lock;
		int tries = 0;

		next_hook = {where, [&] {
				     as(0, context::nmi, [&] {
					     tries++;
					     if (lock.try_lock())
						     lock.unlock();
				     });
			     }};
		CHECK(panic_of([&] {
			      lock.lock();
			      lock.unlock();
		      }) == "");
		CHECK(tries == 1);
		CHECK_FALSE(lock.is_locked());
	}
}

TEST_CASE("checked_lock: interrupts that are turned on inside of a section")
{
	byte_lock lock;
	int inside = 0;
	{
		irqs off(false);
		lock.lock();
		irqs on(true);
		inside = __LINE__ + 1;
		lock.unlock();
	}
	const std::string said = panic_of(
		[&] { as(1, context::interrupt, [&] { lock.lock(); }); });

	has(said, "held or waited for with interrupts on at " + line(inside));
}

TEST_CASE("checked_lock: a handler that has interrupts on is interrupted, too")
{
	byte_lock lock;

	as(0, context::interrupt, [&] { irq_guard held(lock); });
	has(panic_of([&] {
		    as(0, context::interrupt, [&] {
			    irqs on(true);
			    guard held(lock);
		    });
	    }),
	    "held or waited for with interrupts on at");
}

TEST_CASE("checked_lock: in an NMI handler the interrupt flag says nothing")
{
	byte_lock lock;

	as(0, context::nmi, [&] {
		irqs on(true);
		CHECK(lock.try_lock());
		lock.unlock();
	});
	CHECK(panic_of([&] {
		      as(0, context::interrupt, [&] { guard held(lock); });
	      }) == "");
}
