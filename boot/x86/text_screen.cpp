/* SPDX-License-Identifier: MIT */
/*
 * text_screen - the text that a screen shows, whatever draws it
 */
#include <boot/x86/screen.hpp>

namespace boot {

namespace {

/* A character that no cell shows, so that the next one is drawn. */
constexpr char unknown = 0;
constexpr char blank = ' ';

unsigned smaller(unsigned left, unsigned right)
{
	return left < right ? left : right;
}

} // namespace

void text_screen::init(const screen_painter &by, bool is_blank)
{
	painter = by;
	painter.columns = smaller(by.columns, max_columns);
	painter.rows = smaller(by.rows, max_rows);
	__builtin_memset(kept, blank, sizeof(kept));
	__builtin_memset(shown, is_blank ? blank : unknown, sizeof(shown));
	show();
}

/* Returns the screen's first line if the line that is written is its last. */
unsigned text_screen::last_top() const
{
	return line < painter.rows ? 0 : line - painter.rows + 1;
}

void text_screen::move_to(unsigned new_top)
{
	if (top == new_top)
		return;
	top = new_top;
	changed_from = 0;
}

void text_screen::next_line()
{
	column = 0;
	line++;
	__builtin_memset(kept[line % kept_lines], blank, max_columns);
	move_to(last_top());
}

/*
 * A line that is full wraps when more comes, and not before: a row as wide as
 * the screen and its '\n' are one line.
 */
void text_screen::put_cell(char c)
{
	if (column == painter.columns)
		next_line();
	move_to(last_top());
	kept[line % kept_lines][column++] = c;
	changed_from = smaller(changed_from, line);
}

void text_screen::put(char c)
{
	if (!is_present())
		return;
	if (c == '\n')
		next_line();
	else if (c == '\r')
		column = 0;
	else if (c == '\t')
		column = smaller((column + 8) & ~7u, painter.columns);
	else
		put_cell(c);
}

void text_screen::draw_row(unsigned row)
{
	const char *const wanted = kept[(top + row) % kept_lines];

	for (unsigned i = 0; i < painter.columns; i++) {
		if (shown[row][i] == wanted[i])
			continue;
		shown[row][i] = wanted[i];
		painter.draw(row, i, wanted[i]);
	}
}

void text_screen::show()
{
	if (!is_present())
		return;
	for (unsigned row = changed_from > top ? changed_from - top : 0;
	     row < painter.rows; row++)
		draw_row(row);
	changed_from = line;
	if (painter.move_cursor && top == last_top())
		painter.move_cursor(line - top,
				    smaller(column, painter.columns - 1));
}

void text_screen::turn(int pages)
{
	if (!is_present() || !pages)
		return;
	/* The first line that is still kept. */
	const int oldest =
		static_cast<int>(line < kept_lines ? 0 : line - kept_lines + 1);
	const int newest = static_cast<int>(last_top());
	/* One line of the last page stays, for the eye. */
	int wanted = static_cast<int>(top) +
		     pages * static_cast<int>(painter.rows - 1);

	wanted = wanted < oldest ? oldest : wanted;
	move_to(static_cast<unsigned>(wanted > newest ? newest : wanted));
	show();
}

} // namespace boot
