/* SPDX-License-Identifier: MIT */
/*
 * vectors - the vectors that boot keeps for itself (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

inline constexpr u8 vector_pic = 0x20; /* 16 of them */
inline constexpr u8 vector_pic_end = 0x30;
inline constexpr u8 vector_wake = 0xf0; /* an idle CPU has work */
inline constexpr u8 vector_spurious = 0xff;

/* IDT, controllers: the running CPU may take interrupts after this. */
void interrupts_init();

} // namespace boot
