/* SPDX-License-Identifier: MIT */
/*
 * os - two functions that klock asks of a kernel (klock/os.hpp)
 */
#include <boot/cpus.hpp>
#include <boot/panic.hpp>
#include <klock/os.hpp>

extern "C" unsigned klock_os_cpu_id(void) { return boot::this_cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *lock_address,
			       unsigned cpu, const char *what)
{
	boot::panic("lock %s at %p, by CPU %u: %s", lock_name, lock_address,
		    cpu, what);
}
