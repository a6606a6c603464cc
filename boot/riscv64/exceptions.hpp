/* SPDX-License-Identifier: MIT */
/*
 * exceptions - the report of what nobody handles (private to boot/riscv64)
 */
#pragma once

#include <boot/interrupts.hpp>

namespace boot {

/*
 * Both stop all CPUs, print what happened where, and leave with
 * exit_code::panic. Any context.
 */
[[noreturn]] void report_exception(const interrupt_frame &frame);
[[noreturn]] void report_no_handler(const interrupt_frame &frame, u8 vector);

} // namespace boot
