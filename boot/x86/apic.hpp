/* SPDX-License-Identifier: MIT */
/*
 * apic - the local APIC as boot uses it, and where other CPUs start (private to
 * boot)
 */
#pragma once

#include <boot/types.hpp>
#include <boot/x86/firmware.hpp>

namespace boot {

/* The running CPU's id; 0 without an APIC. */
u32 apic_id();

/* The largest id that an IPI reaches. */
u32 apic_last_id();

/*
 * Makes the APICs x2APICs, if this CPU's can be one: of this CPU now, of each
 * other when it starts. Before the others are started. False: they cannot.
 */
bool apic_use_x2apic();

/*
 * The handler for `vector` is done. Nothing happens unless the local APIC
 * delivered it: INT n looks the same.
 */
void apic_end_of_interrupt(u8 vector);

/* To all CPUs but this one; page: where they start, address / 4096. */
void broadcast_init();
void broadcast_startup(u8 page);

/* The timer runs free for a measurement: counts down from 2^32 - 1. */
void timer_start_silent();
u32 timer_count();
void set_timer_hz(u64 hz);

/* -- The page where the other CPUs start -- */

/* False: none is free, and call_cpus() must not be called. */
[[nodiscard]] bool choose_startup_page(const low_pages &free);

} // namespace boot
