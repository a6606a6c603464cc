/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25 (private to boot)
 */
#pragma once

namespace boot {

/* Clears the screen; where there is none, the others do nothing. */
void vga_init();

/*
 * '\n', '\r' and '\t' as usual; scrolls, and turns to the newest page. The
 * console's lock is held.
 */
void vga_put(char c);

/* Moves the cursor to where the next character goes. */
void vga_show_cursor();

bool vga_is_present();

/* Whether there was more text than the screen shows. */
bool vga_has_more();

/* So many pages on, or back if negative, as far as there are any. */
void vga_turn(int pages);

} // namespace boot
