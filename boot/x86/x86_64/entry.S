/* SPDX-License-Identifier: MIT */
/*
 * entry - from the boot loader to kmain(), and into and out of interrupts:
 * x86-64
 *
 * The loader jumps to _start in 32-bit mode, paging and interrupts off, with
 * EAX = its magic and EBX = what it has left (Multiboot 0.6.96, 3.2;
 * Multiboot2 2.0, 3.5).
 * Other CPUs come to ap_entry from trampoline.S.
 */
#include <machine/layout.h>

	.section .text.entry, "ax", @progbits
	.code32

/* Clobbers EAX, ECX, EDX. All CPUs share one set of page tables. */
	.macro enter_long_mode target
	movl %cr4, %eax
	orl $CR4_PAE, %eax
	movl %eax, %cr4
	movl $page_map, %eax
	movl %eax, %cr3
	movl $MSR_EFER, %ecx
	rdmsr
	orl $EFER_LME, %eax
	wrmsr
	movl %cr0, %eax
	andl $~(CR0_CD | CR0_NW), %eax
	orl $(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_PE), %eax
	movl %eax, %cr0
	ljmpl $SELECTOR_CODE64, $\target
	.endm

	.globl _start
_start:
	cli
	cld
	movl %eax, %edi
	movl %ebx, %esi
	lgdtl first_gdt_pointer
	movw $SELECTOR_DATA, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss

	movl $0x80000000, %eax
	cpuid
	cmpl $0x80000001, %eax
	jb no_long_mode
	movl $0x80000001, %eax
	cpuid
	testl $(1 << 29), %edx
	jz no_long_mode

	/*
	 * The low 4 GiB, one to one, in pages of 2 MiB; the fourth, where the
	 * local APIC is, uncached, as its registers want it (Intel SDM volume
	 * 3A, chapter APIC). paging.cpp goes into detail later.
	 */
	movl $(page_directory_pointers + 0x3), page_map
	movl $(page_directories + 0x3), %eax
	xorl %ecx, %ecx
1:
	movl %eax, page_directory_pointers(, %ecx, 8)
	addl $0x1000, %eax
	incl %ecx
	cmpl $4, %ecx
	jb 1b

	movl $0x83, %eax	/* present, writable, 2 MiB */
	xorl %ecx, %ecx
2:
	cmpl $0xc0000083, %eax
	jne 3f
	orl $0x18, %eax		/* PCD, PWT */
3:
	movl %eax, page_directories(, %ecx, 8)
	addl $0x200000, %eax
	incl %ecx
	cmpl $2048, %ecx
	jb 2b

	enter_long_mode start64

	.globl ap_entry
ap_entry:
	enter_long_mode ap_start64

/* To the serial line as the loader left it, and to the screen. */
no_long_mode:
	movl $no_long_mode_text, %esi
	movl $0xb8000, %edi
	movb $0x07, %ah
1:
	lodsb
	testb %al, %al
	jz 3f
	movw $COM1_PORT, %dx
	outb %al, %dx
	stosw
	addw $5, %dx
2:
	inb %dx, %al
	testb $0x20, %al
	jz 2b
	jmp 1b
3:
	movb $EXIT_CODE_PANIC, %al
	outb %al, $EXIT_PORT
4:
	cli
	hlt
	jmp 4b

	.code64
start64:
	movl $(stacks + GUARD_SIZE + THREAD_STACK_SIZE), %esp
	xorl %ebp, %ebp
	movl %edi, %edi	/* the upper halves are undefined after the switch */
	movl %esi, %esi
	call kmain	/* does not return */

ap_start64:
	movl %edi, %edi
	movq PERCPU_STACK_TOP(%rdi), %rsp
	xorl %ebp, %ebp
	call ap_main	/* does not return */

	.section .rodata.entry, "a", @progbits
no_long_mode_text:
	.asciz "PANIC: this CPU has no 64-bit mode: use the i686 image"

	.section .bss.entry, "aw", @nobits
	.globl page_map, page_directory_pointers, page_directories
	.balign 4096
page_map:
	.skip 4096
page_directory_pointers:
	.skip 4096
page_directories:
	.skip 4 * 4096

/*
 * -- The way into and out of every interrupt --
 *
 * Every stub (../stubs.S) comes here with struct interrupt_frame pushed from
 * `vector` on. GS is never touched: there is no user mode, it always belongs to
 * the CPU.
 */

	.section .text.interrupt_common, "ax", @progbits
	.globl interrupt_common
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

	cld	/* the ABI's state, whatever was interrupted */
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
