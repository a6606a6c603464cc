/* SPDX-License-Identifier: MIT */
/*
 * stubs - the entry of each interrupt, on both widths
 *
 * The CPU jumps to stub n for vector n, with interrupts off and its own part
 * of struct interrupt_frame pushed. The stub adds what is missing down to the
 * vector; interrupt_common (entry.S) saves the registers, calls
 * interrupt_dispatch(interrupt_frame *) and goes back to what was interrupted.
 */
#include <machine/layout.h>

	.section .text.interrupt_stubs, "ax", @progbits
	.globl interrupt_stubs
	.balign INTERRUPT_STUB_SIZE
interrupt_stubs:
	.set vector, 0
	.rept 256
	.balign INTERRUPT_STUB_SIZE
	.if vector >= 32 || !((ERROR_CODE_VECTORS >> (vector & 31)) & 1)
	push $0
	.endif
	push $vector
	jmp interrupt_common
	.set vector, vector + 1
	.endr

	.section .note.GNU-stack, "", @progbits
