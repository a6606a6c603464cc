/* SPDX-License-Identifier: MIT */
/*
 * multiboot2 - what a Multiboot 2 loader hands over (private to boot)
 *
 * Source: Multiboot2 Specification 2.0, 3.6 (boot information format).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct firmware_memory;
struct loader_info;

/* All of it: tags, each on a boundary of 8 bytes. */
struct multiboot2_head {
	u32 size; /* head and tags */
	u32 reserved;
};

struct multiboot2_tag {
	u32 type;
	u32 size; /* this head and what follows it */
};

enum multiboot2_type : u32 {
	multiboot2_end = 0,
	multiboot2_command_line = 1,
	multiboot2_map = 6,
	multiboot2_framebuffer = 8,
	multiboot2_rsdp_1 = 14,
	multiboot2_rsdp_2 = 15,
};

struct [[gnu::packed]] multiboot2_map_tag {
	multiboot2_tag tag;
	u32 entry_size;
	u32 entry_version;
};

struct [[gnu::packed]] multiboot2_range {
	u64 base;
	u64 length;
	u32 type; /* 1: free */
	u32 reserved;
};

static_assert(sizeof(multiboot2_range) == 24);

struct [[gnu::packed]] multiboot2_framebuffer_tag {
	multiboot2_tag tag;
	u64 address;
	u32 pitch;
	u32 width;
	u32 height;
	u8 bits;
	u8 type; /* as in Multiboot 1 */
	u16 reserved;
};

static_assert(sizeof(multiboot2_framebuffer_tag) == 32);

/*
 * Null, or why that is no information; `found` has what stands before the
 * damage.
 */
const char *read_multiboot2(const firmware_memory &memory, u64 address,
			    loader_info &found);

} // namespace boot
