/* SPDX-License-Identifier: MIT */
/*
 * once, lazy and spin_barrier under real threads; and, plain build only, a
 * wrong once that two cores show.
 */
#include "../watchdog.hpp"
#include "cores.hpp"

#include <klock/barrier.hpp>
#include <klock/once.hpp>
#include <klock/selftest/busted_sequences.hpp>

#include <catch.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using klock::u32;
using klock::selftest::busted_once;
using klock::selftest::once_mistake;

extern "C" unsigned klock_os_cpu_id(void)
{
	static std::atomic<unsigned> threads;
	static thread_local const unsigned mine = threads++;

	return mine;
}

extern "C" void klock_os_panic(const char *name, const void *, unsigned,
			       const char *what)
{
	std::fprintf(stderr, "%s: %s\n", name, what);
	std::abort();
}

namespace {

/* The same threads for all rounds, which a barrier holds together. */
template <typename Round>
void in_step(u32 threads, u32 rounds, Round round)
{
	const std::vector<int> here = native::cores();
	klock::spin_barrier meeting;
	std::vector<std::thread> all_of_them;

	for (u32 me = 0; me < threads; me++) {
		all_of_them.emplace_back([&, me] {
			for (u32 n = 0; n < rounds; n++) {
				meeting.arrive_and_wait(threads);
				round(me, n);
				if (me == 0 && n % 100 == 0)
					watchdog::note("once", "round", n);
			}
		});
		native::pin_to_core(all_of_them.back(), me, here);
	}
	for (auto &thread : all_of_them)
		thread.join();
}

struct words {
	u32 at[24];
};

/* How often some function ran more than once, of so many. */
template <typename Once>
u32 run_twice(u32 onces)
{
	const auto all = std::make_unique<Once[]>(onces);
	const auto runs = std::make_unique<std::atomic<u32>[]>(onces);
	u32 twice = 0;

	in_step(2, onces, [&](u32, u32 n) {
		all[n].call([&] {
			runs[n]++;
			return true;
		});
	});
	for (u32 n = 0; n < onces; n++)
		twice += runs[n] != 1;
	return twice;
}

} // namespace

TEST_CASE("once: of many threads one runs it")
{
	CHECK(run_twice<klock::once>(2000) == 0);
}

TEST_CASE("lazy: of many threads one makes it, all see it")
{
	constexpr u32 rounds = 500;
	const auto shared = std::make_unique<klock::lazy<words>[]>(rounds);
	std::atomic<u32> made{0}, wrong{0};

	in_step(4, rounds, [&](u32, u32 n) {
		const words &w = shared[n].get([&] {
			words fresh;

			made++;
			for (u32 &v : fresh.at)
				v = n;
			return fresh;
		});
		for (u32 v : w.at)
			wrong += v != n;
	});
	CHECK(made == rounds);
	CHECK(wrong == 0);
}

TEST_CASE("once: what failed is run again, by one that waits too")
{
	constexpr u32 rounds = 500;
	const auto all = std::make_unique<klock::once[]>(rounds);
	const auto tries = std::make_unique<std::atomic<u32>[]>(rounds);
	std::atomic<u32> succeeded{0};

	in_step(4, rounds, [&](u32, u32 n) {
		succeeded += all[n].call([&] { return ++tries[n] > 2; });
	});
	/* Two fail, and return false; the other two see it done. */
	CHECK(succeeded == 2 * rounds);
	for (u32 n = 0; n < rounds; n++)
		CHECK(tries[n] == 3);
}

TEST_CASE("spin_barrier: nobody leaves early, nobody is left behind")
{
	constexpr u32 threads = 3, meetings = 300;
	klock::spin_barrier meeting;
	u32 wrote[threads] = {};
	std::atomic<u32> wrong{0}, last{0};

	in_step(threads, meetings, [&](u32 me, u32 round) {
		wrote[me] = round;
		last += meeting.arrive_and_wait(threads);
		for (u32 other : wrote)
			wrong += other != round;
		last += meeting.arrive_and_wait(threads);
	});
	CHECK(wrong == 0);
	CHECK(last == 2 * meetings);
}

/* A matter of luck, one run: the bound on the runs makes it a failure. */
TEST_CASE("once: a wrong one is found", "[busted]")
{
	using wrong = busted_once<once_mistake::looked_not_taken>;
	u32 twice = 0;

	if (native::cores().size() < 2)
		return;
	for (int run = 0; run < 100 && twice == 0; run++)
		twice = run_twice<wrong>(2000);
	CHECK(twice != 0);
}
