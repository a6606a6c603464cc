/* SPDX-License-Identifier: MIT */
/*
 * multiboot - what the loader hands over (private to boot)
 *
 * Source: Multiboot Specification 0.6.96, 3.3 (boot information format).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct multiboot_info {
	u32 flags; /* which of the rest is valid */
	u32 unused1[3];
	u32 command_line; /* bit 2 */
	u32 unused2[11];
	u32 loader_name; /* bit 9 */
	u32 unused3[10];
	u8 framebuffer_bpp; /* bit 12, with the next one */
	u8 framebuffer_type;
};

static_assert(offsetof(multiboot_info, command_line) == 16);
static_assert(offsetof(multiboot_info, loader_name) == 64);
static_assert(offsetof(multiboot_info, framebuffer_type) == 109);

inline constexpr u32 multiboot_has_command_line = 1 << 2;
inline constexpr u32 multiboot_has_loader_name = 1 << 9;
inline constexpr u32 multiboot_has_framebuffer = 1 << 12;
inline constexpr u8 framebuffer_is_text = 2;

/* Whether there is a VGA text screen, as far as the loader says. */
bool has_text_screen(const multiboot_info &info);

/* Keeps the command line; what the loader left may be overwritten then. */
void command_line_init(const multiboot_info &info);

} // namespace boot
