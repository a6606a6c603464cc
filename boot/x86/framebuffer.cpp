/* SPDX-License-Identifier: MIT */
/*
 * framebuffer - text on a screen made of pixels
 *
 * Its memory is written and never read: to read it takes far longer. There is
 * no cursor, and one colour.
 */
#include <boot/x86/screen.hpp>
#include <boot/x86/width.hpp>

namespace boot {

extern "C" {
/* font/font.S; an image that is linked without it has none */
[[gnu::weak]] extern const u8 console_font[];
[[gnu::weak]] extern const u32 console_font_size;
}

namespace {

/* Where a screen has more than these, pixels are drawn larger. */
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

/* What has no glyph is seen all the same: a box. */
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

} // namespace boot
