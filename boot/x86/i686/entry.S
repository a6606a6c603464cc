/* SPDX-License-Identifier: MIT */
/*
 * entry - from the boot loader to kmain(), and into and out of interrupts:
 * i686
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

/*
 * -- The way into and out of every interrupt --
 *
 * Every stub (../stubs.S) comes here with struct interrupt_frame pushed from
 * `vector` on. No segment register is touched: there is no user mode.
 */

	.section .text.interrupt_common, "ax", @progbits
	.globl interrupt_common
interrupt_common:
	subl $FRAME_VECTOR, %esp
	movl %eax, FRAME_EAX(%esp)
	movl %ebx, FRAME_EBX(%esp)
	movl %ecx, FRAME_ECX(%esp)
	movl %edx, FRAME_EDX(%esp)
	movl %esi, FRAME_ESI(%esp)
	movl %edi, FRAME_EDI(%esp)
	movl %ebp, FRAME_EBP(%esp)

	cld	/* the ABI's state, whatever was interrupted */
	movl %esp, %ebx	/* the frame; EBX survives the call */
	andl $-16, %esp	/* unlike in 64-bit mode, the CPU aligns nothing */
	subl $12, %esp
	pushl %ebx
	call interrupt_dispatch
	movl %ebx, %esp

	movl FRAME_EAX(%esp), %eax
	movl FRAME_EBX(%esp), %ebx
	movl FRAME_ECX(%esp), %ecx
	movl FRAME_EDX(%esp), %edx
	movl FRAME_ESI(%esp), %esi
	movl FRAME_EDI(%esp), %edi
	movl FRAME_EBP(%esp), %ebp
	addl $FRAME_IP, %esp
	iretl

	.section .note.GNU-stack, "", @progbits
