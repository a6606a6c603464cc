/* SPDX-License-Identifier: MIT */
/*
 * checked_readers_calls - the verbs of checked locks that readers share, with
 * the caller's file and line: as checked_calls.h
 */
#pragma once

/* clang-format off */

#define klock_checked_rw_ticket_u8_lock(...) \
	klock_checked_rw_ticket_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_unlock(...) \
	klock_checked_rw_ticket_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_lock_irqsave(...) \
	klock_checked_rw_ticket_u8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_unlock_irqrestore(...) \
	klock_checked_rw_ticket_u8_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_try_lock(...) \
	klock_checked_rw_ticket_u8_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_try_lock_irqsave(...) \
	klock_checked_rw_ticket_u8_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_lock_shared(...) \
	klock_checked_rw_ticket_u8_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_unlock_shared(...) \
	klock_checked_rw_ticket_u8_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_lock_shared_irqsave(...) \
	klock_checked_rw_ticket_u8_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_unlock_shared_irqrestore(...) \
	klock_checked_rw_ticket_u8_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_try_lock_shared(...) \
	klock_checked_rw_ticket_u8_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u8_try_lock_shared_irqsave(...) \
	klock_checked_rw_ticket_u8_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_rw_ticket_u16_lock(...) \
	klock_checked_rw_ticket_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_unlock(...) \
	klock_checked_rw_ticket_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_lock_irqsave(...) \
	klock_checked_rw_ticket_u16_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_unlock_irqrestore(...) \
	klock_checked_rw_ticket_u16_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_try_lock(...) \
	klock_checked_rw_ticket_u16_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_try_lock_irqsave(...) \
	klock_checked_rw_ticket_u16_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_lock_shared(...) \
	klock_checked_rw_ticket_u16_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_unlock_shared(...) \
	klock_checked_rw_ticket_u16_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_lock_shared_irqsave(...) \
	klock_checked_rw_ticket_u16_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_unlock_shared_irqrestore(...) \
	klock_checked_rw_ticket_u16_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_try_lock_shared(...) \
	klock_checked_rw_ticket_u16_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_rw_ticket_u16_try_lock_shared_irqsave(...) \
	klock_checked_rw_ticket_u16_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_phase_fair_u8_lock(...) \
	klock_checked_phase_fair_u8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_unlock(...) \
	klock_checked_phase_fair_u8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_lock_irqsave(...) \
	klock_checked_phase_fair_u8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_unlock_irqrestore(...) \
	klock_checked_phase_fair_u8_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_try_lock(...) \
	klock_checked_phase_fair_u8_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_try_lock_irqsave(...) \
	klock_checked_phase_fair_u8_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_lock_shared(...) \
	klock_checked_phase_fair_u8_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_unlock_shared(...) \
	klock_checked_phase_fair_u8_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u8_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_unlock_shared_irqrestore(...) \
	klock_checked_phase_fair_u8_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_try_lock_shared(...) \
	klock_checked_phase_fair_u8_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u8_try_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u8_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_phase_fair_u16_lock(...) \
	klock_checked_phase_fair_u16_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_unlock(...) \
	klock_checked_phase_fair_u16_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_lock_irqsave(...) \
	klock_checked_phase_fair_u16_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_unlock_irqrestore(...) \
	klock_checked_phase_fair_u16_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_try_lock(...) \
	klock_checked_phase_fair_u16_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_try_lock_irqsave(...) \
	klock_checked_phase_fair_u16_try_lock_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_lock_shared(...) \
	klock_checked_phase_fair_u16_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_unlock_shared(...) \
	klock_checked_phase_fair_u16_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u16_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_unlock_shared_irqrestore(...) \
	klock_checked_phase_fair_u16_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_try_lock_shared(...) \
	klock_checked_phase_fair_u16_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u16_try_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u16_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_phase_fair_u32_lock(...) \
	klock_checked_phase_fair_u32_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_unlock(...) \
	klock_checked_phase_fair_u32_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_lock_irqsave(...) \
	klock_checked_phase_fair_u32_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_unlock_irqrestore(...) \
	klock_checked_phase_fair_u32_unlock_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_lock_shared(...) \
	klock_checked_phase_fair_u32_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_unlock_shared(...) \
	klock_checked_phase_fair_u32_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u32_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_unlock_shared_irqrestore(...) \
	klock_checked_phase_fair_u32_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_try_lock_shared(...) \
	klock_checked_phase_fair_u32_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_phase_fair_u32_try_lock_shared_irqsave(...) \
	klock_checked_phase_fair_u32_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_reader_8_lock(...) \
	klock_checked_reader_8_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_unlock(...) \
	klock_checked_reader_8_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_lock_irqsave(...) \
	klock_checked_reader_8_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_unlock_irqrestore(...) \
	klock_checked_reader_8_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_lock_shared(...) \
	klock_checked_reader_8_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_unlock_shared(...) \
	klock_checked_reader_8_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_lock_shared_irqsave(...) \
	klock_checked_reader_8_lock_shared_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_unlock_shared_irqrestore(...) \
	klock_checked_reader_8_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_try_lock_shared(...) \
	klock_checked_reader_8_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_8_try_lock_shared_irqsave(...) \
	klock_checked_reader_8_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_reader_64_lock(...) \
	klock_checked_reader_64_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_unlock(...) \
	klock_checked_reader_64_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_lock_irqsave(...) \
	klock_checked_reader_64_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_unlock_irqrestore(...) \
	klock_checked_reader_64_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_lock_shared(...) \
	klock_checked_reader_64_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_unlock_shared(...) \
	klock_checked_reader_64_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_lock_shared_irqsave(...) \
	klock_checked_reader_64_lock_shared_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_unlock_shared_irqrestore(...) \
	klock_checked_reader_64_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_try_lock_shared(...) \
	klock_checked_reader_64_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_64_try_lock_shared_irqsave(...) \
	klock_checked_reader_64_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

#define klock_checked_reader_256_lock(...) \
	klock_checked_reader_256_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_unlock(...) \
	klock_checked_reader_256_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_lock_irqsave(...) \
	klock_checked_reader_256_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_unlock_irqrestore(...) \
	klock_checked_reader_256_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_lock_shared(...) \
	klock_checked_reader_256_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_unlock_shared(...) \
	klock_checked_reader_256_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_lock_shared_irqsave(...) \
	klock_checked_reader_256_lock_shared_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_unlock_shared_irqrestore(...) \
	klock_checked_reader_256_unlock_shared_irqrestore_at( \
		__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_try_lock_shared(...) \
	klock_checked_reader_256_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_checked_reader_256_try_lock_shared_irqsave(...) \
	klock_checked_reader_256_try_lock_shared_irqsave_at( \
		__VA_ARGS__, KLOCK_HERE)

/* clang-format on */
