/* SPDX-License-Identifier: MIT */
/*
 * segments - the descriptor tables of one CPU: x86-64 (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

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
