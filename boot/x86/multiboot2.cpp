/* SPDX-License-Identifier: MIT */
/*
 * multiboot2 - what a Multiboot 2 loader hands over
 *
 * GRUB is one, on BIOS and on UEFI, where this is the only protocol of the two
 * that says where ACPI's tables and the screen are. UEFI's boot services have
 * ended: the header does not ask for them.
 */
#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>
#include <boot/x86/multiboot1.hpp>
#include <boot/x86/multiboot2.hpp>

namespace boot {

namespace {

/* Memory maps are kilobytes; 1 MiB is no information. */
constexpr u32 largest = 0x100000;

/* Null, or what is wrong. The text stays where it is. */
const char *read_command_line(const u8 *tag, usize size, loader_info &found)
{
	for (usize at = sizeof(multiboot2_tag); at < size; at++) {
		if (tag[at])
			continue;
		found.command_line = reinterpret_cast<const char *>(
			tag + sizeof(multiboot2_tag));
		found.names_file = file_name::if_path;
		return nullptr;
	}
	return "the loader's command line has no end";
}

void read_map(const u8 *tag, usize size, low_pages &pages)
{
	if (size < sizeof(multiboot2_map_tag))
		return;
	const usize step = copy_of<multiboot2_map_tag>(tag).entry_size;

	if (step < sizeof(multiboot2_range))
		return;
	for (usize at = sizeof(multiboot2_map_tag);
	     size - at >= sizeof(multiboot2_range);) {
		const auto range = copy_of<multiboot2_range>(tag + at);

		pages.add(range.base, range.length,
			  range.type == range_is_free);
		if (step > size - at)
			return;
		at += step;
	}
}

void read_framebuffer(const u8 *tag, usize size, loader_info &found)
{
	multiboot2_framebuffer_tag screen;

	if (size < sizeof(screen))
		return;
	screen = copy_of<multiboot2_framebuffer_tag>(tag);
	found.text_screen = screen.type == framebuffer_is_text;
	if (screen.type != framebuffer_is_rgb || size < sizeof(screen) + 6)
		return;
	const u8 *const colors = tag + sizeof(screen);

	found.pixels = {screen.address,
			screen.pitch,
			screen.width,
			screen.height,
			screen.bits,
			{colors[0], colors[1]},
			{colors[2], colors[3]},
			{colors[4], colors[5]}};
}

/* ACPI 2.0's, with 36 bytes, is the better one if both are there. */
void read_rsdp(const u8 *tag, usize size, rsdp_copy &rsdp)
{
	const usize given = size - sizeof(multiboot2_tag);
	const usize kept = given < sizeof(rsdp.bytes) ? 20 : sizeof(rsdp.bytes);

	if (given < 20 || kept <= rsdp.size)
		return;
	rsdp.size = kept;
	__builtin_memcpy(rsdp.bytes, tag + sizeof(multiboot2_tag), kept);
}

/* The whole tag can be read. */
const char *read_tag(const u8 *tag, multiboot2_tag head, loader_info &found)
{
	switch (head.type) {
	case multiboot2_command_line:
		return read_command_line(tag, head.size, found);
	case multiboot2_map:
		read_map(tag, head.size, found.free_pages);
		break;
	case multiboot2_framebuffer:
		read_framebuffer(tag, head.size, found);
		break;
	case multiboot2_rsdp_1:
	case multiboot2_rsdp_2:
		read_rsdp(tag, head.size, found.rsdp);
		break;
	default:
		break; /* it may be of any other type */
	}
	return nullptr;
}

} // namespace

const char *read_multiboot2(const firmware_memory &memory, u64 address,
			    loader_info &found)
{
	multiboot2_head whole;

	if (!memory.read(address, whole) || whole.size > largest)
		return "the Multiboot 2 information is out of reach";
	const u8 *const info = memory.at(address, whole.size);

	if (!info)
		return "the Multiboot 2 information is out of reach";
	for (usize at = sizeof(whole);
	     at <= whole.size && whole.size - at >= sizeof(multiboot2_tag);) {
		const auto head = copy_of<multiboot2_tag>(info + at);

		if (head.type == multiboot2_end)
			return nullptr;
		if (head.size < sizeof(head) || head.size > whole.size - at)
			return "the Multiboot 2 information has a tag of a "
			       "wrong size";
		if (const char *why = read_tag(info + at, head, found))
			return why;
		at += (head.size + usize{7}) & ~usize{7};
	}
	return "the Multiboot 2 information has no end";
}

} // namespace boot
