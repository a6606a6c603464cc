/* SPDX-License-Identifier: MIT */
/* Misuse of the locks for C. */
#if WRONG == 2
/* says-error@*:*{{klock_end_pragma_pack_before_these_headers}} */
#pragma pack(1)
#endif
#include <klock/klock.h>

_Static_assert(2 * 200 <= KLOCK_TICKET_U16_CONTENDERS, "two contexts a CPU");

#if WRONG == 3
int taken(struct klock_ticket_u8 *lock)
{
	unsigned long flags;

	klock_try_lock(lock); /* says-warning{{warn_unused_result}} */
	/* says-warning@+1{{warn_unused_result}} */
	klock_try_lock_irqsave(lock, &flags);
	klock_lock_irqsave(lock);	/* says-warning{{warn_unused_result}} */
	klock_ticket_u8_try_lock(lock); /* says-warning{{warn_unused_result}} */
	klock_why_ended(0, 0);		/* says-warning{{warn_unused_result}} */
	/* says-warning@+1{{warn_unused_result}} */
	klock_try_lock_preempt_off(lock);
	return klock_try_lock(lock);
}
#endif

#if WRONG == 1
/* says-error@+1{{two contexts a CPU}} */
_Static_assert(2 * 200 <= KLOCK_TICKET_U8_CONTENDERS, "two contexts a CPU");

enum klock_wait_result asked_twice(struct klock_inheriting_mutex *bus)
{
	/* says-error@+1{{'enum klock_wait_result' not compatible}} */
	return klock_why_ended(klock_lock_until(bus, 0), 0);
}

enum klock_wait_result swapped(struct klock_mutex *files,
			       unsigned long long deadline)
{
	/* says-error@+1{{'unsigned long long' not compatible}} */
	return klock_why_ended(deadline, klock_try_lock_until(files, deadline));
}

void not_waited_with(struct klock_condition *changed,
		     struct klock_recursive_ticket_u8 *tree,
		     struct klock_checked_recursive_ticket_u16 *checked_tree,
		     struct klock_recursive_preemptable_ticket_u8 *other)
{
	unsigned long flags = 0;

	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with(changed, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with(changed, checked_tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_until(changed, 0, other);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_for(changed, 0, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_irqsave(changed, flags, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_irqsave_until(changed, 0, flags, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_irqsave_for(changed, 0, flags, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_preempt_off(changed, checked_tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_preempt_off_until(changed, 0, tree);
	/* says-error@+1{{a wait lets go of a lock once}} */
	klock_wait_with_preempt_off_for(changed, 0, tree);
}

void not_handed_over(struct klock_checked_recursive_ticket_u8 *tree,
		     struct klock_checked_inheriting_mutex *bus,
		     struct klock_checked_semaphore *units)
{
	/* says-error@+1{{a recursive lock is not handed over}} */
	klock_checked_handed_over(tree);
	/* says-error@+1{{an inheriting mutex is not handed over}} */
	klock_checked_handed_over(bus);
	/* says-error@+1{{nobody holds it, so it is not handed over}} */
	klock_checked_handed_over(units);
}
#endif

void handed_over(struct klock_checked_ticket_u8 *lock,
		 struct klock_checked_mutex *files,
		 struct klock_checked_phase_fair_u8 *routes)
{
	klock_checked_handed_over(lock);
	klock_checked_handed_over(files);
	klock_checked_handed_over(routes);
}

enum klock_wait_result asked(struct klock_inheriting_mutex *bus, _Bool had)
{
	if (had)
		return klock_why_ended(had, 0);
	return klock_why_ended(klock_try_lock_until(bus, 0), 0);
}
