/* SPDX-License-Identifier: MIT */
/*
 * pit - the 8254 timer: channel 2 for measurements, channel 0 for interrupts
 * (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* 14.31818 MHz / 12 */
inline constexpr u32 pit_hz = 1'193'182;

/* Counts down from 65535, once: for 54 ms. No sound, no interrupt. */
void pit_start();

/* What is left. After it has run out it counts on from 65535. */
u32 pit_count();

/* Whether it has run out since pit_start(). */
bool pit_has_run_out();

/*
 * Channel 0 raises the ISA's interrupt 0 every so many ticks, 2 to 65536.
 * False: there is none that counts.
 */
[[nodiscard]] bool pit_start_periodic(u32 ticks);

} // namespace boot
