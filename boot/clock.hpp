/* SPDX-License-Identifier: MIT */
/*
 * clock - how fast klock::cycles() counts, and waiting by it
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/*
 * klock::cycles() counts this often in a second: as the machine says, or
 * measured when boot starts, to about one part in ten thousand. Under QEMU
 * -icount the same number every time. Any context.
 */
u64 clock_hz();

/*
 * False: clock_hz() is a guess, or no two measurements agreed; boot has said
 * so, and every time that is made of it is wrong. Any context.
 */
bool clock_is_known();

/*
 * How far klock::cycles() goes between two looks, in nanoseconds, where that is
 * too long to measure a lock by: a hypervisor may trap each look. Else 0. Any
 * context.
 */
u64 coarse_step_ns();

/* Converts a difference of klock::cycles(); up to 2^64 ns. Any context. */
u64 cycles_to_ns(u64 cycles);

/* Time since boot began; 0: the clock's rate is not known yet. Any context. */
u64 ns_since_boot();

/* The other way; ns up to 2^64 / clock_hz(), some seconds. Any context. */
u64 ns_to_cycles(u64 ns);

/*
 * Lets at least so much time pass; up to a thousand seconds. Other CPUs of a
 * single-threaded QEMU get their turns meanwhile. Any context.
 */
void delay_us(u64 us);

/* -- How boot learns the clock's rate (private to boot) -- */

/* Makes ns_since_boot() count from now on. */
void clock_begin();

/* Once, before the rest of clock.hpp is right. */
void clock_init();

/* Some 2,000 instructions without an effect: a turn of a wait by the clock. */
void burn();

} // namespace boot
