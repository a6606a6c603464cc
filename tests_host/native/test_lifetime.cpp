/* SPDX-License-Identifier: MIT */
/*
 * An object with its lock inside, freed by whoever leaves it last: nobody else
 * is still at the lock. AddressSanitizer sees any access after that, and
 * ThreadSanitizer also one before it that nothing orders.
 */
#include "../watchdog.hpp"
#include "../widths.hpp"
#include "threads.hpp"

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

/* All give up one object after another; how often one was freed. */
template <typename Subject>
unsigned freed_by_the_last(unsigned threads)
{
	using object = mortal<typename Subject::lock, most_threads>;
	std::vector<object *> all;
	std::vector<std::thread> running;
	std::atomic<unsigned> freed{0};
	barrier everyone;

	for (unsigned i = 0; i < objects; i++)
		all.push_back(new object(threads));
	for (unsigned cpu = 0; cpu < threads; cpu++)
		running.emplace_back([&, cpu] {
			native::waiter sleeps(native::waiter::haste);
			klock::arch::watched_by = &sleeps;
			for (object *it : all) {
				everyone.meet(threads);
				watchdog::step();
				if (it->put(cpu)) {
					delete it;
					freed++;
				}
			}
		});
	for (std::thread &thread : running)
		thread.join();
	return freed;
}

void all_freed(unsigned threads)
{
	widths_of<all_locks<most_threads>>::for_each(
		[threads]<typename Subject>() {
			INFO(Subject::name);
			watchdog::note(Subject::name, "freed by the last of",
				       threads);
			if (Subject::capacity >= threads)
				CHECK(freed_by_the_last<Subject>(threads) ==
				      objects);
		});
}

} // namespace

TEST_CASE("lifetime: freed by the last of two threads") { all_freed(2); }

TEST_CASE("lifetime: freed by the last of four threads") { all_freed(4); }
