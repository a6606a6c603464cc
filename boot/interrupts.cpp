/* SPDX-License-Identifier: MIT */
/*
 * interrupts - who handles what
 */
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>
#include <klock/atomic.hpp>

namespace boot {

namespace {

constinit klock::atomic<interrupt_handler> handlers[256];

} // namespace

interrupt_handler handler_of(u8 vector)
{
	return handlers[vector].load_acquire();
}

void set_interrupt_handler(u8 vector, interrupt_handler handler)
{
	if (is_own_vector(vector))
		panic("vector 0x%02x is boot's own: no handler for it", vector);

	handlers[vector].store_release(handler);
}

void check_free_vector(u8 vector)
{
	if (vector < first_free_vector || vector > last_free_vector)
		panic("vector 0x%02x is not free for timers and IPIs", vector);
}

} // namespace boot
