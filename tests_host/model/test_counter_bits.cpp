/* SPDX-License-Identifier: MIT */
/*
 * Counters that wrap at a few bits: what a lock computes from them wraps there,
 * too, where it is computed by klock::distance() and klock::successor().
 */
#include "lock_cases.hpp"

#include <klock/counter.hpp>

using namespace klock::selftest;
using namespace worlds;

namespace {

/* Arithmetic as the guide has it, and as it was before. */
struct by_klock {
	static u8 distance(u8 from, u8 to) { return klock::distance(from, to); }
	static u8 successor(u8 of) { return klock::successor(of); }
};

struct by_hand {
	static u8 distance(u8 from, u8 to)
	{
		return static_cast<u8>(to - from);
	}
	static u8 successor(u8 of) { return static_cast<u8>(of + 1); }
};

/*
 * A ticket lock that decides by distances: the first waiter gets ready, and the
 * holder hands over to none that is not.
 */
template <typename Arithmetic>
struct ready_lock : Arithmetic {
	static constexpr u64 max_contenders = 256;

	void lock()
	{
		const u8 mine = next.fetch_add_acq_rel(1);

		owner.await_acquire([mine](u8 now) {
			return Arithmetic::distance(now, mine) <= 1;
		});
		ready[mine % 2].store_release(mine);
		owner.await_eq_acquire(mine);
	}

	void unlock()
	{
		const u8 mine = owner.load_relaxed();

		if (Arithmetic::distance(mine, next.load_relaxed()) > 1)
			wait_for(Arithmetic::successor(mine));
		owner.store_release(Arithmetic::successor(mine));
	}

      private:
	void wait_for(u8 first) { ready[first % 2].await_eq_acquire(first); }

	klock::atomic<u8> next, owner;
	klock::atomic<u8> ready[2]; /* two may say so at once */
};

template <typename Arithmetic>
using ready = subject<"ready_lock", ready_lock<Arithmetic>, service::fifo>;

const std::vector<unsigned> one_by_one[] = {{4, 1}, {3, 2}, {2, 2, 1}};

} // namespace

TEST_CASE("counter_bits: a lock that decides by distances")
{
	for (const auto &sections : one_by_one)
		for (const unsigned few : {0u, 2u, 3u})
			good(exclusion<ready<by_klock>>(
				{.sections = sections, .counter_bits = few}));

	/* Its own arithmetic is right, too: at the whole width alone. */
	good(exclusion<ready<by_hand>>({.sections = {4, 1}}));
	CHECK(exclusion<ready<by_hand>>({.sections = {4, 1}, .counter_bits = 2})
		      .found == model::bug::deadlock);
}

namespace {

/* What a lock says of itself while one CPU takes it again and again. */
template <typename Lock>
result hints(unsigned few)
{
	struct world {
		Lock lock;
		klock::atomic<u8> next;
	};

	return model::explore<world>(
		{.sections = {9}, .counter_bits = few},
		[](world &w, unsigned) {
			w.lock.lock();
			model::check(w.lock.is_locked(), "locked");
			model::check(!w.lock.is_contended(), "uncontended");
			w.lock.unlock();
			model::check(!w.lock.is_locked(), "free");
		},
		[](world &w) {
			w.lock.lock();
			model::check(!w.lock.is_contended(), "as it ends");
		});
}

} // namespace

TEST_CASE("counter_bits: the tickets' hints at the wrap")
{
	const auto passes = []<typename Lock>() {
		for (const unsigned few : {0u, 2u, 3u}) {
			const result r = hints<Lock>(few);
			INFO(few << " bits\n" << r.timeline);
			CHECK(r.ok());
			CHECK(r.complete == 1);
		}
	};

	passes.template operator()<klock::ticket_lock<u8>>();
	passes.template operator()<klock::ticket_lock<klock::u32>>();
	passes.template operator()<klock::padded_ticket_lock<u8>>();
	passes.template operator()<klock::padded_ticket_lock<klock::u16>>();
	passes.template operator()<klock::proportional_ticket_lock<u8>>();
}

TEST_CASE("counter_bits: outside of an exploration, counters are whole")
{
	CHECK(hints<klock::ticket_lock<u8>>(2).ok());
	CHECK(klock::distance<u8>(3, 0) == 253);
	CHECK(klock::successor<klock::u16>(0xffff) == 0);
	CHECK(klock::successor<klock::u16>(0xff) == 0x100);
	static_assert(klock::distance<u8>(255, 1) == 2);
	static_assert(klock::successor<u8>(255) == 0);
}

TEST_CASE("counter_bits: which locks count, and which say that they do not")
{
	using klock::ticket_lock;
	using as_it_is = subject<"", ticket_lock<u8>, service::fifo>;
	using opted_out = subject<"", ticket_lock<u8>, service::fifo, "why">;
	unsigned counting = 0, whole = 0;

	CHECK(bits<as_it_is>(2) == 2);
	CHECK(bits<opted_out>(2) == 0);
	all_locks<3>::for_each([&]<typename Subject>() {
		INFO(Subject::name << ": " << Subject::whole_because);
		counting += bits<Subject>(2) != 0;
		if (!*Subject::whole_because)
			return;
		/* A reason that holds: with narrow counters it goes wrong. */
		whole++;
		CHECK(bits<Subject>(2) == 0);
		CHECK_FALSE(exclusion<Subject>(
				    {.sections = {4, 1}, .counter_bits = 2})
				    .ok());
	});
	CHECK(counting == 12);
	CHECK(whole == 5);
}
