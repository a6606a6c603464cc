/* SPDX-License-Identifier: MIT */
/*
 * Guards: what they take and release, by whom, with which node.
 */
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_pair_guard.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/pair_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_guard.hpp>

#include "guards.hpp"

#include <catch.hpp>

#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>
using namespace klock;

/*
 * guard and irq_guard, over every kind of lock.
 *
 * The hosted port's interrupt flag is a pretended one, of this thread:
 * klock::arch::irqs_enabled().
 */

using arch::irqs_enabled;

/* What a kernel supplies. */
thread_local unsigned current_cpu = 0;

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

/* Every lock of the list that says whether it is held. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		INFO(Subject::name);
		test.template operator()<typename Subject::lock>();
	});
}

/* Makes a Guard of this lock in whatever way it wants, and calls inside(). */
template <template <typename> typename Guard, typename L, typename Inside>
static void under(L &lock, Inside inside)
{
	if constexpr (node_lock<L> && !stack_node_lock<L>) {
		static typename L::node node;
		Guard<L> held(lock, node);
		inside();
	} else {
		Guard<L> held(lock);
		inside();
	}
}

template <typename L>
static L fresh;

TEST_CASE("guard: holds every kind of lock for the length of its block")
{
	for_each_lock([]<typename L>() {
		L &lock = fresh<L>;

		for (int i = 0; i < 3; i++) {
			bool locked = false;
			under<guard>(lock, [&] { locked = lock.is_locked(); });
			CHECK(locked);
			CHECK_FALSE(lock.is_locked());
		}
	});
}

TEST_CASE("guard: asks the kernel for the CPU's number, or takes the one given")
{
	bakery_lock<4> lock;

	current_cpu = 3;
	{
		guard held(lock);
		CHECK(lock.is_queued(3));
	}
	{
		guard held(lock, 1);
		CHECK(lock.is_queued(1));
		CHECK_FALSE(lock.is_queued(3));
	}
	current_cpu = 0;
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("guard: leaves the interrupt flag alone")
{
	ticket_lock<u8> lock;
	guard held(lock);

	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: interrupts are off inside and back after, for every lock")
{
	for_each_lock([]<typename L>() {
		L &lock = fresh<L>;
		bool locked = false, enabled = true;

		REQUIRE(irqs_enabled());
		under<irq_guard>(lock, [&] {
			locked = lock.is_locked();
			enabled = irqs_enabled();
		});
		CHECK(locked);
		CHECK_FALSE(enabled);
		CHECK(irqs_enabled());
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("irq_guard: finds interrupts off and leaves them off")
{
	for_each_lock([]<typename L>() {
		const arch::irq_state before = arch::irq_save();

		under<irq_guard>(fresh<L>, [] {});
		CHECK_FALSE(irqs_enabled());
		arch::irq_restore(before);
		CHECK(irqs_enabled());
	});
}

TEMPLATE_TEST_CASE(
	"irq_guard: off before the lock is touched, on after the unlock", "",
	watchful_lock, watchful_node_lock, watchful_cpu_lock)
{
	TestType lock;
	{
		guard held(lock);
	}
	CHECK(lock.seen == "LU");
	{
		irq_guard held(lock);
	}
	CHECK(lock.seen == "LUlu");
}

TEST_CASE("irq_guard: nests, and only the outermost turns interrupts on again")
{
	ticket_lock<u8> outer;
	mcs_lock middle;
	graunke_thakkar_lock<2> inner;
	{
		irq_guard a(outer);
		{
			irq_guard b(middle);
			{
				irq_guard c(inner, 1u);
				CHECK_FALSE(irqs_enabled());
			}
			CHECK_FALSE(irqs_enabled());
		}
		CHECK_FALSE(irqs_enabled());
	}
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: a waiter does not overwrite what the holder found")
{
	/*
	 * The mistake that real kernels shipped: the flags kept in the lock.
	 * The holder came with interrupts on; the waiter comes with them off.
	 */
	ticket_lock<u8> lock;
	std::thread waiter;
	bool off_after = false;
	{
		irq_guard held(lock);
		waiter = std::thread([&] {
			(void)arch::irq_save();
			{
				irq_guard waiting(lock);
			}
			off_after = !irqs_enabled();
		});
		while (!lock.is_contended())
			std::this_thread::yield();
	}
	CHECK(irqs_enabled());
	waiter.join();
	CHECK(off_after);
}

namespace {

/* The same with the flags in the lock: shown to fail, so that we know. */
struct flags_in_lock {
	void lock()
	{
		flags = arch::irq_save();
		inner.lock();
	}
	void unlock()
	{
		const arch::irq_state found = flags;
		inner.unlock();
		arch::irq_restore(found);
	}

	ticket_lock<u8> inner;
	std::atomic<arch::irq_state> flags{false};
};

} // namespace

TEST_CASE("irq_guard: flags that are kept in the lock are found out that way")
{
	flags_in_lock lock;
	std::thread waiter;

	lock.lock();
	waiter = std::thread([&] {
		(void)arch::irq_save();
		lock.lock();
		lock.unlock();
	});
	while (!lock.inner.is_contended())
		std::this_thread::yield();
	lock.unlock();
	waiter.join();
	CHECK_FALSE(irqs_enabled());
	arch::irq_restore(true);
}

/*
 * What a guard tells a checked lock: the caller's line, at the start and at the
 * end.
 */
namespace guards_caller_tests {

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

} // namespace guards_caller_tests

/*
 * Guards that release before their block ends, and that adopt what is taken.
 */
namespace guards_early_tests {

/* Every lock of the list, with a node where it needs one. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static L lock;

		INFO(Subject::name);
		if constexpr (node_lock<L>) {
			static typename L::node node;
			test(lock, node);
		} else {
			test(lock);
		}
	});
}

TEST_CASE("guard: unlock() releases every kind of lock early, and once")
{
	for_each_lock([](auto &lock, auto &...node) {
		guard held(lock, node...);
		CHECK(lock.is_locked());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
		{
			/* Somebody else's now: the two that are left are none
			 * of ours. */
			guard other(lock, node...);
			held.unlock();
			CHECK(lock.is_locked());
		}
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("guard: after unlock() its end does nothing")
{
	watchful_lock lock;
	{
		guard held(lock);
		held.unlock();
		CHECK(lock.seen == "LU");
	}
	CHECK(lock.seen == "LU");
}

TEST_CASE("irq_guard: unlock() releases, then restores what interrupts were")
{
	for_each_lock([](auto &lock, auto &...node) {
		irq_guard held(lock, node...);
		CHECK_FALSE(irqs_enabled());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
		CHECK(irqs_enabled());
	});

	watchful_lock lock;
	{
		irq_guard held(lock);
		held.unlock();
		CHECK(lock.seen == "lu");
	}
	CHECK(lock.seen == "lu");
}

TEST_CASE("irq_guard: after unlock() its end leaves interrupts as they are")
{
	ticket_lock<u8> lock;
	irq_state before;
	{
		irq_guard held(lock);
		held.unlock();
		CHECK(irqs_enabled());
		held.unlock();
		CHECK(irqs_enabled());
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: unlock() of an inner one leaves interrupts off")
{
	ticket_lock<u8> outer, inner;
	{
		irq_guard a(outer);
		irq_guard b(inner);

		b.unlock();
		CHECK_FALSE(irqs_enabled());
		CHECK_FALSE(inner.is_locked());
		CHECK(outer.is_locked());
	}
	CHECK(irqs_enabled());
}

TEST_CASE("guard: adopts what try_lock() took, of every kind")
{
	ticket_lock<u16> ticket;
	REQUIRE(ticket.try_lock());
	{
		guard held(ticket, adopt);
		CHECK(ticket.is_locked());
	}
	CHECK_FALSE(ticket.is_locked());

	mcs_lock mcs;
	mcs_node node;
	REQUIRE(mcs.try_lock(node));
	{
		guard held(mcs, node, adopt);
		CHECK(mcs.is_locked());
	}
	CHECK_FALSE(mcs.is_locked());

	bakery_lock<4> bakery;
	current_cpu = 2;
	bakery.lock(2);
	{
		guard held(bakery, adopt);
	}
	CHECK_FALSE(bakery.is_locked());
	bakery.lock(3);
	{
		guard held(bakery, 3u, adopt);
		held.unlock();
		CHECK_FALSE(bakery.is_locked());
	}
	current_cpu = 0;
	CHECK_FALSE(bakery.is_locked());
}

TEST_CASE("guard: adopting takes nothing itself")
{
	watchful_lock lock;
	{
		guard held(lock, adopt);
		CHECK(lock.seen == "");
	}
	CHECK(lock.seen == "U");
}

} // namespace guards_early_tests

/*
 * What a guard takes a lock with: a node or a number, given or asked for.
 */
namespace guards_nodes_tests {

TEST_CASE("irq_guard: a function that picks the node is asked with interrupts "
	  "off, once")
{
	static clh_lock lock;
	static clh_node node;
	watchful_choice<clh_node> pick{node};
	{
		irq_guard held(lock, pick);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK_FALSE(lock.is_locked());
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: a function that picks the number is asked with "
	  "interrupts off, once")
{
	bakery_lock<4> lock;
	unsigned number = 2;
	watchful_choice<unsigned> pick{number};
	{
		irq_guard held(lock, pick);
		CHECK(lock.is_queued(2));
	}
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK_FALSE(lock.is_queued(2));
}

static clh_node nodes[4];
static clh_node &my_node() { return nodes[cpu_id()]; }
static int my_number() { return static_cast<int>(cpu_id()); }

TEST_CASE("guard: takes a function by its name, a lambda, and any integer")
{
	static clh_lock clh;
	bakery_lock<4> bakery;

	current_cpu = 3;
	for (int i = 0; i < 3; i++) {
		{
			irq_guard held(clh, my_node);
			CHECK(clh.is_locked());
		}
		guard held(clh, []() -> clh_node & { return nodes[1]; });
		CHECK(clh.is_locked());
	}
	CHECK_FALSE(clh.is_locked());
	{
		guard held(bakery, my_number);
		CHECK(bakery.is_queued(3));
	}
	{
		irq_guard held(bakery, cpu_id);
		CHECK(bakery.is_queued(3));
	}
	{
		guard held(bakery, u8{2});
		CHECK(bakery.is_queued(2));
	}
	{
		guard held(bakery, usize{1});
		CHECK(bakery.is_queued(1));
	}
	current_cpu = 0;
	CHECK_FALSE(bakery.is_locked());
}

/* Whether the lock's last node is the one given: then somebody waits not. */
static bool is_last(mcs_lock &lock, mcs_node &node)
{
	return lock.is_locked() && !lock.is_contended(node);
}

TEST_CASE("guard: an MCS lock takes its own node, or one that is lent")
{
	mcs_lock lock;
	mcs_node node;
	{
		guard held(lock);
		CHECK_FALSE(is_last(lock, node));
	}
	{
		guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	{
		irq_guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	watchful_choice<mcs_node> pick{node};
	{
		irq_guard held(lock, pick);
		CHECK(is_last(lock, node));
	}
	CHECK_FALSE(pick.enabled);
	{
		irq_try_guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	CHECK_FALSE(lock.is_locked());
}

/* What embeds a lock is not made larger by what others bring along. */
TEST_CASE("guard: sizes")
{
	using pointer = void *;
	struct numbered {
		pointer lock;
		unsigned number;
	};
	struct owning {
		pointer lock;
		mcs_node node;
	};
	struct off {
		irq_state before;
		pointer lock;
	};

	STATIC_REQUIRE(sizeof(guard<ticket_lock<u8>>) == sizeof(pointer));
	STATIC_REQUIRE(sizeof(guard<bakery_lock<4>>) == sizeof(numbered));
	STATIC_REQUIRE(sizeof(guard<clh_lock>) == 2 * sizeof(pointer));
	STATIC_REQUIRE(sizeof(guard<mcs_lock>) == sizeof(owning));
	STATIC_REQUIRE(sizeof(guard<lent_node<mcs_lock>>) ==
		       2 * sizeof(pointer));
	STATIC_REQUIRE(sizeof(irq_guard<ticket_lock<u8>>) == sizeof(off));
	STATIC_REQUIRE(sizeof(irq_try_guard<ticket_lock<u8>>) == sizeof(off));
}

} // namespace guards_nodes_tests

/*
 * The standard library's guards, which a hosted program may prefer, over every
 * plain lock.
 */
namespace guards_std_tests {

/* Every plain lock of the list; two of each. */
template <typename Test>
static int for_each_lock(Test test)
{
	int tested = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static L lock, other;

		INFO(Subject::name);
		if constexpr (try_plain_lock<L>) {
			test(lock, other);
			tested++;
		}
	});
	return tested;
}

TEST_CASE("std::lock_guard, unique_lock and scoped_lock take plain locks")
{
	CHECK(for_each_lock([](auto &lock, auto &other) {
		      {
			      std::lock_guard held(lock);
			      CHECK(lock.is_locked());
		      }
		      CHECK_FALSE(lock.is_locked());
		      {
			      std::unique_lock held(lock, std::try_to_lock);
			      CHECK(held.owns_lock());
			      std::unique_lock again(lock, std::try_to_lock);
			      CHECK_FALSE(again.owns_lock());
			      held.unlock();
			      CHECK_FALSE(lock.is_locked());
			      CHECK(again.try_lock());
		      }
		      CHECK_FALSE(lock.is_locked());
		      {
			      std::scoped_lock held(lock, other);
			      CHECK(lock.is_locked());
			      CHECK(other.is_locked());
		      }
		      CHECK_FALSE(lock.is_locked());
		      CHECK_FALSE(other.is_locked());
	      }) > 8);
}

TEST_CASE("std::scoped_lock: two locks in opposite order do not deadlock")
{
	static constexpr int rounds = 2000;
	ticket_lock<u8> a;
	ttas_lock b;
	int count = 0;
	std::thread other([&] {
		for (int i = 0; i < rounds; i++) {
			std::scoped_lock held(b, a);
			count++;
		}
	});

	for (int i = 0; i < rounds; i++) {
		std::scoped_lock held(a, b);
		count++;
	}
	other.join();
	CHECK(count == 2 * rounds);
}

} // namespace guards_std_tests
