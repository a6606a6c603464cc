/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's number, its interrupts, its part of its block: AArch64
 */
#pragma once

#include <machine/layout.h>
#include <boot/types.hpp>
#include <boot/board/vector_mail.hpp>

namespace boot {

/*
 * -- The running CPU's number --
 *
 * TPIDR_EL1 points to the running CPU's block for good: nobody else uses it, so
 * that this is right in every context, NMI too.
 */

inline unsigned this_cpu()
{
	unsigned number;
	unsigned long block;

	asm("mrs %1, tpidr_el1\n\t"
	    "ldr %w0, [%1, %2]"
	    : "=r"(number), "=&r"(block)
	    : "i"(PERCPU_NUMBER));
	return number;
}

/*
 * -- Whether this CPU takes interrupts, and its sleep --
 *
 * Source: Arm ARM (DDI 0487), DAIF. Interrupts are IRQs; an NMI is an FIQ, and
 * that is masked while another is handled only.
 */

inline void enable_interrupts()
{
	asm volatile("msr daifclr, #2" ::: "memory");
}

inline void disable_interrupts()
{
	asm volatile("msr daifset, #2" ::: "memory");
}

/* WFI ends for what is masked, too (Arm ARM, D1.7); ISB: it is taken now. */
inline void wait_for_interrupt()
{
	asm volatile("dsb sy\n\twfi\n\tmsr daifclr, #2\n\tisb" ::: "memory");
}

/* A masked IRQ that is pending ends each WFI at once: YIELD, for QEMU. */
[[noreturn]] inline void halt()
{
	for (;;)
		asm volatile("msr daifset, #2\n\twfi\n\tyield" ::: "memory");
}

/*
 * -- The interrupted code's registers --
 *
 * A handler may change x and ip: the interrupted code goes on with the new
 * values.
 */

struct interrupt_frame {
	u64 x[31];
	u64 sp;
	u64 ip;		   /* ELR_EL1 */
	u64 status;	   /* SPSR_EL1 */
	u64 syndrome;	   /* ESR_EL1 */
	u64 fault_address; /* FAR_EL1 */
	u64 kind;	   /* which entry of the vector table */
	u64 unused;	   /* the stack stays aligned */

	usize stack_pointer() const { return sp; }
	usize frame_pointer() const { return x[29]; }
};

static_assert(offsetof(interrupt_frame, x) == FRAME_X);
static_assert(offsetof(interrupt_frame, sp) == FRAME_SP);
static_assert(offsetof(interrupt_frame, ip) == FRAME_IP);
static_assert(offsetof(interrupt_frame, status) == FRAME_STATUS);
static_assert(offsetof(interrupt_frame, syndrome) == FRAME_SYNDROME);
static_assert(offsetof(interrupt_frame, fault_address) == FRAME_FAULT_ADDRESS);
static_assert(offsetof(interrupt_frame, kind) == FRAME_KIND);
static_assert(sizeof(interrupt_frame) == FRAME_SIZE && FRAME_SIZE % 16 == 0);

/*
 * -- The use of each interrupt vector --
 *
 * The machine has no vectors: those from 0x30 to 0x4f are boot's mail
 * (boot/board/vector_mail.hpp). Exceptions have none: they are reported and
 * fatal.
 */

inline constexpr u8 vector_nmi = 2; /* FIQ */

inline constexpr u8 first_free_vector = first_mail_vector;
inline constexpr u8 last_free_vector = last_mail_vector;

/* Whether nobody but boot may handle it. */
constexpr bool is_own_vector(u8 vector)
{
	return vector != vector_nmi &&
	       (vector < first_free_vector || vector > last_free_vector);
}

/* -- AArch64's part of each CPU's block ------ */

struct percpu_part {
	vector_mail mail;	 /* what its interrupt from other CPUs means */
	u8 timer_vector = 0;	 /* of its timer; 0: it does not run */
	u64 timer_period = 0;	 /* 0: once */
	usize redistributor = 0; /* its part of the GIC */
};

inline constexpr const char *hardware_id_name = "MPIDR";

} // namespace boot
