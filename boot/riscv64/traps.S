/* SPDX-License-Identifier: MIT */
/*
 * traps - the way into and out of every trap: RISC-V, 64 bits
 *
 * The hart comes here with interrupts off; the scratch register points to its
 * percpu_part, always. trap_entry makes a struct interrupt_frame, calls
 * trap_dispatch(interrupt_frame *) and goes back to what it interrupted.
 *
 * The frame goes to the interrupted code's stack, where that has room. Where
 * not (an overflow, a wild SP), it goes to the hart's stack for faults.
 */
#include <mode/registers.h>
#include <machine/layout.h>

/* All general registers but SP, which is the last to come back. */
	.macro all_but_sp instruction
	\instruction ra, FRAME_X(1)(sp)
	\instruction gp, FRAME_X(3)(sp)
	\instruction tp, FRAME_X(4)(sp)
	\instruction t0, FRAME_X(5)(sp)
	\instruction t1, FRAME_X(6)(sp)
	\instruction t2, FRAME_X(7)(sp)
	\instruction s0, FRAME_X(8)(sp)
	\instruction s1, FRAME_X(9)(sp)
	\instruction a0, FRAME_X(10)(sp)
	\instruction a1, FRAME_X(11)(sp)
	\instruction a2, FRAME_X(12)(sp)
	\instruction a3, FRAME_X(13)(sp)
	\instruction a4, FRAME_X(14)(sp)
	\instruction a5, FRAME_X(15)(sp)
	\instruction a6, FRAME_X(16)(sp)
	\instruction a7, FRAME_X(17)(sp)
	\instruction s2, FRAME_X(18)(sp)
	\instruction s3, FRAME_X(19)(sp)
	\instruction s4, FRAME_X(20)(sp)
	\instruction s5, FRAME_X(21)(sp)
	\instruction s6, FRAME_X(22)(sp)
	\instruction s7, FRAME_X(23)(sp)
	\instruction s8, FRAME_X(24)(sp)
	\instruction s9, FRAME_X(25)(sp)
	\instruction s10, FRAME_X(26)(sp)
	\instruction s11, FRAME_X(27)(sp)
	\instruction t3, FRAME_X(28)(sp)
	\instruction t4, FRAME_X(29)(sp)
	\instruction t5, FRAME_X(30)(sp)
	\instruction t6, FRAME_X(31)(sp)
	.endm

	.section .text.traps, "ax", @progbits
	.globl trap_entry
	.balign 4	/* the vector register's low bits are its mode */
trap_entry:
	csrrw t0, CSR_SCRATCH, t0	/* now T0 points to percpu_part */
	sd t1, PART_T1(t0)
	csrrw t1, CSR_SCRATCH, t0	/* the interrupted code's T0 */
	sd t1, PART_T0(t0)
	sd sp, PART_SP(t0)

	ld t1, PART_STACK_LOW(t0)
	sub sp, sp, t1
	ld t1, PART_STACK_SPAN(t0)
	bltu sp, t1, 1f
	ld sp, PART_FAULT_STACK_TOP(t0)
	j 2f
1:
	ld sp, PART_SP(t0)
	andi sp, sp, -16	/* wherever in a function this is */
2:
	addi sp, sp, -FRAME_SIZE
	ld t1, PART_T1(t0)
	all_but_sp sd
	ld t1, PART_T0(t0)
	sd t1, FRAME_X(5)(sp)
	ld t1, PART_SP(t0)
	sd t1, FRAME_X(2)(sp)
	ld tp, PART_BLOCK(t0)

	csrr t1, CSR_EPC
	sd t1, FRAME_IP(sp)
	csrr t1, CSR_STATUS
	sd t1, FRAME_STATUS(sp)
	csrr t1, CSR_CAUSE
	sd t1, FRAME_CAUSE(sp)
	csrr t1, CSR_TVAL
	sd t1, FRAME_VALUE(sp)

	mv a0, sp
	call trap_dispatch

	ld t0, FRAME_IP(sp)
	csrw CSR_EPC, t0
	ld t0, FRAME_STATUS(sp)
	csrw CSR_STATUS, t0
	/*
	 * Whatever was reserved is no more: the handler may have reserved the
	 * same word, with another value in it. FRAME_UNUSED is written, or not.
	 */
	addi t1, sp, FRAME_UNUSED
	sc.d zero, t0, (t1)
	all_but_sp ld
	ld sp, FRAME_X(2)(sp)
	TRAP_RETURN

	.section .note.GNU-stack, "", @progbits
