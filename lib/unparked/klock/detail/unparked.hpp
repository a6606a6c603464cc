/* SPDX-License-Identifier: MIT */
/*
 * unparked - the kernel goes on with a wake-up behind the inner lock
 *
 *	CXXFLAGS += -I klock/lib/unparked -I klock/lib -I klock/lib/arch/x86
 *
 * for each file of the kernel: a lock in a file that lacks it wakes nobody
 * where klock_os_unpark() leaves that to klock_os_unparked(). Nothing finds
 * those files. klock/os.hpp says what the function may do.
 */
#pragma once

#include <klock/irq.hpp>
#include <klock/os.hpp>

namespace klock {
namespace arch_defaults {

inline bool unparked(arch::irq_state before)
{
	(void)before;
	klock_os_unparked();
	return true;
}

} // namespace arch_defaults
namespace arch {
using namespace arch_defaults;
}
} // namespace klock
