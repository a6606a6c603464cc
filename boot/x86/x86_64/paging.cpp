/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for: x86-64
 *
 * Source: Intel SDM volume 3A, chapter Paging, 4-Level Paging. entry.S has
 * mapped all in pages of 2 MiB; those that the image may lie in are replaced by
 * page tables. CR0.WP is on: read-only means the kernel, too.
 */
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <boot/types.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

extern "C" {
/* entry.S: one, one, and four of them, one behind the other */
extern u64 page_map[];
extern u64 page_directory_pointers[];
extern u64 page_directories[];

/* x86.ld: read-only is what lies between the two */
extern const u8 image_start[];
extern const u8 image_data[];
}

namespace {

constexpr u64 present = 1 << 0;
constexpr u64 writable = 1 << 1;

constexpr u64 large = 1 << 7;
/* In an entry for 2 MiB: entry 4 to 7 of the PAT. */
constexpr u64 pat_4 = 1 << 12;

constexpr usize page_size = 4096;
constexpr u64 large_size = 2 << 20;
constexpr usize entries = 512;
constexpr usize tables = 16; /* 32 MiB: x86.ld asserts that it is enough */

alignas(page_size) constinit u64 page_tables[tables * entries];

/* Directories for memory above 4 GiB: 2 GiB at most. */
constexpr usize high_directories = 2;
alignas(page_size) constinit u64 high_pointers[entries];
alignas(page_size) constinit u64 high_tables[high_directories * entries];

/*
 * Intel SDM volume 3A, Page Attribute Table. Entry 4 is what entry 0 is, and
 * nobody uses it: it becomes write combining. Without that each pixel is a
 * transaction of its own, as the memory of devices is uncached.
 */
constexpr u32 msr_pat = 0x277;
constexpr u64 write_combining = 1;

u64 &entry_of(u64 address) { return page_tables[address / page_size]; }

/* The directory of the GiB that holds the address; null: there is none left. */
u64 *directory_of(u64 address)
{
	static constinit usize used = 0;

	if (address >> 32 == 0)
		return page_directories + (address >> 30) * entries;
	u64 &map = page_map[address >> 39 & (entries - 1)];

	if (!map)
		map = address_of(high_pointers) | writable | present;
	u64 *const pointers =
		address >> 39 ? high_pointers : page_directory_pointers;
	u64 &pointer = pointers[address >> 30 & (entries - 1)];

	if (!pointer && used == high_directories)
		return nullptr;
	if (!pointer)
		pointer = address_of(high_tables + used++ * entries) |
			  writable | present;
	return reinterpret_cast<u64 *>(pointer & ~u64{page_size - 1});
}

} // namespace

void memory_types_init()
{
	if (cpuid(1).edx & 1 << 16)
		write_msr(msr_pat, (read_msr(msr_pat) & ~(u64{0xff} << 32)) |
					   write_combining << 32);
}

const char *map_screen(u64 address, u64 size)
{
	/* 48 bits of address; half of them are the kernel's, by habit. */
	if (address >> 47 || size >> 31 ||
	    address >> 39 != (address + size) >> 39)
		return "it lies out of reach";
	for (u64 at = address & ~(large_size - 1); at < address + size;
	     at += large_size) {
		u64 *const directory = directory_of(at);

		if (!directory)
			return "it lies out of reach";
		directory[at >> 21 & (entries - 1)] =
			at | pat_4 | large | writable | present;
	}
	write_cr3(read_cr3()); /* forget the old translations */
	return nullptr;
}

void protect_memory()
{
	for (u64 page = 0; page < tables * entries; page++)
		page_tables[page] = page * page_size | writable | present;

	for (u64 at = address_of(image_start); at < address_of(image_data);
	     at += page_size)
		entry_of(at) &= ~writable;

	entry_of(0) = 0;
	for (const cpu_stacks &s : stacks)
		entry_of(address_of(s.guard)) = 0;

	for (usize i = 0; i < tables; i++)
		page_directories[i] = address_of(&page_tables[i * entries]) |
				      writable | present;
	write_cr3(read_cr3()); /* forget the old translations */
}

} // namespace boot
