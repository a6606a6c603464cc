/* SPDX-License-Identifier: MIT */
/*
 * multiboot - what a loader hands over, by either protocol (private to boot)
 *
 * Source: Multiboot Specification 0.6.96, 3.3; Multiboot2
 * Specification 2.0, 3.6 (boot information format).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/*
 * -- The information of a Multiboot 1 loader --
 *
 * Source: Multiboot Specification 0.6.96, 3.3 (boot information format).
 */

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

/*
 * -- Multiboot 2 --
 *
 * Source: Multiboot2 Specification 2.0, 3.6 (boot information format).
 */

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
