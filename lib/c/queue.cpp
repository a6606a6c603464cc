/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_NODE_VERBS(mcs)

int klock_mcs_try_lock(klock_mcs *lock, klock_mcs_node *mine)
{
	return klock::as_cpp(*lock).try_lock(klock::as_cpp(*mine));
}

int klock_mcs_try_lock_until(klock_mcs *lock, klock_mcs_node *mine,
			     unsigned long long deadline)
{
	return klock::c::try_lock_until(lock, deadline,
					klock::c::this_node(mine));
}

int klock_mcs_try_lock_for(klock_mcs *lock, klock_mcs_node *mine,
			   unsigned long long cycles)
{
	return klock::c::try_lock_for(lock, cycles, klock::c::this_node(mine));
}

unsigned long klock_mcs_lock_irqsave(klock_mcs *lock, klock_mcs_node *mine)
{
	return klock::c::lock_irqsave(lock, klock::c::this_node(mine));
}

int klock_mcs_try_lock_irqsave(klock_mcs *lock, klock_mcs_node *mine,
			       unsigned long *before)
{
	return klock::c::try_lock_irqsave(lock, before,
					  klock::c::this_node(mine));
}

void klock_mcs_unlock_irqrestore(klock_mcs *lock, klock_mcs_node *mine,
				 unsigned long before)
{
	klock::c::unlock_irqrestore(lock, before, klock::c::this_node(mine));
}

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
