/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_NODE(mcs)

using klock::c::here;
using klock::c::this_node;

int klock_checked_mcs_try_lock_at(klock_checked_mcs *lock, klock_mcs_node *mine,
				  const char *file, int line)
{
	return klock::as_cpp(*lock).try_lock(klock::as_cpp(*mine),
					     {file, line});
}

int klock_checked_mcs_try_lock_until_at(klock_checked_mcs *lock,
					klock_mcs_node *mine,
					unsigned long long deadline,
					const char *file, int line)
{
	return klock::c::try_lock_until(lock, deadline, this_node(mine),
					here(file, line));
}

int klock_checked_mcs_try_lock_for_at(klock_checked_mcs *lock,
				      klock_mcs_node *mine,
				      unsigned long long cycles,
				      const char *file, int line)
{
	return klock::c::try_lock_for(lock, cycles, this_node(mine),
				      here(file, line));
}

unsigned long klock_checked_mcs_lock_irqsave_at(klock_checked_mcs *lock,
						klock_mcs_node *mine,
						const char *file, int line)
{
	return klock::c::lock_irqsave(lock, this_node(mine), here(file, line));
}

int klock_checked_mcs_try_lock_irqsave_at(klock_checked_mcs *lock,
					  klock_mcs_node *mine,
					  unsigned long *before,
					  const char *file, int line)
{
	return klock::c::try_lock_irqsave(lock, before, this_node(mine),
					  here(file, line));
}

void klock_checked_mcs_unlock_irqrestore_at(klock_checked_mcs *lock,
					    klock_mcs_node *mine,
					    unsigned long before,
					    const char *file, int line)
{
	klock::c::unlock_irqrestore(lock, before, this_node(mine),
				    here(file, line));
}

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

KLOCK_C_CHECKED_QUEUED(checked_queued_64)

KLOCK_C_CHECKED_QUEUED(checked_queued_256)
