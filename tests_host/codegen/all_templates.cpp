/* SPDX-License-Identifier: MIT */
/*
 * all_templates - what is a template and no lock, for one lock of each kind
 *
 * Compiled, and no more: a template has no warnings before it is used. And the
 * sizes that headers state for 32 bits: unit tests run on 64.
 */
#include <klock/atomic.hpp>
#include <klock/byte_mutex.hpp>
#include <klock/calibrate.hpp>
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/futex.hpp>
#include <klock/guard.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq_depth.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/mutex.hpp>
#include <klock/once.hpp>
#include <klock/plain.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/semaphore.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/synchronized.hpp>
#include <klock/too_long.hpp>
#include <klock/wait_queue.hpp>

using klock::bakery_lock;
using klock::mcs_lock;
using klock::ticket_lock;
using klock::u16;
using klock::u32;
using klock::u8;
using klock::selftest::service;
using klock::selftest::subject;

using by_ticket = subject<"ticket", ticket_lock<u8>, service::fifo>;
using by_node = subject<"mcs", mcs_lock, service::fifo>;
using by_number = subject<"bakery", bakery_lock<8>, service::fifo>;

template struct klock::atomic_pair<u8>;
template struct klock::atomic_pair<u16>;
template struct klock::atomic_pair<u32>;
template struct klock::atomic_fields<u8, 3>;
template struct klock::atomic_fields<u8, 4>;
template struct klock::atomic_fields<u16, 3>;
template struct klock::atomic_fields<u16, 4>;
template struct klock::plain<short>;
static constinit klock::futex_table<4> words;
template struct klock::patient_byte_mutex<words>;

/* Words of each width. */
struct three_shorts {
	u16 a, b, c;
};
struct pair_of_words {
	klock::usize a, b;
};
template struct klock::seq_lock<u8>;
template struct klock::seq_lock<three_shorts>;
template struct klock::seq_lock<pair_of_words>;
template struct klock::checked_lock<klock::seq_lock<three_shorts>, "clock">;
template struct klock::seq_latch<pair_of_words>;
template struct klock::lazy<three_shorts>;
template struct klock::irq_lock<ticket_lock<u8>>;
template struct klock::thread_lock<mcs_lock>;
template struct klock::synchronized<three_shorts, ticket_lock<u8>>;
template struct klock::synchronized<u32, klock::irq_lock<mcs_lock>>;

namespace {

/* A u64 lies at a multiple of 8, or as on 32-bit x86 at one of 4. */
struct with_u64 {
	u8 first;
	klock::u64 second;
};

/* Aligned: on 32 bits, where a u64 lies at a multiple of 8. */
template <typename T, klock::usize On64, klock::usize On32,
	  klock::usize Aligned = On32>
constexpr bool has_bytes = sizeof(T) == (sizeof(void *) == 8	  ? On64
					 : sizeof(with_u64) == 16 ? Aligned
								  : On32);

constinit klock::section_maxima<1> maxima;
using timed = klock::timed_lock<ticket_lock<u16>, maxima>;
using small = klock::recursive_lock<ticket_lock<u8>>;
using large = klock::recursive_lock<klock::preemptable_ticket_lock<u16>>;

static_assert(has_bytes<klock::lock_usage, 96, 68>);
static_assert(has_bytes<klock::lock_counts, 56, 36>);
static_assert(has_bytes<timed, 8 + 40, 4 + 28, 8 + 32>);
static_assert(has_bytes<klock::held_locks, 832, 640>);
static_assert(has_bytes<klock::irq_depth, 16, 8>);
static_assert(has_bytes<klock::once, 8, 4>);
static_assert(has_bytes<small, 16, 12>);
static_assert(has_bytes<large, 16, 12>);
static_assert(has_bytes<klock::mutex, 16, 8>);
static_assert(has_bytes<klock::shared_mutex, 16, 12>);
static_assert(has_bytes<klock::semaphore, 16, 12>);
static_assert(has_bytes<klock::completion, 16, 8>);
static_assert(has_bytes<klock::condition, 16, 8>);
static_assert(has_bytes<klock::wait_queue, 16, 8>);
static_assert(has_bytes<klock::sleeper, 32, 16>);
static_assert(has_bytes<klock::futex_table<>::waiter, 64, 36>);
static_assert(has_bytes<klock::byte_mutex<words>, 1, 1>);
static_assert(has_bytes<klock::inheriting_mutex, 24, 12>);
static_assert(has_bytes<klock::inheriting_thread, 40, 24>);
static_assert(has_bytes<klock::detail::lender, 48, 24>);

template <typename Lock>
void take(Lock &lock, klock::selftest::contender<Lock> &by)
{
	by.lock(lock);
	by.unlock(lock);
	{
		klock::guard held(lock);
	}
	klock::irq_guard held(lock);
}

template <typename Subject>
void use(unsigned cpu)
{
	using lock = typename Subject::lock;
	using checked = klock::checked_lock<lock>;
	static lock plain_one;
	static checked checked_one;
	static klock::selftest::contender<lock> by;
	static klock::selftest::contender<checked> by_checked;
	static klock::selftest::torture<Subject, 8> torture;
	static klock::selftest::measurement<Subject, 8> measurement;
	static klock::selftest::tally tallies[8];

	take(plain_one, by);
	take(checked_one, by_checked);
	torture.prepare({});
	torture.run(cpu);
	(void)torture.outcome();
	measurement.prepare({}, tallies);
	measurement.run(cpu);
	static klock::selftest::figures figures;
	measurement.outcome(figures);
}

} // namespace

void klock_use_all(unsigned cpu)
{
	use<by_ticket>(cpu);
	use<by_node>(cpu);
	use<by_number>(cpu);
}

u32 klock_calibrated(klock::handoff_meter &meter)
{
	return klock::calibrate(meter).relax;
}
