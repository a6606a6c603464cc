/* SPDX-License-Identifier: MIT */
/* A guard in a program with exceptions; and in a kernel that has them on. */
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>

static klock::ticket_lock<klock::u16> lock;

#ifdef KERNEL
static klock::mcs_lock mcs;
unsigned shared;

void f()
{
	klock::irq_guard held(lock);
	shared++;
}

void g()
{
	klock::irq_guard held(mcs);
	shared++;
}
#else
int main()
{
	try {
		klock::irq_guard held(lock);
		throw 1;
	} catch (int) {
	}
	return lock.is_locked() || !klock::arch::irqs_enabled();
}
#endif
