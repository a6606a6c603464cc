/* SPDX-License-Identifier: MIT */
/*
 * interrupts - the flag, and where a handler runs
 *
 * Before each operation of a CPU whose flag allows it, the exploration branches
 * over an interrupt: the handler then runs on that CPU's own stack with the
 * flag cleared, as a machine's does. Once more when the CPU is done.
 */
#include "checker.hpp"

#include <klock/os.hpp>

namespace model {

void checker::may_interrupt()
{
	while (me().irqs_left && (me().irqs_on || how->non_maskable)) {
		if (!choose())
			return;

		const bool before = me().irqs_on;
		me().irqs_on = false;
		me().irqs_left--;
		if (trace)
			trace->add({cpu, "-- interrupt --", {nullptr, 0}});
		me().handlers++;
		what->handler(cpu);
		me().handlers--;
		if (trace)
			trace->add({cpu, "-- returns --", {nullptr, 0}});
		me().irqs_on = before;
	}
}

int checker::context() const
{
	if (!cpus[cpu]->handlers)
		return static_cast<int>(klock::context::thread);
	return static_cast<int>(how->non_maskable ? klock::context::nmi
						  : klock::context::interrupt);
}

bool checker::irq_flag(bool enabled)
{
	const bool before = me().irqs_on;

	may_interrupt();
	me().irqs_on = enabled;
	if (trace && before != enabled)
		trace->add({cpu,
			    enabled ? "interrupts on" : "interrupts off",
			    {nullptr, 0}});
	return before;
}

} // namespace model
