/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's number, its interrupts, its part of its block: RISC-V
 */
#pragma once

#include <machine/layout.h>
#include <boot/riscv64/csr.hpp>
#include <boot/types.hpp>
#include <boot/board/vector_mail.hpp>

namespace boot {

/*
 * -- The running CPU's number --
 *
 * TP points to the CPU's block for good: there is no user mode, no compiler
 * touches TP where there is no thread-local storage, and the trap entry sets it
 * again, whatever the interrupted code had there.
 */

inline unsigned this_cpu()
{
	unsigned number;

	asm("lwu %0, %1(tp)" : "=r"(number) : "i"(PERCPU_NUMBER));
	return number;
}

/*
 * -- Whether this CPU takes interrupts --
 *
 * Source: RISC-V ISA manual, volume II, Machine Status Registers, Wait for
 * Interrupt.
 */

/* Any context; a handler leaves it alone. */
inline void enable_interrupts() { set_csr_bits<CSR_STATUS>(STATUS_INTERRUPTS); }

inline void disable_interrupts()
{
	clear_csr_bits<CSR_STATUS>(STATUS_INTERRUPTS);
}

/*
 * Waits, with interrupts off, until one is pending (mode.hpp). May end early,
 * as WFI may.
 */
void sleep_until_pending();

/*
 * Sleeps until an interrupt has been handled. To be called with interrupts off,
 * after a look at what is waited for; returns with interrupts on. Whatever
 * comes after the look wakes: WFI ends for what is pending, although interrupts
 * are off.
 */
inline void wait_for_interrupt()
{
	while (!(read_csr<CSR_PENDING>() & (software_bit | timer_bit)))
		sleep_until_pending();
	enable_interrupts();
}

/* Stops this hart for good. */
[[noreturn]] inline void halt()
{
	disable_interrupts();
	write_csr<CSR_ENABLE>(0);
	for (;;)
		asm volatile("wfi");
}

/*
 * -- The registers that trap_entry (traps.S) saves --
 *
 * A handler may change any register: the interrupted code goes on with the new
 * value.
 */

struct interrupt_frame {
	usize ra;
	usize sp;
	usize gp;
	usize tp;
	usize t0, t1, t2;
	usize s0, s1;
	usize a0, a1, a2, a3, a4, a5, a6, a7;
	usize s2, s3, s4, s5, s6, s7, s8, s9, s10, s11;
	usize t3, t4, t5, t6;
	usize ip;
	usize status; /* mstatus or sstatus */
	usize cause;  /* its highest bit: an interrupt */
	usize value;  /* of an exception: an address, an instruction */
	usize unused; /* keeps the stack aligned; traps.S writes to it */

	usize stack_pointer() const { return sp; }
	usize frame_pointer() const { return s0; }
};

static_assert(offsetof(interrupt_frame, ra) == FRAME_X(1));
static_assert(offsetof(interrupt_frame, t0) == FRAME_X(5));
static_assert(offsetof(interrupt_frame, s0) == FRAME_X(8));
static_assert(offsetof(interrupt_frame, a0) == FRAME_X(10));
static_assert(offsetof(interrupt_frame, s2) == FRAME_X(18));
static_assert(offsetof(interrupt_frame, t3) == FRAME_X(28));
static_assert(offsetof(interrupt_frame, t6) == FRAME_X(31));
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(offsetof(interrupt_frame, status) == FRAME_STATUS);
static_assert(offsetof(interrupt_frame, cause) == FRAME_CAUSE);
static_assert(offsetof(interrupt_frame, value) == FRAME_VALUE);
static_assert(offsetof(interrupt_frame, unused) == FRAME_UNUSED);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE);
static_assert(FRAME_SIZE % 16 == 0);

/*
 * -- The numbers of handlers --
 *
 * 0x00 to 0x1e	exceptions, by their code in mcause or scause
 * 0x1f		an NMI, of which there is none
 * 0x20 to 0x2f	boot's own
 * 0x30 to 0x4f	free for IPIs and timers
 *
 * A hart has one software interrupt: which vectors it is for, is written in
 * memory (boot/board/vector_mail.hpp).
 */

inline constexpr u8 vector_illegal_instruction = 2;
inline constexpr u8 vector_breakpoint = 3;
inline constexpr u8 vector_nmi = 0x1f;
inline constexpr u8 first_free_vector = 0x30;
inline constexpr u8 last_free_vector = 0x4f;

inline bool is_own_vector(u8 vector)
{
	return (vector > vector_nmi && vector < first_free_vector) ||
	       vector > last_free_vector;
}

/* -- RISC-V's part of each CPU's block ----- */

inline constexpr const char *hardware_id_name = "hart";

struct percpu;

/* The first seven are traps.S's; the scratch register points here. */
struct percpu_part {
	usize t0 = 0; /* of the interrupted code, for some instructions */
	usize t1 = 0;
	usize sp = 0;
	percpu *block = nullptr;   /* what TP is to be */
	usize stack_low = 0;	   /* a frame fits below it */
	usize stack_span = 0;	   /* and from it up to the last stack's end */
	usize fault_stack_top = 0; /* where the rest goes */
	u64 timer_next = 0;	   /* when the timer's interrupt comes */
	u64 timer_period = 0;	   /* in ticks; 0: it comes once */
	u8 timer_vector = 0;
	vector_mail mail;	   /* what the software interrupt is for */
	klock::atomic<u32> raised; /* 1: it is on its way (supervisor mode) */
};

static_assert(offsetof(percpu_part, t0) == PART_T0);
static_assert(offsetof(percpu_part, t1) == PART_T1);
static_assert(offsetof(percpu_part, sp) == PART_SP);
static_assert(offsetof(percpu_part, block) == PART_BLOCK);
static_assert(offsetof(percpu_part, stack_low) == PART_STACK_LOW);
static_assert(offsetof(percpu_part, stack_span) == PART_STACK_SPAN);
static_assert(offsetof(percpu_part, fault_stack_top) == PART_FAULT_STACK_TOP);

} // namespace boot
