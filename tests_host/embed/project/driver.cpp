/* SPDX-License-Identifier: MIT */
/*
 * This file goes into the kernel and, unchanged, into tests on the host.
 * plain<T> costs nothing; the model checker proves that the lock protects it.
 */
#include "driver.hpp"

#include <klock/irq_guard.hpp>
#include <klock/plain.hpp>
#include <klock/ticket_lock.hpp>

namespace {

constinit klock::ticket_lock<klock::u16> lock;
constinit klock::plain<unsigned> events; /* under lock */

} // namespace

void driver_event()
{
	klock::irq_guard held(lock);

	events.set(events.get() + 1);
}

unsigned driver_events()
{
	klock::irq_guard held(lock);

	return events.get();
}
