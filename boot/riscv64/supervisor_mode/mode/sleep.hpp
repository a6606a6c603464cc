/* SPDX-License-Identifier: MIT */
/*
 * sleep - until an interrupt is pending: supervisor mode
 */
#pragma once

namespace boot {

/* With interrupts off. May end early, as WFI may. */
inline void sleep_until_pending() { asm volatile("wfi" ::: "memory"); }

} // namespace boot
