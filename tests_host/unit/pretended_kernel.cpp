/* SPDX-License-Identifier: MIT */
/*
 * pretended_kernel - the three functions that a kernel with checked locks needs
 */
#include "pretended_kernel.hpp"

#include <klock/os.hpp>

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

extern "C" int klock_os_context(void) { return static_cast<int>(running_in); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	klock::set_checks(true);
	throw std::runtime_error(std::string(lock_name) + ", CPU " +
				 std::to_string(cpu) + ": " + what);
}
