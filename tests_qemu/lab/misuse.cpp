/* SPDX-License-Identifier: MIT */
/*
 * misuse - one misuse of a checked lock, on real CPUs
 *
 * There is one for each kind of context: the holder, another CPU, a handler
 * over a waiter or a reader, an NMI handler. Each hangs, or lets two CPUs in,
 * with an unchecked lock. tests_host/unit has all that is named.
 */
#include "jobs.hpp"

#include "context.hpp"
#include "faults.hpp"

#include <boot/kernel.hpp>
#include <klock/atomic.hpp>
#include <klock/checked_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>

namespace lab {

namespace {

constexpr bool debug = true;
constexpr klock::u8 vector = 0x43;

constinit klock::checked_if<debug, klock::ticket_lock<klock::u8>, "runqueue">
	runqueue;

constinit klock::checked_if<debug, klock::phase_fair_lock<klock::u8>, "routes">
	routes;

void recursion()
{
	klock::guard held(runqueue);
	klock::guard again(runqueue);
}

/* The last CPU gives back what CPU 0 took. */
void foreign_unlock()
{
	runqueue.lock();
	boot::run_on_cpus(
		boot::cpu_count(),
		[](unsigned cpu, void *) {
			if (cpu == boot::cpu_count() - 1)
				runqueue.unlock();
		},
		nullptr);
}

void nmi_lock()
{
	set_nmi_visitor([](unsigned) { klock::guard held(runqueue); });
	boot::send_nmi(0);
	boot::delay_us(10000);
}

constinit klock::atomic<klock::u8> taken;

/*
 * CPU 1 holds it, with interrupts off, as it should. CPU 0 waits with
 * interrupts on: its handler would queue behind its own CPU's ticket, for ever.
 */
void interrupted_waiter()
{
	boot::set_interrupt_handler(vector, [](boot::interrupt_frame &) {
		const in_handler here(boot::this_cpu(),
				      klock::context::interrupt);
		klock::guard held(runqueue);
	});
	boot::run_on_cpus(
		2,
		[](unsigned cpu, void *) {
			if (cpu == 0) {
				taken.await_eq_acquire(1);
				klock::guard held(runqueue);
				return;
			}
			klock::irq_guard held(runqueue);
			taken.store_release(1);
			boot::delay_us(100000);
			boot::send_ipi(0, vector);
			boot::delay_us(100000);
		},
		nullptr);
}

/*
 * CPU 0's thread reads with interrupts on, a writer waits for it on CPU 1, and
 * the handler over the thread reads behind the writer: all wait for ever.
 */
void reading_handler()
{
	boot::set_interrupt_handler(vector, [](boot::interrupt_frame &) {
		const in_handler here(boot::this_cpu(),
				      klock::context::interrupt);
		klock::shared_guard held(routes);
	});
	boot::run_on_cpus(
		boot::cpu_count() > 1 ? 2 : 1,
		[](unsigned cpu, void *) {
			if (cpu == 1) {
				taken.await_eq_acquire(1);
				klock::irq_guard held(routes);
				return;
			}
			klock::shared_guard held(routes);
			taken.store_release(1);
			boot::delay_us(100000);
			klock::print_held([](const char *line) {
				boot::print("# %s\n", line);
			});
			boot::send_ipi(0, vector);
			boot::delay_us(10000);
		},
		nullptr);
}

constexpr void (*misuses[])() = {recursion, foreign_unlock, nmi_lock,
				 interrupted_waiter, reading_handler};

} // namespace

int run_misuse(const options &o)
{
	const misuse what = o.what;

	if (what == misuse::nmi_lock && !boot::has_nmi()) {
		boot::print("FAIL: misuse %s: this machine has no NMIs\n",
			    name_of(what));
		return 1;
	}
	boot::print("# misuse: %s\n", name_of(what));
	misuses[static_cast<u32>(what)]();
	boot::print("FAIL: misuse %s was not noticed\n", name_of(what));
	return 1;
}

} // namespace lab
