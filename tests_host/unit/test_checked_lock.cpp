/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: each misuse is named, with the lock, the CPU, the holder and
 * both call sites; correct use is left alone; switched off it is not there.
 *
 * The panic throws here, so that a test can read it.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/locks.hpp>

#include <catch.hpp>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace klock;

static thread_local unsigned current_cpu = 0;
static thread_local context running_in = context::thread;

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

extern "C" int klock_os_context(void) { return static_cast<int>(running_in); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	throw std::runtime_error(std::string(lock_name) + ", CPU " +
				 std::to_string(cpu) + ": " + what);
}

/* What the panic says, or "" without one. */
template <typename Misuse>
static std::string panic_of(Misuse misuse)
{
	try {
		misuse();
	} catch (const std::runtime_error &e) {
		return e.what();
	}
	return "";
}

/* "this file:line" */
static std::string line(int number)
{
	return std::string(__FILE__) + ":" + std::to_string(number);
}

static bool has(const std::string &text, const std::string &part)
{
	INFO(text);
	INFO("lacks: " << part);
	CHECK(text.find(part) != std::string::npos);
	return text.find(part) != std::string::npos;
}

/* Runs code as this CPU, in this context. */
template <typename Code>
static void as(unsigned cpu, context where, Code code)
{
	const unsigned cpu_before = current_cpu;
	const context before = running_in;

	current_cpu = cpu;
	running_in = where;
	try {
		code();
	} catch (...) {
		current_cpu = cpu_before;
		running_in = before;
		throw;
	}
	current_cpu = cpu_before;
	running_in = before;
}

using byte_lock = checked_lock<ticket_lock<u8>, "runqueue">;

TEST_CASE("checked_lock: costs nothing when off: it is the lock itself")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		STATIC_REQUIRE(same_as<checked_if<false, L, "x">, L>);
		STATIC_REQUIRE(same_as<checked_if<true, L, "x">,
				       checked_lock<L, "x">>);
	});
}

TEST_CASE("checked_lock: sizes")
{
	STATIC_REQUIRE(sizeof(lock_usage) == (sizeof(void *) == 8 ? 56 : 32));
	STATIC_REQUIRE(sizeof(checked_if<false, ticket_lock<u8>>) == 2);
}

TEST_CASE("checked_lock: the lock inside does what it does without")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		using C = checked_lock<L, "inner">;
		static C lock;
		static selftest::contender<C> who(1);

		INFO(Subject::name);
		STATIC_REQUIRE(C::max_contenders == L::max_contenders);
		STATIC_REQUIRE(plain_lock<C> == plain_lock<L>);
		STATIC_REQUIRE(node_lock<C> == node_lock<L>);
		STATIC_REQUIRE(cpu_lock<C> == cpu_lock<L>);
		STATIC_REQUIRE(stack_node_lock<C> == stack_node_lock<L>);
		STATIC_REQUIRE(try_lockable<C> == try_lockable<L>);
		for (int i = 0; i < 3; i++) {
			who.lock(lock);
			CHECK(lock.is_locked());
			who.unlock(lock);
			CHECK_FALSE(lock.is_locked());
		}
		if constexpr (try_lockable<C>) {
			CHECK(who.try_lock(lock));
			who.unlock(lock);
		}
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
	has(said, "at " + line(second));
	has(said, "held by CPU 0, taken at " + line(first));
}

TEST_CASE("checked_lock: a guard's call site is the guard's, not guard.hpp's")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	guard held(lock);
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { irq_guard again(lock); });

	has(said, "at " + line(second));
	has(said, "taken at " + line(first));
}

TEST_CASE("checked_lock: unlock of a free lock is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const std::string said = panic_of([&] { lock.unlock(); });

	has(said, "unlock of a free lock; at " + line(__LINE__ - 2));
	has(said, "last taken at " + line(first));
	has(panic_of([] { byte_lock().unlock(); }), "last taken at (nowhere)");
}

TEST_CASE("checked_lock: unlock by another CPU is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	as(2, context::thread, [&] { lock.lock(); });
	const std::string said = panic_of(
		[&] { as(1, context::thread, [&] { lock.unlock(); }); });

	has(said, "CPU 1: unlock by a CPU that does not hold it");
	has(said, "at " + line(__LINE__ - 3));
	has(said, "held by CPU 2, taken at " + line(first));
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
	has(said, "more contenders than its capacity");
	has(said, "held by CPU 0");
	CHECK(said.find("tiny, CPU") == said.rfind("tiny, CPU"));
}

TEST_CASE("checked_lock: a CPU number beyond capacity is named")
{
	checked_lock<bakery_lock<4>, "bakery"> lock;

	has(panic_of([&] { lock.lock(4); }), "a CPU number beyond capacity");
	lock.lock(3);
	lock.unlock(3);
}

TEST_CASE("checked_lock: interrupts on where a handler takes it too")
{
	byte_lock lock;
	const int open = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const int handler = __LINE__ + 2;
	const std::string said = panic_of(
		[&] { as(1, context::interrupt, [&] { lock.lock(); }); });

	has(said, "held with interrupts on at " + line(open));
	has(said, "waited for in an interrupt handler at " + line(handler));
}

TEST_CASE("checked_lock: the same the other way round: the handler was first")
{
	byte_lock lock;
	const int handler = __LINE__ + 1;
	as(1, context::interrupt, [&] { guard held(lock); });
	{
		irq_guard held(lock);
	}
	const int open = __LINE__ + 1;
	const std::string said = panic_of([&] { lock.lock(); });

	has(said, "held with interrupts on at " + line(open));
	has(said, "waited for in an interrupt handler at " + line(handler));
}

TEST_CASE("checked_lock: a handler that only tries is no danger")
{
	byte_lock lock;

	lock.lock();
	as(0, context::interrupt, [&] { CHECK_FALSE(lock.try_lock()); });
	as(0, context::nmi, [&] { CHECK_FALSE(lock.try_lock()); });
	lock.unlock();
	as(0, context::nmi, [&] {
		CHECK(lock.try_lock());
		lock.unlock();
	});
}

TEST_CASE("checked_lock: lock() in an NMI handler is named")
{
	byte_lock lock;

	has(panic_of([&] { as(0, context::nmi, [&] { lock.lock(); }); }),
	    "lock() in an NMI handler");
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
