/* SPDX-License-Identifier: MIT */
/*
 * interrupt_frame - what trap_entry (traps.S) saves: RISC-V, 64 bits
 *
 * A handler may change any register: the interrupted code goes on with the new
 * value.
 */
#pragma once

#include <boot/types.hpp>
#include <room/layout.h>

namespace boot {

struct interrupt_frame {
	usize ra;
	usize sp;
	usize gp;
	usize tp;
	usize t0, t1, t2;
	usize s0, s1;
	usize a0, a1, a2, a3, a4, a5, a6, a7;
	usize s2, s3, s4, s5, s6, s7, s8, s9, s10, s11;
	usize t3, t4, t5, t6;
	usize ip;
	usize status; /* mstatus or sstatus */
	usize cause;  /* its highest bit: an interrupt */
	usize value;  /* of an exception: an address, an instruction */
	usize unused; /* keeps the stack aligned; traps.S writes to it */

	usize stack_pointer() const { return sp; }
	usize frame_pointer() const { return s0; }
};

static_assert(offsetof(interrupt_frame, ra) == FRAME_X(1));
static_assert(offsetof(interrupt_frame, t0) == FRAME_X(5));
static_assert(offsetof(interrupt_frame, s0) == FRAME_X(8));
static_assert(offsetof(interrupt_frame, a0) == FRAME_X(10));
static_assert(offsetof(interrupt_frame, s2) == FRAME_X(18));
static_assert(offsetof(interrupt_frame, t3) == FRAME_X(28));
static_assert(offsetof(interrupt_frame, t6) == FRAME_X(31));
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(offsetof(interrupt_frame, status) == FRAME_STATUS);
static_assert(offsetof(interrupt_frame, cause) == FRAME_CAUSE);
static_assert(offsetof(interrupt_frame, value) == FRAME_VALUE);
static_assert(offsetof(interrupt_frame, unused) == FRAME_UNUSED);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE);
static_assert(FRAME_SIZE % 16 == 0);

} // namespace boot
