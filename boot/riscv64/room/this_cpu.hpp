/* SPDX-License-Identifier: MIT */
/*
 * this_cpu - the running CPU's number: RISC-V
 *
 * TP points to the CPU's block for good: there is no user mode, no compiler
 * touches TP where there is no thread-local storage, and the trap entry sets it
 * again, whatever the interrupted code had there.
 */
#pragma once

#include <room/layout.h>

namespace boot {

/*
 * 0 to cpu_count() - 1, 0 the first CPU, the others in the firmware's order.
 * One load. Any context.
 */
inline unsigned this_cpu()
{
	unsigned number;

	asm("lwu %0, %1(tp)" : "=r"(number) : "i"(PERCPU_NUMBER));
	return number;
}

} // namespace boot
