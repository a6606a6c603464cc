/* SPDX-License-Identifier: MIT */
/*
 * entry - from the firmware to kmain(): RISC-V in supervisor mode
 *
 * One hart jumps to _start, interrupts and address translation off, A0 = its
 * number, A1 = the device tree (RISC-V SBI specification and its boot
 * protocol, as OpenSBI has it). The others come to hart_entry when call_cpus()
 * starts them: A0 the same, A1 = struct percpu *.
 */
#include <mode/registers.h>
#include <machine/layout.h>

	.section .text.entry, "ax", @progbits
	.globl _start
_start:
	csrw CSR_ENABLE, zero
	la sp, stacks
	li t0, GUARD_SIZE + THREAD_STACK_SIZE
	add sp, sp, t0
	li s0, 0	/* where the chain of calls ends */
	li ra, 0
	call kmain	/* does not return */

	.globl hart_entry
hart_entry:
	csrw CSR_ENABLE, zero
	mv a0, a1
	ld sp, PERCPU_STACK_TOP(a0)
	li s0, 0
	li ra, 0
	call ap_main	/* does not return */

	.section .note.GNU-stack, "", @progbits
