/* SPDX-License-Identifier: MIT */
/*
 * irq_depth: interrupts come back with the last lock that is released, whatever
 * the order. The panic throws, so that it can be read.
 */
#include <klock/irq_depth.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

namespace irq_depth_tests {

namespace {
constinit irq_depth depths[4];

struct locks {
	ticket_lock<u8> first, second;
};

/* Whether interrupts are on while the second alone is held, and at the end. */
template <template <typename> typename Guard>
std::pair<bool, bool> released_in_order(locks &l)
{
	Guard<ticket_lock<u8>> a(l.first), b(l.second);

	a.unlock();
	const bool between = irqs_enabled();
	b.unlock();
	return {between, irqs_enabled()};
}
} // namespace

extern "C" irq_depth *klock_os_irq_depth() { return &depths[cpu_id()]; }

TEST_CASE("irq_depth: two words, and zero bytes have nothing open")
{
	static constinit irq_depth fresh;

	static_assert(sizeof(irq_depth) == 2 * sizeof(usize));
	CHECK(all_zero(fresh));
	CHECK(push_depth() == 0);
}

TEST_CASE("irq_depth: locks that are released in the order they were taken")
{
	locks l;

	/* An irq_guard restores what it found: too early. */
	CHECK(released_in_order<irq_guard>(l) == std::pair{true, false});
	irq_restore(true);
	CHECK(released_in_order<irq_depth_guard>(l) == std::pair{false, true});
	CHECK_FALSE(l.first.is_locked());
	CHECK_FALSE(l.second.is_locked());
}

TEST_CASE("irq_depth: what was off before stays off, on each CPU its own")
{
	locks l;
	const irqs off(false);

	as(2, context::thread, [&] {
		CHECK(released_in_order<irq_depth_guard>(l) ==
		      std::pair{false, false});
		push_off();
		as(3, context::interrupt, [] { CHECK(push_depth() == 0); });
		CHECK(push_depth() == 1);
		pop_off();
	});
}

TEST_CASE("irq_depth: a guard takes any lock, an irq_lock among them")
{
	irq_lock<ticket_lock<u8>> with_handlers;
	mcs_lock queue;
	mcs_lock::node node;

	{
		irq_depth_guard a(with_handlers);
		irq_depth_guard b(queue);
		CHECK(with_handlers.is_locked());
		CHECK(push_depth() == 2);
	}
	irq_depth_guard lent(queue, node);
	CHECK(push_depth() == 1);
}

TEST_CASE("irq_depth: a thread keeps what it found, across a switch")
{
	push_off();
	const irq_state mine = irqs_before_push();

	/* The next thread had interrupts off before its first lock. */
	set_irqs_before_push(false);
	pop_off();
	CHECK_FALSE(irqs_enabled());
	push_off();
	set_irqs_before_push(mine);
	pop_off();
	CHECK(irqs_enabled());
}

TEST_CASE("irq_depth: a pop_off() too many, and one with interrupts on, panic")
{
	as(1, context::thread, [] {
		const irqs off(false);

		CHECK(panic_of([] { pop_off(); }) ==
		      "irq_depth, CPU 1: pop_off() without a push_off()");
	});
	push_off();
	irq_restore(true);
	CHECK(panic_of([] { pop_off(); }) ==
	      "irq_depth, CPU 0: interrupts are on before the last pop_off()");
	(void)irq_save();
	pop_off();
}

} // namespace irq_depth_tests
