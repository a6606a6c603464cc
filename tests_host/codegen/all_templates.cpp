/* SPDX-License-Identifier: MIT */
/*
 * all_templates - what is a template and no lock, for one lock of each kind
 *
 * Compiled, and no more: a template has no warnings before it is used.
 */
#include <klock/atomic.hpp>
#include <klock/calibrate.hpp>
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/once.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/synchronized.hpp>

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
