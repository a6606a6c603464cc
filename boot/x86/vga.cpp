/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25
 *
 * Source: IBM VGA Technical Reference, alphanumeric modes; CRT controller
 * registers 0EH and 0FH (cursor).
 *
 * The last lines are kept, more than the screen has, so that pages can be
 * turned back. The screen's memory is slow, to read above all: what it shows is
 * kept, too, and only what changes is written.
 */
#include <boot/x86/vga.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr unsigned columns = 80;
constexpr unsigned rows = 25;
constexpr unsigned kept_lines = 400;
constexpr u16 blank = 0x0720; /* light grey on black */
constexpr usize memory_address = 0xb8000;

constinit bool present = false;
constinit unsigned line = 0;   /* the one that is written, from the start */
constinit unsigned column = 0; /* columns: the line is full */
constinit unsigned top = 0;    /* the line that the screen begins with */
constinit u16 kept[kept_lines][columns];
constinit u16 shown[rows * columns];

void show(unsigned at, u16 cell)
{
	if (shown[at] == cell)
		return;
	shown[at] = cell;
	physical<volatile u16>(memory_address)[at] = cell;
}

void show_all()
{
	for (unsigned at = 0; at < rows * columns; at++)
		show(at, kept[(top + at / columns) % kept_lines][at % columns]);
}

/* Where the screen begins if the line that is written is the last one on it. */
unsigned last_top() { return line < rows ? 0 : line - rows + 1; }

void move_to(unsigned new_top)
{
	if (top == new_top)
		return;
	top = new_top;
	show_all();
}

void next_line()
{
	column = 0;
	line++;
	for (u16 &cell : kept[line % kept_lines])
		cell = blank;
	move_to(last_top());
}

/*
 * A line that is full wraps when more comes, and not before: a row of 80
 * characters and its '\n' are one line.
 */
void put_cell(u16 cell)
{
	if (column == columns)
		next_line();
	move_to(last_top());
	kept[line % kept_lines][column] = cell;
	show((line - top) * columns + column, cell);
	column++;
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
	for (auto &of_line : kept)
		for (u16 &cell : of_line)
			cell = blank;
	show_all();
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
		if (column > columns)
			column = columns;
	} else {
		put_cell(static_cast<u16>(0x0700 | (c & 0xff)));
	}
}

void vga_show_cursor()
{
	const unsigned at = (line - top) * columns +
			    (column < columns ? column : columns - 1);

	if (!present)
		return;
	out8(0x3d4, 0x0e);
	out8(0x3d5, static_cast<u8>(at >> 8));
	out8(0x3d4, 0x0f);
	out8(0x3d5, static_cast<u8>(at));
}

bool vga_is_present() { return present; }

bool vga_has_more() { return present && last_top() != 0; }

void vga_turn(int pages)
{
	const int oldest =
		line < kept_lines ? 0 : static_cast<int>(line - kept_lines + 1);
	const int newest = static_cast<int>(last_top());
	/* One line of the last page stays, for the eye. */
	int wanted = static_cast<int>(top) + pages * static_cast<int>(rows - 1);

	wanted = wanted < oldest ? oldest : wanted;
	move_to(static_cast<unsigned>(wanted > newest ? newest : wanted));
}

} // namespace boot
