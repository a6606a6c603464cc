/* SPDX-License-Identifier: MIT */
/*
 * unparked - the kernel goes on with a wake-up behind the inner lock
 *
 *	CXXFLAGS += -I klock/lib/unparked -I klock/lib -I klock/lib/arch/x86
 *
 * for each file of the kernel: a lock in a file that lacks it wakes nobody
 * where klock_os_unpark() leaves that to klock_os_unparked(). Their objects
 * have the function klock_file_without_unparked, which selftest/parking.hpp
 * looks for. klock/os.hpp says what klock_os_unparked() may do.
 */
#pragma once

#include <klock/irq.hpp>
#include <klock/os.hpp>

extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_file_with_unparked() noexcept
{
}
[[gnu::weak]] void klock_file_without_unparked() noexcept;
}

namespace klock {
namespace detail {

/* Whether the program has files without it. */
inline bool is_unparked_in_part() { return klock_file_without_unparked; }

} // namespace detail
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
