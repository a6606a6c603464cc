/* SPDX-License-Identifier: MIT */
/*
 * loader_info - what a loader has left, whatever its protocol: x86
 * (private to boot)
 *
 * boot_info.machine points to it. But for the command line it is a copy: what
 * the loader left may be overwritten.
 */
#pragma once

#include <boot/machine.hpp>
#include <boot/x86/low_pages.hpp>

namespace boot {

/* The bits of a pixel that hold one colour. */
struct color_bits {
	u8 first = 0;
	u8 count = 0;
};

/* A screen made of pixels. */
struct framebuffer {
	u64 address = 0; /* 0: there is none */
	u32 pitch = 0;	 /* bytes from one line to the next */
	u32 width = 0;	 /* in pixels, as the height */
	u32 height = 0;
	u8 bits = 0; /* of a pixel */
	color_bits red;
	color_bits green;
	color_bits blue;
};

/* ACPI's root pointer: 20 bytes of it, or 36. */
struct rsdp_copy {
	usize size = 0; /* 0: the loader has none */
	u8 bytes[36] = {};
};

struct loader_info {
	const char *command_line = nullptr; /* none: null */
	file_name names_file = file_name::none;
	bool text_screen = true; /* there may be one, at 0xb8000 */
	framebuffer pixels;
	rsdp_copy rsdp;
	low_pages free_pages;
};

} // namespace boot
