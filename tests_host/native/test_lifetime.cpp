/* SPDX-License-Identifier: MIT */
/*
 * An object with its lock inside, freed by whoever leaves it last: nobody else
 * is still at the lock. AddressSanitizer sees any access after that, and
 * ThreadSanitizer also one before it that nothing orders.
 */
#include "../watchdog.hpp"
#include "../widths.hpp"
#include "threads.hpp"

#include <klock/clh_lock.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/mortal.hpp>

#include <catch.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace klock::selftest;

namespace {

constexpr unsigned most_threads = 4;
constexpr unsigned objects = 100;

/* An object with a lock of some type inside. */
struct kind {
	const char *lock;
	void *(*make)(unsigned references);
	bool (*put)(void *, unsigned cpu);
	void (*end)(void *);
};

template <typename Subject>
constexpr kind kind_of()
{
	using object = mortal<typename Subject::lock, most_threads>;

	return {Subject::name,
		[](unsigned references) -> void * {
			return new object(references);
		},
		[](void *it, unsigned cpu) {
			return static_cast<object *>(it)->put(cpu);
		},
		[](void *it) { delete static_cast<object *>(it); }};
}

/* All give up one object after another; how often one was freed. */
unsigned freed_by_the_last(const kind &of, unsigned threads)
{
	std::vector<void *> all;
	std::vector<std::thread> running;
	std::atomic<unsigned> freed{0};
	barrier everyone;

	for (unsigned i = 0; i < objects; i++)
		all.push_back(of.make(threads));
	for (unsigned cpu = 0; cpu < threads; cpu++)
		running.emplace_back([&, cpu] {
			native::waiter sleeps(native::waiter::haste);
			klock::arch::watched_by = &sleeps;
			for (void *it : all) {
				everyone.meet(threads);
				watchdog::step();
				if (of.put(it, cpu)) {
					of.end(it);
					freed++;
				}
			}
			klock::arch::watched_by = nullptr;
		});
	for (std::thread &thread : running)
		thread.join();
	return freed;
}

void expect_all_freed(const kind &of, unsigned threads)
{
	INFO(of.lock);
	watchdog::note(of.lock, "freed by the last of", threads);
	CHECK(freed_by_the_last(of, threads) == objects);
}

void all_freed(unsigned threads)
{
	widths_of<all_locks<most_threads>>::for_each(
		[threads]<typename Subject>() {
			if (Subject::capacity >= threads)
				expect_all_freed(kind_of<Subject>(), threads);
		});
}

} // namespace

TEST_CASE("lifetime: freed by the last of two threads") { all_freed(2); }

TEST_CASE("lifetime: freed by the last of four threads") { all_freed(4); }

/* A CPU that asks reads another's node, made after both had begun. */
TEST_CASE("lifetime: clh: a node made at run time, and a hint")
{
	static klock::clh_lock lock;
	alignas(klock::clh_node) static char memory[sizeof(klock::clh_node)];
	std::atomic<bool> asks{false}, left{false};
	std::thread maker([&] {
		while (!asks)
			std::this_thread::yield();
		auto *const node = new (memory) klock::clh_node;
		lock.lock(*node);
		lock.unlock(*node);
		left.store(true, std::memory_order_relaxed);
	});

	asks = true;
	while (!left.load(std::memory_order_relaxed))
		(void)lock.is_locked();
	CHECK(!lock.is_locked());
	maker.join();
}
