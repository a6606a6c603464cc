/* SPDX-License-Identifier: MIT */
/*
 * this_cpu - the running CPU's number: x86
 *
 * GS points to the running CPU's block for good: there is no user mode and
 * nobody else uses GS, so that this is right in every context, NMI too.
 */
#pragma once

#include <room/layout.h>

namespace boot {

inline unsigned this_cpu()
{
	unsigned number;

	asm("movl %%gs:%c1, %0" : "=r"(number) : "i"(PERCPU_NUMBER));
	return number;
}

} // namespace boot
