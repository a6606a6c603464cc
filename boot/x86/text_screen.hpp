/* SPDX-License-Identifier: MIT */
/*
 * text_screen - the text that a screen shows, whatever draws it
 * (private to boot)
 *
 * The last lines are kept, more than the screen has, so that pages can be
 * turned back. What the screen shows is kept, too: its memory is slow, to read
 * above all, so only what has changed is drawn.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* What draws: VGA's text memory, or a framebuffer. */
struct screen_painter {
	unsigned columns; /* 0: there is no screen */
	unsigned rows;
	void (*draw)(unsigned row, unsigned column, char c);
	/* Null: it has no cursor. */
	void (*move_cursor)(unsigned row, unsigned column);
};

struct text_screen {
	static constexpr unsigned max_columns = 160;
	static constexpr unsigned max_rows = 64;
	static constexpr unsigned kept_lines = 400;

	/* The screen is blank, or shows what is none of ours. */
	void init(const screen_painter &by, bool is_blank);

	bool is_present() const { return painter.columns != 0; }

	/*
	 * '\n', '\r' and '\t' as usual; scrolls, and turns to the newest page.
	 * Nothing is seen before show().
	 */
	void put(char c);

	/* Draws what has changed. */
	void show();

	/* Whether there was more text than the screen shows. */
	bool has_more() const { return last_top() != 0; }

	/* So many pages on, or back if negative, as far as there are any. */
	void turn(int pages);

      private:
	unsigned last_top() const;
	void move_to(unsigned new_top);
	void next_line();
	void put_cell(char c);
	void draw_row(unsigned row);

	screen_painter painter = {};
	unsigned line = 0;	   /* that is written, from the start */
	unsigned column = 0;	   /* painter.columns: the line is full */
	unsigned top = 0;	   /* the line that the screen begins with */
	unsigned changed_from = 0; /* the first line that show() looks at */
	char kept[kept_lines][max_columns] = {};
	char shown[max_rows][max_columns] = {};
};

} // namespace boot
