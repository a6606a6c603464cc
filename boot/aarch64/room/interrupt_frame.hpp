/* SPDX-License-Identifier: MIT */
/*
 * interrupt_frame - the interrupted code's registers: AArch64
 *
 * A handler may change x and ip: the interrupted code goes on with the new
 * values.
 */
#pragma once

#include <boot/types.hpp>
#include <room/layout.h>

namespace boot {

struct interrupt_frame {
	u64 x[31];
	u64 sp;
	u64 ip;		   /* ELR_EL1 */
	u64 status;	   /* SPSR_EL1 */
	u64 syndrome;	   /* ESR_EL1 */
	u64 fault_address; /* FAR_EL1 */
	u64 kind;	   /* which entry of the vector table */
	u64 unused;	   /* the stack stays aligned */

	usize stack_pointer() const { return sp; }
	usize frame_pointer() const { return x[29]; }
};

static_assert(offsetof(interrupt_frame, x) == FRAME_X);
static_assert(offsetof(interrupt_frame, sp) == FRAME_SP);
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(offsetof(interrupt_frame, status) == FRAME_STATUS);
static_assert(offsetof(interrupt_frame, syndrome) == FRAME_SYNDROME);
static_assert(offsetof(interrupt_frame, fault_address) == FRAME_FAULT_ADDRESS);
static_assert(offsetof(interrupt_frame, kind) == FRAME_KIND);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE && FRAME_SIZE % 16 == 0);

} // namespace boot
