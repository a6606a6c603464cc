/* SPDX-License-Identifier: MIT */
/*
 * psf - fonts of the PC Screen Font formats 1 and 2 (private to boot)
 *
 * Source: the two formats' descriptions in the Linux console tools (psf.h).
 *
 * Nothing outside of the font's bytes is read, whatever they are.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct psf_font {
	static constexpr unsigned max_width = 32;
	static constexpr unsigned max_height = 64;

	unsigned width = 8; /* of all glyphs, in pixels */
	unsigned height = 16;

	/* Null, or why that is no font. It must stay where it is. */
	const char *open(const u8 *font, usize size);

	/*
	 * Rows from top to bottom, row_size() bytes each, the leftmost pixel in
	 * the highest bit; null: it has no glyph for c.
	 */
	const u8 *glyph(char c) const;

	unsigned row_size() const { return (width + 7) / 8; }

      private:
	/* The characters of ASCII that are seen. */
	static constexpr u8 first = 0x20;
	static constexpr u8 last = 0x7e;

	const char *take(const u8 *from, usize size, u32 glyphs);
	void add(u32 code, u32 glyph);
	void read_table_1(const u8 *at, usize size);
	void read_table_2(const u8 *at, usize size);

	const u8 *bits = nullptr;
	u32 count = 0;
	u32 glyph_of[last - first + 1] = {}; /* its number + 1; 0: none */
};

} // namespace boot
