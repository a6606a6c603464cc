/* SPDX-License-Identifier: MIT */
/*
 * start - comes before boot's _start and spoils what the firmware left
 *
 * As the loader leaves the CPU: EAX, EBX and flat segments are kept for boot
 * (boot/x86/i686/entry.S).
 */
	.section .text, "ax", @progbits
	.code32
	.globl spoiled_start
spoiled_start:
	movl $(spoilers_stack + 4096), %esp
	pushl %eax
	pushl %ebx
	subl $4, %esp	/* aligned to 16 before the call */
	pushl %ebx
	call spoil
	addl $8, %esp
	popl %ebx
	popl %eax
	jmp _start

	.section .bss
	.balign 16
spoilers_stack:
	.skip 4096

	.section .note.GNU-stack, "", @progbits
