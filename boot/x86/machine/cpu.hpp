/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's number, its interrupts, its part of its block: x86
 *
 * struct interrupt_frame of both widths has vector, error_code (0 where the CPU
 * pushes none), ip, cs, flags, stack_pointer() and frame_pointer(); general
 * registers go by their own names. A handler may change any register: the
 * interrupted code goes on with the new value.
 */
#pragma once

#include <machine/layout.h>
#include <boot/types.hpp>

#if defined(__x86_64__)
#include <boot/x86/x86_64/cpu.hpp>
#elif defined(__i386__)
#include <boot/x86/i686/cpu.hpp>
#endif

namespace boot {

/*
 * -- The running CPU's number --
 *
 * GS points to the running CPU's block for good: there is no user mode and
 * nobody else uses GS, so that this is right in every context, NMI too.
 */

inline unsigned this_cpu()
{
	unsigned number;

	asm("movl %%gs:%c1, %0" : "=r"(number) : "i"(PERCPU_NUMBER));
	return number;
}

/* -- Whether this CPU takes interrupts, and its sleep -- */

inline void enable_interrupts() { asm volatile("sti" ::: "memory"); }

inline void disable_interrupts() { asm volatile("cli" ::: "memory"); }

/* STI lets no interrupt in before HLT has begun (Intel SDM volume 2B, STI). */
inline void wait_for_interrupt() { asm volatile("sti\n\thlt" ::: "memory"); }

[[noreturn]] inline void halt()
{
	for (;;)
		asm volatile("cli\n\thlt");
}

/*
 * -- The use of each interrupt vector --
 *
 * Intel SDM volume 3A, Interrupt and Exception Handling:
 * 0x00 to 0x1f	exceptions and NMI; reported and fatal unless handled
 * 0x20 to 0x2f	the old interrupt controllers, masked; boot's own
 * 0x30 to 0xef	free for IPIs and timers: first_ to last_free_vector
 * 0xf0 to 0xff	boot's own
 */

inline constexpr u8 vector_divide_error = 0;
inline constexpr u8 vector_nmi = 2;
inline constexpr u8 vector_breakpoint = 3;
inline constexpr u8 vector_invalid_opcode = 6;
inline constexpr u8 vector_double_fault = 8;
inline constexpr u8 vector_general_protection = 13;
inline constexpr u8 vector_page_fault = 14;
inline constexpr u8 vector_machine_check = 18;

inline constexpr u8 first_free_vector = 0x30;
inline constexpr u8 last_free_vector = 0xef;

inline constexpr u8 vector_pic = 0x20; /* 16 of them */
inline constexpr u8 vector_pic_end = 0x30;
inline constexpr u8 vector_wake = 0xf0; /* an idle CPU has work */
inline constexpr u8 vector_spurious = 0xff;

/* Whether nobody but boot may handle it. */
constexpr bool is_own_vector(u8 vector)
{
	return (vector >= vector_pic && vector < vector_pic_end) ||
	       vector > last_free_vector;
}

/* -- x86's part of each CPU's block (private to boot) ------ */

struct percpu_part {
	segment_tables segments = {}; /* its GDT and TSS */
};

inline constexpr const char *hardware_id_name = "APIC id";

} // namespace boot
