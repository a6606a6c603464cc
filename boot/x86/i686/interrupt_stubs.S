/* SPDX-License-Identifier: MIT */
/*
 * interrupt_stubs - the way into and out of every interrupt: i686
 *
 * The CPU jumps to stub n for vector n, with interrupts off and its own part
 * of struct interrupt_frame pushed. The stub adds what is missing, calls
 * interrupt_dispatch(interrupt_frame *) and goes back to what it interrupted.
 * No segment register is touched: there is no user mode.
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
	pushl $0
	.endif
	pushl $vector
	jmp interrupt_common
	.set vector, vector + 1
	.endr

interrupt_common:
	subl $FRAME_VECTOR, %esp
	movl %eax, FRAME_EAX(%esp)
	movl %ebx, FRAME_EBX(%esp)
	movl %ecx, FRAME_ECX(%esp)
	movl %edx, FRAME_EDX(%esp)
	movl %esi, FRAME_ESI(%esp)
	movl %edi, FRAME_EDI(%esp)
	movl %ebp, FRAME_EBP(%esp)

	cld	/* the ABI's state; memmove may have been interrupted */
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
