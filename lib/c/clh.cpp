/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_NODE_VERBS(clh)

void klock_clh_node_init(klock_clh_node *node) { klock::c::init(node); }

unsigned long klock_clh_lock_irqsave(klock_clh *lock, klock_clh_node *nodes,
				     unsigned (*cpu_id)())
{
	return klock::c::lock_irqsave(lock,
				      klock::c::node_of_cpu(nodes, cpu_id));
}

void klock_clh_unlock_irqrestore(klock_clh *lock, klock_clh_node *nodes,
				 unsigned (*cpu_id)(), unsigned long before)
{
	klock::c::unlock_irqrestore(lock, before,
				    klock::c::node_of_cpu(nodes, cpu_id));
}
