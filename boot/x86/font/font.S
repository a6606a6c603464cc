/* SPDX-License-Identifier: MIT */
/*
 * font - the letters of a screen made of pixels
 *
 * A PSF font, whose file FONT_FILE names: none of it is in these sources.
 * framebuffer.cpp does without this object, and then draws boxes.
 */
	.section .rodata.font, "a", @progbits
	.globl console_font, console_font_size
	.balign 4
console_font_size:
	.long font_end - console_font
console_font:
	.incbin FONT_FILE
font_end:

	.section .note.GNU-stack, "", @progbits
