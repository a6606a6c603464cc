/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25
 *
 * Source: IBM VGA Technical Reference, alphanumeric modes; CRT controller
 * registers 0EH and 0FH (cursor).
 */
#include <boot/x86/vga.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr unsigned columns = 80;
constexpr unsigned rows = 25;
constexpr u16 light_grey_on_black = 0x0700;
constexpr usize memory_address = 0xb8000;

volatile u16 *cell(unsigned at)
{
	return physical<volatile u16>(memory_address) + at;
}

void draw(unsigned row, unsigned column, char c)
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
bool answers()
{
	*cell(0) = 0x0755;
	const bool first = *cell(0) == 0x0755;

	*cell(0) = 0x072a;
	return first && *cell(0) == 0x072a;
}

} // namespace

screen_painter find_vga()
{
	if (!answers())
		return {};
	return {columns, rows, draw, move_cursor};
}

} // namespace boot
