/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for: x86-64
 *
 * Source: Intel SDM volume 3A, chapter Paging, 4-Level Paging. entry.S has
 * mapped all in pages of 2 MiB; those that the image may lie in are replaced by
 * page tables. CR0.WP is on: read-only means the kernel, too.
 */
#include <boot/percpu.hpp>
#include <boot/room.hpp>
#include <boot/types.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

extern "C" {
/* entry.S: four of them, one behind the other */
extern u64 page_directories[];

/* x86.ld: read-only is what lies between the two */
extern const u8 image_start[];
extern const u8 image_data[];
}

namespace {

constexpr u64 present = 1 << 0;
constexpr u64 writable = 1 << 1;

constexpr usize page_size = 4096;
constexpr usize entries = 512;
constexpr usize tables = 16; /* 32 MiB: x86.ld asserts that it is enough */

alignas(page_size) constinit u64 page_tables[tables * entries];

u64 address_of(const void *object) { return reinterpret_cast<u64>(object); }

u64 &entry_of(u64 address) { return page_tables[address / page_size]; }

} // namespace

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
