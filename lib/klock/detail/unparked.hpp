/* SPDX-License-Identifier: MIT */
/*
 * unparked - what follows the inner lock of a lock that woke a thread: nothing
 *
 * Where the kernel has a klock_os_unparked() (klock/os.hpp), another function
 * calls it and returns true: that of lib/unparked, whose file is taken in place
 * of this one, or a port's own, which hides this one (arch/hosted).
 *
 * A program that has files of both kinds has both functions below. They are
 * never called.
 */
#pragma once

#include <klock/irq.hpp>

extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_file_without_unparked() noexcept
{
}
[[gnu::weak]] void klock_file_with_unparked() noexcept;
}

namespace klock {
namespace detail {

/* Whether the program has files of the other kind. */
inline bool is_unparked_in_part() { return klock_file_with_unparked; }

} // namespace detail
namespace arch_defaults {

/* before: interrupts as they are again. */
inline void unparked(arch::irq_state before) { (void)before; }

} // namespace arch_defaults
namespace arch {
using namespace arch_defaults;
}
} // namespace klock
