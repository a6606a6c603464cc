/* SPDX-License-Identifier: MIT */
/*
 * multiboot1 - what a Multiboot 1 loader hands over (private to boot)
 *
 * Source: Multiboot Specification 0.6.96, 3.3 (boot information format).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct firmware_memory;
struct loader_info;

struct [[gnu::packed]] multiboot_info {
	u32 flags; /* which of the rest is valid */
	u32 unused1[3];
	u32 command_line; /* bit 2 */
	u32 unused2[6];
	u32 map_length; /* bit 6, with the next one */
	u32 map_address;
	u32 unused3[3];
	u32 loader_name; /* bit 9 */
	u32 unused4[5];
	u64 framebuffer_address; /* bit 12, with all that follow */
	u32 framebuffer_pitch;
	u32 framebuffer_width;
	u32 framebuffer_height;
	u8 framebuffer_bits;
	u8 framebuffer_type;
	u8 colors[6]; /* red's first bit and their number, green's, blue's */
};

static_assert(offsetof(multiboot_info, command_line) == 16);
static_assert(offsetof(multiboot_info, map_length) == 44);
static_assert(offsetof(multiboot_info, loader_name) == 64);
static_assert(offsetof(multiboot_info, framebuffer_address) == 88);
static_assert(offsetof(multiboot_info, framebuffer_type) == 109);

inline constexpr u32 multiboot_has_command_line = 1 << 2;
inline constexpr u32 multiboot_has_map = 1 << 6;
inline constexpr u32 multiboot_has_loader_name = 1 << 9;
inline constexpr u32 multiboot_has_framebuffer = 1 << 12;

/* One range of the memory map. */
struct [[gnu::packed]] multiboot_range {
	u32 size; /* of what follows */
	u64 base;
	u64 length;
	u32 type; /* 1: free */
};

static_assert(sizeof(multiboot_range) == 24);

/* Both protocols number them so. */
inline constexpr u32 range_is_free = 1;
inline constexpr u8 framebuffer_is_rgb = 1;
inline constexpr u8 framebuffer_is_text = 2;

/* Null, or why that is no information; `found` has what can be read. */
const char *read_multiboot1(const firmware_memory &memory, u64 address,
			    loader_info &found);

} // namespace boot
