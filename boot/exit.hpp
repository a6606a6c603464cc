/* SPDX-License-Identifier: MIT */
/*
 * exit - how the kernel ends
 */
#pragma once

#include <machine/layout.h>
#include <boot/types.hpp>

namespace boot {

/*
 * QEMU exits with status 2 * code + 1, on every machine: 85, 87, 89 (x86: what
 * is written to isa-debug-exit becomes that). Nothing else ends QEMU like that:
 * an error of its own is 1, a reset under -no-reboot (triple fault) and a
 * power-off 0, a signal 128 and more, timeout(1) 124.
 */
enum class exit_code : u8 {
	pass = 0x2a,
	fail = 0x2b,
	panic = EXIT_CODE_PANIC,
};

/*
 * Ends the run, on whatever CPU. Where there is no such device: says so,
 * and stays (x86: Page Up and Page Down turn the screen's pages); other CPUs go
 * on. Any context.
 */
[[noreturn]] void exit(exit_code code);

} // namespace boot
