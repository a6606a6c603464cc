/* SPDX-License-Identifier: MIT */
/*
 * What is promised of every lock of the list, whatever its algorithm.
 */
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

#include "../widths.hpp"
#include "line.hpp"
#include "stepper.hpp"

#include <catch.hpp>

#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
using namespace klock;
using namespace unit;

/*
 * What is promised of every lock of the list, whatever its algorithm.
 */
using subjects = widths_of<selftest::all_locks<4>>;

namespace every_tests {

template <typename L>
static constinit L in_static_storage;

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
		INFO(Subject::name);
		CHECK_FALSE(in_static_storage<L>.is_locked());
	});
}

TEST_CASE("every lock: is taken in exactly one way")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		static_assert(plain_lock<L> + node_lock<L> + cpu_lock<L> == 1);
	});
	SUCCEED();
}

TEST_CASE("every lock: has a try_lock where one would be right, and only there")
{
	static_assert(!try_lockable<anderson_lock<4>>);
	static_assert(!try_lockable<graunke_thakkar_lock<4>>);
	static_assert(!try_lockable<padded_ticket_lock<u8>>);
	static_assert(!try_lockable<clh_lock>);
	SUCCEED();
}

TEST_CASE("every lock: is_locked says what happens, again and again")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		static typename Subject::lock lock;
		static selftest::contender<typename Subject::lock> mine(1);

		INFO(Subject::name);
		for (int i = 0; i < 600; i++) {
			mine.lock(lock);
			REQUIRE(lock.is_locked());
			mine.unlock(lock);
			REQUIRE_FALSE(lock.is_locked());
		}
	});
}

TEST_CASE("every lock: zero bytes are free, where the header says so")
{
	/* Who says that they are not: clh_lock, anderson_lock. */
	unsigned from_zero = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		const std::string_view name = Subject::name;
		static L lock;
		static selftest::contender<L> mine(1);

		if (name == "clh_lock" || name == "anderson_lock")
			return;
		std::memset(static_cast<void *>(&lock), 0, sizeof(lock));
		INFO(name);
		CHECK_FALSE(lock.is_locked());
		mine.lock(lock);
		CHECK(lock.is_locked());
		mine.unlock(lock);
		CHECK_FALSE(lock.is_locked());
		from_zero++;
	});
	CHECK(from_zero == selftest::all_locks<4>::size - 2);
}

TEST_CASE("every lock: std::scoped_lock takes those without node or number")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (plain_lock<L>) {
			INFO(Subject::name);
			static L lock;
			{
				std::scoped_lock held(lock);
				CHECK(lock.is_locked());
			}
			CHECK_FALSE(lock.is_locked());
		}
		if constexpr (plain_lock<L> && try_lockable<L>) {
			static L another, third;
			{
				std::scoped_lock both(another, third);
				CHECK(another.is_locked());
				CHECK(third.is_locked());
			}
			std::unique_lock maybe(another, std::try_to_lock);
			CHECK(maybe.owns_lock());
		}
	});
}

} // namespace every_tests

/*
 * What every try_lock of the list promises: it takes a free lock, refuses one
 * that is held, writes nothing where it refuses, and is right whatever passes
 * between any two of its instructions.
 */
namespace try_tests {

/* Calls test.operator()<Subject>() for each lock that has a try_lock. */
template <typename Test>
static unsigned for_each_with_try_lock(Test test)
{
	unsigned tested = 0;

	subjects::for_each([&]<typename Subject>() {
		if constexpr (try_lockable<typename Subject::lock>) {
			INFO(Subject::name);
			test.template operator()<Subject>();
			tested++;
		}
	});
	return tested;
}

TEST_CASE("try_lock: takes a free lock, refuses a held one, always")
{
	const unsigned tested = for_each_with_try_lock([]<typename Subject>() {
		typename Subject::lock lock;
		selftest::contender<typename Subject::lock> mine(0), other(1);

		/* Round the counters' wrap, where they are narrow. */
		for (int i = 0; i < 1000; i++) {
			REQUIRE(mine.try_lock(lock));
			REQUIRE_FALSE(other.try_lock(lock));
			mine.unlock(lock);
			mine.lock(lock);
			REQUIRE_FALSE(other.try_lock(lock));
			mine.unlock(lock);
		}
	});
	CHECK(tested >= 12);
}

namespace {

/* A page of its own, so that a write to it can be forbidden. */
template <typename T>
struct on_a_page {
	on_a_page()
	    : page(mmap(nullptr, size(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
	{
		REQUIRE(page != MAP_FAILED);
		object = new (page) T;
	}
	~on_a_page() { munmap(page, size()); }
	on_a_page(const on_a_page &) = delete;

	void forbid_writes()
	{
		REQUIRE(mprotect(page, size(), PROT_READ) == 0);
	}
	void allow_writes()
	{
		REQUIRE(mprotect(page, size(), PROT_READ | PROT_WRITE) == 0);
	}

	T *object;

      private:
	static usize size()
	{
		return static_cast<usize>(sysconf(_SC_PAGESIZE));
	}
	void *page;
};

} // namespace

TEST_CASE("try_lock: writes nothing where it fails")
{
	/* A write, even of what is there, ends the test by SIGSEGV. */
	for_each_with_try_lock([]<typename Subject>() {
		on_a_page<typename Subject::lock> page;
		selftest::contender<typename Subject::lock> mine(0), other(1);

		mine.lock(*page.object);
		page.forbid_writes();
		const bool taken = other.try_lock(*page.object);
		page.allow_writes();
		CHECK_FALSE(taken);
		mine.unlock(*page.object);
	});
}

namespace {

/* What try_lock and the others, who come in the middle of it, end up with. */
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
template <typename L>
static encounter meet(unsigned long n, u64 sections)
{
	L lock;
	selftest::contender<L> mine(0), other(1);
	encounter e{};

	e.came = with_intrusion(
		n, [&] { e.taken = mine.try_lock(lock); },
		[&] {
			e.late = !other.try_lock(lock);
			for (u64 i = 0; i < sections && !e.late; i++) {
				other.unlock(lock);
				other.lock(lock);
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

/* At how many places of try_lock others can come and two are then inside. */
template <typename L>
static unsigned bad_places(u64 sections)
{
	unsigned bad = 0, places = 0;

	for (unsigned long n = 1;; n += stride) {
		const encounter e = meet<L>(n, sections);
		if (!e.came || e.late)
			break;
		bad += e.inside && e.taken;
		places++;
	}
	CHECK(places > 3);
	return bad;
}

/* A whole wrap where there is one; there, and near it. */
template <typename Subject>
static std::vector<u64> rounds_to_try()
{
	if (Subject::capacity > 65536)
		return {0, 1, 2, 3, 255};
	return {0,
		1,
		Subject::capacity - 2,
		Subject::capacity - 1,
		Subject::capacity,
		2 * Subject::capacity - 1};
}

TEST_CASE("try_lock: others may pass between any two instructions (ABA)")
{
	if (!can_step)
		return;
	for_each_with_try_lock([]<typename Subject>() {
		for (const u64 sections : rounds_to_try<Subject>()) {
			CAPTURE(sections);
			CHECK(bad_places<typename Subject::lock>(sections) ==
			      0);
		}
	});
}

TEST_CASE("try_lock: one that swaps next alone is found out by the same steps")
{
	using busted = selftest::busted::aba_try_lock;

	if (!can_step)
		return;
	CHECK(bad_places<busted>(busted::max_contenders - 1) > 0);
	CHECK(bad_places<busted>(busted::max_contenders - 2) == 0);
}

} // namespace try_tests
