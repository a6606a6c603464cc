/* SPDX-License-Identifier: MIT */
/*
 * exceptions - what nobody handles, and one that is expected (private to boot's
 * AArch64)
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* An exception: stops all CPUs, prints what happened where, leaves. */
[[noreturn]] void report_exception(const interrupt_frame &frame);

/* The same of an interrupt; `name`: what it is. Any context. */
[[noreturn]] void report_interrupt(const interrupt_frame &frame,
				   const char *name, u32 number);

/* Whether the HLT of machine_exit() is there. */
bool is_semihosting_call(usize ip);

} // namespace boot
