/* SPDX-License-Identifier: MIT */
/*
 * percpu_part - what each CPU's block has of its own: RISC-V
 */
#pragma once

#include <boot/types.hpp>
#include <boot/board/vector_mail.hpp>
#include <room/layout.h>

namespace boot {

inline constexpr const char *hardware_id_name = "hart";

struct percpu;

/* The first seven are traps.S's; the scratch register points here. */
struct percpu_part {
	usize t0 = 0; /* of the interrupted code, for some instructions */
	usize t1 = 0;
	usize sp = 0;
	percpu *block = nullptr;   /* what TP is to be */
	usize stack_low = 0;	   /* a frame fits below it */
	usize stack_span = 0;	   /* and from it up to the last stack's end */
	usize fault_stack_top = 0; /* where the rest goes */
	u64 timer_next = 0;	   /* when the timer's interrupt comes */
	u64 timer_period = 0;	   /* in ticks; 0: it comes once */
	u8 timer_vector = 0;
	vector_mail mail;	   /* what the software interrupt is for */
	klock::atomic<u32> raised; /* 1: it is on its way (supervisor mode) */
};

static_assert(offsetof(percpu_part, t0) == PART_T0);
static_assert(offsetof(percpu_part, t1) == PART_T1);
static_assert(offsetof(percpu_part, sp) == PART_SP);
static_assert(offsetof(percpu_part, block) == PART_BLOCK);
static_assert(offsetof(percpu_part, stack_low) == PART_STACK_LOW);
static_assert(offsetof(percpu_part, stack_span) == PART_STACK_SPAN);
static_assert(offsetof(percpu_part, fault_stack_top) == PART_FAULT_STACK_TOP);

} // namespace boot
