/* SPDX-License-Identifier: MIT */
/*
 * entry - from the boot loader to kmain(): i686
 *
 * The loader jumps to _start in 32-bit mode, paging and interrupts off, with
 * EAX = its magic and EBX = what it has left (Multiboot 0.6.96, 3.2;
 * Multiboot2 2.0, 3.5).
 * It stays that way: flat segments, no paging. Other CPUs come to ap_entry
 * from trampoline.S.
 */
#include <machine/layout.h>

	.section .text.entry, "ax", @progbits
	.code32
	.globl _start
_start:
	cli
	cld
	lgdtl first_gdt_pointer
	ljmpl $SELECTOR_CODE32, $1f
1:
	movw $SELECTOR_DATA, %cx
	movw %cx, %ds
	movw %cx, %es
	movw %cx, %ss
	movl $(stacks + GUARD_SIZE + THREAD_STACK_SIZE), %esp
	xorl %ebp, %ebp
	subl $8, %esp	/* aligned to 16 before the call */
	pushl %ebx
	pushl %eax
	call kmain	/* does not return */

	.globl ap_entry
ap_entry:
	movl PERCPU_STACK_TOP(%edi), %esp
	xorl %ebp, %ebp
	subl $12, %esp
	pushl %edi
	call ap_main	/* does not return */

	.section .note.GNU-stack, "", @progbits
