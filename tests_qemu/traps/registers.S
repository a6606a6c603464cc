/* SPDX-License-Identifier: MIT */
/*
 * registers - code that holds a value in each register, and what destroys them
 *
 * void hold_registers(usize *values): loads the registers in the order of
 * struct interrupt_frame, then the flags; sleeps until an interrupt has come,
 * between held_begin and held_end; stores what they are then. Called with
 * interrupts off, returns so.
 *
 * usize clobber_registers(): writes to all that the ABI lets a function write
 * to. Returns 0, or on x86 the direction flag, which the ABI wants clear.
 */
	.text
	.globl hold_registers, held_begin, held_end, clobber_registers

#if defined(__x86_64__)
	.macro all_registers do
	\do 0, %rax
	\do 8, %rbx
	\do 16, %rcx
	\do 24, %rdx
	\do 32, %rsi
	\do 48, %rbp
	\do 56, %r8
	\do 64, %r9
	\do 72, %r10
	\do 80, %r11
	\do 88, %r12
	\do 96, %r13
	\do 104, %r14
	\do 112, %r15
	\do 40, %rdi	/* the last, as it is what they are loaded by */
	.endm
	.macro load_one at, register
	movq \at(%rdi), \register
	.endm
	.macro store_one at, register
	movq \register, \at(%rsp)
	.endm

hold_registers:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	pushq %rdi
	subq $128, %rsp
	pushq 120(%rdi)
	popfq
	all_registers load_one
held_begin:
	sti
	hlt
	nop
held_end:
	all_registers store_one
	pushfq
	popq 120(%rsp)
	cli
	cld
	movq 128(%rsp), %rdi
	movq %rsp, %rsi
	movl $16, %ecx
	rep movsq
	addq $136, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret

clobber_registers:
	pushfq
	popq %rax
	movq $-1, %rcx
	movq %rcx, %rdx
	movq %rcx, %rsi
	movq %rcx, %rdi
	movq %rcx, %r8
	movq %rcx, %r9
	movq %rcx, %r10
	movq %rcx, %r11
	andl $0x400, %eax
	cmpq $1, %rcx
	ret

#elif defined(__i386__)
	.macro all_registers do
	\do 0, %eax
	\do 4, %ebx
	\do 8, %ecx
	\do 12, %edx
	\do 16, %esi
	\do 24, %ebp
	\do 20, %edi	/* the last, as it is what they are loaded by */
	.endm
	.macro load_one at, register
	movl \at(%edi), \register
	.endm
	.macro store_one at, register
	movl \register, \at(%esp)
	.endm

hold_registers:
	pushl %ebx
	pushl %ebp
	pushl %esi
	pushl %edi
	movl 20(%esp), %edi
	pushl %edi
	subl $32, %esp
	pushl 28(%edi)
	popfl
	all_registers load_one
held_begin:
	sti
	hlt
	nop
held_end:
	all_registers store_one
	pushfl
	popl 28(%esp)
	cli
	cld
	movl 32(%esp), %edi
	movl %esp, %esi
	movl $8, %ecx
	rep movsl
	addl $36, %esp
	popl %edi
	popl %esi
	popl %ebp
	popl %ebx
	ret

clobber_registers:
	pushfl
	popl %eax
	movl $-1, %ecx
	movl %ecx, %edx
	andl $0x400, %eax
	cmpl $1, %ecx
	ret

#elif defined(__aarch64__)
/* Pairs from X1 on; X0 alone. */
	.macro all_pairs instruction, base
	\instruction x1, x2, [\base, #8]
	\instruction x3, x4, [\base, #24]
	\instruction x5, x6, [\base, #40]
	\instruction x7, x8, [\base, #56]
	\instruction x9, x10, [\base, #72]
	\instruction x11, x12, [\base, #88]
	\instruction x13, x14, [\base, #104]
	\instruction x15, x16, [\base, #120]
	\instruction x17, x18, [\base, #136]
	\instruction x19, x20, [\base, #152]
	\instruction x21, x22, [\base, #168]
	\instruction x23, x24, [\base, #184]
	\instruction x25, x26, [\base, #200]
	\instruction x27, x28, [\base, #216]
	\instruction x29, x30, [\base, #232]
	.endm
	.macro saved_pairs instruction
	\instruction x19, x20, [sp, #256]
	\instruction x21, x22, [sp, #272]
	\instruction x23, x24, [sp, #288]
	\instruction x25, x26, [sp, #304]
	\instruction x27, x28, [sp, #320]
	\instruction x29, x30, [sp, #336]
	.endm

hold_registers:
	sub sp, sp, #368
	saved_pairs stp
	str x0, [sp, #352]
	ldr x1, [x0, #248]
	msr nzcv, x1
	all_pairs ldp, x0
	ldr x0, [x0]
held_begin:
	wfi
	msr daifclr, #2
	isb
	nop
held_end:
	msr daifset, #2
	str x0, [sp]
	all_pairs stp, sp
	mrs x0, nzcv
	str x0, [sp, #248]
	ldr x0, [sp, #352]
	mov x1, #0
1:
	ldr x2, [sp, x1]
	str x2, [x0, x1]
	add x1, x1, #8
	cmp x1, #256
	b.ne 1b
	saved_pairs ldp
	add sp, sp, #368
	ret

clobber_registers:
	mov x1, #-1
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	mov x\n, x1
	.endr
	cmp x1, #1
	mov x0, #0
	ret

#elif defined(__riscv)
#include <mode/registers.h>
/* All but SP, which the others lie at, and A0. */
	.macro most_registers instruction, base
	\instruction ra, 0(\base)
	\instruction gp, 16(\base)
	\instruction tp, 24(\base)
	\instruction t0, 32(\base)
	\instruction t1, 40(\base)
	\instruction t2, 48(\base)
	\instruction s0, 56(\base)
	\instruction s1, 64(\base)
	\instruction a1, 80(\base)
	\instruction a2, 88(\base)
	\instruction a3, 96(\base)
	\instruction a4, 104(\base)
	\instruction a5, 112(\base)
	\instruction a6, 120(\base)
	\instruction a7, 128(\base)
	\instruction s2, 136(\base)
	\instruction s3, 144(\base)
	\instruction s4, 152(\base)
	\instruction s5, 160(\base)
	\instruction s6, 168(\base)
	\instruction s7, 176(\base)
	\instruction s8, 184(\base)
	\instruction s9, 192(\base)
	\instruction s10, 200(\base)
	\instruction s11, 208(\base)
	\instruction t3, 216(\base)
	\instruction t4, 224(\base)
	\instruction t5, 232(\base)
	\instruction t6, 240(\base)
	.endm
	.macro saved_registers instruction
	\instruction ra, 256(sp)
	\instruction gp, 264(sp)
	\instruction tp, 272(sp)
	\instruction s0, 280(sp)
	\instruction s1, 288(sp)
	\instruction s2, 296(sp)
	\instruction s3, 304(sp)
	\instruction s4, 312(sp)
	\instruction s5, 320(sp)
	\instruction s6, 328(sp)
	\instruction s7, 336(sp)
	\instruction s8, 344(sp)
	\instruction s9, 352(sp)
	\instruction s10, 360(sp)
	\instruction s11, 368(sp)
	.endm

hold_registers:
	addi sp, sp, -384
	saved_registers sd
	sd a0, 376(sp)
	ld t0, 8(a0)	/* not loaded: SP, and no flags */
	sd t0, 8(sp)
	ld t0, 248(a0)
	sd t0, 248(sp)
	most_registers ld, a0
	ld a0, 72(a0)
held_begin:
	wfi
	csrsi CSR_STATUS, STATUS_INTERRUPTS
	nop
held_end:
	csrci CSR_STATUS, STATUS_INTERRUPTS
	sd a0, 72(sp)
	most_registers sd, sp
	ld a0, 376(sp)
	mv a1, sp
	addi a2, sp, 256
1:
	ld a3, 0(a1)
	sd a3, 0(a0)
	addi a0, a0, 8
	addi a1, a1, 8
	bne a1, a2, 1b
	saved_registers ld
	addi sp, sp, 384
	ret

clobber_registers:
	li t0, -1
	.irp name, t1, t2, t3, t4, t5, t6, a1, a2, a3, a4, a5, a6, a7
	mv \name, t0
	.endr
	li a0, 0
	ret
#endif

	.section .note.GNU-stack, "", %progbits
