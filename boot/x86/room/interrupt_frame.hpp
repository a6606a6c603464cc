/* SPDX-License-Identifier: MIT */
/*
 * interrupt_frame - the interrupted code's registers, by architecture
 *
 * Both have vector, error_code (0 where the CPU pushes none), ip, cs, flags,
 * stack_pointer() and frame_pointer(); general registers go by their own names.
 * A handler may change any register: the interrupted code goes on with the new
 * value.
 */
#pragma once

#if defined(__x86_64__)
#include <boot/x86/x86_64/interrupt_frame.hpp>
#elif defined(__i386__)
#include <boot/x86/i686/interrupt_frame.hpp>
#endif
