/* SPDX-License-Identifier: MIT */
/*
 * system - the system registers that boot needs, and what the parts of boot's
 * AArch64 know of each other (private to boot/aarch64)
 *
 * Source: Arm ARM (DDI 0487), D19; GIC Architecture Specification, version 3
 * and 4 (IHI 0069), 12.2. Those of the GIC by number: not every assembler has
 * their names.
 */
#pragma once

#include <boot/types.hpp>
#include <boot/board/device_tree.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* read_<name>() and write_<name>(u64) */
#define BOOT_REGISTER(name, in_assembly)                                       \
	inline u64 read_##name()                                               \
	{                                                                      \
		u64 value;                                                     \
                                                                               \
		asm volatile("mrs %0, " in_assembly : "=r"(value)::"memory");  \
		return value;                                                  \
	}                                                                      \
	inline void write_##name(u64 value)                                    \
	{                                                                      \
		asm volatile("msr " in_assembly ", %0" ::"r"(value)            \
			     : "memory");                                      \
	}

BOOT_REGISTER(mpidr, "mpidr_el1")
BOOT_REGISTER(tpidr, "tpidr_el1")
BOOT_REGISTER(vbar, "vbar_el1")
BOOT_REGISTER(sctlr, "sctlr_el1")
BOOT_REGISTER(ttbr0, "ttbr0_el1")

/* The generic timer: its rate; the virtual and the physical one */
BOOT_REGISTER(cntfrq, "cntfrq_el0")
BOOT_REGISTER(cntpct, "cntpct_el0")
BOOT_REGISTER(cntv_ctl, "cntv_ctl_el0")
BOOT_REGISTER(cntv_cval, "cntv_cval_el0")
BOOT_REGISTER(cntp_ctl, "cntp_ctl_el0")
BOOT_REGISTER(cntp_cval, "cntp_cval_el0")

/* The GIC's CPU interface; group 0 is FIQ, group 1 is IRQ */
BOOT_REGISTER(icc_pmr, "S3_0_C4_C6_0")
BOOT_REGISTER(icc_iar0, "S3_0_C12_C8_0")
BOOT_REGISTER(icc_eoir0, "S3_0_C12_C8_1")
BOOT_REGISTER(icc_sgi1r, "S3_0_C12_C11_5")
BOOT_REGISTER(icc_sgi0r, "S3_0_C12_C11_7")
BOOT_REGISTER(icc_iar1, "S3_0_C12_C12_0")
BOOT_REGISTER(icc_eoir1, "S3_0_C12_C12_1")
BOOT_REGISTER(icc_sre, "S3_0_C12_C12_5")
BOOT_REGISTER(icc_igrpen0, "S3_0_C12_C12_6")
BOOT_REGISTER(icc_igrpen1, "S3_0_C12_C12_7")

#undef BOOT_REGISTER

/* Makes register writes take effect before the instructions that follow. */
inline void instruction_barrier() { asm volatile("isb" ::: "memory"); }

/* Orders all memory accesses before it before all that follow, for all. */
inline void memory_barrier() { asm volatile("dsb sy" ::: "memory"); }

/* The part of MPIDR_EL1 that tells CPUs apart. */
inline constexpr u64 mpidr_affinity = 0xff'00ff'ffff;

/* A device's register, or memory, at its address: boot maps one to one. */
template <typename T>
inline T *physical(usize address)
{
	asm("" : "+r"(address));
	return reinterpret_cast<T *>(address);
}

inline u32 device_read(usize address)
{
	return *physical<volatile u32>(address);
}

inline void device_write(usize address, u32 value)
{
	*physical<volatile u32>(address) = value;
}

/* -- The device tree -- */

/* Empty until read_boot_info() has found it. */
const device_tree &machine_tree();

/* -- The interrupt controller as boot uses it -- */

/* Called for each IRQ, and for each FIQ. */
void take_interrupt(interrupt_frame &frame);
void take_nmi(interrupt_frame &frame);

/* The running CPU's private interrupts (16 to 31), by number. */
void enable_private_interrupt(u32 number, bool as_nmi);

/* -- The generic timer as boot uses it -- */

/* Reads the timers' interrupts from the device tree. Called once. */
void timer_init();

/* The numbers of the two that boot uses. */
u32 timer_interrupt();
u32 nmi_clock_interrupt();

/*
 * The running CPU's timer has fired: it is set anew, or stops. Returns its
 * vector; 0: it was not to fire any more.
 */
u8 timer_fired();

/* timer_fired() for the NMI clock. */
void nmi_clock_fired();

/* -- Exceptions and interrupts without a handler, and an expected one -- */

/* An exception: stops all CPUs, prints what happened where, leaves. */
[[noreturn]] void report_exception(const interrupt_frame &frame);

/*
 * An unexpected interrupt: as report_exception(); `name`: what it is. Any
 * context.
 */
[[noreturn]] void report_interrupt(const interrupt_frame &frame,
				   const char *name, u32 number);

/* Whether the HLT of machine_exit() is there. */
bool is_semihosting_call(usize ip);

} // namespace boot
