/* SPDX-License-Identifier: MIT */
/*
 * firmware_memory - what others have left in memory (private to boot)
 *
 * Who reads tables of the firmware or of a loader asks here first: an address
 * or a length in them may be anything. Tests bring a memory of their own.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct firmware_memory {
	/* So many bytes from there on; null: not all of them can be read. */
	const u8 *(*find)(const void *context, u64 address, usize size);
	const void *context;

	const u8 *at(u64 address, usize size) const
	{
		return find(context, address, size);
	}

	/* False, and nothing happens, where it cannot be read. */
	template <typename T>
	bool read(u64 address, T &value) const
	{
		const u8 *const from = at(address, sizeof(T));

		if (from)
			__builtin_memcpy(&value, from, sizeof(T));
		return from != nullptr;
	}
};

/*
 * Whether boot may look there: entry.S maps the low 4 GiB, and where real mode
 * has its vectors is no table.
 */
constexpr bool is_mapped(u64 address, usize size)
{
	constexpr u64 first = 0x400;
	constexpr u64 end = u64{1} << 32;

	return address >= first && address < end && size <= end - address;
}

/* The machine's, as far as it is mapped. */
firmware_memory mapped_memory();

/* A field or a struct that lies there; nothing promises its alignment. */
template <typename T>
T copy_of(const u8 *from)
{
	T value;

	__builtin_memcpy(&value, from, sizeof(T));
	return value;
}

} // namespace boot
