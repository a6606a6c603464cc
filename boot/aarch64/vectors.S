/* SPDX-License-Identifier: MIT */
/*
 * vectors - the way into and out of every exception: AArch64
 *
 * Source: Arm ARM (DDI 0487), D1.3.1 (the vector table), D1.3.2 (what an
 * exception does): all four masks are set, the stack stays SP_EL1.
 *
 * An FIQ, which is the NMI, changes to its own stack; it does not interrupt
 * itself. All others stay on the interrupted code's stack if their frame has
 * room there, else they take the one for faults. There is no user mode: SP_EL0,
 * TPIDR_EL0 and TPIDRRO_EL0 are free to keep three registers, and nothing comes
 * in between while all is masked.
 */
#include <machine/layout.h>

	.section .text.vectors, "ax", %progbits

	.macro entry kind
	.balign 128
	msr tpidr_el0, x0
	msr tpidrro_el0, x1
	msr sp_el0, x2
	mov x0, #\kind
	mrs x1, tpidr_el1
	ldr x1, [x1, #PERCPU_STACK_TOP]
	mov x2, sp
	.if (\kind & KIND_MASK) == KIND_FIQ
	add x1, x1, #NMI_STACK_SIZE
	mov sp, x1
	b save_registers
	.else
	b choose_stack
	.endif
	.endm

	.globl exception_vectors
	.balign 2048
exception_vectors:
	.irp kind, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	entry \kind
	.endr

/* X0: the kind. X1: the thread's stack's top. X2 = SP. */
choose_stack:
	sub x1, x1, x2
	add x1, x1, #FRAME_SIZE	/* in use with the frame, if it is that one */
	cmp x1, #THREAD_STACK_SIZE
	b.ls save_registers
	/* The two others lie above. */
	add x1, x1, #(NMI_STACK_SIZE + FAULT_STACK_SIZE)
	cmp x1, #(NMI_STACK_SIZE + FAULT_STACK_SIZE)
	b.ls save_registers
	mrs x1, tpidr_el1
	ldr x1, [x1, #PERCPU_STACK_TOP]
	add x1, x1, #(NMI_STACK_SIZE + FAULT_STACK_SIZE)
	mov sp, x1

/* X0: the kind. X2: the interrupted code's SP. */
save_registers:
	sub sp, sp, #FRAME_SIZE
	str x0, [sp, #FRAME_KIND]
	str x2, [sp, #FRAME_SP]
	mrs x0, tpidr_el0
	mrs x1, tpidrro_el0
	mrs x2, sp_el0
	stp x0, x1, [sp, #(FRAME_X + 0)]
	stp x2, x3, [sp, #(FRAME_X + 16)]
	stp x4, x5, [sp, #(FRAME_X + 32)]
	stp x6, x7, [sp, #(FRAME_X + 48)]
	stp x8, x9, [sp, #(FRAME_X + 64)]
	stp x10, x11, [sp, #(FRAME_X + 80)]
	stp x12, x13, [sp, #(FRAME_X + 96)]
	stp x14, x15, [sp, #(FRAME_X + 112)]
	stp x16, x17, [sp, #(FRAME_X + 128)]
	stp x18, x19, [sp, #(FRAME_X + 144)]
	stp x20, x21, [sp, #(FRAME_X + 160)]
	stp x22, x23, [sp, #(FRAME_X + 176)]
	stp x24, x25, [sp, #(FRAME_X + 192)]
	stp x26, x27, [sp, #(FRAME_X + 208)]
	stp x28, x29, [sp, #(FRAME_X + 224)]
	str x30, [sp, #(FRAME_X + 240)]
	mrs x0, elr_el1
	mrs x1, spsr_el1
	stp x0, x1, [sp, #FRAME_IP]
	mrs x2, esr_el1
	mrs x3, far_el1
	stp x2, x3, [sp, #FRAME_SYNDROME]

	/* NMIs come into handlers, too, unless the interrupted code masks them
	 * or this is one. */
	ldr x0, [sp, #FRAME_KIND]
	and x0, x0, #KIND_MASK
	cmp x0, #KIND_FIQ
	b.eq 1f
	tbnz x1, #6, 1f		/* SPSR_EL1.F */
	msr daifclr, #1
1:
	mov x0, sp
	bl exception_dispatch

	msr daifset, #0xf
	ldp x0, x1, [sp, #FRAME_IP]
	msr elr_el1, x0
	msr spsr_el1, x1
	ldr x0, [sp, #(FRAME_X + 0)]
	msr tpidr_el0, x0
	ldr x0, [sp, #FRAME_SP]
	ldp x1, x2, [sp, #(FRAME_X + 8)]
	ldp x3, x4, [sp, #(FRAME_X + 24)]
	ldp x5, x6, [sp, #(FRAME_X + 40)]
	ldp x7, x8, [sp, #(FRAME_X + 56)]
	ldp x9, x10, [sp, #(FRAME_X + 72)]
	ldp x11, x12, [sp, #(FRAME_X + 88)]
	ldp x13, x14, [sp, #(FRAME_X + 104)]
	ldp x15, x16, [sp, #(FRAME_X + 120)]
	ldp x17, x18, [sp, #(FRAME_X + 136)]
	ldp x19, x20, [sp, #(FRAME_X + 152)]
	ldp x21, x22, [sp, #(FRAME_X + 168)]
	ldp x23, x24, [sp, #(FRAME_X + 184)]
	ldp x25, x26, [sp, #(FRAME_X + 200)]
	ldp x27, x28, [sp, #(FRAME_X + 216)]
	ldp x29, x30, [sp, #(FRAME_X + 232)]
	mov sp, x0
	mrs x0, tpidr_el0
	eret

	.section .note.GNU-stack, "", %progbits
