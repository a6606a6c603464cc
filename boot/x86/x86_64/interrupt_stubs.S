/* SPDX-License-Identifier: MIT */
/*
 * interrupt_stubs - the way into and out of every interrupt: x86-64
 *
 * The CPU jumps to stub n for vector n, with interrupts off and its own part
 * of struct interrupt_frame pushed. The stub adds what is missing, calls
 * interrupt_dispatch(interrupt_frame *) and goes back to what it interrupted.
 * GS is never touched: there is no user mode, it always belongs to the CPU.
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
	pushq $0
	.endif
	pushq $vector
	jmp interrupt_common
	.set vector, vector + 1
	.endr

interrupt_common:
	subq $FRAME_VECTOR, %rsp
	movq %rax, FRAME_RAX(%rsp)
	movq %rbx, FRAME_RBX(%rsp)
	movq %rcx, FRAME_RCX(%rsp)
	movq %rdx, FRAME_RDX(%rsp)
	movq %rsi, FRAME_RSI(%rsp)
	movq %rdi, FRAME_RDI(%rsp)
	movq %rbp, FRAME_RBP(%rsp)
	movq %r8, FRAME_R8(%rsp)
	movq %r9, FRAME_R9(%rsp)
	movq %r10, FRAME_R10(%rsp)
	movq %r11, FRAME_R11(%rsp)
	movq %r12, FRAME_R12(%rsp)
	movq %r13, FRAME_R13(%rsp)
	movq %r14, FRAME_R14(%rsp)
	movq %r15, FRAME_R15(%rsp)

	cld	/* the ABI's state; memmove may have been interrupted */
	movq %rsp, %rdi
	call interrupt_dispatch

	movq FRAME_RAX(%rsp), %rax
	movq FRAME_RBX(%rsp), %rbx
	movq FRAME_RCX(%rsp), %rcx
	movq FRAME_RDX(%rsp), %rdx
	movq FRAME_RSI(%rsp), %rsi
	movq FRAME_RDI(%rsp), %rdi
	movq FRAME_RBP(%rsp), %rbp
	movq FRAME_R8(%rsp), %r8
	movq FRAME_R9(%rsp), %r9
	movq FRAME_R10(%rsp), %r10
	movq FRAME_R11(%rsp), %r11
	movq FRAME_R12(%rsp), %r12
	movq FRAME_R13(%rsp), %r13
	movq FRAME_R14(%rsp), %r14
	movq FRAME_R15(%rsp), %r15
	addq $FRAME_IP, %rsp
	iretq

	.section .note.GNU-stack, "", @progbits
