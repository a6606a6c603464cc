/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25
 *
 * Source: IBM VGA Technical Reference, alphanumeric modes; CRT controller
 * registers 0EH and 0FH (cursor).
 *
 * The screen's memory is slow, to read above all: what it shows is kept here,
 * too, and scrolling writes only what changes.
 */
#include <boot/vga.hpp>
#include <boot/x86.hpp>

namespace boot {

namespace {

constexpr unsigned columns = 80;
constexpr unsigned rows = 25;
constexpr u16 blank = 0x0720; /* light grey on black */
constexpr usize memory_address = 0xb8000;

constinit bool present = false;
constinit unsigned column = 0;
constinit unsigned row = 0;
constinit u16 shown[rows * columns];

void show(unsigned at, u16 cell)
{
	if (shown[at] == cell)
		return;
	shown[at] = cell;
	physical<volatile u16>(memory_address)[at] = cell;
}

void next_line()
{
	column = 0;
	if (++row < rows)
		return;
	row = rows - 1;
	for (unsigned at = 0; at < rows * columns; at++)
		show(at, at + columns < rows * columns ? shown[at + columns]
						       : blank);
}

/* Memory that keeps what is written to it. */
bool answers()
{
	volatile u16 *cell = physical<volatile u16>(memory_address);

	*cell = 0x0755;
	const bool first = *cell == 0x0755;
	*cell = 0x072a;
	return first && *cell == 0x072a;
}

} // namespace

void vga_init()
{
	present = answers();
	if (!present)
		return;
	for (unsigned at = 0; at < rows * columns; at++)
		show(at, blank);
}

void vga_put(char c)
{
	if (!present)
		return;
	if (c == '\n') {
		next_line();
	} else if (c == '\r') {
		column = 0;
	} else if (c == '\t') {
		column = (column + 8) & ~7u;
		if (column >= columns)
			next_line();
	} else {
		show(row * columns + column,
		     static_cast<u16>(0x0700 | (c & 0xff)));
		if (++column == columns)
			next_line();
	}
}

void vga_show_cursor()
{
	const unsigned at = row * columns + column;

	if (!present)
		return;
	out8(0x3d4, 0x0e);
	out8(0x3d5, static_cast<u8>(at >> 8));
	out8(0x3d4, 0x0f);
	out8(0x3d5, static_cast<u8>(at));
}

} // namespace boot
