/* SPDX-License-Identifier: MIT */
#include "../driver.hpp"

#include "klock.hpp"

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
