/* SPDX-License-Identifier: MIT */
/*
 * entry - from the loader to kmain(), and from PSCI to ap_main(): AArch64
 *
 * Source: Arm ARM (DDI 0487), D8 (VMSAv8-64), SCTLR_EL1, HCR_EL2; Power State
 * Coordination Interface (DEN 0022), CPU_ON.
 *
 * The loader jumps to _start with the MMU and all interrupts off, at EL1 or
 * EL2, and with X0 = the device tree, or 0 (QEMU, for an ELF file). PSCI jumps
 * to ap_entry likewise, with X0 = struct percpu *.
 *
 * No atomic operation before the MMU is on: until then all memory is device
 * memory, on which exclusive accesses need not work, and do not on real cores.
 */
#include <machine/layout.h>

	.section .text.entry, "ax", %progbits

/*
 * Leaves EL2 for the label: EL1 then has its timers, the GIC's registers, and
 * traps nowhere. Goes on at once where it is EL1. Clobbers X9, X10.
 */
	.macro leave_el2 target
	mrs x9, CurrentEL
	cmp x9, #(2 << 2)
	b.lo \target
	b.hi from_el3
	mov x9, #(1 << 31)	/* HCR_EL2.RW: EL1 is AArch64 */
	msr hcr_el2, x9
	mov x9, #3		/* physical counter and timer: no traps */
	msr cnthctl_el2, x9
	msr cntvoff_el2, xzr
	mrs x9, midr_el1
	msr vpidr_el2, x9
	mrs x9, mpidr_el1
	msr vmpidr_el2, x9
	mov x9, #0x33ff		/* CPTR_EL2: no traps, its reserved ones */
	msr cptr_el2, x9
	msr hstr_el2, xzr
	mrs x9, id_aa64pfr0_el1
	ubfx x9, x9, #24, #4	/* a GIC with system registers? */
	cbz x9, 1f
	mov x9, #0xf		/* ICC_SRE_EL2: they are used, by EL1 too */
	msr S3_4_C12_C9_5, x9
	isb
1:
	ldr x9, =SCTLR_OFF
	msr sctlr_el1, x9
	mov x9, #0x3c5		/* EL1 on its own stack, all masked */
	msr spsr_el2, x9
	adr x9, \target
	msr elr_el2, x9
	eret
	.endm

/* Clobbers X9. The table in X10. */
	.macro enable_mmu
	msr ttbr0_el1, x10
	mov x9, #MAIR_VALUE
	msr mair_el1, x9
	ldr x9, =TCR_VALUE
	msr tcr_el1, x9
	isb
	tlbi vmalle1
	ic iallu
	dsb nsh
	isb
	ldr x9, =SCTLR_ON
	msr sctlr_el1, x9
	isb
	.endm

	.globl _start
_start:
	msr daifset, #0xf
	mov x20, x0
	leave_el2 start

start:
	/*
	 * The first map: 512 GiB one to one, device memory, but for the GiB
	 * that holds this image. paging.cpp makes a finer one later.
	 */
	adrp x10, first_map
	adrp x9, image_start
	lsr x9, x9, #30
	ldr x1, =(MAP_BLOCK | MAP_DEVICE | MAP_NO_EXECUTE)
	ldr x2, =(MAP_BLOCK | MAP_NORMAL)
	mov x3, #0
1:
	lsl x4, x3, #30
	orr x5, x4, x1
	orr x6, x4, x2
	cmp x3, x9
	csel x5, x6, x5, eq
	str x5, [x10, x3, lsl #3]
	add x3, x3, #1
	cmp x3, #512
	b.lo 1b
	dsb sy
	enable_mmu

	adrp x9, stacks
	add x9, x9, :lo12:stacks
	mov x10, #(GUARD_SIZE + THREAD_STACK_SIZE)
	add sp, x9, x10
	mov x29, #0
	mov x30, #0
	/* kmain(0, tree) */
	mov x0, #0
	mov x1, #QEMU_TREE_ADDRESS
	cmp x20, #0
	csel x1, x1, x20, eq
	b kmain		/* does not return */

	.globl ap_entry
ap_entry:
	msr daifset, #0xf
	leave_el2 ap_start

/* The block is looked at through the caches only: they have what it holds. */
ap_start:
	adrp x10, map
	enable_mmu
	ldr x9, [x0, #PERCPU_STACK_TOP]
	mov sp, x9
	mov x29, #0
	mov x30, #0
	b ap_main	/* does not return */

/*
 * void change_map(const void *table): for the first CPU, while it is alone. Two
 * translations of one address must not meet, not even in the TLB: between the
 * two there is none. No access to memory while the caches are off.
 */
	.globl change_map
change_map:
	ldr x3, =SCTLR_OFF
	ldr x4, =SCTLR_ON
	dsb sy
	msr sctlr_el1, x3
	isb
	tlbi vmalle1
	msr ttbr0_el1, x0
	dsb nsh
	isb
	msr sctlr_el1, x4
	isb
	ret

/* To nobody but a debugger or an emulator: boot has no other output yet. */
from_el3:
	mov w0, #SEMIHOSTING_WRITE0
	adr x1, from_el3_text
	hlt #SEMIHOSTING_HLT
	mov w0, #SEMIHOSTING_EXIT
	adr x1, from_el3_end
	hlt #SEMIHOSTING_HLT
1:
	wfe
	b 1b

	.balign 8
from_el3_end:
	.quad SEMIHOSTING_APPLICATION_EXIT, EXIT_STATUS_PANIC
from_el3_text:
	.asciz "PANIC: started at EL3: the kernel wants EL1 or EL2\n"
	.balign 4

	.section .bss.entry, "aw", %nobits
	.globl map
	.balign 4096
first_map:
	.skip 4096
map:
	.skip 4096

	.section .note.GNU-stack, "", %progbits
