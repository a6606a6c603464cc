/* SPDX-License-Identifier: MIT */
/*
 * psf - fonts of the PC Screen Font formats 1 and 2
 *
 * Behind the glyphs there may be a table: for each glyph the characters that it
 * is for, then, in either format, sequences of characters that it is for, which
 * a console without composed characters leaves out.
 */
#include <boot/x86/screen.hpp>

namespace boot {

namespace {

struct header_1 {
	static constexpr u8 magic[] = {0x36, 0x04};
	static constexpr usize size = 4; /* magic, mode, bytes of a glyph */
	static constexpr u8 has_512 = 0x01;
	static constexpr u8 has_table = 0x02 | 0x04;
	static constexpr u32 sequence = 0xfffe;
	static constexpr u32 glyph_end = 0xffff;
};

struct header_2 {
	u8 magic[4];
	u32 version;
	u32 size; /* of the header */
	u32 flags;
	u32 glyphs;
	u32 glyph_size;
	u32 height;
	u32 width;
};

constexpr u8 magic_2[] = {0x72, 0xb5, 0x4a, 0x86};
constexpr u32 has_table_2 = 1;
constexpr u8 sequence_2 = 0xfe;
constexpr u8 glyph_end_2 = 0xff;

constexpr const char *too_short = "the font is shorter than it says";

bool is_font_1(const u8 *font, usize size)
{
	return size >= header_1::size && font[0] == header_1::magic[0] &&
	       font[1] == header_1::magic[1];
}

bool is_font_2(const u8 *font, usize size)
{
	return size >= sizeof(header_2) &&
	       __builtin_memcmp(font, magic_2, sizeof(magic_2)) == 0;
}

} // namespace

/* The glyphs, which begin there; width and height are known. */
const char *psf_font::take(const u8 *from, usize size, u32 glyphs)
{
	if (!width || width > max_width || !height || height > max_height)
		return "the font's glyphs are of no size that boot can use";
	if (glyphs > size / (height * row_size()))
		return too_short;
	bits = from;
	count = glyphs;
	return nullptr;
}

/* The first glyph of a character is the one that counts. */
void psf_font::add(u32 code, u32 glyph)
{
	if (code >= first && code <= last && !glyph_of[code - first])
		glyph_of[code - first] = glyph + 1;
}

/* Numbers of 16 bits. */
void psf_font::read_table_1(const u8 *at, usize size)
{
	bool in_sequence = false;

	for (u32 glyph = 0; glyph < count && size >= 2; at += 2, size -= 2) {
		const u32 code = at[0] | u32{at[1]} << 8;

		if (code == header_1::glyph_end) {
			in_sequence = false;
			glyph++;
		} else if (code == header_1::sequence) {
			in_sequence = true;
		} else if (!in_sequence) {
			add(code, glyph);
		}
	}
}

/* UTF-8: bytes of ASCII are what they are, wherever they stand. */
void psf_font::read_table_2(const u8 *at, usize size)
{
	bool in_sequence = false;

	for (u32 glyph = 0; glyph < count && size; at++, size--) {
		if (*at == glyph_end_2) {
			in_sequence = false;
			glyph++;
		} else if (*at == sequence_2) {
			in_sequence = true;
		} else if (!in_sequence) {
			add(*at, glyph);
		}
	}
}

const char *psf_font::open(const u8 *font, usize size)
{
	usize from = header_1::size;
	u32 glyphs;
	bool has_table;

	if (is_font_1(font, size)) {
		height = font[3];
		glyphs = font[2] & header_1::has_512 ? 512 : 256;
		has_table = font[2] & header_1::has_table;
	} else if (is_font_2(font, size)) {
		header_2 head;

		__builtin_memcpy(&head, font, sizeof(head));
		from = head.size;
		width = head.width;
		height = head.height;
		glyphs = head.glyphs;
		has_table = head.flags & has_table_2;
		if (from < sizeof(head) || from > size)
			return too_short;
	} else {
		return "that is no PSF font";
	}
	if (const char *why = take(font + from, size - from, glyphs))
		return why;
	const usize table = from + usize{count} * height * row_size();

	if (!has_table)
		for (u32 code = first; code <= last && code < count; code++)
			add(code, code);
	else if (is_font_1(font, size))
		read_table_1(font + table, size - table);
	else
		read_table_2(font + table, size - table);
	return nullptr;
}

const u8 *psf_font::glyph(char c) const
{
	const u8 code = static_cast<u8>(c);

	if (code < first || code > last || !glyph_of[code - first])
		return nullptr;
	return bits + usize{glyph_of[code - first] - 1} * height * row_size();
}

} // namespace boot
