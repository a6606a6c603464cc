/* SPDX-License-Identifier: MIT */
/*
 * checked_timed_calls - the verbs with a deadline, of checked locks
 *
 * As checked_calls.h, and of the timeout locks all.
 */
#pragma once

/* clang-format off */

#define klock_checked_ticket_u8_try_lock_until(...) \
	klock_checked_ticket_u8_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_try_lock_for(...) \
	klock_checked_ticket_u8_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ticket_u16_try_lock_until(...) \
	klock_checked_ticket_u16_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_try_lock_for(...) \
	klock_checked_ticket_u16_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ticket_u32_try_lock_until(...) \
	klock_checked_ticket_u32_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_try_lock_for(...) \
	klock_checked_ticket_u32_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_preemptable_ticket_u8_try_lock_until(...) \
	klock_checked_preemptable_ticket_u8_try_lock_until_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_try_lock_for(...) \
	klock_checked_preemptable_ticket_u8_try_lock_for_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_preemptable_ticket_u16_try_lock_until(...) \
	klock_checked_preemptable_ticket_u16_try_lock_until_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_try_lock_for(...) \
	klock_checked_preemptable_ticket_u16_try_lock_for_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_2_try_lock_until(...) \
	klock_checked_narrow_ticket_2_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_try_lock_for(...) \
	klock_checked_narrow_ticket_2_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_3_try_lock_until(...) \
	klock_checked_narrow_ticket_3_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_try_lock_for(...) \
	klock_checked_narrow_ticket_3_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_4_try_lock_until(...) \
	klock_checked_narrow_ticket_4_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_try_lock_for(...) \
	klock_checked_narrow_ticket_4_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u8_try_lock_until(...) \
	klock_checked_proportional_ticket_u8_try_lock_until_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_try_lock_for(...) \
	klock_checked_proportional_ticket_u8_try_lock_for_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u16_try_lock_until(...) \
	klock_checked_proportional_ticket_u16_try_lock_until_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_try_lock_for(...) \
	klock_checked_proportional_ticket_u16_try_lock_for_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u32_try_lock_until(...) \
	klock_checked_proportional_ticket_u32_try_lock_until_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_try_lock_for(...) \
	klock_checked_proportional_ticket_u32_try_lock_for_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_tas_try_lock_until(...) \
	klock_checked_tas_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_try_lock_for(...) \
	klock_checked_tas_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ttas_try_lock_until(...) \
	klock_checked_ttas_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_try_lock_for(...) \
	klock_checked_ttas_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_backoff_ttas_try_lock_until(...) \
	klock_checked_backoff_ttas_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_try_lock_for(...) \
	klock_checked_backoff_ttas_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_queued_64_try_lock_until(...) \
	klock_checked_queued_64_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_try_lock_for(...) \
	klock_checked_queued_64_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_queued_256_try_lock_until(...) \
	klock_checked_queued_256_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_try_lock_for(...) \
	klock_checked_queued_256_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_mcs_try_lock_until(...) \
	klock_checked_mcs_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_try_lock_for(...) \
	klock_checked_mcs_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_rw_ticket_u8_try_lock_until(...) \
	klock_checked_rw_ticket_u8_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_try_lock_for(...) \
	klock_checked_rw_ticket_u8_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_rw_ticket_u16_try_lock_until(...) \
	klock_checked_rw_ticket_u16_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_try_lock_for(...) \
	klock_checked_rw_ticket_u16_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_phase_fair_u8_try_lock_until(...) \
	klock_checked_phase_fair_u8_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_try_lock_for(...) \
	klock_checked_phase_fair_u8_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_phase_fair_u16_try_lock_until(...) \
	klock_checked_phase_fair_u16_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_try_lock_for(...) \
	klock_checked_phase_fair_u16_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_timeout_8_lock(...) \
	klock_checked_timeout_8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_unlock(...) \
	klock_checked_timeout_8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_lock_irqsave(...) \
	klock_checked_timeout_8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_unlock_irqrestore(...) \
	klock_checked_timeout_8_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_try_lock(...) \
	klock_checked_timeout_8_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_try_lock_irqsave(...) \
	klock_checked_timeout_8_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_try_lock_until(...) \
	klock_checked_timeout_8_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_8_try_lock_for(...) \
	klock_checked_timeout_8_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_timeout_64_lock(...) \
	klock_checked_timeout_64_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_unlock(...) \
	klock_checked_timeout_64_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_lock_irqsave(...) \
	klock_checked_timeout_64_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_unlock_irqrestore(...) \
	klock_checked_timeout_64_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_try_lock(...) \
	klock_checked_timeout_64_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_try_lock_irqsave(...) \
	klock_checked_timeout_64_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_try_lock_until(...) \
	klock_checked_timeout_64_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_timeout_64_try_lock_for(...) \
	klock_checked_timeout_64_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)
/* clang-format on */
