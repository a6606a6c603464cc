/* SPDX-License-Identifier: MIT */
/*
 * vectors - what each interrupt vector is for: x86
 *
 * Intel SDM volume 3A, Interrupt and Exception Handling:
 *	0x00 to 0x1f	exceptions and NMI; reported and fatal unless handled
 *	0x20 to 0x2f	the old interrupt controllers, masked; boot's own
 *	0x30 to 0xef	free for IPIs and timers: first_ to last_free_vector
 *	0xf0 to 0xff	boot's own
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

inline constexpr u8 vector_divide_error = 0;
inline constexpr u8 vector_nmi = 2;
inline constexpr u8 vector_breakpoint = 3;
inline constexpr u8 vector_invalid_opcode = 6;
inline constexpr u8 vector_double_fault = 8;
inline constexpr u8 vector_general_protection = 13;
inline constexpr u8 vector_page_fault = 14;
inline constexpr u8 vector_machine_check = 18;

inline constexpr u8 first_free_vector = 0x30;
inline constexpr u8 last_free_vector = 0xef;

inline constexpr u8 vector_pic = 0x20; /* 16 of them */
inline constexpr u8 vector_pic_end = 0x30;
inline constexpr u8 vector_wake = 0xf0; /* an idle CPU has work */
inline constexpr u8 vector_spurious = 0xff;

/* Whether nobody but boot may handle it. */
constexpr bool is_own_vector(u8 vector)
{
	return (vector >= vector_pic && vector < vector_pic_end) ||
	       vector > last_free_vector;
}

} // namespace boot
