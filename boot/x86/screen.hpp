/* SPDX-License-Identifier: MIT */
/*
 * screen - the machine's screen, of text or of pixels, and what draws it
 * (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <boot/x86/firmware.hpp>

namespace boot {

/*
 * -- The text that a screen shows, whatever draws it --
 *
 * The last lines are kept, more than the screen has, so that pages can be
 * turned back. What the screen shows is kept, too: its memory is slow, to read
 * above all, so only what has changed is drawn.
 */

/* The functions that draw on VGA's text memory or a framebuffer. */
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
	bool has_more() const { return is_present() && last_top() != 0; }

	/*
	 * Turns that many pages on, or back if negative, as far as there are
	 * any.
	 */
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

/*
 * -- Fonts of the PC Screen Font formats 1 and 2 --
 *
 * Source: the two formats' descriptions in the Linux console tools (psf.h).
 *
 * Nothing outside of the font's bytes is read, whatever they are.
 */

struct psf_font {
	static constexpr unsigned max_width = 32;
	static constexpr unsigned max_height = 64;

	unsigned width = 8; /* of all glyphs, in pixels */
	unsigned height = 16;

	/* Null, or why that is no font. It must stay where it is. */
	const char *open(const u8 *font, usize size);

	/*
	 * Rows from top to bottom, row_size() bytes each, the leftmost pixel in
	 * the highest bit; null: it has no glyph for c.
	 */
	const u8 *glyph(char c) const;

	unsigned row_size() const { return (width + 7) / 8; }

      private:
	/* The characters of ASCII that are seen. */
	static constexpr u8 first = 0x20;
	static constexpr u8 last = 0x7e;

	const char *take(const u8 *from, usize size, u32 glyphs);
	void add(u32 code, u32 glyph);
	void read_table_1(const u8 *at, usize size);
	void read_table_2(const u8 *at, usize size);

	const u8 *bits = nullptr;
	u32 count = 0;
	u32 glyph_of[last - first + 1] = {}; /* its number + 1; 0: none */
};

/* -- Text on a screen made of pixels -- */

/* Null, or why there can be no text on it. */
const char *check_framebuffer(const framebuffer &screen);

/*
 * Clears it. No columns: boot cannot reach it. `trouble`: null, or what will
 * be seen instead of letters, and why.
 */
screen_painter find_framebuffer(const framebuffer &screen,
				const char *&trouble);

/* -- The machine's screen, of text or of pixels -- */

/* Clears it; where there is none, the others do nothing. */
void screen_init(const loader_info &loader);

/* In one line, whether there is text on a screen of pixels, and why not. */
void screen_describe(const loader_info &loader);

/* The console's lock is held, or the console is not used any more. */
extern text_screen console_screen;

/* -- The keys that turn pages, polled -- */

/* Page Up: -1, Page Down: 1; 0: neither was pressed. Takes what has come. */
int keyboard_pages();

} // namespace boot
