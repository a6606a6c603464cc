/* SPDX-License-Identifier: MIT */
/*
 * trampoline - where every CPU but the first begins
 *
 * Start-up IPIs make a CPU begin in real mode at a page below 1 MiB (Intel SDM
 * volume 3A, MP Initialization Protocol); smp.cpp copies trampoline_start to
 * trampoline_end there.
 * All CPUs come at once: nobody has a stack yet, each finds its own block by
 * its own APIC id and touches nothing that another one uses.
 */
#include <machine/layout.h>

	.section .rodata.trampoline, "a", @progbits
	.globl trampoline_start, trampoline_end
	.code16
	.balign 16
trampoline_start:
	cli
	cld
	movw %cs, %ax
	movw %ax, %ds
	lgdtl trampoline_gdt - trampoline_start

	/*
	 * A CPU may come out of INIT with its caches off, QEMU's do (Intel SDM
	 * volume 3A, CPU State Following Power-up, Reset, or INIT): CD and NW
	 * go here.
	 */
	movl %cr0, %eax
	andl $~(CR0_CD | CR0_NW), %eax
	orl $CR0_PE, %eax
	movl %eax, %cr0
	ljmpl $SELECTOR_CODE32, $find_block

	.balign 4
trampoline_gdt:
	.word first_gdt_end - first_gdt - 1
	.long first_gdt
trampoline_end:

	.section .text.find_block, "ax", @progbits
	.code32
find_block:
	movw $SELECTOR_DATA, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss

	/*
	 * The whole APIC id is in leaf 0BH, where there is one (Intel SDM
	 * volume 2A, CPUID); leaf 1 has its low 8 bits, by which a CPU with a
	 * larger one would take another one's stack.
	 */
	xorl %eax, %eax
	cpuid
	cmpl $0xb, %eax
	jb 1f
	movl $0xb, %eax
	xorl %ecx, %ecx
	cpuid
	testl %ebx, %ebx
	jz 1f
	movl %edx, %eax
	jmp 2f
1:
	movl $1, %eax
	cpuid
	shrl $24, %ebx
	movl %ebx, %eax
2:
	cmpl $APIC_IDS, %eax
	jae 3f
	movl percpu_by_apic_id(, %eax, WORD_SIZE), %edi
	testl %edi, %edi
	jnz ap_entry	/* entry.S, with EDI = struct percpu * */
3:
	/* Not on the list: switched off by the firmware, or one too many. */
	cli
	hlt
	jmp 3b

/*
 * Every CPU's first GDT, until it has one of its own (cpu.cpp). In the
 * trampoline's section, so that its size is known here, but not copied.
 */
	.section .rodata.trampoline, "a", @progbits
	.globl first_gdt_pointer
	.balign 8
first_gdt:
	.quad 0
	.quad 0x00cf9b000000ffff	/* SELECTOR_CODE32: flat */
	.quad 0x00cf93000000ffff	/* SELECTOR_DATA: flat */
	.quad 0x00af9b000000ffff	/* SELECTOR_CODE64; i686: not used */
first_gdt_end:
first_gdt_pointer:
	.word first_gdt_end - first_gdt - 1
	.long first_gdt

	.section .note.GNU-stack, "", @progbits
