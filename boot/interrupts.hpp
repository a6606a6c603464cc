/* SPDX-License-Identifier: MIT */
/*
 * interrupts - handlers for vectors, and this CPU's interrupt flag
 *
 * Vectors (Intel SDM volume 3A, Interrupt and Exception Handling):
 *	0x00 to 0x1f	exceptions and NMI; reported and fatal unless handled
 *	0x20 to 0x2f	the old interrupt controllers, masked; boot's own
 *	0x30 to 0xef	free for IPIs and timers: first_ to last_free_vector
 *	0xf0 to 0xff	boot's own
 */
#pragma once

#include <boot/interrupt_frame.hpp>
#include <boot/types.hpp>

namespace boot {

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

using interrupt_handler = void (*)(interrupt_frame &frame);

/*
 * From now on, on every CPU, `handler` is called for `vector`: an exception,
 * vector_nmi or a free one; nullptr takes it back. One of boot's own vectors is
 * a panic.
 *
 * The handler runs on the CPU that was interrupted, with interrupts off, and
 * must not enable them. When it returns, boot acknowledges the interrupt at the
 * local APIC and the interrupted code goes on with the frame's registers: a
 * handler of a fault has to change frame.ip, or the fault comes again.
 *
 * NMI: comes with interrupts off too, also into other handlers and into
 * print(). Its handler may use atomics, try_lock(), this_cpu() and panic(); it
 * must not print, send IPIs or take a lock. Double faults cannot be handled on
 * i686.
 *
 * Context: any but NMI. A CPU that is in the handler now may still be after.
 */
void set_interrupt_handler(u8 vector, interrupt_handler handler);

/* This CPU's interrupt flag. Any context; a handler leaves it alone. */
inline void enable_interrupts() { asm volatile("sti" ::: "memory"); }

inline void disable_interrupts() { asm volatile("cli" ::: "memory"); }

/*
 * Sleeps until an interrupt has been handled. To be called with interrupts off,
 * after a look at what is waited for; returns with interrupts on. Whatever
 * comes after the look wakes: STI lets no interrupt in before HLT has begun
 * (Intel SDM volume 2B, STI).
 */
inline void wait_for_interrupt() { asm volatile("sti\n\thlt" ::: "memory"); }

/* Interrupts off for the length of a block, then as they were. */
struct [[nodiscard]] interrupts_off {
	interrupts_off()
	{
		asm volatile("pushf\n\tpop %0\n\tcli" : "=r"(flags)::"memory");
	}
	~interrupts_off()
	{
		if (flags & 0x200) /* IF */
			enable_interrupts();
	}
	interrupts_off(const interrupts_off &) = delete;
	interrupts_off &operator=(const interrupts_off &) = delete;

      private:
	usize flags;
};

} // namespace boot
