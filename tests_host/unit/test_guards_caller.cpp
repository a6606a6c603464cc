/* SPDX-License-Identifier: MIT */
/*
 * What a guard tells a checked lock: the caller's line, at the start and at the
 * end.
 */
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_pair_guard.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/pair_guard.hpp>
#include <klock/try_guard.hpp>

#include <catch.hpp>

#include "guards.hpp"

#include <string_view>

using namespace klock;

namespace {

/* The sites that a lock was told, by each of its verbs. */
struct told {
	void lock_at(call_site by) { locked = by; }
	void unlock_at(call_site by) { unlocked = by; }

	call_site locked{};
	call_site unlocked{};
};

struct told_lock : told {
	void lock(call_site by) { lock_at(by); }
	void unlock(call_site by) { unlock_at(by); }
	bool try_lock(call_site by)
	{
		lock_at(by);
		return true;
	}
	/* A lock that is checked has them without, too. */
	void lock() { lock_at({}); }
	void unlock() { unlock_at({}); }
	bool try_lock() { return false; }
};

struct told_node_lock : told {
	struct node {};
	static constexpr bool node_may_live_on_stack = true;

	void lock(node &, call_site by = {}) { lock_at(by); }
	void unlock(node &, call_site by = {}) { unlock_at(by); }
	bool try_lock(node &, call_site by = {})
	{
		lock_at(by);
		return true;
	}
};

struct told_cpu_lock : told {
	void lock(unsigned, call_site by = {}) { lock_at(by); }
	void unlock(unsigned, call_site by = {}) { unlock_at(by); }
	bool try_lock(unsigned, call_site by = {})
	{
		lock_at(by);
		return true;
	}
};

bool is_here(call_site site, int line)
{
	return site.line == line && site.file != nullptr &&
	       std::string_view(site.file) == __FILE__;
}

/* Guard of a lock of one kind; tells which line it was made in. */
template <template <typename> typename Guard, typename L>
void expect_own_line()
{
	L lock;
	int made = 0;
	{
		Guard<L> held(lock);
		made = __LINE__ - 1;
		CHECK(is_here(lock.locked, made));
		CHECK(lock.unlocked.file == nullptr);
	}
	CHECK(is_here(lock.unlocked, made));
	{
		Guard<L> held(lock);
		held.unlock();
		made = __LINE__ - 1;
		CHECK(is_here(lock.unlocked, made));
	}
	CHECK(is_here(lock.unlocked, made));
}

} // namespace

TEMPLATE_TEST_CASE("guards: tell lock() and unlock() of a checked lock the "
		   "line of the guard, or of its unlock()",
		   "", told_lock, told_node_lock, told_cpu_lock)
{
	expect_own_line<guard, TestType>();
	expect_own_line<irq_guard, TestType>();
	expect_own_line<try_guard, TestType>();
	expect_own_line<irq_try_guard, TestType>();
}

TEMPLATE_TEST_CASE("pair_guard: both locks are told its line", "", told_lock,
		   told_node_lock, told_cpu_lock)
{
	TestType a;
	told_lock b;
	int made = 0;
	{
		pair_guard held(a, b);
		made = __LINE__ - 1;
	}
	for (const told *lock :
	     {static_cast<told *>(&a), static_cast<told *>(&b)}) {
		CHECK(is_here(lock->locked, made));
		CHECK(is_here(lock->unlocked, made));
	}
	{
		irq_pair_guard held(b, a);
		held.unlock();
		made = __LINE__ - 1;
	}
	CHECK(is_here(a.unlocked, made));
	CHECK(is_here(b.unlocked, made));
}

TEST_CASE("guard: adopting, tells the line of the guard")
{
	told_lock lock;
	int made = 0;
	{
		guard held(lock, adopt);
		made = __LINE__ - 1;
	}
	CHECK(lock.locked.file == nullptr);
	CHECK(is_here(lock.unlocked, made));
}

/* A kernel's own function around a guard can pass its caller on. */
static int locked_at(told_lock &lock, call_site by)
{
	guard held(at(lock, by));

	return lock.locked.line;
}

TEST_CASE("guard: can be given the caller")
{
	told_lock lock;

	CHECK(locked_at(lock, {"elsewhere.cpp", 7}) == 7);
	CHECK(lock.unlocked.line == 7);
}
