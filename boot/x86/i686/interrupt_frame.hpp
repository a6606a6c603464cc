/* SPDX-License-Identifier: MIT */
/*
 * interrupt_frame - what interrupt_stubs.S and the CPU push: i686
 *
 * Source: Intel SDM volume 3A, Exception- or Interrupt-Handler Procedures.
 * There is one privilege level here, so that the CPU pushes neither SS nor ESP:
 * the interrupted code's stack begins where this frame ends.
 */
#pragma once

#include <room/layout.h>
#include <boot/types.hpp>

namespace boot {

struct interrupt_frame {
	u32 eax;
	u32 ebx;
	u32 ecx;
	u32 edx;
	u32 esi;
	u32 edi;
	u32 ebp;
	u32 vector;
	u32 error_code; /* the CPU's, or the stub's 0 */
	u32 ip;		/* from here on the CPU's */
	u32 cs;
	u32 flags;

	usize stack_pointer() const
	{
		return reinterpret_cast<usize>(this + 1);
	}
	usize frame_pointer() const { return ebp; }
};

static_assert(offsetof(interrupt_frame, eax) == FRAME_EAX);
static_assert(offsetof(interrupt_frame, ebx) == FRAME_EBX);
static_assert(offsetof(interrupt_frame, ecx) == FRAME_ECX);
static_assert(offsetof(interrupt_frame, edx) == FRAME_EDX);
static_assert(offsetof(interrupt_frame, esi) == FRAME_ESI);
static_assert(offsetof(interrupt_frame, edi) == FRAME_EDI);
static_assert(offsetof(interrupt_frame, ebp) == FRAME_EBP);
static_assert(offsetof(interrupt_frame, vector) == FRAME_VECTOR);
static_assert(offsetof(interrupt_frame, error_code) == FRAME_ERROR_CODE);
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE);

} // namespace boot
