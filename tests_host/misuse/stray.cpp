/* SPDX-License-Identifier: MIT */
/* A lock is released behind its guard's back: the guard's line is named. */
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/ticket_lock.hpp>

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
