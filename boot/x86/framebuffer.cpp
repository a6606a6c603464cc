/* SPDX-License-Identifier: MIT */
/*
 * framebuffer - text on a screen made of pixels, by a font
 *
 * Its memory is written and never read: to read it takes far longer. There is
 * no cursor, and one colour.
 */
#include <boot/x86/screen.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

extern "C" {
/* font/font.S; an image that is linked without it has none */
[[gnu::weak]] extern const u8 console_font[];
[[gnu::weak]] extern const u32 console_font_size;
}

namespace {

/* The columns beyond which pixels are drawn larger. */
constexpr unsigned wanted_columns = 100;
constexpr unsigned wanted_rows = 30;

constinit framebuffer screen;
constinit psf_font font;
constinit unsigned scale = 1;
constinit u32 ink = 0;

/* Two thirds of a colour's brightest: light grey, all colours together. */
u32 two_thirds(color_bits of)
{
	return ((u32{1} << of.count) - 1) * 2 / 3 << of.first;
}

usize bytes_of_pixel() { return screen.bits / 8; }

volatile u8 *line_at(unsigned y)
{
	return reinterpret_cast<volatile u8 *>(
		static_cast<usize>(screen.address) + usize{y} * screen.pitch);
}

/* A pitch may be any: nothing promises a pixel's alignment. */
struct [[gnu::packed]] pixel_32 {
	u32 color;
};

void put_pixel(volatile u8 *at, u32 color)
{
	if (screen.bits == 32) {
		reinterpret_cast<volatile pixel_32 *>(at)->color = color;
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		at[i] = static_cast<u8>(color >> 8 * i);
}

/* Whether the pixel is of the box that stands for a missing glyph. */
bool is_in_box(unsigned x, unsigned y)
{
	return x > 0 && x + 1 < font.width && y > 1 && y + 2 < font.height;
}

bool has_ink(const u8 *glyph, char c, unsigned x, unsigned y)
{
	if (!glyph)
		return c != ' ' && is_in_box(x, y);
	return glyph[y * font.row_size() + x / 8] >> (7 - x % 8) & 1;
}

/* One line of pixels of a letter, from `at` on; y: of the glyph's. */
void draw_line(volatile u8 *at, const u8 *glyph, char c, unsigned y)
{
	for (unsigned x = 0; x < font.width; x++) {
		const u32 color = has_ink(glyph, c, x, y) ? ink : 0;

		for (unsigned i = 0; i < scale; i++) {
			put_pixel(at, color);
			at += bytes_of_pixel();
		}
	}
}

void draw(unsigned row, unsigned column, char c)
{
	const u8 *const glyph = font.glyph(c);
	const usize left = column * font.width * scale * bytes_of_pixel();
	const unsigned top = row * font.height * scale;

	for (unsigned y = 0; y < font.height; y++) {
		for (unsigned i = 0; i < scale; i++)
			draw_line(line_at(top + y * scale + i) + left, glyph, c,
				  y);
	}
}

void clear()
{
	for (unsigned y = 0; y < screen.height; y++) {
		volatile u8 *at = line_at(y);

		for (unsigned x = 0; x < screen.width; x++) {
			put_pixel(at, 0);
			at += bytes_of_pixel();
		}
	}
}

bool holds(color_bits of, u8 bits)
{
	return of.count && of.count <= 16 && of.first <= bits &&
	       of.count <= bits - of.first;
}

const char *open_font()
{
	if (!console_font)
		return "this image has no font: the screen shows boxes";
	return font.open(console_font, console_font_size);
}

} // namespace

const char *check_framebuffer(const framebuffer &s)
{
	if (s.bits != 24 && s.bits != 32)
		return "its pixels have neither 24 nor 32 bits";
	if (s.width > 0x10000 || s.height > 0x10000 ||
	    u64{s.pitch} < u64{s.width} * s.bits / 8)
		return "its lines are shorter than its pixels";
	if (!holds(s.red, s.bits) || !holds(s.green, s.bits) ||
	    !holds(s.blue, s.bits))
		return "its colours are not in its pixels";
	return nullptr;
}

screen_painter find_framebuffer(const framebuffer &given, const char *&trouble)
{
	trouble = check_framebuffer(given);
	if (trouble)
		return {};
	trouble = map_screen(given.address, u64{given.pitch} * given.height);
	if (trouble)
		return {};
	screen = given;
	scale = 1;
	trouble = open_font();
	ink = two_thirds(screen.red) | two_thirds(screen.green) |
	      two_thirds(screen.blue);
	while (screen.width >= wanted_columns * font.width * (scale + 1) &&
	       screen.height >= wanted_rows * font.height * (scale + 1))
		scale++;
	clear();
	return {screen.width / (font.width * scale),
		screen.height / (font.height * scale), draw, nullptr};
}

/*
 * -- Fonts of the PC Screen Font formats 1 and 2 --
 *
 * Behind the glyphs there may be a table: for each glyph the characters that it
 * is for, then, in either format, sequences of characters that it is for, which
 * a console without composed characters leaves out.
 */

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
