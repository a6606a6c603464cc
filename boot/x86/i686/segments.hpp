/* SPDX-License-Identifier: MIT */
/*
 * segments - the descriptor tables of one CPU: i686 (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

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
