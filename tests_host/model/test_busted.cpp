/* SPDX-License-Identifier: MIT */
/*
 * Locks that are wrong on purpose: each must be found. What passes these tests
 * tests nothing.
 */
#include "lock_worlds.hpp"

#include <klock/selftest/busted.hpp>

#include <catch.hpp>

using namespace klock::selftest;
using namespace worlds;

namespace {

/* In ever larger clients until something is wrong. */
model::result hunt(const kind &k)
{
	const std::vector<std::vector<unsigned>> sizes = {
		{1, 1}, {2, 2}, {1, 1, 1}, {2, 1, 1}, {2, 2, 2}, {4, 1}};
	model::result r;

	for (const auto &sections : sizes) {
		r = exclusion(k, {.sections = sections});
		if (!r.ok())
			return r;
		if (k.by.try_lock) {
			r = tries_mixed_in(k, {.sections = sections});
			if (!r.ok())
				return r;
		}
	}
	if (k.by.try_lock)
		r = tries_mixed_in(k, {.sections = {1, 4}});
	if (k.timed)
		for (const unsigned patient : {0u, 1u})
			if (r.ok())
				r = gives_up(k, {.sections = {1, 4},
						 .patient = patient});
	return r;
}

} // namespace

TEST_CASE("busted: every mutant is found")
{
	for (const kind &k : kinds_of<busted_locks>()) {
		if (!(k.found_in & in_model))
			continue;
		model::result r;
		if (queues(k.order_of_service))
			r = first_come_first_served(k);
		if (r.ok())
			r = hunt(k);
		if (r.ok())
			r = ended_by_the_last(k, {.sections = {1, 1, 1}});

		INFO(k.name << ": " << k.mistake << ", " << r.complete);
		CHECK_FALSE(r.ok());
		CHECK_FALSE(r.timeline.empty());
	}
}

TEST_CASE("busted: an unlock that goes on after it has released, and only that")
{
	using root_first = subject<"", busted::root_first, service::none>;

	/* Only a user that ends the lock's life can see the fault. */
	CHECK(hunt(kind_of<root_first>).ok());
	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1, 1}, {1, 1, 1, 1}}) {
		const model::result r = ended_by_the_last(
			kind_of<root_first>, {.sections = sections});
		CHECK(r.found == model::bug::dead_object);
	}
}

/* -- Mistakes that are no lock of a list -------------------------------------
 */

namespace {

/*
 * Burns and Lynch (Information and Computation 107(2), 1993): n CPUs need n
 * registers to exclude each other by loads and stores. Three attempts with one
 * for two CPUs, each of which looks right at a glance.
 */
struct one_register {
	[[maybe_unused]] static constexpr klock::u64 max_contenders = 2;

	/* Free, then mine. */
	void lock(unsigned cpu)
	{
		holder.await_acquire([](u8 v) { return v == 0; });
		holder.store_seq_cst(static_cast<u8>(cpu + 1));
		klock::fence_seq_cst();
	}
	void unlock(unsigned) { holder.store_release(0); }

	klock::atomic<u8> holder;
};

/* Free, then mine, and still mine when looked at again. */
struct one_register_looked_at_again {
	[[maybe_unused]] static constexpr klock::u64 max_contenders = 2;

	void lock(unsigned cpu)
	{
		const u8 me = static_cast<u8>(cpu + 1);

		do {
			holder.await_acquire([](u8 v) { return v == 0; });
			holder.store_seq_cst(me);
			klock::fence_seq_cst();
		} while (holder.load_seq_cst() != me);
	}
	void unlock(unsigned) { holder.store_release(0); }

	klock::atomic<u8> holder;
};

/* Alternates: it excludes, but a second entry in a row waits for ever. */
struct strict_turns {
	[[maybe_unused]] static constexpr klock::u64 max_contenders = 2;

	void lock(unsigned cpu) { turn.await_eq_acquire(static_cast<u8>(cpu)); }
	void unlock(unsigned cpu)
	{
		turn.store_release(static_cast<u8>(1 - cpu));
	}

	klock::atomic<u8> turn;
};

template <typename Lock>
using as_subject = subject<"one register", Lock, service::none>;

/* Peterson's lock without its fences. */
struct unfenced_peterson {
	[[maybe_unused]] static constexpr klock::u64 max_contenders = 2;

	void lock(unsigned cpu)
	{
		const u8 me = static_cast<u8>(cpu);

		wants[me].store_release(1);
		gives_way.store_release(me);
		wants[me ^ 1].await_either_acquire(
			[](u8 v) { return v == 0; }, gives_way,
			[me](u8 v) { return v != me; });
	}
	void unlock(unsigned cpu) { wants[cpu].store_release(0); }

	klock::atomic<u8> wants[2];
	klock::atomic<u8> gives_way;
};

/* An unlock that is not a release: what the critical section wrote stays
 * behind. */
struct relaxed_unlock {
	[[maybe_unused]] static constexpr klock::u64 max_contenders =
		~klock::u64{0};

	void lock()
	{
		taken.await_exchange_acquire(1, [](u8 v) { return v == 0; });
	}
	void unlock() { taken.store_relaxed(0); }

	klock::atomic<u8> taken;
};

/* A try_lock that gives up though the lock is free. */
struct timid_try {
	[[maybe_unused]] static constexpr klock::u64 max_contenders =
		~klock::u64{0};

	[[nodiscard]] bool try_lock()
	{
		if (comers.fetch_add_acquire(1) != 0) {
			(void)comers.fetch_add_relaxed(255);
			return false;
		}
		if (comers.load_relaxed() == 1)
			return true;
		(void)comers.fetch_add_relaxed(255);
		return false;
	}
	void lock() {}
	void unlock() { (void)comers.fetch_add_release(255); }

	klock::atomic<u8> comers;
};

} // namespace

TEST_CASE("busted: one register is not enough for two CPUs")
{
	const auto race = model::bug::data_race;

	CHECK(exclusion(kind_of<as_subject<one_register>>, {.sections = {1, 1}})
		      .found == race);
	CHECK(exclusion(kind_of<as_subject<one_register_looked_at_again>>,
			{.sections = {1, 1}})
		      .found == race);
	CHECK(exclusion(kind_of<as_subject<strict_turns>>, {.sections = {1, 1}})
		      .ok());
	CHECK(exclusion(kind_of<as_subject<strict_turns>>, {.sections = {3, 1}})
		      .found == model::bug::deadlock);
}

TEST_CASE("busted: orders that are missing altogether")
{
	const auto race = model::bug::data_race;

	CHECK(exclusion(kind_of<as_subject<unfenced_peterson>>,
			{.sections = {1, 1}})
		      .found == race);
	CHECK(exclusion(kind_of<as_subject<relaxed_unlock>>,
			{.sections = {1, 1}})
		      .found == race);
}

TEST_CASE("busted: a try_lock that fails while nobody holds the lock")
{
	CHECK(tries_only(kind_of<as_subject<timid_try>>, {.sections = {1, 1}})
		      .found == model::bug::failed_check);
}
