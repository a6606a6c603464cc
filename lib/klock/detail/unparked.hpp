/* SPDX-License-Identifier: MIT */
/*
 * unparked - what follows the inner lock of a lock that woke a thread: nothing
 *
 * Where the kernel has a klock_os_unparked() (klock/os.hpp), another function
 * calls it and returns true: that of lib/unparked, whose file is taken in place
 * of this one, or a port's own, which hides this one (arch/hosted).
 */
#pragma once

#include <klock/irq.hpp>

namespace klock {
namespace arch_defaults {

/* before: interrupts as they are again. */
inline void unparked(arch::irq_state before) { (void)before; }

} // namespace arch_defaults
namespace arch {
using namespace arch_defaults;
}
} // namespace klock

/* Linkers refuse a program that has both files: see one_preemption.hpp. */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_locks_without_unparked() noexcept
{
	if constexpr (klock::arch::linker_refuses_twice)
		asm(".globl "
		    "klock_locks_with_and_without_unparked_in_one_program\n\t"
		    ".hidden "
		    "klock_locks_with_and_without_unparked_in_one_program\n"
		    "klock_locks_with_and_without_unparked_in_one_program:");
}
}
