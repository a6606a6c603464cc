/* SPDX-License-Identifier: MIT */
/*
 * interrupts - handlers for vectors, and this CPU's interrupt flag
 *
 * Free on every machine, for IPIs and timers: first_free_vector (0x30) to
 * last_free_vector. Which others there are, exceptions among them:
 * machine/cpu.hpp.
 */
#pragma once

#include <boot/types.hpp>
#include <klock/irq.hpp>
#include <machine/cpu.hpp>

namespace boot {

using interrupt_handler = void (*)(interrupt_frame &frame);

/*
 * From now on, on every CPU, `handler` is called for `vector`: an exception,
 * vector_nmi or a free one; nullptr takes it back. One of boot's own vectors is
 * a panic.
 *
 * The handler runs on the CPU that was interrupted, with interrupts off, and
 * must not enable them. When it returns, boot acknowledges the interrupt at the
 * controller and the interrupted code goes on with the frame's registers: a
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

/* The handler, or a null pointer. Any context. */
interrupt_handler handler_of(u8 vector);

/* This CPU's interrupt flag. Any context; a handler leaves it alone. */
inline void enable_interrupts();
inline void disable_interrupts();

/*
 * Sleeps until an interrupt has been handled. To be called with interrupts off,
 * after a look at what is waited for; returns with interrupts on. Whatever
 * comes after the look wakes.
 */
inline void wait_for_interrupt();

/* Interrupts off, for good: an NMI may still come. Any context. */
[[noreturn]] inline void halt();

/* Interrupts off for the length of a block, then as they were. */
struct [[nodiscard]] interrupts_off {
	interrupts_off() : before(klock::irq_save()) {}
	~interrupts_off() { klock::irq_restore(before); }
	interrupts_off(const interrupts_off &) = delete;
	interrupts_off &operator=(const interrupts_off &) = delete;

      private:
	klock::irq_state before;
};

} // namespace boot
