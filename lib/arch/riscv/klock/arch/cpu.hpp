/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: RISC-V
 *
 * Source: the unprivileged specification, Zicntr: `time` counts at a fixed
 * rate, one for all CPUs of a machine, 1 to 100 MHz on most. In S-mode it is
 * there if mcounteren.TM is set: firmware sets it; a kernel that comes from
 * M-mode by itself must (for U-mode: scounteren.TM). A CPU may lack it in
 * M-mode: a kernel that runs there, on such a CPU, puts a cpu.hpp in front that
 * reads the timer's mtime.
 */
#pragma once

#include <klock/arch/irq_register.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others. */
inline constexpr usize cache_line = 64;

inline u64 cycles()
{
	u64 now;

	asm volatile("rdtime %0" : "=r"(now));
	return now;
}

/* Reading the counter is an input to FENCE: memory on both sides of it. */
inline u64 cycles_begin()
{
	u64 now;

	asm volatile("fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw"
		     : "=r"(now)::"memory");
	return now;
}

inline u64 cycles_end() { return cycles_begin(); }

/*
 * Reads the clock, and sees whether that traps: nothing else tells S-mode. The
 * trap comes back here, whether the kernel has a handler yet or not, and leaves
 * no trace; interrupts are off meanwhile. Not for a debugger's single steps.
 *
 * Source: the privileged specification, stvec, sepc, scause, stval, and
 * M-mode's, each as far from its status register.
 */
[[nodiscard, gnu::noinline]] inline bool cycles_usable()
{
	usize status, vector, epc, cause, value, scratch;
	usize usable = 0;

	asm volatile(
		"csrrci %[status], %[status_csr], %[irqs]\n\t"
		"csrr %[epc], %[status_csr] + 0x41\n\t"
		"csrr %[cause], %[status_csr] + 0x42\n\t"
		"csrr %[value], %[status_csr] + 0x43\n\t"
		"lla %[scratch], 1f\n\t"
		"csrrw %[vector], %[status_csr] + 5, %[scratch]\n\t"
		"rdtime %[scratch]\n\t"
		"li %[usable], 1\n\t"
		".balign 4\n"
		"1:\n\t"
		"csrw %[status_csr] + 5, %[vector]\n\t"
		"csrw %[status_csr] + 0x43, %[value]\n\t"
		"csrw %[status_csr] + 0x42, %[cause]\n\t"
		"csrw %[status_csr] + 0x41, %[epc]\n\t"
		"csrw %[status_csr], %[status]"
		: [status] "=&r"(status), [vector] "=&r"(vector),
		  [epc] "=&r"(epc), [cause] "=&r"(cause), [value] "=&r"(value),
		  [scratch] "=&r"(scratch), [usable] "+&r"(usable)
		: [status_csr] "i"(status_csr), [irqs] "i"(irq_flag)
		: "memory");
	return usable;
}

/* The result of cycles_usable(): 0 none yet, 1 no, 2 yes. */
inline constinit u8 clock_is_usable = 0;

/* Many CPUs may ask first: all get the same answer. */
inline u64 cycles_if_usable()
{
	u8 known = __atomic_load_n(&clock_is_usable, __ATOMIC_RELAXED);

	if (known == 0) {
		known = cycles_usable() ? 2 : 1;
		__atomic_store_n(&clock_is_usable, known, __ATOMIC_RELAXED);
	}
	return known == 2 ? cycles() : 0;
}

inline bool cycles_steady() { return true; }

} // namespace klock::arch
