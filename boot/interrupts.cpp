/* SPDX-License-Identifier: MIT */
/*
 * interrupts - who handles what, who may be sent to, and a look at CPUs that
 * wait
 */
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>
#include <klock/atomic.hpp>
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>

namespace boot {

/* -- Handlers, and the targets of IPIs -- */

/* -- Handlers -- */

namespace {

constinit klock::atomic<interrupt_handler> handlers[256];

} // namespace

interrupt_handler handler_of(u8 vector)
{
	return handlers[vector].load_acquire();
}

void set_interrupt_handler(u8 vector, interrupt_handler handler)
{
	if (is_own_vector(vector))
		panic("vector 0x%02x is boot's own: no handler for it", vector);

	handlers[vector].store_release(handler);
}

void check_free_vector(u8 vector)
{
	if (vector < first_free_vector || vector > last_free_vector)
		panic("vector 0x%02x is not free for timers and IPIs", vector);
}

/* -- Targets of IPIs; all others one by one -- */

void check_ipi_target(unsigned cpu)
{
	if (!has_ipis())
		panic("an IPI without an interrupt controller");
	if (cpu >= cpu_count())
		panic("an IPI to CPU %u: there are %u", cpu, cpu_count());
}

/*
 * No machine's "all but self" is this: it would reach CPUs that boot has left
 * where they were, and they have nothing to take an NMI with.
 */
void send_nmi_to_others()
{
	if (!has_nmi())
		panic("an NMI to others: this machine has none");
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		if (cpu != this_cpu())
			send_nmi(cpu);
	}
}

/* -- A look at CPUs that wait, on machines without NMIs -- */

namespace {

constinit klock::atomic<pause_visitor> visitor;
constinit klock::atomic<bool> yields{true};

} // namespace

void set_pause_visitor(pause_visitor visit) { visitor.store_release(visit); }

void let_pauses_yield(bool yes) { yields.store_relaxed(yes); }

bool pauses_yield() { return yields.load_relaxed(); }

void visit_pause(usize at)
{
	(void)give_way_to_report(); /* stands still if another CPU does */
	if (const pause_visitor visit = visitor.load_acquire())
		visit(this_cpu(), at);
}

} // namespace boot
