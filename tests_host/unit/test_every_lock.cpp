/* SPDX-License-Identifier: MIT */
/*
 * Tests of the promises that every lock of the list keeps.
 */
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

#include "../widths.hpp"
#include "line.hpp"
#include "stepper.hpp"

#include <catch.hpp>

#include <iterator>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
using namespace klock;
using namespace unit;

using subjects = widths_of<selftest::all_locks<4>>;

namespace every_tests {

template <typename L>
static constinit L in_static_storage;
template <typename L>
static constinit L never_used;

/* Calls test(name, lock, its bytes, how many) for each of the list. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static lock_of<L> lock(in_static_storage<L>);

		test(Subject::name, lock, &in_static_storage<L>, sizeof(L));
	});
}

TEST_CASE("every lock: constinit, not copied, not moved, destroyed by nothing")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		static_assert(!std::is_copy_constructible_v<L>);
		static_assert(!std::is_move_constructible_v<L>);
		static_assert(!std::is_copy_assignable_v<L>);
		static_assert(!std::is_move_assignable_v<L>);
		static_assert(std::is_trivially_destructible_v<L>);
		static_assert(std::is_standard_layout_v<L>);
		static_assert(
			std::is_same_v<decltype(L::max_contenders), const u64>);
	});
	for_each_lock([](const char *name, some_lock &lock, void *, usize) {
		INFO(name);
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("every lock: sizes are what its header says")
{
	static_assert(sizeof(ticket_lock<u8>) == 2);
	static_assert(sizeof(ticket_lock<u16>) == 4);
	static_assert(sizeof(ticket_lock<u32>) == 8);
	static_assert(alignof(ticket_lock<u8>) == 2);
	static_assert(alignof(ticket_lock<u32>) == 8);
	static_assert(sizeof(narrow_ticket_lock<2>) == 1);
	static_assert(sizeof(narrow_ticket_lock<3>) == 1);
	static_assert(sizeof(narrow_ticket_lock<4>) == 1);
	static_assert(sizeof(padded_ticket_lock<u8>) == 2 * cache_line);
	static_assert(sizeof(padded_ticket_lock<u32>) == 2 * cache_line);
	static_assert(alignof(padded_ticket_lock<u8>) == cache_line);
	static_assert(sizeof(proportional_ticket_lock<u8>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u16>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u32>) == 16);
	static_assert(sizeof(tas_lock) == 1);
	static_assert(sizeof(ttas_lock) == 1);
	static_assert(sizeof(backoff_ttas_lock) == 1);
	static_assert(sizeof(anderson_lock<1>) == 2 * cache_line);
	static_assert(sizeof(anderson_lock<7>) == 8 * cache_line);
	static_assert(alignof(anderson_lock<7>) == cache_line);
	static_assert(sizeof(graunke_thakkar_lock<1>) == 2 * cache_line);
	static_assert(sizeof(graunke_thakkar_lock<7>) == 8 * cache_line);
	static_assert(sizeof(timeout_lock<1>) == 3 * cache_line);
	static_assert(sizeof(timeout_lock<2>) == 5 * cache_line);
	static_assert(sizeof(timeout_lock<3>) == 8 * cache_line);
	static_assert(sizeof(timeout_lock<8>) == 17 * cache_line);
	static_assert(alignof(timeout_lock<8>) == cache_line);
	static_assert(sizeof(mcs_lock) == sizeof(void *));
	static_assert(sizeof(mcs_node) == 2 * sizeof(void *));
	static_assert(sizeof(clh_lock) == 2 * cache_line);
	static_assert(sizeof(clh_node) == 2 * cache_line);
	static_assert(sizeof(clh_cell) == 1);
	static_assert(sizeof(queued_lock<1>) == 4);
	static_assert(sizeof(queued_lock<16383>) == 4);
	static_assert(sizeof(queued_cpu) == cache_line);
	static_assert(alignof(queued_cpu) == cache_line);
	static_assert(sizeof(peterson_lock) == 3);
	static_assert(sizeof(tournament_lock<2>) == 3);
	static_assert(sizeof(tournament_lock<3>) == 6);
	static_assert(sizeof(tournament_lock<8>) == 21);
	static_assert(sizeof(tournament_lock<255>) == 3 * 254);
	static_assert(sizeof(bakery_lock<2>) == 2 * sizeof(u32));
	static_assert(sizeof(bakery_lock<255>) == 255 * sizeof(u32));
	static_assert(sizeof(rw_ticket_lock<u8>) == 4);
	static_assert(sizeof(rw_ticket_lock<u16>) == 8);
	static_assert(alignof(rw_ticket_lock<u8>) == 4);
	static_assert(alignof(rw_ticket_lock<u16>) == 8);
	static_assert(sizeof(phase_fair_lock<u8>) == 4);
	static_assert(sizeof(phase_fair_lock<u16>) == 8);
	static_assert(alignof(phase_fair_lock<u8>) == 4);
	static_assert(alignof(phase_fair_lock<u16>) == 8);
	static_assert(sizeof(reader_lock<1>) == 2 * cache_line);
	static_assert(sizeof(reader_lock<4>) == 5 * cache_line);
	static_assert(alignof(reader_lock<4>) == cache_line);

	/* Burns and Lynch: by loads and stores, no fewer registers than CPUs.
	 */
	static_assert(sizeof(tournament_lock<2>) >= 2);

	const auto check = [](const std::string_view name, const void *at,
			      usize size) {
		const bool is_zero = name != "clh_lock" &&
				     name != "anderson_lock" &&
				     !name.starts_with("proportional");
		const bool found = bytes_at(at, size) == std::vector<u8>(size);

		INFO(name);
		CHECK(found == is_zero);
	};

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		check(Subject::name, &never_used<L>, sizeof(L));
	});
}

TEST_CASE("every lock: the narrowest that is safe, by the number of contenders")
{
	static_assert(same_as<ticket_lock_for<1>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<256>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<257>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65536>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65537>, ticket_lock<u32>>);
	static_assert(same_as<ticket_lock_for<u64{1} << 32>, ticket_lock<u32>>);
	static_assert(same_as<rw_ticket_lock_for<1>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<256>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<257>, rw_ticket_lock<u16>>);
	SUCCEED();
}

TEST_CASE("every lock: is taken in exactly one way")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		static_assert(plain_lock<L> + node_lock<L> + cpu_lock<L> == 1);
	});
	SUCCEED();
}

TEST_CASE("every lock: all CPUs, one after another, again and again")
{
	/* Odd and even times in a row: some have two places in turn. */
	static constexpr unsigned cpus[] = {0, 1, 1, 2, 2, 2, 3, 0, 1, 0, 0, 3};

	for_each_lock([](const char *name, some_lock &lock, void *, usize) {
		INFO(name);
		for (int i = 0; i < 600; i++) {
			const unsigned cpu = cpus[i % std::size(cpus)];

			/* peterson_lock has two. */
			if (cpu >= lock.contenders)
				continue;
			REQUIRE_FALSE(lock.is_locked());
			lock.lock(cpu);
			REQUIRE(lock.is_locked());
			REQUIRE_FALSE(lock.is_contended(cpu));
			lock.unlock(cpu);
		}
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("every lock: zero bytes are free, where the header says so")
{
	/* The headers of clh_lock and anderson_lock say that they are not. */
	unsigned from_zero = 0;

	for_each_lock([&](const std::string_view name, some_lock &lock,
			  void *bytes, usize size) {
		if (name == "clh_lock" || name == "anderson_lock")
			return;
		std::memset(bytes, 0, size);
		INFO(name);
		CHECK_FALSE(lock.is_locked());
		lock.lock();
		CHECK(lock.is_locked());
		lock.unlock();
		CHECK_FALSE(lock.is_locked());
		from_zero++;
	});
	CHECK(from_zero == selftest::all_locks<4>::size - 2);
}

} // namespace every_tests

/*
 * Every try_lock of the list takes a free lock, refuses one that is held,
 * writes nothing when it refuses, and is right whatever passes between any two
 * of its instructions.
 */
namespace try_tests {

/* Calls test.operator()<Subject>() for each lock that has a try_lock. */
template <typename Test>
static unsigned for_each_with_try_lock(Test test)
{
	unsigned tested = 0;

	subjects::for_each([&]<typename Subject>() {
		if constexpr (try_lockable<typename Subject::lock>) {
			test.template operator()<Subject>();
			tested++;
		}
	});
	return tested;
}

static void take_and_refuse(const char *name, some_lock &lock)
{
	INFO(name);
	/* Round the counters' wrap, where they are narrow. */
	for (int i = 0; i < 1000; i++) {
		REQUIRE(lock.try_lock(0));
		REQUIRE_FALSE(lock.try_lock(1));
		lock.unlock(0);
		lock.lock(0);
		REQUIRE_FALSE(lock.try_lock(1));
		lock.unlock(0);
	}
}

TEST_CASE("try_lock: takes a free lock, refuses a held one, always")
{
	const unsigned tested = for_each_with_try_lock([]<typename Subject>() {
		typename Subject::lock it;
		lock_of<typename Subject::lock> lock(it);

		take_and_refuse(Subject::name, lock);
	});
	CHECK(tested >= 12);
}

namespace {

/* A page of its own, so that a write to it can be forbidden. */
struct page {
	page()
	    : at(mmap(nullptr, size(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
	{
		REQUIRE(at != MAP_FAILED);
	}
	~page() { munmap(at, size()); }
	page(const page &) = delete;

	void forbid_writes() { REQUIRE(mprotect(at, size(), PROT_READ) == 0); }
	void allow_writes()
	{
		REQUIRE(mprotect(at, size(), PROT_READ | PROT_WRITE) == 0);
	}

	void *const at;

      private:
	static usize size()
	{
		return static_cast<usize>(sysconf(_SC_PAGESIZE));
	}
};

void refuse_without_a_write(const char *name, page &of, some_lock &lock)
{
	INFO(name);
	lock.lock(0);
	of.forbid_writes();
	const bool taken = lock.try_lock(1);
	of.allow_writes();
	CHECK_FALSE(taken);
	lock.unlock(0);
}

} // namespace

TEST_CASE("try_lock: writes nothing where it fails")
{
	/* A write, even of what is there, ends the test by SIGSEGV. */
	for_each_with_try_lock([]<typename Subject>() {
		page its;
		lock_of<typename Subject::lock> lock(
			*new (its.at) typename Subject::lock);

		refuse_without_a_write(Subject::name, its, lock);
	});
}

namespace {

/* The results of try_lock and of the calls that come in the middle of it. */
struct encounter {
	bool came;   /* try_lock was long enough for them to come */
	bool late;   /* it already had the lock */
	bool inside; /* they are inside */
	bool taken;  /* try_lock returned true */
};

} // namespace

/*
 * After try_lock's n-th instruction others have so many critical sections, and
 * stay in one more. After 2^bits - 1 the slot counter is again what it was.
 */
static encounter meet(some_lock &lock, unsigned long n, u64 sections)
{
	encounter e{};

	e.came = with_intrusion(
		n, [&] { e.taken = lock.try_lock(0); },
		[&] {
			e.late = !lock.try_lock(1);
			for (u64 i = 0; i < sections && !e.late; i++) {
				lock.unlock(1);
				lock.lock(1);
			}
			e.inside = !e.late;
		});
	return e;
}

/*
 * Between any two instructions; where a sanitizer has put a thousand of its own
 * among the lock's, at each fifth.
 */
#ifdef __SANITIZE_ADDRESS__
constexpr unsigned long stride = 5;
#else
constexpr unsigned long stride = 1;
#endif

/* One encounter at a fresh lock. */
using encounter_at = encounter (*)(unsigned long n, u64 sections);
template <typename L>
static encounter meet_at_fresh(unsigned long n, u64 sections)
{
	L it;
	lock_of<L> lock(it);

	return meet(lock, n, sections);
}

/* At how many places of try_lock others can come and two are then inside. */
static unsigned bad_places(encounter_at fresh, u64 sections)
{
	unsigned bad = 0, places = 0;

	for (unsigned long n = 1;; n += stride) {
		const encounter e = fresh(n, sections);
		if (!e.came || e.late)
			break;
		bad += e.inside && e.taken;
		places++;
	}
	CHECK(places > 3);
	return bad;
}

/* A whole wrap where there is one; there, and near it. */
static std::vector<u64> rounds_to_try(u64 capacity)
{
	if (capacity > 65536)
		return {0, 1, 2, 3, 255};
	return {0, 1, capacity - 2, capacity - 1, capacity, 2 * capacity - 1};
}

TEST_CASE("try_lock: others may pass between any two instructions (ABA)")
{
	const auto none_is_bad = [](const char *name, encounter_at fresh,
				    u64 capacity) {
		INFO(name);
		for (const u64 sections : rounds_to_try(capacity)) {
			CAPTURE(sections);
			CHECK(bad_places(fresh, sections) == 0);
		}
	};

	if (!can_step)
		return;
	for_each_with_try_lock([&]<typename Subject>() {
		none_is_bad(Subject::name,
			    meet_at_fresh<typename Subject::lock>,
			    Subject::capacity);
	});
}

TEST_CASE("try_lock: one that swaps next alone is found out by the same steps")
{
	struct busted : selftest::busted::aba_try_lock {
		/* This is never called. */
		bool is_locked() const { return false; }
	};
	constexpr u64 all = busted::max_contenders;

	if (!can_step)
		return;
	CHECK(bad_places(meet_at_fresh<busted>, all - 1) > 0);
	CHECK(bad_places(meet_at_fresh<busted>, all - 2) == 0);
}

} // namespace try_tests
