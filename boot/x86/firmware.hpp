/* SPDX-License-Identifier: MIT */
/*
 * firmware - what firmware and loader have left in memory (private to boot)
 *
 * Who reads tables of the firmware or of a loader asks here first: an address
 * or a length in them may be anything. Tests have a memory of their own.
 */
#pragma once

#include <boot/types.hpp>
#include <boot/machine.hpp>

namespace boot {

struct firmware_memory {
	/*
	 * A pointer to `size` bytes from `address` on; null: not all can be
	 * read.
	 */
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

/*
 * -- Free pages below 640 KiB --
 *
 * A CPU starts in one of them (trampoline.S). Under UEFI the firmware may have
 * kept any of them; the loader's memory map says which.
 */

struct low_pages {
	static constexpr unsigned count = 160;

	/* One range of the map; the same for ranges that overlap. */
	void add(u64 base, u64 length, bool is_free);

	/*
	 * The page's address: `wanted` if it is free or nobody has said
	 * anything, else the first free one; 0: there is none.
	 */
	usize find(usize wanted) const;

      private:
	bool is_free(unsigned page) const;

	bool known = false;
	u8 inside[count] = {}; /* 1: the whole page is in a free range */
	u8 taken[count] = {};  /* 1: a part of it is in another range */
};

/*
 * -- The loader's information, by any protocol --
 *
 * boot_info.machine points to it. But for the command line it is a copy: what
 * the loader left may be overwritten.
 */

/* The bits of a pixel that hold one colour. */
struct color_bits {
	u8 first = 0;
	u8 count = 0;
};

/* A screen made of pixels. */
struct framebuffer {
	u64 address = 0; /* 0: there is none */
	u32 pitch = 0;	 /* bytes from one line to the next */
	u32 width = 0;	 /* in pixels, as the height */
	u32 height = 0;
	u8 bits = 0; /* of a pixel */
	color_bits red;
	color_bits green;
	color_bits blue;
};

/* ACPI's root pointer: 20 bytes of it, or 36. */
struct rsdp_copy {
	usize size = 0; /* 0: the loader has none */
	u8 bytes[36] = {};
};

struct loader_info {
	const char *command_line = nullptr; /* none: null */
	file_name names_file = file_name::none;
	bool text_screen = true; /* there may be one, at 0xb8000 */
	framebuffer pixels;
	rsdp_copy rsdp;
	low_pages free_pages;
};

} // namespace boot
