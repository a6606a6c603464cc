/* SPDX-License-Identifier: MIT */
/*
 * multiboot1 - what a Multiboot 1 loader hands over
 *
 * QEMU's -kernel is one. It puts the kernel's file name first, whatever that
 * looks like. GRUB 2 drops the name, its ancestors and others put it first,
 * with a slash in it.
 */
#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>
#include <boot/x86/multiboot1.hpp>

namespace boot {

namespace {

bool is_qemu(const firmware_memory &memory, const multiboot_info &info)
{
	constexpr char name[] = "qemu";
	const u8 *const given =
		info.flags & multiboot_has_loader_name
			? memory.at(info.loader_name, sizeof(name))
			: nullptr;

	return given && __builtin_memcmp(given, name, sizeof(name)) == 0;
}

/* A range that is shorter than a range, or not all there, is the last one. */
void read_map(const firmware_memory &memory, const multiboot_info &info,
	      low_pages &pages)
{
	const u64 end = u64{info.map_address} + info.map_length;
	u64 at = info.map_address;

	while (end - at >= sizeof(multiboot_range)) {
		multiboot_range range;

		if (!memory.read(at, range) ||
		    range.size < sizeof(range) - sizeof(range.size))
			return;
		pages.add(range.base, range.length,
			  range.type == range_is_free);
		if (range.size > end - at - sizeof(range.size))
			return;
		at += sizeof(range.size) + range.size;
	}
}

void read_framebuffer(const multiboot_info &info, loader_info &found)
{
	found.text_screen = info.framebuffer_type == framebuffer_is_text;
	if (info.framebuffer_type != framebuffer_is_rgb)
		return;
	found.pixels = {
		info.framebuffer_address,
		info.framebuffer_pitch,
		info.framebuffer_width,
		info.framebuffer_height,
		info.framebuffer_bits,
		{info.colors[0], info.colors[1]},
		{info.colors[2], info.colors[3]},
		{info.colors[4], info.colors[5]},
	};
}

} // namespace

const char *read_multiboot1(const firmware_memory &memory, u64 address,
			    loader_info &found)
{
	multiboot_info info;

	if (!memory.read(address, info))
		return "the Multiboot information is out of reach";
	found.names_file =
		is_qemu(memory, info) ? file_name::of_qemu : file_name::if_path;
	if (info.flags & multiboot_has_command_line)
		found.command_line = reinterpret_cast<const char *>(
			memory.at(info.command_line, 1));
	if (info.flags & multiboot_has_map)
		read_map(memory, info, found.free_pages);
	if (info.flags & multiboot_has_framebuffer)
		read_framebuffer(info, found);
	return nullptr;
}

} // namespace boot
