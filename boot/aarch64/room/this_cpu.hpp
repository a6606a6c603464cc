/* SPDX-License-Identifier: MIT */
/*
 * this_cpu - the running CPU's number: AArch64
 *
 * TPIDR_EL1 points to the running CPU's block for good: nobody else uses it, so
 * that this is right in every context, NMI too.
 */
#pragma once

#include <room/layout.h>

namespace boot {

inline unsigned this_cpu()
{
	unsigned number;
	unsigned long block;

	asm("mrs %1, tpidr_el1\n\t"
	    "ldr %w0, [%1, %2]"
	    : "=r"(number), "=&r"(block)
	    : "i"(PERCPU_NUMBER));
	return number;
}

} // namespace boot
