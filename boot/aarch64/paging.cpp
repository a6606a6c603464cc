/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for: AArch64
 *
 * Source: Arm ARM (DDI 0487), D8.3 (descriptors), D8.16 (changing tables).
 * entry.S has mapped 512 GiB one to one in blocks of 1 GiB. Of the one with the
 * image, blocks of 2 MiB are made, and of those that the image lies in, pages:
 * nothing else of that GiB has rights that could be taken.
 */
#include <boot/percpu.hpp>
#include <boot/machine.hpp>

namespace boot {

extern "C" {
/* entry.S: the map that all CPUs take from now on */
extern u64 map[512];
void change_map(const void *table);

/* aarch64.ld: executable, read-only, and read-write are these parts */
extern const u8 image_start[];
extern const u8 image_rodata[];
extern const u8 image_data[];
extern const u8 image_end[];
}

namespace {

constexpr usize entries = 512;
constexpr usize page_size = 4096;
constexpr usize block_size = page_size * entries;
constexpr usize tables = 16; /* 32 MiB: aarch64.ld asserts that it is enough */

alignas(page_size) constinit u64 low_blocks[entries]; /* of the first GiB */
alignas(page_size) constinit u64 blocks[entries];     /* of the image's */
alignas(page_size) constinit u64 pages[tables * entries];

u64 page_at(u64 address)
{
	const u64 page = address | MAP_PAGE | MAP_NORMAL;

	if (address < address_of(image_start) ||
	    address >= address_of(image_data))
		return page | MAP_NO_EXECUTE;
	if (address >= address_of(image_rodata))
		return page | MAP_READ_ONLY | MAP_NO_EXECUTE;
	return page | MAP_READ_ONLY;
}

} // namespace

void protect_memory()
{
	const u64 first = address_of(image_start) / block_size * block_size;
	const u64 gib = first / (block_size * entries);

	for (usize i = 0; i < tables * entries; i++)
		pages[i] = page_at(first + i * page_size);
	for (const cpu_stacks &s : stacks)
		pages[(address_of(s.guard) - first) / page_size] = 0;

	for (usize i = 0; i < entries; i++)
		blocks[i] = (gib * entries + i) * block_size | MAP_BLOCK |
			    MAP_NORMAL | MAP_NO_EXECUTE;
	for (usize i = 0; i < tables; i++)
		blocks[first / block_size % entries + i] =
			address_of(&pages[i * entries]) | MAP_TABLE;

	/* The first block is not mapped: null pointers fault. */
	for (usize i = 1; i < entries; i++)
		low_blocks[i] = i * block_size | MAP_BLOCK | MAP_DEVICE |
				MAP_NO_EXECUTE;
	for (usize i = 0; i < entries; i++)
		map[i] = i * block_size * entries | MAP_BLOCK | MAP_DEVICE |
			 MAP_NO_EXECUTE;
	map[0] = address_of(low_blocks) | MAP_TABLE;
	map[gib] = address_of(blocks) | MAP_TABLE;
	change_map(map);
}

} // namespace boot
