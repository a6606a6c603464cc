/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: what is right passes, and what it costs.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/detail/checked.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"
#include "stepper.hpp"

#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>
using namespace klock;

/*
 * checked_lock: each misuse is named, with the lock, the CPU, the holder and
 * both call sites; correct use is left alone; switched off it is not there.
 */
namespace checked_tests {

using byte_lock = checked_lock<ticket_lock<u8>, "runqueue">;

TEST_CASE("checked_lock: costs nothing when off: it is the lock itself")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		static_assert(same_as<checked_if<false, L, "x">, L>);
		static_assert(same_as<checked_if<true, L, "x">,
				      checked_lock<L, "x">>);
	});
	SUCCEED();
}

TEST_CASE("checked_lock: sizes")
{
	STATIC_REQUIRE(sizeof(lock_usage) == (sizeof(void *) == 8 ? 96 : 68));
	STATIC_REQUIRE(sizeof(held_spins) + sizeof(lent_nodes) ==
		       (sizeof(void *) == 8 ? 12 : 7) * 1024);
	STATIC_REQUIRE(sizeof(mutexes_wanted) ==
		       (sizeof(void *) == 8 ? 5 : 3) * 512);
	STATIC_REQUIRE(sizeof(checked_if<false, ticket_lock<u8>>) == 2);
	STATIC_REQUIRE(sizeof(byte_lock) ==
		       sizeof(checked_if<true, ticket_lock<u8>>));
}

static void expect_usual(const char *name, unit::some_lock &lock)
{
	INFO(name);
	for (int i = 0; i < 3; i++) {
		lock.lock(1);
		CHECK(lock.is_locked());
		lock.unlock(1);
		CHECK_FALSE(lock.is_locked());
	}
	if (lock.has_try_lock) {
		CHECK(lock.try_lock(1));
		lock.unlock(1);
	}
}

TEST_CASE("checked_lock: the lock inside does what it does without")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		using C = checked_lock<L, "inner">;
		static C it;
		static unit::lock_of<C> lock(it);

		static_assert(C::max_contenders == L::max_contenders);
		static_assert(plain_lock<C> == plain_lock<L>);
		static_assert(node_lock<C> == node_lock<L>);
		static_assert(cpu_lock<C> == cpu_lock<L>);
		static_assert(stack_node_lock<C> == stack_node_lock<L>);
		static_assert(try_lockable<C> == try_lockable<L>);
		expect_usual(Subject::name, lock);
	});
}

TEST_CASE("checked_lock: constructs what is inside")
{
	static constinit checked_lock<ticket_lock<u8>> wrapping(u8{255});

	guard held(wrapping);
	CHECK(wrapping.is_locked());
}

TEST_CASE("checked_lock: recursion on the same CPU is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	lock.lock();
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { lock.lock(); });

	has(said, "runqueue, CPU 0: recursion");
	has(said, "at " + at_line(second));
	has(said, "held by CPU 0, taken at " + at_line(first));
}

TEST_CASE("checked_lock: a guard's call site is the guard's, not guard.hpp's")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	guard held(lock);
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { irq_guard again(lock); });

	has(said, "at " + at_line(second));
	has(said, "taken at " + at_line(first));
}

TEST_CASE("checked_lock: unlock() of a lock that nobody holds is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const std::string said = panic_of([&] { lock.unlock(); });

	has(said, "unlock() of a lock that nobody holds; at " +
			  at_line(__LINE__ - 3));
	has(said, "; last taken at " + at_line(first));
	const std::string never = panic_of([] { byte_lock().unlock(); });

	CHECK(never.find("taken at") == std::string::npos);
}

TEST_CASE("checked_lock: unlock by another CPU is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	as(2, context::thread, [&] { lock.lock(); });
	const std::string said = panic_of(
		[&] { as(1, context::thread, [&] { lock.unlock(); }); });

	has(said, "CPU 1: unlock() by a caller that does not hold it");
	has(said, "at " + at_line(__LINE__ - 3));
	has(said, "held by CPU 2, taken at " + at_line(first));
}

TEST_CASE("checked_lock: one more contender than capacity is named")
{
	checked_lock<narrow_ticket_lock<2>, "tiny"> lock;
	std::mutex mutex;
	std::condition_variable complained;
	std::string said;
	std::vector<std::thread> waiters;
	const auto wait = [&](unsigned cpu) {
		current_cpu = cpu;
		const std::string mine = panic_of([&] {
			lock.lock();
			lock.unlock();
		});
		std::lock_guard hold(mutex);
		said += mine;
		complained.notify_all();
	};

	lock.lock();
	/* The holder and four more: whoever comes last is one too many. */
	for (unsigned cpu = 1; cpu < 5; cpu++)
		waiters.emplace_back(wait, cpu);
	{
		std::unique_lock hold(mutex);
		complained.wait(hold, [&] { return !said.empty(); });
	}
	lock.unlock();
	for (auto &waiter : waiters)
		waiter.join();
	has(said, "more contenders than the lock has room for");
	has(said, "held by CPU 0");
	CHECK(said.find("tiny, CPU") == said.rfind("tiny, CPU"));
}

TEST_CASE("checked_lock: real threads use it rightly and nothing is said")
{
	static checked_lock<ticket_lock<u16>, "shared"> lock;
	unsigned long sum = 0;
	std::vector<std::thread> threads;

	for (unsigned cpu = 0; cpu < 4; cpu++)
		threads.emplace_back([&sum, cpu] {
			current_cpu = cpu;
			for (int i = 0; i < 5000; i++) {
				irq_guard held(lock);
				sum++;
			}
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(sum == 20000);
}

/* -- Names at run time ------------------------------------------------------
 */

/* Any checked one, whatever its name: no template. */
static void use_twice(checked_if<true, ticket_lock<u8>> &lock)
{
	guard held(lock);
	lock.lock();
}

TEST_CASE("checked_lock: a name at run time, and none")
{
	checked_if<true, ticket_lock<u8>> late, nameless;

	set_name(late, "late");
	has(panic_of([&] { use_twice(late); }), "late, CPU 0: recursion");
	has(panic_of([&] { use_twice(nameless); }), "lock, CPU 0: recursion");
}

TEST_CASE("checked_lock: a name in the type is one at run time, too")
{
	static constinit byte_lock lock;
	byte_lock renamed;

	set_name(renamed, "disk");
	has(panic_of([&] { use_twice(lock); }), "runqueue, CPU 0: recursion");
	has(panic_of([&] { use_twice(renamed); }), "disk, CPU 0: recursion");
}

TEST_CASE("checked_lock: elements of an array are told apart")
{
	checked_if<true, ticket_lock<u8>> queues[4];

	for (u32 i = 0; i < 4; i++)
		set_name(queues[i], "runqueue", i);
	has(panic_of([&] { use_twice(queues[0]); }), "runqueue[0], CPU 0");
	has(panic_of([&] { use_twice(queues[3]); }), "runqueue[3], CPU 0");
}

TEST_CASE("checked_lock: an unchecked lock takes a name and forgets it")
{
	checked_if<false, ticket_lock<u8>> lock;

	set_name(lock, "late");
	set_name(lock, "late", 3);
	STATIC_REQUIRE(sizeof(lock) == 2);
}

/* A kernel's own lock, around klock's. */
template <bool Debug>
struct own_lock {
	using lock_type = checked_if<Debug, ticket_lock<u8>>;

	constexpr explicit own_lock(const char *name)
	    : inner(named<lock_type>(name))
	{
	}
	void acquire(call_site by = caller_site()) { told(inner, by).lock(); }
	bool acquire_if_free(call_site by = caller_site())
	{
		return told(inner, by).try_lock();
	}
	void release(call_site by = caller_site()) { told(inner, by).unlock(); }

	lock_type inner;
};

TEST_CASE("checked_lock: a kernel's own lock is named where it is made, and "
	  "reports its callers")
{
	static constinit own_lock<true> pipe("pipe");
	const int first = __LINE__ + 1;
	pipe.acquire();
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { pipe.acquire(); });

	has(said, "pipe, CPU 0: recursion");
	has(said, "at " + at_line(second));
	has(said, "taken at " + at_line(first));
	pipe.release();
	const int last = __LINE__ + 1;
	has(panic_of([&] { pipe.release(); }), "at " + at_line(last));
}

TEST_CASE("checked_lock: a kernel's own lock compiles without checks, too")
{
	static constinit own_lock<false> pipe("pipe");

	STATIC_REQUIRE(sizeof(pipe) == sizeof(ticket_lock<u8>));
	pipe.acquire();
	CHECK_FALSE(pipe.acquire_if_free());
	pipe.release();
	CHECK(pipe.acquire_if_free());
	pipe.release();
	CHECK_FALSE(pipe.inner.is_locked());
}

TEST_CASE("checked_lock: zero bytes are a free lock without a name")
{
	using L = checked_if<true, ticket_lock<u8>>;
	alignas(L) unsigned char bytes[sizeof(L)] = {};
	L &lock = *reinterpret_cast<L *>(bytes);

	{
		guard held(lock);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(lock.is_locked());
	has(panic_of([&] { lock.unlock(); }),
	    "lock, CPU 0: unlock() of a lock that nobody holds");
	set_name(lock, "allocated");
	has(panic_of([&] { lock.unlock(); }), "allocated, CPU 0: unlock");
}

} // namespace checked_tests

/*
 * checked_lock: a drop-in for the lock inside. That it has each verb of each
 * lock, and what else a lock shows, is asked by tests_host/embed/verbs.py.
 */
namespace checked_drop_in_tests {

/* A kernel's own verbs, around locks of klock's: one body for both builds. */
template <bool Debug>
struct told_about {
	checked_if<Debug, timeout_lock<4>> files;
	checked_if<Debug, phase_fair_lock<u8>> routes;
	checked_if<Debug, bakery_lock<4>> bakery;
	checked_if<Debug, ticket_lock<u8>> ticket;
	checked_if<Debug, queued_lock<4>> queued;

	void takes_all(call_site by)
	{
		CHECK(told(files, by).try_lock_for(cpu_id(), 1));
		CHECK(told(files, by).is_locked());
		CHECK_FALSE(told(files, by).is_contended());
		told(files, by).unlock(cpu_id());
		CHECK(told(files, by).try_lock_until(cpu_id(), 0));
		told(files, by).unlock(cpu_id());
		CHECK(told(routes, by).try_lock_upgradable());
		told(routes, by).unlock_upgradable();
		told(bakery, by).lock(cpu_id());
		told(bakery, by).unlock(cpu_id());
		told(ticket, by).lock([] {});
		told(ticket, by).unlock();
		told(ticket, by).lock_paced([](u8) { return 1u; });
		told(ticket, by).unlock();
		told(queued, by).lock_from(0u);
		told(queued, by).unlock();
	}
	bool take_upgradable(call_site by = caller_site())
	{
		return told(routes, by).try_lock_upgradable();
	}
	void paced(call_site by = caller_site())
	{
		told(ticket, by).lock_paced([](u8) { return 1u; });
	}
};

TEST_CASE("checked_lock: told(): the lock's own verbs, with checks and without")
{
	told_about<false> released;
	told_about<true> debugged;

	released.takes_all(caller_site());
	debugged.takes_all(caller_site());

	const int here = __LINE__ + 1;
	CHECK(debugged.take_upgradable());
	debugged.paced();
	const std::string of_reader =
		panic_of([&] { debugged.routes.lock_upgradable(); });
	has(of_reader, "taken at " + at_line(here));
	const std::string of_holder = panic_of([&] { debugged.paced(); });
	has(of_holder, "at " + at_line(__LINE__ - 1));
	has(of_holder, "taken at " + at_line(here + 1));
	debugged.routes.unlock_upgradable();
	debugged.ticket.unlock();
}

TEST_CASE("checked_lock: what is forwarded does what it does inside")
{
	checked_if<true, proportional_ticket_lock<u8>> paced(7u);
	checked_if<true, bakery_lock<4>> bakery;
	checked_if<true, ticket_lock<u8>> ticket;
	checked_if<true, mcs_lock> mcs;
	mcs_node node;

	paced.set_base(9);
	CHECK(paced.turns_for(2, 5) == 10);
	CHECK(paced.default_base == proportional_ticket_lock<u8>::default_base);

	bakery.lock(2);
	CHECK(bakery.is_queued(2));
	CHECK_FALSE(bakery.is_queued(1));
	CHECK_FALSE(bakery.is_contended());
	has(panic_of([&] { (void)bakery.is_queued(4); }),
	    "a CPU number beyond the lock's capacity");
	bakery.unlock(2);
	CHECK_FALSE(bakery.is_queued(2));

	ticket.lock_paced([](u8) { return 1u; });
	CHECK(ticket.is_held_by_me());
	CHECK_FALSE(ticket.is_contended());
	has(panic_of([&] { ticket.lock_paced([](u8) { return 1u; }); }),
	    "recursion");
	ticket.unlock();
	ticket.lock([] {});
	has(panic_of([&] { ticket.lock([] {}); }), "recursion");
	ticket.unlock();

	mcs.lock(node);
	CHECK_FALSE(mcs.is_contended(node));
	mcs.unlock(node);

	checked_if<true, peterson_lock> peterson;
	peterson.await_left(1);
	has(panic_of([&] { peterson.await_left(2); }),
	    "a CPU number beyond the lock's capacity");
}

} // namespace checked_drop_in_tests

/*
 * checked_lock: an unlock's last access to the lock's memory is the one that
 * releases it. The next holder may free what the lock lies in.
 */
namespace checked_lifetime_tests {

namespace {

std::function<void()> when_released;

/* Releases, and whoever comes next is faster than the rest of unlock(). */
struct lost_at_once {
	static constexpr u64 max_contenders = 8;

	void lock() {}
	[[nodiscard]] bool try_lock() { return true; }
	void unlock() { when_released(); }
};

} // namespace

TEST_CASE("checked_lock: unlock() writes nothing once it is released")
{
	using L = checked_lock<lost_at_once>;
	alignas(L) unsigned char memory[sizeof(L)];
	L &lock = *new (memory) L;

	when_released = [&] { std::memset(memory, 0xdd, sizeof(memory)); };
	lock.lock();
	lock.unlock();
	for (unsigned char byte : memory)
		CHECK(byte == 0xdd);
}

/* ASan says if it reads. */
TEST_CASE("checked_lock: unlock() reads nothing once it is released")
{
	auto *const lock = new checked_lock<lost_at_once>;

	when_released = [&] { delete lock; };
	lock->lock();
	lock->unlock();
}

namespace {

thread_local bool frees = false;
atomic<u32> freed;

/*
 * unlock() of all users but the last returns after the last has freed the
 * object.
 */
struct slow_to_return {
	static constexpr u64 max_contenders = 2;

	void lock() { inner.lock(); }
	void unlock()
	{
		const bool waits = !frees;
		const u32 before = freed.load_relaxed();

		inner.unlock();
		if (waits)
			freed.await_acquire(
				[=](u32 now) { return now != before; });
	}

      private:
	ticket_lock<u8> inner;
};

/* An object with its lock inside; the last to leave it frees it. */
struct counted_object {
	checked_lock<slow_to_return, "object"> lock;
	int users = 2;
};

void leave(counted_object *object)
{
	object->lock.lock();
	frees = --object->users == 0;
	object->lock.unlock();
	if (!frees)
		return;
	delete object;
	freed.fetch_add_release(1);
}

} // namespace

TEST_CASE("checked_lock: an object that is freed by whoever leaves it last")
{
	for (u32 round = 1; round <= 20; round++) {
		auto *const object = new counted_object;
		std::thread other([object] {
			current_cpu = 1;
			leave(object);
		});

		leave(object);
		other.join();
		CHECK(freed.load_relaxed() == round);
	}
}

} // namespace checked_lifetime_tests

/*
 * checked_lock: a CPU that arrives while the holder releases. The holder has
 * noted it and not yet released, or has released, which nobody can note: so the
 * last place is given away when the next holder is noted.
 *
 * Steps of several CPUs, each by hand: model/checked_lock tries all orders.
 */
namespace checked_capacity_tests {

namespace {

constexpr u64 two = 2;

/* Records a lock() that is about to wait. */
void wants(lock_usage &usage, u64 capacity)
{
	usage.before_wait({});
	(void)usage.count_in(capacity, {});
}

/* CPU 0 leaves, CPU 1 waits: the lock is full until CPU 1 has it. */
struct full_while_left {
	lock_usage usage;

	full_while_left()
	{
		running here(0, context::thread);
		irqs off(false);
		wants(usage, two);
		usage.after_lock(0, {}, false);
		as(1, context::thread, [&] { wants(usage, two); });
		usage.before_unlock(0, {});
	}

	void next_has_it()
	{
		as(1, context::thread, [&] { usage.after_lock(0, {}, false); });
	}

	[[nodiscard]] bool nmi_may_try()
	{
		running here(0, context::nmi);
		return usage.before_try_lock(two, {});
	}
};

} // namespace

TEST_CASE("checked_lock: a try while the holder leaves and another waits")
{
	full_while_left w;

	CHECK_FALSE(w.nmi_may_try());
	CHECK_FALSE(w.nmi_may_try());
	w.next_has_it();
	CHECK(w.nmi_may_try());
	has(panic_of([&] { (void)w.nmi_may_try(); }),
	    "more contenders than the lock has room for");
}

TEST_CASE("checked_lock: a wait while the holder leaves and another waits")
{
	full_while_left w;
	atomic<u8> waits, got_in;

	std::thread third([&] {
		running here(2, context::thread);
		irqs off(false);
		waits.store_release(1);
		wants(w.usage, two);
		got_in.store_release(1);
	});
	waits.await_eq_acquire(1);
	/* This does not prove that it waits; only that it then gets in. */
	for (int i = 0; i < 1000; i++)
		CHECK(got_in.load_acquire() == 0);
	w.next_has_it();
	third.join();
	CHECK(got_in.load_acquire() == 1);
}

/* One more comes, and the next holder has it, while the third waits. */
TEST_CASE("checked_lock: a fourth while the third waits for its room")
{
	for (unsigned long n = 1; unit::can_step && n < 1000; n += 37) {
		full_while_left w;
		std::string third, fourth;

		unit::with_intrusion(
			n,
			[&] {
				running here(2, context::thread);
				irqs off(false);
				third = panic_of([&] { wants(w.usage, two); });
			},
			[&] {
				w.next_has_it();
				running here(3, context::thread);
				irqs off(false);
				fourth = panic_of([&] { wants(w.usage, two); });
			});
		CHECK(third.empty() != fourth.empty());
	}
}

/* The place of a reader that has left has its number until another writes. */
TEST_CASE("checked_lock: a reader's place is claimed, and not written yet")
{
	shared_usage usage{};
	bool found = false;

	as(1, context::thread, [&] {
		usage.note(2, {}, false);
		CHECK(usage.forget(2) == nullptr);
	});
	running reads(3, context::thread);

	unit::look_between([&] { usage.note(5, {}, false); },
			   [&] {
				   running asks(0, context::thread);

				   found |= usage.is_of_another(2);
			   });
	CHECK_FALSE(found);
}

TEST_CASE("checked_lock: who waits until another has left has waited")
{
	lock_usage usage;
	const u32 alone = usage.count_in(two, {});

	CHECK_FALSE(usage.has_waited(alone));
	usage.after_lock(0, {}, false);
	usage.before_unlock(0, {});
	CHECK(usage.has_waited(alone));
	CHECK_FALSE(usage.has_waited(usage.count_in(two, {})));
}

TEST_CASE("checked_lock: the only contender there is room for comes again")
{
	lock_usage usage;

	for (int i = 0; i < 3; i++) {
		wants(usage, 1);
		usage.after_lock(0, {}, false);
		has(panic_of([&] { (void)usage.before_try_lock(1, {}); }),
		    "more contenders than the lock has room for");
		usage.before_unlock(0, {});
	}
}

} // namespace checked_capacity_tests
