/* SPDX-License-Identifier: MIT */
	.text
	.globl lose_stack
lose_stack:
#ifdef __aarch64__
	mov x9, #64
	mov sp, x9
	str xzr, [sp]
	udf #0
#else
	li sp, 64
	sd zero, 0(sp)
	unimp
#endif

	.section .note.GNU-stack, "", %progbits
