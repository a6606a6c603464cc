/* SPDX-License-Identifier: MIT */
/*
 * vectors - which numbers handlers go by: RISC-V
 *
 *	0x00 to 0x1e	exceptions, by their code in mcause or scause
 *	0x1f		an NMI, of which there is none
 *	0x20 to 0x2f	boot's own
 *	0x30 to 0x4f	free for IPIs and timers
 *
 * A hart has one software interrupt: which vectors it is for, is written in
 * memory (boot/board/vector_mail.hpp).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

inline constexpr u8 vector_illegal_instruction = 2;
inline constexpr u8 vector_breakpoint = 3;
inline constexpr u8 vector_nmi = 0x1f;
inline constexpr u8 first_free_vector = 0x30;
inline constexpr u8 last_free_vector = 0x4f;

inline bool is_own_vector(u8 vector)
{
	return (vector > vector_nmi && vector < first_free_vector) ||
	       vector > last_free_vector;
}

} // namespace boot
