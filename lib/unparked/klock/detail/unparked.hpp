/* SPDX-License-Identifier: MIT */
/*
 * unparked - the kernel goes on with a wake-up behind the inner lock
 *
 *	CXXFLAGS += -I klock/lib/unparked -I klock/lib -I klock/lib/arch/x86
 *
 * for each file of the kernel: a lock in a file that lacks it wakes nobody
 * where klock_os_unpark() leaves that to klock_os_unparked(). No linker takes
 * the two in one program. klock/os.hpp says what the function may do.
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

/* Linkers refuse a program that has both files: see one_preemption.hpp. */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_locks_with_unparked() noexcept
{
	if constexpr (klock::arch::linker_refuses_twice)
		asm(".globl "
		    "klock_locks_with_and_without_unparked_in_one_program\n\t"
		    ".hidden "
		    "klock_locks_with_and_without_unparked_in_one_program\n"
		    "klock_locks_with_and_without_unparked_in_one_program:");
}
}
