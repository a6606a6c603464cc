/* SPDX-License-Identifier: MIT */
/*
 * nmi_clock - an NMI to CPU 0 again and again, for a watchdog
 *
 * An NMI comes where no interrupt comes: into a CPU that waits with interrupts
 * off.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* The longest period of the clock there is, about. */
inline constexpr u32 nmi_clock_longest_us = 54900;

/*
 * From now on CPU 0 gets an NMI every so many microseconds, up to
 * nmi_clock_longest_us; a new start replaces what was. A handler for vector_nmi
 * must be there. Returns a null pointer, or why there is no such clock. Whether
 * NMIs come is for the caller to see: a wire may be another than the firmware
 * says. CPU 0, thread.
 */
[[nodiscard]] const char *nmi_clock_start(u32 period_us);

} // namespace boot
