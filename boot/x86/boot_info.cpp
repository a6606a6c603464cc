/* SPDX-License-Identifier: MIT */
/*
 * boot_info - what the loader has left, by either protocol: x86
 */
#include <boot/machine.hpp>
#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>
#include <boot/x86/multiboot1.hpp>
#include <boot/x86/multiboot2.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

const u8 *find_mapped(const void *, u64 address, usize size)
{
	if (!is_mapped(address, size))
		return nullptr;
	return physical<const u8>(static_cast<usize>(address));
}

constinit loader_info loader;

const char *read_loader(usize magic, usize address)
{
	if (magic == MULTIBOOT_LOADER_MAGIC)
		return read_multiboot1(mapped_memory(), address, loader);
	if (magic == MULTIBOOT2_LOADER_MAGIC)
		return read_multiboot2(mapped_memory(), address, loader);
	return "not started by a Multiboot loader";
}

} // namespace

firmware_memory mapped_memory() { return {find_mapped, nullptr}; }

boot_info read_boot_info(usize magic, usize address)
{
	boot_info found;

	found.trouble = read_loader(magic, address);
	found.command_line = loader.command_line;
	found.names_file = loader.names_file;
	found.machine = &loader;
	return found;
}

} // namespace boot
