/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's frame of interrupts and its descriptor tables: i686
 * (private to boot, but for struct interrupt_frame)
 */
#pragma once

#include <machine/layout.h>
#include <boot/types.hpp>

namespace boot {

/*
 * -- The frame that entry.S and the CPU push --
 *
 * Source: Intel SDM volume 3A, Exception- or Interrupt-Handler Procedures.
 * There is one privilege level here, so that the CPU pushes neither SS nor ESP:
 * the interrupted code's stack begins where this frame ends.
 */

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

/* -- The descriptor tables of one CPU -- */

/* Intel SDM volume 3A, Task-State Segment (TSS) */
struct task_state {
	u32 previous_task;
	u32 stack_by_privilege[6];
	u32 cr3;
	u32 eip;
	u32 eflags;
	u32 eax;
	u32 ecx;
	u32 edx;
	u32 ebx;
	u32 esp;
	u32 ebp;
	u32 esi;
	u32 edi;
	u32 es;
	u32 cs;
	u32 ss;
	u32 ds;
	u32 fs;
	u32 gs;
	u32 ldt;
	u16 trap;
	u16 io_map_base;
};

static_assert(sizeof(task_state) == 104);

struct segment_tables {
	u64 gdt[6];	  /* by SELECTOR_* */
	task_state tss;	  /* what a double fault interrupted is saved here */
	task_state fault; /* what it goes on with */
};

} // namespace boot
