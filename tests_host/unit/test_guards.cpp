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

/* Notes each verb, in upper case while an interrupt could come. */
struct watchful {
	void note(char verb)
	{
		const char upper = static_cast<char>(verb + 'A' - 'a');

		seen += irqs_enabled() ? upper : verb;
	}

	std::string seen;
	bool free = true;
};

struct watchful_lock : watchful {
	void lock() { note('l'); }
	void unlock() { note('u'); }
	bool try_lock()
	{
		note('t');
		return free;
	}
};

struct watchful_shared_lock : watchful_lock {
	void downgrade() { note('d'); }
	void lock_shared() { note('s'); }
	void unlock_shared() { note('r'); }
	void lock_upgradable() { note('w'); }
	void upgrade() { note('g'); }
	void unlock_upgradable() { note('e'); }
};

struct watchful_node_lock : watchful {
	struct node {};
	static constexpr bool node_may_live_on_stack = true;

	void lock(node &) { note('l'); }
	void unlock(node &) { note('u'); }
};

struct watchful_cpu_lock : watchful {
	void lock(unsigned) { note('l'); }
	void unlock(unsigned) { note('u'); }
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

enum class way { waits, tries, rescues };

/* A guard, and what is to be seen of it. */
struct guard_kind {
	const char *name;
	guarded_lock::under guarded_lock::*guard;
	way takes;
	bool irqs_off, shares;
	unsigned locks; /* that it has at least */
};

constexpr guard_kind guard_kinds[] = {
	{"guard", &guarded_lock::guard, way::waits, false, false, 30},
	{"irq_guard", &guarded_lock::irq_guard, way::waits, true, false, 30},
	{"try_guard", &guarded_lock::try_guard, way::tries, false, false, 9},
	{"irq_try_guard", &guarded_lock::irq_try_guard, way::tries, true, false,
	 9},
	{"rescue_guard", &guarded_lock::rescue_guard, way::rescues, true, false,
	 7},
	{"shared_guard", &guarded_lock::shared_guard, way::waits, false, true,
	 5},
	{"irq_shared_guard", &guarded_lock::irq_shared_guard, way::waits, true,
	 true, 5},
	{"shared_try_guard", &guarded_lock::shared_try_guard, way::tries, false,
	 true, 5},
	{"irq_shared_try_guard", &guarded_lock::irq_shared_try_guard,
	 way::tries, true, true, 5},
};

/* A guard and a lock that has it. */
struct guarding {
	void under(const std::function<void(held_guard)> &inside) const
	{
		(lock.*kind.guard)(inside);
	}
	bool is_taken() const
	{
		return kind.shares ? !lock.is_writable() : lock.is_locked();
	}

	const guard_kind &kind;
	const guarded_lock &lock;
};

/* Each guard, with each lock of the list that has it. */
void for_each_guard(void (*test)(const guarding &))
{
	static const std::vector<guarded_lock> all = every_lock();

	for (const guard_kind &kind : guard_kinds) {
		unsigned tested = 0;

		INFO(kind.name);
		for (const guarded_lock &lock : all) {
			if (!(lock.*kind.guard))
				continue;
			INFO(lock.name);
			test({kind, lock});
			tested++;
		}
		CHECK(tested >= kind.locks);
	}
}

/* Interrupts are found on, or off. */
void found_either_way(const std::function<void(bool)> &test)
{
	REQUIRE(irqs_enabled());
	test(true);
	CHECK(irqs_enabled());
	const irq_state before = irq_save();
	test(false);
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

} // namespace

/* -- Every guard, over every lock ------------------------------------------ */

TEST_CASE("guards: hold a lock for the length of their block")
{
	for_each_guard([](const guarding &of) {
		found_either_way([&](bool found_on) {
			of.under([&](held_guard held) {
				CHECK(of.is_taken());
				CHECK(irqs_enabled() ==
				      (found_on && !of.kind.irqs_off));
				if (of.kind.takes != way::waits)
					CHECK(held);
			});
			CHECK_FALSE(of.is_taken());
		});
	});
}

TEST_CASE("guards: unlock() releases early, once, and restores interrupts")
{
	for_each_guard([](const guarding &of) {
		irq_state before;

		if (of.kind.takes == way::rescues)
			return;
		of.under([&](held_guard held) {
			held.unlock();
			CHECK_FALSE(of.is_taken());
			CHECK(irqs_enabled());
			if (of.kind.takes == way::tries)
				CHECK_FALSE(held);
			/* It is another's now. */
			of.lock.guard([&](held_guard) {
				held.unlock();
				CHECK(of.lock.is_locked());
			});
			before = irq_save();
		});
		/* The end did nothing. */
		CHECK_FALSE(irqs_enabled());
		irq_restore(before);
		CHECK_FALSE(of.lock.is_locked());
	});
}

TEST_CASE("guards: a try in vain leaves the holder and interrupts alone")
{
	for_each_guard([](const guarding &of) {
		if (of.kind.takes != way::tries)
			return;
		found_either_way([&](bool found_on) {
			irq_state before;

			of.lock.guard([&](held_guard) {
				current_cpu = 1;
				of.under([&](held_guard held) {
					CHECK_FALSE(held);
					CHECK(irqs_enabled() == found_on);
					held.unlock();
					CHECK(irqs_enabled() == found_on);
					before = irq_save();
					held.unlock();
				});
				CHECK_FALSE(irqs_enabled());
				irq_restore(before);
				current_cpu = 0;
				CHECK(of.lock.is_locked());
			});
		});
	});
}

TEST_CASE("guards: several read at once, and each releases its own")
{
	for_each_guard([](const guarding &of) {
		if (!of.kind.shares)
			return;
		of.under([&](held_guard one) {
			of.lock.shared_try_guard([&](held_guard other) {
				CHECK(other);
				CHECK_FALSE(of.lock.is_writable());
				one.unlock();
				CHECK_FALSE(of.lock.is_writable());
				other.unlock();
				CHECK(of.lock.is_writable());
			});
		});
		CHECK(of.lock.is_writable());
	});
}

/* -- A guard's calls of its lock, in order ----------------------------------
 */

namespace {

/* How a lock is found, and how its guard ends. */
struct course {
	bool early = false, free = true, downgraded = false;
};

template <template <typename> typename Guard, typename L = watchful_lock>
std::string seen_of(course how = {})
{
	L lock;

	lock.free = how.free;
	{
		Guard<L> held(lock);
		if constexpr (downgradable_lock<L>)
			if (how.downgraded)
				held.downgrade();
		for (int times = 0; how.early && times < 2; times++)
			held.unlock();
	}
	CHECK(irqs_enabled());
	return lock.seen;
}

std::string seen_adopting(bool downgrades)
{
	watchful_shared_lock lock;
	{
		guard held(lock, adopt);
		if (downgrades)
			held.downgrade();
	}
	return lock.seen;
}

} // namespace

TEST_CASE("guards: interrupts are off before a lock is touched, on after it")
{
	using shared = watchful_shared_lock;
	using node = watchful_node_lock;
	using cpu = watchful_cpu_lock;
	constexpr course early{.early = true}, failed{.free = false};
	constexpr course downgraded{.downgraded = true};
	constexpr course both{.early = true, .downgraded = true};
	const struct {
		const char *of;
		std::string seen, expected;
	} table[] = {
		{"guard", seen_of<guard>(), "LU"},
		{"guard, early", seen_of<guard>(early), "LU"},
		{"irq_guard", seen_of<irq_guard>(), "lu"},
		{"irq_guard, early", seen_of<irq_guard>(early), "lu"},
		{"try_guard", seen_of<try_guard>(), "TU"},
		{"try_guard, early", seen_of<try_guard>(early), "TU"},
		{"try_guard, in vain", seen_of<try_guard>(failed), "T"},
		{"irq_try_guard", seen_of<irq_try_guard>(), "tu"},
		{"irq_try_guard, in vain", seen_of<irq_try_guard>(failed), "t"},
		{"guard of a node", seen_of<guard, node>(), "LU"},
		{"irq_guard of a node", seen_of<irq_guard, node>(), "lu"},
		{"guard of a number", seen_of<guard, cpu>(), "LU"},
		{"irq_guard of a number", seen_of<irq_guard, cpu>(), "lu"},
		{"guard, adopts", seen_adopting(false), "U"},
		/* Downgraded, it is released by unlock_shared(). */
		{"guard", seen_of<guard, shared>(downgraded), "LDR"},
		{"guard, early", seen_of<guard, shared>(both), "LDR"},
		{"irq_guard", seen_of<irq_guard, shared>(downgraded), "ldr"},
		{"irq_guard, early", seen_of<irq_guard, shared>(both), "ldr"},
		{"try_guard", seen_of<try_guard, shared>(downgraded), "TDR"},
		{"try_guard, early", seen_of<try_guard, shared>(both), "TDR"},
		{"try_guard, in vain", seen_of<try_guard, shared>(failed), "T"},
		{"irq_try_guard", seen_of<irq_try_guard, shared>(downgraded),
		 "tdr"},
		{"irq_try_guard, early", seen_of<irq_try_guard, shared>(both),
		 "tdr"},
		{"guard, adopts", seen_adopting(true), "DR"},
	};

	for (const auto &row : table) {
		INFO(row.of);
		CHECK(row.seen == row.expected);
	}
}

TEST_CASE("upgradable_guard: releases what it has become")
{
	watchful_shared_lock lock;

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
	CHECK(lock.seen == "WGUWE");
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

template <typename L>
static void expect_own_lines_of_each()
{
	expect_own_lines("guard", told_under<guard, L>());
	expect_own_lines("irq_guard", told_under<irq_guard, L>());
	expect_own_lines("try_guard", told_under<try_guard, L>());
	expect_own_lines("irq_try_guard", told_under<irq_try_guard, L>());
}

TEST_CASE("guards: tell lock() and unlock() of a checked lock the line of the "
	  "guard, or of its unlock()")
{
	expect_own_lines_of_each<told_lock>();
	expect_own_lines_of_each<told_node_lock>();
	expect_own_lines_of_each<told_cpu_lock>();
}

template <typename L>
static void expect_line_of_pair()
{
	L a;
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

TEST_CASE("pair_guard: both locks are told its line")
{
	expect_line_of_pair<told_lock>();
	expect_line_of_pair<told_node_lock>();
	expect_line_of_pair<told_cpu_lock>();
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
template <typename L>
static void serves_between_looks()
{
	L lock, other;
	unsigned calls = 0, interruptible = 0;
	const auto serve = [&] {
		interruptible += irqs_enabled();
		if (++calls == 3)
			lock.unlock();
	};

	static_assert(serving_lock<L>);
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

TEST_CASE("guards: serve() between looks, never at a free lock")
{
	serves_between_looks<ticket_lock<u8>>();
	serves_between_looks<preemptable_ticket_lock<u8>>();
	serves_between_looks<tas_lock>();
	serves_between_looks<ttas_lock>();
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
	using shared = rw_ticket_lock<u8>;
	STATIC_REQUIRE(sizeof(shared_guard<shared>) == sizeof(pointer));
	STATIC_REQUIRE(sizeof(shared_try_guard<shared>) == sizeof(pointer));
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
	if constexpr (try_lockable<L>) {
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
	}
	return seen;
}

} // namespace

TEST_CASE("std::lock_guard, unique_lock and scoped_lock take plain locks")
{
	int tested = 0;
	const auto expect = [&](const char *name, const std::string &seen,
				bool can_be_tried) {
		INFO(name);
		/* A lock_guard; two unique_locks; a scoped_lock of two. */
		CHECK(seen == (can_be_tried ? "10"
					      "10010"
					      "1100"
					    : "10"));
		tested++;
	};

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (plain_lock<L>)
			expect(Subject::name, states_under_std<L>(),
			       try_lockable<L>);
	});
	CHECK(tested > 8);
}

} // namespace guards_std_tests

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
	for (const bool early : {false, true}) {
		watchful_lock lock;
		{
			pair_guard held(lock, lock);
			CHECK(lock.seen == "L");
			if (early)
				held.unlock();
		}
		CHECK(lock.seen == "LU");
		{
			irq_pair_guard held(lock, lock);
			if (early)
				held.unlock();
			CHECK(irqs_enabled() == early);
		}
		CHECK(lock.seen == "LUlu");
		CHECK(irqs_enabled());
	}
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

template <typename L>
static void downgrades()
{
	L lock;
	irq_lock<L> drivers;
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

TEST_CASE("guard: after a downgrade others read, and nobody writes")
{
	downgrades<rw_ticket_lock<u8>>();
	downgrades<phase_fair_lock<u8>>();
}

} // namespace shared_guard_tests
