/* SPDX-License-Identifier: MIT */
/*
 * interrupts - handlers for vectors, this CPU's interrupt flag and timer,
 * interrupts for other CPUs, and a look at CPUs that wait
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

/*
 * -- Each CPU's timer, and interrupts for other CPUs --
 *
 * Where the machine has no usable interrupt controller, boot says so when it
 * starts; then there is one CPU, and everything here is a panic. See
 * has_ipis().
 */

/* Whether timer and IPIs work. */
bool has_ipis();

/* -- This CPU's timer; each CPU has its own. Thread or interrupt. -- */

/*
 * Interrupts `vector` (a free one) comes every period_ns, or once after
 * delay_ns; a new start replaces what was. Resolution: tens of nanoseconds to
 * a microsecond, at least one tick of the timer's clock; times beyond what its
 * 32 bits hold (a minute under QEMU) are cut to that.
 */
void timer_start_periodic(u8 vector, u64 period_ns);
void timer_start_one_shot(u8 vector, u64 delay_ns);

/* One interrupt that was on its way may still come. */
void timer_stop();

/* -- Interrupts for other CPUs. Thread or interrupt, not NMI. -- */

/*
 * Fixed interrupt `vector` (a free one) to one CPU, this one allowed, or to all
 * others. Returns when it is on its way, not when it is handled: two to the
 * same CPU may become one.
 */
void send_ipi(unsigned cpu, u8 vector);
void send_ipi_to_others(u8 vector);

/* Whether the machine has non-maskable interrupts that a CPU can send. */
bool has_nmi();

/* One of them; else a panic. First: set_interrupt_handler(vector_nmi, ...). */
void send_nmi(unsigned cpu);
void send_nmi_to_others();

/* As send_nmi(), from an NMI handler. */
void send_nmi_from_nmi(unsigned cpu);

/*
 * -- An NMI to CPU 0 again and again, for a watchdog --
 *
 * An NMI comes where no interrupt comes: into a CPU that waits with interrupts
 * off.
 */

/* The longest period of the clock there is, about. */
inline constexpr u32 nmi_clock_longest_us = 54900;

/*
 * From now on CPU 0 gets an NMI every so many microseconds, up to
 * nmi_clock_longest_us; a new start replaces what was. A handler for vector_nmi
 * must be there. Returns a null pointer, or why there is no such clock. Whether
 * NMIs come is for the caller to see: a wire may be another than the firmware
 * says. CPU 0, thread.
 */
[[nodiscard]] const char *nmi_clock_start(u32 period_us);

/*
 * -- A look at CPUs that wait, on machines without NMIs --
 *
 * A CPU that waits for a lock with interrupts off can be seen by an NMI; where
 * there are none (has_nmi()), only if it shows itself. Such machines
 * have a cpu_relax() of their own (<klock/arch/relax.hpp>, in front of the
 * port's), which calls visit_pause(). There it also stands still for a panic.
 */

/* `at`: the waiting code's address. */
using pause_visitor = void (*)(unsigned cpu, usize at);

/*
 * Each turn of a wait calls visit(cpu, at) from now on, on its own CPU, in
 * whatever context; null: no more. Never where there are NMIs. A visitor that
 * waits is called again, from within.
 */
void set_pause_visitor(pause_visitor visit);

/*
 * Whether a pause gives the host's core to the next vCPU, where the machine's
 * own does not: yes, unless somebody says that vCPUs run at once. There it
 * would cost each of them a lock of QEMU's.
 */
void let_pauses_yield(bool yes);
bool pauses_yield();

/* The machine's cpu_relax() calls it (private to boot). */
void visit_pause(usize at);

} // namespace boot
