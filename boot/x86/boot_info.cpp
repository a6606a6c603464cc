/* SPDX-License-Identifier: MIT */
/*
 * boot_info - what a Multiboot 1 loader has left: x86
 *
 * QEMU puts the kernel's file name first, whatever it looks like. GRUB 2 drops
 * the name, its ancestors and others put it first, with a slash in it.
 */
#include <boot/command_line.hpp>
#include <boot/room.hpp>
#include <boot/x86/multiboot.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

bool is_qemu(const multiboot_info &info)
{
	return (info.flags & multiboot_has_loader_name) &&
	       same_text(physical<const char>(info.loader_name), "qemu");
}

} // namespace

bool has_text_screen(const multiboot_info &info)
{
	return !(info.flags & multiboot_has_framebuffer) ||
	       info.framebuffer_type == framebuffer_is_text;
}

boot_info read_boot_info(usize magic, usize address)
{
	boot_info found;

	found.text_screen = true;
	if (magic != MULTIBOOT_LOADER_MAGIC) {
		found.trouble = "not started by a Multiboot 1 loader";
		return found;
	}
	const auto &info = *physical<const multiboot_info>(address);

	found.text_screen = has_text_screen(info);
	found.names_file =
		is_qemu(info) ? file_name::of_qemu : file_name::if_path;
	if (info.flags & multiboot_has_command_line)
		found.command_line = physical<const char>(info.command_line);
	return found;
}

} // namespace boot
