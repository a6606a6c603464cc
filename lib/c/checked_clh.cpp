/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_NODE(clh)

using klock::c::here;
using klock::c::node_of_cpu;

unsigned long klock_checked_clh_lock_irqsave_at(klock_checked_clh *lock,
						klock_clh_node *nodes,
						unsigned (*cpu_id)(),
						const char *file, int line)
{
	return klock::c::lock_irqsave(lock, node_of_cpu(nodes, cpu_id),
				      here(file, line));
}

void klock_checked_clh_unlock_irqrestore_at(klock_checked_clh *lock,
					    klock_clh_node *nodes,
					    unsigned (*cpu_id)(),
					    unsigned long before,
					    const char *file, int line)
{
	klock::c::unlock_irqrestore(lock, before, node_of_cpu(nodes, cpu_id),
				    here(file, line));
}
