/* SPDX-License-Identifier: MIT */
/*
 * screen - VGA's text or a framebuffer, and the keys that turn its pages
 *
 * Source: IBM VGA Technical Reference, alphanumeric modes; CRT controller
 * registers 0EH and 0FH (cursor).
 */
#include <boot/x86/screen.hpp>
#include <boot/x86/x86.hpp>
#include <boot/console.hpp>
#include <boot/machine.hpp>

namespace boot {

/* -- The text screen of a PC, 80 x 25 -- */

namespace {

constexpr unsigned columns = 80;
constexpr unsigned rows = 25;
constexpr u16 light_grey_on_black = 0x0700;
constexpr usize memory_address = 0xb8000;

volatile u16 *cell(unsigned at)
{
	return physical<volatile u16>(memory_address) + at;
}

void draw_cell(unsigned row, unsigned column, char c)
{
	*cell(row * columns + column) =
		static_cast<u16>(light_grey_on_black | static_cast<u8>(c));
}

void move_cursor(unsigned row, unsigned column)
{
	const unsigned at = row * columns + column;

	out8(0x3d4, 0x0e);
	out8(0x3d5, static_cast<u8>(at >> 8));
	out8(0x3d4, 0x0f);
	out8(0x3d5, static_cast<u8>(at));
}

/* Memory that keeps what is written to it. */
bool vga_answers()
{
	*cell(0) = 0x0755;
	const bool first = *cell(0) == 0x0755;

	*cell(0) = 0x072a;
	return first && *cell(0) == 0x072a;
}

/* No columns: there is none. */
screen_painter find_vga()
{
	if (!vga_answers())
		return {};
	return {columns, rows, draw_cell, move_cursor};
}

} // namespace

/*
 * -- The keys that turn pages, polled --
 *
 * Source: IBM PC AT Technical Reference, keyboard controller 8042: the status
 * register's bit 0 says that a byte has come, bit 5 that it is the mouse's;
 * scan codes as the controller translates them (set 1), 0xe0 in front or not.
 */

namespace {

constexpr u16 keyboard_data = 0x60;
constexpr u16 keyboard_status = 0x64;
constexpr u8 byte_is_there = 0x01;
constexpr u8 byte_is_mouses = 0x20;

constexpr u8 page_up = 0x49;
constexpr u8 page_down = 0x51;

} // namespace

int keyboard_pages()
{
	const u8 state = in8(keyboard_status);

	if (state == 0xff || !(state & byte_is_there))
		return 0;
	const u8 code = in8(keyboard_data);

	if (state & byte_is_mouses)
		return 0;
	return code == page_up ? -1 : code == page_down ? 1 : 0;
}

/* -- The machine's screen, of text or of pixels -- */

constinit text_screen console_screen;

namespace {

constinit const char *trouble = nullptr;

} // namespace

void screen_init(const loader_info &loader)
{
	if (loader.pixels.address)
		console_screen.init(find_framebuffer(loader.pixels, trouble),
				    true);
	else if (loader.text_screen)
		console_screen.init(find_vga(), false);
}

void screen_describe(const loader_info &loader)
{
	const framebuffer &pixels = loader.pixels;

	if (!pixels.address) {
		if (!loader.text_screen)
			print("# boot: no text on the screen: it has a "
			      "palette, or the loader does not say where it "
			      "is\n");
		return;
	}
	print("# boot: screen of %u x %u pixels, %u bits each", pixels.width,
	      pixels.height, pixels.bits);
	if (trouble)
		print(": %s%s",
		      console_screen.is_present() ? "" : "no text on it, ",
		      trouble);
	print("\n");
}

} // namespace boot
