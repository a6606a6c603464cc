/* SPDX-License-Identifier: MIT */
/*
 * pit - channel 2 of the 8254 timer, for measurements (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* 14.31818 MHz / 12 */
inline constexpr u32 pit_hz = 1'193'182;

/* Counts down from 65535, once: for 54 ms. No sound, no interrupt. */
void pit_start();

/* What is left. */
u32 pit_count();

} // namespace boot
