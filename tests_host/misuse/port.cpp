/* SPDX-License-Identifier: MIT */
/*
 * The wrong port or the wrong language: one error, that says what is wrong.
 * It may stand in any header; the first word is the case (misuse.py).
 */
/* none-error@*:*{{klock/arch/}} */
/* hosted-error@*:*{{error_the_hosted_port_in_a_freestanding_build}} */
/* x86-error@*:*{{error_the_x86_port_on_another_cpu}} */
/* packed-error@*:*{{#pragma pack is on around klock's headers: end it before}}
 */
/* small-error@*:*{{klock is for CPUs of 32 and 64 bits}} */
/* cxx17-error@*:*{{error_klock_needs_std=c++20}} */
#ifdef FIRST
#include FIRST
#endif
#include <klock/ticket_lock.hpp>
