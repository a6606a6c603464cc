/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25 (private to boot)
 */
#pragma once

namespace boot {

/* Clears the screen; where there is none, the others do nothing. */
void vga_init();

/* '\n', '\r' and '\t' as usual; scrolls. The console's lock is held. */
void vga_put(char c);

/* Moves the cursor to where the next character goes. */
void vga_show_cursor();

} // namespace boot
