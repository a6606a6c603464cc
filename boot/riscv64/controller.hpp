/* SPDX-License-Identifier: MIT */
/*
 * controller - a hart's software and timer interrupts (private to
 * boot/riscv64)
 */
#pragma once

#include <boot/interrupts.hpp>

namespace boot {

/* They have come; interrupts are off. */
void software_interrupt(interrupt_frame &frame);
void timer_interrupt(interrupt_frame &frame);

/* Calls the vector's handler; none: a report (traps.cpp). */
void handle(u8 vector, interrupt_frame &frame);

} // namespace boot
