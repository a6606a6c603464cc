/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's frame of interrupts and its descriptor tables: x86-64
 * (private to boot, but for struct interrupt_frame)
 */
#pragma once

#include <machine/layout.h>
#include <boot/types.hpp>

namespace boot {

/*
 * -- The frame that entry.S and the CPU push --
 *
 * Source: Intel SDM volume 3A, 64-Bit Mode Stack Frame.
 */

struct interrupt_frame {
	u64 rax;
	u64 rbx;
	u64 rcx;
	u64 rdx;
	u64 rsi;
	u64 rdi;
	u64 rbp;
	u64 r8;
	u64 r9;
	u64 r10;
	u64 r11;
	u64 r12;
	u64 r13;
	u64 r14;
	u64 r15;
	u64 vector;
	u64 error_code; /* the CPU's, or the stub's 0 */
	u64 ip;		/* from here on the CPU's */
	u64 cs;
	u64 flags;
	u64 sp;
	u64 ss;

	usize stack_pointer() const { return sp; }
	usize frame_pointer() const { return rbp; }
};

static_assert(offsetof(interrupt_frame, rax) == FRAME_RAX);
static_assert(offsetof(interrupt_frame, rbx) == FRAME_RBX);
static_assert(offsetof(interrupt_frame, rcx) == FRAME_RCX);
static_assert(offsetof(interrupt_frame, rdx) == FRAME_RDX);
static_assert(offsetof(interrupt_frame, rsi) == FRAME_RSI);
static_assert(offsetof(interrupt_frame, rdi) == FRAME_RDI);
static_assert(offsetof(interrupt_frame, rbp) == FRAME_RBP);
static_assert(offsetof(interrupt_frame, r8) == FRAME_R8);
static_assert(offsetof(interrupt_frame, r9) == FRAME_R9);
static_assert(offsetof(interrupt_frame, r10) == FRAME_R10);
static_assert(offsetof(interrupt_frame, r11) == FRAME_R11);
static_assert(offsetof(interrupt_frame, r12) == FRAME_R12);
static_assert(offsetof(interrupt_frame, r13) == FRAME_R13);
static_assert(offsetof(interrupt_frame, r14) == FRAME_R14);
static_assert(offsetof(interrupt_frame, r15) == FRAME_R15);
static_assert(offsetof(interrupt_frame, vector) == FRAME_VECTOR);
static_assert(offsetof(interrupt_frame, error_code) == FRAME_ERROR_CODE);
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE);
/* The CPU aligns its own part; this keeps the stack aligned at the call. */
static_assert(FRAME_SIZE % 16 == 0);

/* -- The descriptor tables of one CPU -- */

/* Intel SDM volume 3A, Task Management in 64-bit Mode */
struct [[gnu::packed]] task_state {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7]; /* stacks that an IDT entry may ask for: 1 to 7 */
	u64 reserved2;
	u16 reserved3;
	u16 io_map_base;
};

static_assert(sizeof(task_state) == 104);

struct segment_tables {
	u64 gdt[6]; /* by SELECTOR_*; the TSS takes two entries */
	task_state tss;
};

} // namespace boot
