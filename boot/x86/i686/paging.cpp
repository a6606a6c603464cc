/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for: i686, where it is off
 */
#include <boot/machine.hpp>
#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/width.hpp>

namespace boot {

void memory_types_init() {}

const char *map_screen(u64 address, u64 size)
{
	if (size >> 31 || !is_mapped(address, static_cast<usize>(size)))
		return "it lies above 4 GiB";
	return nullptr;
}

void protect_memory() {}

} // namespace boot
