/* SPDX-License-Identifier: MIT */
/*
 * ipi - who may be sent to, and to all others one by one
 */
#include <boot/cpus.hpp>
#include <boot/ipi.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>

namespace boot {

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

} // namespace boot
