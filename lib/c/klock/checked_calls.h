/* SPDX-License-Identifier: MIT */
/*
 * checked_calls - the verbs of checked locks, with the caller's file and line
 *
 * A macro cannot define macros, so that they are written out. Each takes what
 * the verb of the unchecked lock takes.
 */
#pragma once

#define KLOCK_HERE __FILE__, __LINE__

/* clang-format off */

#define klock_checked_ticket_u8_lock(...) \
	klock_checked_ticket_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_unlock(...) \
	klock_checked_ticket_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_lock_irqsave(...) \
	klock_checked_ticket_u8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_unlock_irqrestore(...) \
	klock_checked_ticket_u8_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_try_lock(...) \
	klock_checked_ticket_u8_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u8_try_lock_irqsave(...) \
	klock_checked_ticket_u8_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ticket_u16_lock(...) \
	klock_checked_ticket_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_unlock(...) \
	klock_checked_ticket_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_lock_irqsave(...) \
	klock_checked_ticket_u16_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_unlock_irqrestore(...) \
	klock_checked_ticket_u16_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_try_lock(...) \
	klock_checked_ticket_u16_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u16_try_lock_irqsave(...) \
	klock_checked_ticket_u16_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ticket_u32_lock(...) \
	klock_checked_ticket_u32_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_unlock(...) \
	klock_checked_ticket_u32_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_lock_irqsave(...) \
	klock_checked_ticket_u32_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_unlock_irqrestore(...) \
	klock_checked_ticket_u32_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_try_lock(...) \
	klock_checked_ticket_u32_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ticket_u32_try_lock_irqsave(...) \
	klock_checked_ticket_u32_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_preemptable_ticket_u8_lock(...) \
	klock_checked_preemptable_ticket_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_unlock(...) \
	klock_checked_preemptable_ticket_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_lock_irqsave(...) \
	klock_checked_preemptable_ticket_u8_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_unlock_irqrestore(...) \
	klock_checked_preemptable_ticket_u8_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_try_lock(...) \
	klock_checked_preemptable_ticket_u8_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u8_try_lock_irqsave(...) \
	klock_checked_preemptable_ticket_u8_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_preemptable_ticket_u16_lock(...) \
	klock_checked_preemptable_ticket_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_unlock(...) \
	klock_checked_preemptable_ticket_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_lock_irqsave(...) \
	klock_checked_preemptable_ticket_u16_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_unlock_irqrestore(...) \
	klock_checked_preemptable_ticket_u16_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_try_lock(...) \
	klock_checked_preemptable_ticket_u16_try_lock_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_preemptable_ticket_u16_try_lock_irqsave(...) \
	klock_checked_preemptable_ticket_u16_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_2_lock(...) \
	klock_checked_narrow_ticket_2_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_unlock(...) \
	klock_checked_narrow_ticket_2_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_lock_irqsave(...) \
	klock_checked_narrow_ticket_2_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_unlock_irqrestore(...) \
	klock_checked_narrow_ticket_2_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_try_lock(...) \
	klock_checked_narrow_ticket_2_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_2_try_lock_irqsave(...) \
	klock_checked_narrow_ticket_2_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_3_lock(...) \
	klock_checked_narrow_ticket_3_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_unlock(...) \
	klock_checked_narrow_ticket_3_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_lock_irqsave(...) \
	klock_checked_narrow_ticket_3_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_unlock_irqrestore(...) \
	klock_checked_narrow_ticket_3_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_try_lock(...) \
	klock_checked_narrow_ticket_3_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_3_try_lock_irqsave(...) \
	klock_checked_narrow_ticket_3_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_narrow_ticket_4_lock(...) \
	klock_checked_narrow_ticket_4_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_unlock(...) \
	klock_checked_narrow_ticket_4_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_lock_irqsave(...) \
	klock_checked_narrow_ticket_4_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_unlock_irqrestore(...) \
	klock_checked_narrow_ticket_4_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_try_lock(...) \
	klock_checked_narrow_ticket_4_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_narrow_ticket_4_try_lock_irqsave(...) \
	klock_checked_narrow_ticket_4_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_padded_ticket_u8_lock(...) \
	klock_checked_padded_ticket_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u8_unlock(...) \
	klock_checked_padded_ticket_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u8_lock_irqsave(...) \
	klock_checked_padded_ticket_u8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u8_unlock_irqrestore(...) \
	klock_checked_padded_ticket_u8_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_padded_ticket_u16_lock(...) \
	klock_checked_padded_ticket_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u16_unlock(...) \
	klock_checked_padded_ticket_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u16_lock_irqsave(...) \
	klock_checked_padded_ticket_u16_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u16_unlock_irqrestore(...) \
	klock_checked_padded_ticket_u16_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_padded_ticket_u32_lock(...) \
	klock_checked_padded_ticket_u32_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u32_unlock(...) \
	klock_checked_padded_ticket_u32_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u32_lock_irqsave(...) \
	klock_checked_padded_ticket_u32_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_padded_ticket_u32_unlock_irqrestore(...) \
	klock_checked_padded_ticket_u32_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u8_lock(...) \
	klock_checked_proportional_ticket_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_unlock(...) \
	klock_checked_proportional_ticket_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_lock_irqsave(...) \
	klock_checked_proportional_ticket_u8_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_unlock_irqrestore(...) \
	klock_checked_proportional_ticket_u8_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_try_lock(...) \
	klock_checked_proportional_ticket_u8_try_lock_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u8_try_lock_irqsave(...) \
	klock_checked_proportional_ticket_u8_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u16_lock(...) \
	klock_checked_proportional_ticket_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_unlock(...) \
	klock_checked_proportional_ticket_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_lock_irqsave(...) \
	klock_checked_proportional_ticket_u16_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_unlock_irqrestore(...) \
	klock_checked_proportional_ticket_u16_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_try_lock(...) \
	klock_checked_proportional_ticket_u16_try_lock_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u16_try_lock_irqsave(...) \
	klock_checked_proportional_ticket_u16_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_proportional_ticket_u32_lock(...) \
	klock_checked_proportional_ticket_u32_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_unlock(...) \
	klock_checked_proportional_ticket_u32_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_lock_irqsave(...) \
	klock_checked_proportional_ticket_u32_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_unlock_irqrestore(...) \
	klock_checked_proportional_ticket_u32_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_try_lock(...) \
	klock_checked_proportional_ticket_u32_try_lock_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_proportional_ticket_u32_try_lock_irqsave(...) \
	klock_checked_proportional_ticket_u32_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_tas_lock(...) \
	klock_checked_tas_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_unlock(...) \
	klock_checked_tas_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_lock_irqsave(...) \
	klock_checked_tas_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_unlock_irqrestore(...) \
	klock_checked_tas_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_try_lock(...) \
	klock_checked_tas_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_tas_try_lock_irqsave(...) \
	klock_checked_tas_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_ttas_lock(...) \
	klock_checked_ttas_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_unlock(...) \
	klock_checked_ttas_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_lock_irqsave(...) \
	klock_checked_ttas_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_unlock_irqrestore(...) \
	klock_checked_ttas_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_try_lock(...) \
	klock_checked_ttas_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_ttas_try_lock_irqsave(...) \
	klock_checked_ttas_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_backoff_ttas_lock(...) \
	klock_checked_backoff_ttas_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_unlock(...) \
	klock_checked_backoff_ttas_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_lock_irqsave(...) \
	klock_checked_backoff_ttas_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_unlock_irqrestore(...) \
	klock_checked_backoff_ttas_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_try_lock(...) \
	klock_checked_backoff_ttas_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_backoff_ttas_try_lock_irqsave(...) \
	klock_checked_backoff_ttas_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_queued_64_lock(...) \
	klock_checked_queued_64_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_unlock(...) \
	klock_checked_queued_64_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_lock_irqsave(...) \
	klock_checked_queued_64_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_unlock_irqrestore(...) \
	klock_checked_queued_64_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_try_lock(...) \
	klock_checked_queued_64_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_try_lock_irqsave(...) \
	klock_checked_queued_64_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_64_lock_from(...) \
	klock_checked_queued_64_lock_from_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_queued_256_lock(...) \
	klock_checked_queued_256_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_unlock(...) \
	klock_checked_queued_256_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_lock_irqsave(...) \
	klock_checked_queued_256_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_unlock_irqrestore(...) \
	klock_checked_queued_256_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_try_lock(...) \
	klock_checked_queued_256_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_try_lock_irqsave(...) \
	klock_checked_queued_256_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_queued_256_lock_from(...) \
	klock_checked_queued_256_lock_from_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_bakery_4_lock(...) \
	klock_checked_bakery_4_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_4_unlock(...) \
	klock_checked_bakery_4_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_4_lock_irqsave(...) \
	klock_checked_bakery_4_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_4_unlock_irqrestore(...) \
	klock_checked_bakery_4_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_bakery_8_lock(...) \
	klock_checked_bakery_8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_8_unlock(...) \
	klock_checked_bakery_8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_8_lock_irqsave(...) \
	klock_checked_bakery_8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_8_unlock_irqrestore(...) \
	klock_checked_bakery_8_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_bakery_16_lock(...) \
	klock_checked_bakery_16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_16_unlock(...) \
	klock_checked_bakery_16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_16_lock_irqsave(...) \
	klock_checked_bakery_16_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_16_unlock_irqrestore(...) \
	klock_checked_bakery_16_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_bakery_32_lock(...) \
	klock_checked_bakery_32_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_32_unlock(...) \
	klock_checked_bakery_32_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_32_lock_irqsave(...) \
	klock_checked_bakery_32_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_32_unlock_irqrestore(...) \
	klock_checked_bakery_32_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_bakery_64_lock(...) \
	klock_checked_bakery_64_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_64_unlock(...) \
	klock_checked_bakery_64_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_64_lock_irqsave(...) \
	klock_checked_bakery_64_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_bakery_64_unlock_irqrestore(...) \
	klock_checked_bakery_64_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_mcs_lock(...) \
	klock_checked_mcs_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_unlock(...) \
	klock_checked_mcs_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_lock_irqsave(...) \
	klock_checked_mcs_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_unlock_irqrestore(...) \
	klock_checked_mcs_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_lock_irqsave_by(...) \
	klock_checked_mcs_lock_irqsave_by_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_unlock_irqrestore_by(...) \
	klock_checked_mcs_unlock_irqrestore_by_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_try_lock(...) \
	klock_checked_mcs_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_mcs_try_lock_irqsave(...) \
	klock_checked_mcs_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_checked_clh_lock(...) \
	klock_checked_clh_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_clh_unlock(...) \
	klock_checked_clh_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_clh_lock_irqsave(...) \
	klock_checked_clh_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_clh_unlock_irqrestore(...) \
	klock_checked_clh_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_clh_lock_irqsave_by(...) \
	klock_checked_clh_lock_irqsave_by_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_clh_unlock_irqrestore_by(...) \
	klock_checked_clh_unlock_irqrestore_by_at(__VA_ARGS__, KLOCK_HERE)
/* clang-format on */
