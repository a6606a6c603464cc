/* SPDX-License-Identifier: MIT */
/*
 * trace - where a CPU stood and who called (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/*
 * Between begin_report() and end_report(): on which of the CPU's own stacks the
 * pointer stands, and how full that is.
 */
void print_stack(unsigned cpu, usize pointer);

/*
 * Where the calls stand that lead to a frame pointer, innermost first, as far
 * as code built with -fno-omit-frame-pointer has left a trace on the running
 * CPU's thread stack.
 */
void print_calls(usize frame_pointer);

} // namespace boot
