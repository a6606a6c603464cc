/* SPDX-License-Identifier: MIT */
/*
 * entry - from reset to kmain(): RISC-V in machine mode
 *
 * Every hart jumps to _start, all at once, interrupts and address translation
 * off, A0 = its number, A1 = the device tree (QEMU's reset vector, as other
 * firmware). The first one goes on; the others sleep here until call_cpus()
 * has a block for them.
 */
#include <mode/registers.h>
#include <machine/layout.h>

	.section .text.entry, "ax", @progbits
	.globl _start
_start:
	csrw CSR_ENABLE, zero
	la t0, first_is_taken
	li t1, 1
	amoswap.w.aqrl t1, t1, (t0)
	bnez t1, wait_for_call

	la sp, stacks
	li t0, GUARD_SIZE + THREAD_STACK_SIZE
	add sp, sp, t0
	li s0, 0	/* where the chain of calls ends */
	li ra, 0
	call kmain	/* does not return */

/* The software interrupt ends WFI, and is not taken: mstatus.MIE is 0. */
wait_for_call:
	li t0, 1 << INTERRUPT_SOFTWARE
	csrw CSR_ENABLE, t0
1:
	wfi
	la t0, harts_called
	lwu t1, 0(t0)
	fence r, r
	la t0, called_harts
2:
	beqz t1, 1b
	ld t2, CALLED_HART(t0)
	beq t2, a0, 3f
	addi t0, t0, CALLED_SIZE
	addi t1, t1, -1
	j 2b
3:
	csrw CSR_ENABLE, zero
	ld a0, CALLED_BLOCK(t0)
	ld sp, PERCPU_STACK_TOP(a0)
	li s0, 0
	li ra, 0
	call ap_main	/* does not return */

	.section .data.entry, "aw", @progbits
	.balign 4
first_is_taken:
	.word 0

	.section .note.GNU-stack, "", @progbits
