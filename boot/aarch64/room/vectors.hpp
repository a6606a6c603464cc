/* SPDX-License-Identifier: MIT */
/*
 * vectors - what each interrupt vector is for: AArch64
 *
 * The machine has no vectors: those from 0x30 to 0x4f are boot's mail
 * (boot/board/vector_mail.hpp). Exceptions have none: they are reported and
 * fatal.
 */
#pragma once

#include <boot/types.hpp>
#include <boot/board/vector_mail.hpp>

namespace boot {

inline constexpr u8 vector_nmi = 2; /* FIQ */

inline constexpr u8 first_free_vector = first_mail_vector;
inline constexpr u8 last_free_vector = last_mail_vector;

/* Whether nobody but boot may handle it. */
constexpr bool is_own_vector(u8 vector)
{
	return vector != vector_nmi &&
	       (vector < first_free_vector || vector > last_free_vector);
}

} // namespace boot
