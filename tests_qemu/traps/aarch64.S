/* SPDX-License-Identifier: MIT */
	.text
	.globl lose_stack
lose_stack:
	mov x9, #64
	mov sp, x9
	str xzr, [sp]
	udf #0

	.section .note.GNU-stack, "", %progbits
