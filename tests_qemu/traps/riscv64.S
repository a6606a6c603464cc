/* SPDX-License-Identifier: MIT */
	.text
	.globl lose_stack
lose_stack:
	li sp, 64
	sd zero, 0(sp)
	unimp

	.section .note.GNU-stack, "", %progbits
