/* SPDX-License-Identifier: MIT */
/*
 * font_writer - makes PSF fonts for tests
 */
#pragma once

#include <array>
#include "fake_memory.hpp"

namespace testing {

/* Every row of a glyph: no two glyphs alike, none blank. */
constexpr std::uint8_t row_of(std::size_t glyph, std::size_t row)
{
	return static_cast<std::uint8_t>((glyph * 37 + row * 11) | 1);
}

/* 256 glyphs of 8 x 16, each at its character's number. */
constexpr auto plain_font = [] {
	std::array<std::uint8_t, 4 + 256 * 16> font = {0x36, 0x04, 0, 16};

	for (std::size_t i = 0; i < 256 * 16; i++)
		font[4 + i] = row_of(i / 16, i % 16);
	return font;
}();

inline bytes glyphs(std::size_t count, std::size_t size)
{
	bytes all;

	for (std::size_t i = 0; i < count * size; i++)
		all.push_back(row_of(i / size, i % size));
	return all;
}

/* Format 1, 512 glyphs of 8 x 4, then a table of 16-bit numbers. */
inline bytes font_1(const std::vector<unsigned> &table)
{
	bytes font = {0x36, 0x04, 0x03, 4};
	const bytes shapes = glyphs(512, 4);

	font.insert(font.end(), shapes.begin(), shapes.end());
	for (unsigned number : table)
		put(font, number, 2);
	return font;
}

/* Format 2, glyphs of 12 x 3, then a table if it is not empty. */
inline bytes font_2(std::size_t count, const bytes &table)
{
	bytes font = {0x72, 0xb5, 0x4a, 0x86};
	const bytes shapes = glyphs(count, 6);

	for (std::size_t field :
	     {std::size_t{0}, std::size_t{32}, std::size_t{!table.empty()},
	      count, std::size_t{6}, std::size_t{3}, std::size_t{12}})
		put(font, field, 4);
	font.insert(font.end(), shapes.begin(), shapes.end());
	font.insert(font.end(), table.begin(), table.end());
	return font;
}

} // namespace testing
