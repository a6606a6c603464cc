/* SPDX-License-Identifier: MIT */
/*
 * Each member of klock.h's structures lies where the C++ lock has its own.
 *
 * Only compiled, with -fno-access-control: the members are private.
 */
#include <klock/c_checked_lock.hpp>
#include <klock/c_counted_lock.hpp>

#define AT(type, member) __builtin_offsetof(type, member)

using namespace klock;

static_assert(AT(klock_mcs, klock_tail) == AT(mcs_lock, tail));
static_assert(AT(klock_mcs_node, klock_next) == AT(mcs_node, next));
static_assert(AT(klock_mcs_node, klock_waits) == AT(mcs_node, waits));
static_assert(AT(klock_clh, klock_tail) == AT(clh_lock, tail));
static_assert(AT(klock_clh, klock_first) == AT(clh_lock, first));
static_assert(AT(klock_clh_cell, klock_busy) == AT(clh_cell, busy));
static_assert(AT(klock_clh_node, klock_first) == AT(clh_node, first));
static_assert(AT(klock_clh_node, klock_mine) == AT(clh_node, mine));
static_assert(AT(klock_clh_node, klock_queued) == AT(clh_node, queued));
static_assert(AT(klock_tas, klock_taken) == AT(tas_lock, taken));
static_assert(AT(klock_ttas, klock_taken) == AT(ttas_lock, taken));
static_assert(AT(klock_tas_u32, klock_taken) == AT(sized_tas_lock<u32>, taken));
static_assert(AT(klock_ttas_u32, klock_taken) ==
	      AT(sized_ttas_lock<u32>, taken));
static_assert(AT(klock_backoff_ttas, klock_taken) ==
	      AT(backoff_ttas_lock, inner));

static_assert(AT(klock_narrow_ticket_2, klock_byte) ==
	      AT(narrow_ticket_lock<2>, byte));
static_assert(AT(klock_narrow_ticket_3, klock_byte) ==
	      AT(narrow_ticket_lock<3>, byte));
static_assert(AT(klock_narrow_ticket_4, klock_byte) ==
	      AT(narrow_ticket_lock<4>, byte));

static_assert(AT(klock_seq_count, klock_sequence) == AT(seq_count, sequence));
static_assert(AT(klock_once, klock_state) == AT(once, state));
static_assert(AT(klock_irq_depth, klock_before) == AT(irq_depth, before));
static_assert(AT(klock_irq_depth, klock_depth) == AT(irq_depth, depth));
static_assert(AT(klock_barrier, klock_arrived) == AT(spin_barrier, arrived));
static_assert(AT(klock_barrier, klock_generation) ==
	      AT(spin_barrier, generation));

template <typename C, unsigned Cpus>
constexpr bool same_marks()
{
	using lock = reader_lock<Cpus>;

	return AT(C, klock_word) == AT(lock, word) &&
	       AT(C, klock_marks) == AT(lock, marks) &&
	       AT(C, klock_marks[1]) == AT(lock, marks[1]) &&
	       AT(klock_reader_line, klock_reading) ==
		       AT(typename lock::line, reading);
}
static_assert(same_marks<klock_reader_8, 8>());
static_assert(same_marks<klock_reader_64, 64>());
static_assert(same_marks<klock_reader_256, 256>());

template <typename C, unsigned Cpus>
constexpr bool same_registers()
{
	return AT(C, klock_number) == AT(bakery_lock<Cpus>, number) &&
	       AT(C, klock_number[1]) == AT(bakery_lock<Cpus>, number[1]);
}
static_assert(same_registers<klock_bakery_4, 4>());
static_assert(same_registers<klock_bakery_8, 8>());
static_assert(same_registers<klock_bakery_16, 16>());
static_assert(same_registers<klock_bakery_32, 32>());
static_assert(same_registers<klock_bakery_64, 64>());

template <typename C, unsigned Cpus>
constexpr bool same_ring()
{
	using lock = timeout_lock<Cpus>;

	return AT(C, klock_next) == AT(lock, next) &&
	       AT(C, klock_slots) == AT(lock, slots) &&
	       AT(C, klock_slots[1]) == AT(lock, slots[1]) &&
	       AT(C, klock_records) == AT(lock, records) &&
	       AT(C, klock_records[1]) == AT(lock, records[1]) &&
	       AT(klock_timeout_slot, klock_place) ==
		       AT(typename lock::slot_line, state) &&
	       AT(klock_timeout_record, klock_ticket) ==
		       AT(typename lock::record, ticket) &&
	       AT(klock_timeout_record, klock_stands) ==
		       AT(typename lock::record, status);
}
static_assert(same_ring<klock_timeout_8, 8>());
static_assert(same_ring<klock_timeout_64, 64>());

template <typename C, typename Counter>
constexpr bool same_lines()
{
	using lock = padded_ticket_lock<Counter>;

	return AT(C, klock_next) == AT(lock, next) &&
	       AT(C, klock_owner) == AT(lock, owner);
}
static_assert(same_lines<klock_padded_ticket_u8, u8>());
static_assert(same_lines<klock_padded_ticket_u16, u16>());
static_assert(same_lines<klock_padded_ticket_u32, u32>());

template <typename C, typename Counter>
constexpr bool same_turn()
{
	using lock = preemptable_ticket_lock<Counter>;

	return AT(C, klock_next) == AT(lock, next) &&
	       AT(C, klock_state) == AT(lock, state);
}
static_assert(same_turn<klock_preemptable_ticket_u8, u8>());
static_assert(same_turn<klock_preemptable_ticket_u16, u16>());

template <typename C, typename Inner>
constexpr bool same_owner()
{
	using lock = recursive_lock<Inner>;

	return AT(C, klock_inner) == AT(lock, inner) &&
	       AT(C, klock_deep) == AT(lock, deep) &&
	       AT(C, klock_owner) == AT(lock, owner_plus_1);
}
static_assert(same_owner<klock_recursive_ticket_u8, ticket_lock<u8>>());
static_assert(same_owner<klock_recursive_ticket_u16, ticket_lock<u16>>());
static_assert(same_owner<klock_recursive_preemptable_ticket_u8,
			 preemptable_ticket_lock<u8>>());
static_assert(same_owner<klock_recursive_preemptable_ticket_u16,
			 preemptable_ticket_lock<u16>>());

template <typename C, unsigned Cpus>
constexpr bool same_word()
{
	using lock = queued_lock<Cpus>;

	return AT(C, klock_locked) == AT(lock, locked) &&
	       AT(C, klock_tail) == AT(lock, tail);
}
static_assert(same_word<klock_queued_64, 64>());
static_assert(same_word<klock_queued_256, 256>());

template <typename C, typename Counter>
constexpr bool same_base()
{
	using lock = proportional_ticket_lock<Counter>;

	return AT(C, klock_queue) == AT(lock, queue) &&
	       AT(C, klock_base) == AT(lock, base);
}
static_assert(same_base<klock_proportional_ticket_u8, u8>());
static_assert(same_base<klock_proportional_ticket_u16, u16>());
static_assert(same_base<klock_proportional_ticket_u32, u32>());

static_assert(AT(klock_usage, klock_name) == AT(lock_usage, name));

/* All have it before the lock inside. */
template <typename C>
constexpr bool same_inside()
{
	using lock = typename cpp_of<C>::type;

	return AT(C, klock_usage) == AT(lock, usage) &&
	       AT(C, klock_inner) == AT(lock, inner);
}
static_assert(same_inside<klock_checked_ticket_u8>());
static_assert(same_inside<klock_checked_ticket_u32>());
static_assert(same_inside<klock_checked_padded_ticket_u8>());
static_assert(same_inside<klock_checked_proportional_ticket_u32>());
static_assert(same_inside<klock_checked_tas>());
static_assert(same_inside<klock_checked_mcs>());
static_assert(same_inside<klock_checked_clh>());
static_assert(same_inside<klock_checked_bakery_4>());

static_assert(same_inside<klock_checked_mutex>());
static_assert(same_inside<klock_checked_inheriting_mutex>());

/* Locks without a holder: `usage` is behind `inner`, in a derived struct. */
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
template <typename C>
constexpr bool is_known_behind()
{
	using lock = typename cpp_of<C>::type;

	return AT(C, klock_usage) == AT(lock, usage) && AT(lock, inner) == 0;
}
static_assert(is_known_behind<klock_checked_semaphore>());
static_assert(is_known_behind<klock_checked_completion>());
static_assert(is_known_behind<klock_checked_condition>());
static_assert(is_known_behind<klock_checked_wait_queue>());

static_assert(AT(klock_mutex, klock_told) == AT(mutex, told));
static_assert(AT(klock_mutex, klock_word) == AT(mutex, word));
static_assert(sizeof(klock_mutex::klock_word) == sizeof(mutex::word));
static_assert(AT(klock_mutex, klock_queue) == AT(mutex, queue));
static_assert(klock_wait_had == static_cast<int>(wait_result::had));
static_assert(klock_wait_deadline == static_cast<int>(wait_result::deadline));
static_assert(klock_wait_killed == static_cast<int>(wait_result::killed));
static_assert(klock_wait_deadlock == static_cast<int>(wait_result::deadlock));
static_assert(klock_wait_too_deep == static_cast<int>(wait_result::too_deep));
static_assert(AT(klock_shared_mutex, klock_told) == AT(shared_mutex, told));
static_assert(AT(klock_shared_mutex, klock_word) == AT(shared_mutex, word));
static_assert(AT(klock_shared_mutex, klock_queue) == AT(shared_mutex, queue));
static_assert(AT(klock_inheriting_mutex, klock_word) ==
	      AT(inheriting_mutex, word));
static_assert(AT(klock_inheriting_mutex, klock_queue) ==
	      AT(inheriting_mutex, queue));
static_assert(AT(klock_inheriting_mutex, klock_next_wanted) ==
	      AT(inheriting_mutex, next_wanted));
static_assert(AT(klock_inheriting_thread, klock_base) ==
	      AT(inheriting_thread, base));
static_assert(AT(klock_inheriting_thread, klock_lent) ==
	      AT(inheriting_thread, lent));
static_assert(AT(klock_inheriting_thread, klock_waits) ==
	      AT(inheriting_thread, waits));
static_assert(AT(klock_inheriting_thread, klock_wanted) ==
	      AT(inheriting_thread, wanted));
static_assert(AT(klock_inheriting_thread, klock_domain) ==
	      AT(inheriting_thread, domain));
static_assert(AT(klock_inheriting_thread, klock_ended) ==
	      AT(inheriting_thread, ended));
static_assert(AT(klock_semaphore, klock_word) == AT(semaphore, word));
static_assert(AT(klock_semaphore, klock_queue) == AT(semaphore, queue));
static_assert(AT(klock_completion, klock_state) == AT(completion, state));
static_assert(AT(klock_completion, klock_queue) == AT(completion, queue));
static_assert(AT(klock_condition, klock_waited_for) ==
	      AT(condition, waited_for));
static_assert(AT(klock_condition, klock_queue) == AT(condition, queue));
static_assert(AT(klock_wait_queue, klock_queue) == AT(wait_queue, queue));

/* The fields that describe readers lie between the two. */
template <typename C>
constexpr bool same_readers()
{
	using lock = typename cpp_of<C>::type;

	return same_inside<C>() && AT(C, klock_shared) == AT(lock, readers);
}
static_assert(same_readers<klock_checked_rw_ticket_u8>());
static_assert(same_readers<klock_checked_rw_ticket_u16>());
static_assert(same_readers<klock_checked_phase_fair_u8>());
static_assert(same_readers<klock_checked_phase_fair_u16>());
static_assert(same_readers<klock_checked_reader_8>());
static_assert(same_readers<klock_checked_reader_64>());
static_assert(same_readers<klock_checked_shared_mutex>());
static_assert(AT(klock_shared_usage, klock_counts) ==
	      AT(shared_usage, contend));
static_assert(AT(klock_shared_usage, klock_in) == AT(shared_usage, in));
static_assert(AT(klock_shared_usage, klock_as) == AT(shared_usage, as));

/* A pair's first half is at the lower address (arch/CONTRACT.md). */
template <typename C, typename Counter>
constexpr bool same_pair()
{
	using lock = ticket_lock<Counter>;
	using cells = decltype(arch::field_cell<Counter, 2>::at);

	return AT(C, klock_next) ==
		       AT(lock, tickets) +
			       lock::next.number * sizeof(Counter) &&
	       AT(C, klock_owner) ==
		       AT(lock, tickets) +
			       lock::owner.number * sizeof(Counter) &&
	       sizeof(cells) == sizeof(C);
}
static_assert(same_pair<klock_ticket_u8, u8>());
static_assert(same_pair<klock_ticket_u16, u16>());
static_assert(same_pair<klock_ticket_u32, u32>());

/* As in a pair: one field behind the other. */
template <typename C, typename Counter>
constexpr bool same_sections()
{
	using lock = rw_ticket_lock<Counter>;
	using one = typename lock::sections;

	return AT(C, klock_completion) ==
		       lock::completion.number * sizeof(one) &&
	       AT(C, klock_request) == lock::request.number * sizeof(one) &&
	       AT(lock, counts) == 0;
}
static_assert(same_sections<klock_rw_ticket_u8, u8>());
static_assert(same_sections<klock_rw_ticket_u16, u16>());

template <typename C, typename Counter>
constexpr bool same_counts()
{
	using lock = phase_fair_lock<Counter>;

	return AT(C, klock_rin) == lock::rin.number * sizeof(Counter) &&
	       AT(C, klock_rout) == lock::rout.number * sizeof(Counter) &&
	       AT(C, klock_win) == lock::win.number * sizeof(Counter) &&
	       AT(C, klock_wout) == lock::wout.number * sizeof(Counter) &&
	       AT(lock, counts) == 0;
}
static_assert(same_counts<klock_phase_fair_u8, u8>());
static_assert(same_counts<klock_phase_fair_u16, u16>());

static_assert(AT(klock_counts, klock_name) == AT(lock_counts, called));
static_assert(sizeof(klock_counts) == sizeof(lock_counts));
static_assert(sizeof(klock_waits) == sizeof(wait_counts));
/* Where they lie in a lock test_counted.c shows, by the name. */
static_assert(sizeof(klock_shared_counts) == sizeof(shared_counts));
