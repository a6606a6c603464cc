/* SPDX-License-Identifier: MIT */
/*
 * multiboot - what a loader hands over, by either protocol
 *
 * QEMU's -kernel is one of Multiboot 1. It puts the kernel's file name first,
 * whatever that looks like. GRUB 2 drops the name, its ancestors and others put
 * it first, with a slash in it.
 */
#include <boot/x86/firmware.hpp>
#include <boot/x86/multiboot.hpp>

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

/*
 * -- The information of a Multiboot 2 loader --
 *
 * GRUB is one, on BIOS and on UEFI, where this is the only protocol of the two
 * that says where ACPI's tables and the screen are. UEFI's boot services have
 * ended: the header does not ask for them.
 */

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

/* -- Free pages below 640 KiB -- */

namespace {

constexpr u64 page_size = 4096;

} // namespace

void low_pages::add(u64 base, u64 length, bool is_free)
{
	const u64 top = length > ~u64{0} - base ? ~u64{0} : base + length;

	known = true;
	for (unsigned page = 0; page < count; page++) {
		const u64 first = page * page_size;
		const u64 end = first + page_size;

		if (is_free && base <= first && end <= top)
			inside[page] = 1;
		if (!is_free && base < end && first < top)
			taken[page] = 1;
	}
}

bool low_pages::is_free(unsigned page) const
{
	return !known || (inside[page] && !taken[page]);
}

/* Never page 0: the BIOS has its data there, whatever the map says. */
usize low_pages::find(usize wanted) const
{
	if (is_free(static_cast<unsigned>(wanted / page_size)))
		return wanted;
	for (unsigned page = 1; page < count; page++) {
		if (is_free(page))
			return page * page_size;
	}
	return 0;
}

} // namespace boot
