/* SPDX-License-Identifier: MIT */
/*
 * Guards: what they take and release, by whom, with which node; those that may
 * not get the lock; of two locks; of readers.
 */
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
using namespace klock;

/*
 * The hosted port's interrupt flag is a pretended one, of this thread:
 * klock::arch::irqs_enabled().
 */

/* The functions that a kernel supplies. */
static thread_local unsigned current_cpu = 0;

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

/* Locks that note whether an interrupt could come while they are touched. */
struct watchful_lock {
	void lock() { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock() { seen += klock::irqs_enabled() ? "U" : "u"; }

	bool try_lock()
	{
		seen += klock::irqs_enabled() ? "T" : "t";
		return free;
	}

	std::string seen;
	bool free = true;
};

struct watchful_node_lock {
	struct node {};
	static constexpr bool node_may_live_on_stack = true;

	void lock(node &) { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock(node &) { seen += klock::irqs_enabled() ? "U" : "u"; }

	std::string seen;
};

struct watchful_cpu_lock {
	void lock(unsigned) { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock(unsigned) { seen += klock::irqs_enabled() ? "U" : "u"; }

	std::string seen;
};

/* The number 0 or a node, asked for; notes whether an interrupt could come. */
template <typename Node>
struct watchful_choice {
	Node &operator()()
	{
		enabled = klock::irqs_enabled();
		asked++;
		return node;
	}

	Node &node;
	bool enabled = true;
	int asked = 0;
};

namespace {

/* A guard of some type. */
struct held_guard {
	void *guard;
	void (*release)(void *);
	bool (*holds)(const void *);

	void unlock() const { release(guard); }
	explicit operator bool() const { return holds(guard); }
};

/*
 * A lock of the list, of some type, and every guard of it: the tests are
 * compiled once, and not for each lock.
 */
struct guarded_lock {
	/* Makes the guard, and calls inside() with it. */
	using under = void (*)(const std::function<void(held_guard)> &inside);

	const char *name;
	bool (*is_locked)();
	/* Null: not of this lock. */
	under guard = nullptr, irq_guard = nullptr;
	under try_guard = nullptr, irq_try_guard = nullptr;
	under rescue_guard = nullptr;
	under shared_guard = nullptr, irq_shared_guard = nullptr;
	under shared_try_guard = nullptr, irq_shared_try_guard = nullptr;
	bool (*is_writable)() = nullptr;
};

/* Guards with a node of the caller's (Lent), or with one of the CPU's. */
template <typename L, bool Lent>
struct guards_of {
	static inline constinit L lock;

	template <template <typename> typename Guard>
	static void under(const std::function<void(held_guard)> &inside)
	{
		if constexpr (Lent) {
			static typename L::node nodes[2];
			Guard held(lock, nodes[current_cpu]);
			inside(erased(held));
		} else {
			Guard held(lock);
			inside(erased(held));
		}
	}

	template <typename Guard>
	static held_guard erased(Guard &guard)
	{
		held_guard held = {&guard, nullptr, nullptr};

		if constexpr (requires { guard.unlock(); })
			held.release = [](void *it) {
				static_cast<Guard *>(it)->unlock();
			};
		if constexpr (requires { static_cast<bool>(guard); })
			held.holds = [](const void *it) {
				return static_cast<bool>(
					*static_cast<const Guard *>(it));
			};
		return held;
	}

	static bool is_locked() { return lock.is_locked(); }

	/* Whether a writer could come now: nobody reads. */
	static bool is_writable()
	{
		if constexpr (try_lockable<L>) {
			if (!lock.try_lock())
				return false;
			lock.unlock();
			return true;
		}
		return !lock.is_locked();
	}

	static guarded_lock row(const char *name)
	{
		guarded_lock it = {name, is_locked};

		it.guard = under<guard>;
		it.irq_guard = under<irq_guard>;
		if constexpr (try_lockable<L>) {
			it.try_guard = under<try_guard>;
			it.irq_try_guard = under<irq_try_guard>;
		}
		if constexpr (try_plain_lock<L>)
			it.rescue_guard = under<rescue_guard>;
		if constexpr (shared_lockable<L>) {
			it.shared_guard = under<shared_guard>;
			it.irq_shared_guard = under<irq_shared_guard>;
			it.is_writable = is_writable;
		}
		if constexpr (try_shared_lockable<L>) {
			it.shared_try_guard = under<shared_try_guard>;
			it.irq_shared_try_guard = under<irq_shared_try_guard>;
		}
		return it;
	}
};

std::vector<guarded_lock> every_lock()
{
	std::vector<guarded_lock> all;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (!node_lock<L> || stack_node_lock<L>)
			all.push_back(guards_of<L, false>::row(Subject::name));
		if constexpr (node_lock<L>)
			all.push_back(guards_of<L, true>::row(Subject::name));
	});
	return all;
}

/* Every lock of the list that has such a guard; how many. */
int for_each_lock(guarded_lock::under guarded_lock::*guard,
		  void (*test)(const guarded_lock &))
{
	static const std::vector<guarded_lock> all = every_lock();
	int tested = 0;

	for (const guarded_lock &lock : all) {
		if (!(lock.*guard))
			continue;
		INFO(lock.name);
		test(lock);
		tested++;
	}
	return tested;
}

} // namespace

/*
 * guard and irq_guard, over every kind of lock.
 */

TEST_CASE("guard: holds every kind of lock for the length of its block")
{
	for_each_lock(&guarded_lock::guard, [](const guarded_lock &lock) {
		for (int i = 0; i < 3; i++) {
			bool locked = false;
			lock.guard(
				[&](held_guard) { locked = lock.is_locked(); });
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
	for_each_lock(&guarded_lock::irq_guard, [](const guarded_lock &lock) {
		bool locked = false, enabled = true;

		REQUIRE(irqs_enabled());
		lock.irq_guard([&](held_guard) {
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
	for_each_lock(&guarded_lock::irq_guard, [](const guarded_lock &lock) {
		const arch::irq_state before = arch::irq_save();

		lock.irq_guard([](held_guard) {});
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

/* A lock that keeps the flags in itself: the test above fails with it. */
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
 * A guard tells a checked lock the caller's line, at the start and at the end.
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

/* The call sites that a guard told a lock, and the lines of those calls. */
struct told_by_guard {
	told inside, after;
	int made;
	told early, after_early;
	int unlocked;
};

template <template <typename> typename Guard, typename L>
told_by_guard told_under()
{
	told_by_guard all;
	L lock;
	{
		Guard<L> held(lock);
		all.made = __LINE__ - 1;
		all.inside = lock;
	}
	all.after = lock;
	{
		Guard<L> held(lock);
		held.unlock();
		all.unlocked = __LINE__ - 1;
		all.early = lock;
	}
	all.after_early = lock;
	return all;
}

void expect_own_lines(const char *guard, const told_by_guard &of)
{
	INFO(guard);
	CHECK(is_here(of.inside.locked, of.made));
	CHECK(of.inside.unlocked.file == nullptr);
	CHECK(is_here(of.after.unlocked, of.made));
	CHECK(is_here(of.early.unlocked, of.unlocked));
	CHECK(is_here(of.after_early.unlocked, of.unlocked));
}

} // namespace

TEMPLATE_TEST_CASE("guards: tell lock() and unlock() of a checked lock the "
		   "line of the guard, or of its unlock()",
		   "", told_lock, told_node_lock, told_cpu_lock)
{
	expect_own_lines("guard", told_under<guard, TestType>());
	expect_own_lines("irq_guard", told_under<irq_guard, TestType>());
	expect_own_lines("try_guard", told_under<try_guard, TestType>());
	expect_own_lines("irq_try_guard",
			 told_under<irq_try_guard, TestType>());
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

TEST_CASE("guard: unlock() releases every kind of lock early, and once")
{
	for_each_lock(&guarded_lock::guard, [](const guarded_lock &lock) {
		lock.guard([&](held_guard held) {
			CHECK(lock.is_locked());
			held.unlock();
			CHECK_FALSE(lock.is_locked());
			/* Somebody else's now: the two that are left are none
			 * of ours. */
			lock.guard([&](held_guard) {
				held.unlock();
				CHECK(lock.is_locked());
			});
			CHECK_FALSE(lock.is_locked());
		});
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
	for_each_lock(&guarded_lock::irq_guard, [](const guarded_lock &lock) {
		lock.irq_guard([&](held_guard held) {
			CHECK_FALSE(irqs_enabled());
			held.unlock();
			CHECK_FALSE(lock.is_locked());
			CHECK(irqs_enabled());
		});
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

/* A guard takes a lock with a node or a number, given or asked for. */
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

/* Whether the node is the queue's last: nobody waits behind it. */
static bool is_last(const mcs_lock &lock, const mcs_node &node)
{
	return lock.is_locked() && !lock.is_contended(node);
}

/* serve() releases the lock in its third call. */
TEMPLATE_TEST_CASE("guards: serve() between looks, never at a free lock", "",
		   ticket_lock<u8>, preemptable_ticket_lock<u8>, tas_lock,
		   ttas_lock)
{
	TestType lock, other;
	unsigned calls = 0, interruptible = 0;
	const auto serve = [&] {
		interruptible += irqs_enabled();
		if (++calls == 3)
			lock.unlock();
	};

	static_assert(serving_lock<TestType>);
	lock.lock(serve);
	CHECK(calls == 0);
	{
		irq_guard held(lock, serve);
		CHECK(lock.is_locked());
	}
	CHECK(calls == 3);
	CHECK(interruptible == 0);
	REQUIRE(lock.try_lock());
	{
		guard held(lock, serve, adopt);
	}
	CHECK(calls == 3);
	lock.lock();
	calls = 0;
	{
		pair_guard held(with(lock, serve), other);
		CHECK(lock.is_locked());
	}
	CHECK(calls == 3);
	CHECK_FALSE(lock.is_locked());
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

/* A guard does not grow by the nodes that other locks need. */
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
	STATIC_REQUIRE(sizeof(guard<rw_ticket_lock<u8>>) ==
		       2 * sizeof(pointer));
	using of_two = pair_guard<ticket_lock<u8> &, rw_ticket_lock<u8> &>;
	STATIC_REQUIRE(sizeof(of_two) == 2 * sizeof(pointer));
}

} // namespace guards_nodes_tests

/*
 * The standard library's guards, which a hosted program may prefer, over every
 * plain lock.
 */
namespace guards_std_tests {

namespace {

/* Whether it is held or not, as it must be, under each of them: in words. */
template <typename L>
std::string states_under_std()
{
	static L lock, other;
	std::string seen;
	const auto look = [&seen](bool held) { seen += held ? '1' : '0'; };
	{
		std::lock_guard held(lock);
		look(lock.is_locked());
	}
	look(lock.is_locked());
	{
		std::unique_lock held(lock, std::try_to_lock);
		look(held.owns_lock());
		std::unique_lock again(lock, std::try_to_lock);
		look(again.owns_lock());
		held.unlock();
		look(lock.is_locked());
		look(again.try_lock());
	}
	look(lock.is_locked());
	{
		std::scoped_lock held(lock, other);
		look(lock.is_locked());
		look(other.is_locked());
	}
	look(lock.is_locked());
	look(other.is_locked());
	return seen;
}

} // namespace

TEST_CASE("std::lock_guard, unique_lock and scoped_lock take plain locks")
{
	int tested = 0;
	const auto expect = [&](const char *name, const std::string &seen) {
		INFO(name);
		/* A lock_guard; two unique_locks; a scoped_lock of two. */
		CHECK(seen == "10"
			      "10010"
			      "1100");
		tested++;
	};

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (try_plain_lock<L>)
			expect(Subject::name, states_under_std<L>());
	});
	CHECK(tested > 8);
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

/*
 * try_guard and irq_try_guard.
 */
namespace guards_try_tests {

TEST_CASE("try_guard: holds a lock that is free, none that is held")
{
	const auto test = [](const guarded_lock &lock) {
		lock.try_guard([&](held_guard held) {
			CHECK(held);
			CHECK(lock.is_locked());
			current_cpu = 1;
			lock.try_guard(
				[](held_guard second) { CHECK_FALSE(second); });
			current_cpu = 0;
		});
		CHECK_FALSE(lock.is_locked());
	};

	CHECK(for_each_lock(&guarded_lock::try_guard, test) > 8);
}

TEST_CASE("try_guard: one that failed leaves the holder alone")
{
	ticket_lock<u8> lock;
	guard held(lock);
	{
		try_guard second(lock);
		second.unlock();
		CHECK_FALSE(second);
	}
	CHECK(lock.is_locked());
}

TEST_CASE("try_guard: is false after unlock()")
{
	for_each_lock(&guarded_lock::try_guard, [](const guarded_lock &lock) {
		lock.try_guard([&](held_guard held) {
			CHECK(held);
			held.unlock();
			CHECK_FALSE(held);
			CHECK_FALSE(lock.is_locked());
		});
	});
}

TEST_CASE("irq_try_guard: interrupts are off while it holds, and back after")
{
	for_each_lock(&guarded_lock::irq_try_guard, [](const auto &lock) {
		lock.irq_try_guard([](held_guard held) {
			CHECK(held);
			CHECK_FALSE(irqs_enabled());
		});
		CHECK(irqs_enabled());
		CHECK_FALSE(lock.is_locked());
		lock.irq_try_guard([](held_guard held) {
			held.unlock();
			CHECK(irqs_enabled());
			CHECK_FALSE(held);
		});
		CHECK(irqs_enabled());
	});
}

TEST_CASE("irq_try_guard: interrupts are back on at once where it fails")
{
	for_each_lock(&guarded_lock::irq_try_guard, [](const auto &lock) {
		const auto fails = [](held_guard held) {
			CHECK_FALSE(held);
			CHECK(irqs_enabled());
			held.unlock();
			CHECK(irqs_enabled());
			const irq_state before = irq_save();
			held.unlock();
			CHECK_FALSE(irqs_enabled());
			irq_restore(before);
		};

		lock.guard([&](held_guard) {
			current_cpu = 1;
			lock.irq_try_guard(fails);
			CHECK(irqs_enabled());
			current_cpu = 0;
		});
	});
}

TEST_CASE("irq_try_guard: where it fails, it leaves interrupts off that were")
{
	ticket_lock<u8> lock;
	const irq_state before = irq_save();
	{
		guard holder(lock);
		irq_try_guard held(lock);
		CHECK_FALSE(held);
		CHECK_FALSE(irqs_enabled());
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("irq_try_guard: the end of one that failed restores nothing")
{
	ticket_lock<u8> lock;
	guard holder(lock);
	irq_state before;
	{
		irq_try_guard held(lock);
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("irq_try_guard: off before the lock is tried, on after the unlock")
{
	watchful_lock lock;
	{
		irq_try_guard held(lock);
	}
	lock.free = false;
	{
		irq_try_guard held(lock);
	}
	CHECK(lock.seen == "tut");
}

} // namespace guards_try_tests

/*
 * pair_guard and irq_pair_guard: two locks by address.
 */
namespace guards_pair_tests {

namespace {

/* Writes its letter to a text that several locks share. */
struct lettered_lock {
	void lock() { *text += letter; }
	void unlock() { *text += static_cast<char>(letter + 'a' - 'A'); }

	char letter;
	std::string *text;
};

} // namespace

TEST_CASE("pair_guard: takes the lock at the lower address first, whatever "
	  "the order in which they are named")
{
	std::string text;
	lettered_lock two[] = {{'A', &text}, {'B', &text}};
	{
		pair_guard held(two[0], two[1]);
		CHECK(text == "AB");
	}
	CHECK(text.size() == 4);
	text.clear();
	{
		pair_guard held(two[1], two[0]);
		CHECK(text == "AB");
		held.unlock();
		CHECK(text.size() == 4);
	}
	CHECK(text.size() == 4);
	text.clear();
	{
		irq_pair_guard held(two[1], two[0]);
		CHECK(text == "AB");
	}
	CHECK(text.size() == 4);
}

TEST_CASE("pair_guard: the same lock twice is taken once")
{
	watchful_lock lock;
	{
		pair_guard held(lock, lock);
		CHECK(lock.seen == "L");
	}
	CHECK(lock.seen == "LU");
	{
		irq_pair_guard held(lock, lock);
	}
	CHECK(lock.seen == "LUlu");
	/* Released early: once, and interrupts are back. */
	lock.seen.clear();
	{
		pair_guard held(lock, lock);
		held.unlock();
		CHECK(lock.seen == "LU");
	}
	CHECK(lock.seen == "LU");
	{
		irq_pair_guard held(lock, lock);
		held.unlock();
		CHECK(lock.seen == "LUlu");
		CHECK(irqs_enabled());
	}
	CHECK(lock.seen == "LUlu");
	CHECK(irqs_enabled());
}

static clh_node node;

TEST_CASE("pair_guard: takes any two kinds, each with what it needs")
{
	ticket_lock<u8> ticket;
	mcs_lock mcs;
	static clh_lock clh;
	bakery_lock<4> bakery;
	mcs_node lent;

	current_cpu = 3;
	{
		pair_guard a(ticket, mcs);
		pair_guard b(with(clh, node), bakery);
		CHECK(ticket.is_locked());
		CHECK(mcs.is_locked());
		CHECK(clh.is_locked());
		CHECK(bakery.is_queued(3));
	}
	CHECK_FALSE(ticket.is_locked());
	CHECK_FALSE(mcs.is_locked());
	CHECK_FALSE(clh.is_locked());
	CHECK_FALSE(bakery.is_locked());
	{
		pair_guard a(with(mcs, lent), with(bakery, 1u));
		CHECK(mcs.is_locked());
		CHECK_FALSE(mcs.is_contended(lent));
		CHECK(bakery.is_queued(1));
	}
	CHECK_FALSE(mcs.is_locked());
	CHECK_FALSE(bakery.is_locked());
	current_cpu = 0;
}

TEST_CASE("irq_pair_guard: interrupts are off before the first lock is touched "
	  "and a node is picked, and back after the last")
{
	watchful_lock lock;
	static clh_lock clh;
	watchful_choice<clh_node> pick{node};
	{
		irq_pair_guard held(lock, with(clh, pick));
		CHECK_FALSE(irqs_enabled());
	}
	CHECK(lock.seen == "lu");
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK(irqs_enabled());
}

TEST_CASE("irq_pair_guard: unlock() restores interrupts, and only once")
{
	ticket_lock<u8> a, b;
	irq_state before;
	{
		irq_pair_guard held(a, b);
		held.unlock();
		CHECK(irqs_enabled());
		CHECK_FALSE(a.is_locked());
		CHECK_FALSE(b.is_locked());
		held.unlock();
		CHECK(irqs_enabled());
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("pair_guard: two threads that name two locks in opposite order do "
	  "not deadlock, and exclude each other")
{
	static constexpr int rounds = 2000;
	ticket_lock<u8> a;
	mcs_lock b;
	selftest::barrier together;
	int count = 0;
	std::thread other([&] {
		together.meet(2);
		for (int i = 0; i < rounds; i++) {
			pair_guard held(b, a);
			count++;
		}
	});

	together.meet(2);
	for (int i = 0; i < rounds; i++) {
		pair_guard held(a, b);
		count++;
	}
	other.join();
	CHECK(count == 2 * rounds);
}

} // namespace guards_pair_tests

/*
 * rescue_guard: takes what it can have, waits so long and no longer, unlocks
 * what it took and nothing else.
 */
namespace rescue_guard_tests {

namespace {

/* Free from the attempt with this number on; counts all. */
struct scripted_lock {
	void lock() {}
	void unlock() { unlocked++; }
	bool try_lock()
	{
		interrupts_seen |= irqs_enabled();
		return ++attempts >= free_from;
	}

	u32 free_from = 1, attempts = 0, unlocked = 0;
	bool interrupts_seen = false;
};

} // namespace

TEST_CASE("rescue_guard: takes a free lock, and unlocks it")
{
	const auto test = [](const guarded_lock &lock) {
		lock.rescue_guard([&](held_guard held) {
			CHECK(held);
			CHECK(lock.is_locked());
		});
		CHECK_FALSE(lock.is_locked());
	};

	CHECK(for_each_lock(&guarded_lock::rescue_guard, test) > 6);
}

TEST_CASE("rescue_guard: goes on without a lock that is held, and leaves it")
{
	ticket_lock<u8> lock;
	bool went_on = false;

	lock.lock();
	{
		rescue_guard held(lock, 100);
		CHECK_FALSE(held);
		went_on = true;
	}
	CHECK(went_on);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	CHECK(lock.try_lock());
}

TEST_CASE("rescue_guard: patience is the number of spins between attempts")
{
	for (u32 patience : {0u, 1u, 7u}) {
		scripted_lock never{.free_from = ~0u};
		scripted_lock at_last{.free_from = patience + 1};

		{
			rescue_guard held(never, patience);
			CHECK_FALSE(held);
		}
		CHECK(never.attempts == patience + 1);
		CHECK(never.unlocked == 0);
		{
			rescue_guard held(at_last, patience);
			CHECK(held);
			CHECK(at_last.unlocked == 0);
		}
		CHECK(at_last.attempts == patience + 1);
		CHECK(at_last.unlocked == 1);
	}
	scripted_lock never{.free_from = ~0u};
	{
		rescue_guard held(never);
	}
	CHECK(never.attempts ==
	      rescue_guard<scripted_lock>::usual_patience + 1);
}

TEST_CASE("rescue_guard: interrupts are off throughout, then as they were")
{
	scripted_lock second_time{.free_from = 2}, never{.free_from = ~0u};

	REQUIRE(irqs_enabled());
	for (scripted_lock *lock : {&second_time, &never}) {
		{
			rescue_guard held(*lock, 3);
			CHECK_FALSE(irqs_enabled());
		}
		CHECK_FALSE(lock->interrupts_seen);
		CHECK(irqs_enabled());
	}
	const irq_state before = irq_save();
	{
		rescue_guard held(second_time);
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("rescue_guard: an irq_lock, too, and at() for its caller")
{
	irq_lock<ticket_lock<u8>> lock;
	{
		rescue_guard held(lock);
		CHECK(held);
		CHECK(lock.is_locked());
		rescue_guard second(at(lock, {__FILE__, __LINE__}), 3);
		CHECK_FALSE(second);
	}
	CHECK_FALSE(lock.is_locked());
}

} // namespace rescue_guard_tests

/*
 * shared_guard, irq_shared_guard and their try forms, over every lock that
 * readers share.
 */
namespace shared_guard_tests {

TEST_CASE("shared_guard: several hold the lock at once, for their blocks")
{
	for_each_lock(&guarded_lock::shared_guard, [](const auto &lock) {
		for (int i = 0; i < 3; i++) {
			lock.shared_guard([&](held_guard) {
				CHECK_FALSE(lock.is_writable());
				if (!lock.shared_try_guard)
					return;
				lock.shared_try_guard([&](held_guard other) {
					CHECK(other);
				});
				CHECK_FALSE(lock.is_writable());
			});
			CHECK(lock.is_writable());
		}
		lock.guard([&](held_guard) {
			if (lock.shared_try_guard)
				lock.shared_try_guard([](held_guard reader) {
					CHECK_FALSE(reader);
				});
		});
		CHECK(lock.is_writable());
	});
}

TEST_CASE("shared_guard: released early, once")
{
	for_each_lock(&guarded_lock::shared_guard, [](const auto &lock) {
		lock.shared_guard([&](held_guard held) {
			held.unlock();
			CHECK(lock.is_writable());
			held.unlock();
			CHECK(lock.is_writable());
		});
		CHECK(lock.is_writable());
	});
}

TEST_CASE("shared_guard: a try says whether it holds")
{
	for_each_lock(&guarded_lock::shared_try_guard, [](const auto &lock) {
		lock.shared_try_guard([&](held_guard tried) {
			CHECK(tried);
			lock.shared_try_guard([&](held_guard again) {
				CHECK(again);
				CHECK_FALSE(lock.is_writable());
				tried.unlock();
				CHECK_FALSE(tried);
				CHECK_FALSE(lock.is_writable());
				again.unlock();
				CHECK(lock.is_writable());
			});
		});
		CHECK(lock.is_writable());
	});
}

TEST_CASE("irq_shared_guard: interrupts are off inside, then as they were")
{
	for_each_lock(&guarded_lock::irq_shared_guard, [](const auto &lock) {
		REQUIRE(irqs_enabled());
		lock.irq_shared_guard([&](held_guard outer) {
			CHECK_FALSE(irqs_enabled());
			CHECK_FALSE(lock.is_writable());
			outer.unlock();
			CHECK(irqs_enabled());
			CHECK(lock.is_writable());
		});
		CHECK(irqs_enabled());
		lock.irq_guard([](held_guard) { CHECK_FALSE(irqs_enabled()); });
		CHECK(irqs_enabled());
		CHECK(lock.is_writable());
	});
}

TEST_CASE("irq_shared_guard: a try says whether it holds, and has interrupts")
{
	for_each_lock(&guarded_lock::irq_shared_try_guard,
		      [](const auto &lock) {
			      lock.guard([&](held_guard) {
				      lock.irq_shared_try_guard(
					      [](held_guard reader) {
						      CHECK_FALSE(reader);
						      CHECK(irqs_enabled());
					      });
			      });
			      lock.irq_shared_try_guard([](held_guard reader) {
				      CHECK(reader);
				      CHECK_FALSE(irqs_enabled());
				      reader.unlock();
				      CHECK(irqs_enabled());
			      });
			      CHECK(irqs_enabled());
			      CHECK(lock.is_writable());
		      });
}

TEST_CASE("upgradable_guard: reads with readers, writes alone, unlocks either")
{
	phase_fair_lock<u8> lock;
	irq_lock<phase_fair_lock<u8>> drivers;

	{
		upgradable_guard held(lock);
		CHECK_FALSE(lock.try_lock_upgradable());
		CHECK(lock.try_lock_shared());
		CHECK_FALSE(held.try_upgrade());
		lock.unlock_shared();
		held.upgrade();
		CHECK_FALSE(lock.try_lock_shared());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
	}
	{
		upgradable_guard held(lock);
	}
	CHECK_FALSE(lock.is_locked());
	for (const bool upgrades : {false, true}) {
		irq_upgradable_guard held(drivers);
		CHECK_FALSE(irqs_enabled());
		if (upgrades)
			CHECK(held.try_upgrade());
	}
	CHECK(irqs_enabled());
	irq_try_guard after(drivers);
	CHECK(after);
}

TEST_CASE("shared_guard: adopts what a try took, and takes nothing itself")
{
	rw_ticket_lock<u8> routes;
	reader_lock<4> names;
	phase_fair_lock<u8> files;

	REQUIRE(routes.try_lock_shared());
	{
		shared_guard held(routes, adopt);
		CHECK(routes.try_lock_shared());
		routes.unlock_shared();
		CHECK_FALSE(routes.try_lock());
	}
	CHECK_FALSE(routes.is_locked());
	names.lock_shared(2);
	{
		shared_guard held(names, 2u, adopt);
		held.unlock();
		CHECK_FALSE(names.is_locked());
	}
	CHECK_FALSE(names.is_locked());
	REQUIRE(files.try_lock_upgradable());
	{
		upgradable_guard held(files, adopt);
		CHECK(held.try_upgrade());
	}
	CHECK_FALSE(files.is_locked());
}

namespace {

/* Notes each verb, in upper case while an interrupt could come. */
struct watchful_shared_lock {
	void lock() { note('l'); }
	void unlock() { note('u'); }
	void downgrade() { note('d'); }
	void lock_shared() { note('s'); }
	void unlock_shared() { note('r'); }
	bool try_lock()
	{
		note('t');
		return free;
	}
	void lock_upgradable() { note('w'); }
	void upgrade() { note('g'); }
	void unlock_upgradable() { note('e'); }

	void note(char verb)
	{
		const char upper = static_cast<char>(verb + 'A' - 'a');

		seen += irqs_enabled() ? upper : verb;
	}

	std::string seen;
	bool free = true;
};

template <template <typename> typename Guard>
std::string seen_of(bool early, bool free = true)
{
	watchful_shared_lock lock;

	lock.free = free;
	{
		Guard<watchful_shared_lock> held(lock);
		if (free)
			held.downgrade();
		if (early)
			held.unlock();
		if (early)
			held.unlock();
	}
	CHECK(irqs_enabled());
	return lock.seen;
}

} // namespace

TEST_CASE("guard: released by unlock_shared() once it is downgraded")
{
	for (const bool early : {false, true}) {
		CHECK(seen_of<guard>(early) == "LDR");
		CHECK(seen_of<irq_guard>(early) == "ldr");
		CHECK(seen_of<try_guard>(early) == "TDR");
		CHECK(seen_of<irq_try_guard>(early) == "tdr");
		CHECK(seen_of<try_guard>(early, false) == "T");
	}

	watchful_shared_lock lock;
	{
		guard held(lock, adopt);
		held.downgrade();
	}
	CHECK(lock.seen == "DR");
	lock.seen = "";
	{
		upgradable_guard held(lock);
		held.upgrade();
		held.downgrade();
	}
	CHECK(lock.seen == "WGDR");
	lock.seen = "";
	{
		upgradable_guard held(lock);
		held.upgrade();
	}
	{
		upgradable_guard held(lock);
	}
	{
		guard held(lock);
	}
	CHECK(lock.seen == "WGUWELU");
}

TEMPLATE_TEST_CASE("guard: after a downgrade others read, and nobody writes",
		   "", rw_ticket_lock<u8>, phase_fair_lock<u8>)
{
	TestType lock;
	irq_lock<TestType> drivers;
	{
		guard held(lock);
		CHECK_FALSE(lock.try_lock_shared());
		held.downgrade();
		CHECK(lock.try_lock_shared());
		lock.unlock_shared();
		CHECK_FALSE(lock.try_lock());
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(lock.is_locked());
	{
		irq_guard held(drivers);
		held.downgrade();
		irq_shared_try_guard another(drivers);
		CHECK(another);
		irq_try_guard writer(drivers);
		CHECK_FALSE(writer);
	}
	CHECK(irqs_enabled());
	irq_try_guard writer(drivers);
	CHECK(writer);
}

TEST_CASE("shared_guard: sizes are those of a guard")
{
	using lock = rw_ticket_lock<u8>;

	static_assert(sizeof(shared_guard<lock>) == sizeof(void *));
	static_assert(sizeof(shared_try_guard<lock>) == sizeof(void *));
	static_assert(!shared_lockable<ticket_lock<u8>>);
	static_assert(shared_lockable<lock> && plain_lock<lock>);
	SUCCEED();
}

} // namespace shared_guard_tests
