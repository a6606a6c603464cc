/* SPDX-License-Identifier: MIT */
/*
 * Programs that compile and are run: a guard in a program with exceptions, and
 * in a kernel that has them on (KERNEL); a lock that is released behind its
 * guard's back (GUARD), where the guard's line is named.
 */
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>

#if defined(KERNEL)
static klock::ticket_lock<klock::u16> lock;
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
#elif defined(GUARD)
#include <stdio.h>
#include <stdlib.h>

extern "C" unsigned klock_os_cpu_id() { return 0; }
extern "C" int klock_os_context() { return 0; }
extern "C" void klock_os_panic(const char *, const void *, unsigned,
			       const char *what)
{
	puts(what);
	exit(0);
}

klock::checked_lock<klock::ticket_lock<klock::u8>> lock;

int main()
{
	klock::GUARD held(lock); /* the line to be named */
	lock.unlock();
}
#else
static klock::ticket_lock<klock::u16> lock;

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
