/* SPDX-License-Identifier: MIT */
/*
 * Tests under real threads of what is no lock of the list: sequences, once,
 * barriers, counts.
 */
#include <klock/barrier.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/once.hpp>
#include <klock/print_counts.hpp>
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "../watchdog.hpp"
#include "threads.hpp"

#include <catch.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>
using namespace klock;

/*
 * seq_count, seq_lock, seq_latch under real threads; and, plain build only,
 * the wrong ones that two cores show.
 */
namespace sequences_tests {

using klock::u32;
using klock::selftest::busted_seq_lock;
using klock::selftest::seq_mistake;

namespace {

constexpr u32 writes = 20000;
/* Longer than a time slice of a busy host: some of it runs in parallel. */
constexpr u32 many_writes = 50 * writes;

/* Larger than a line: a write of it takes time. */
struct words {
	u32 at[24];
};

words all(u32 v)
{
	words w;

	for (u32 &one : w.at)
		one = v;
	return w;
}

/* Whole, and not older than the one before. */
bool fits(const words &w, u32 before)
{
	for (u32 v : w.at)
		if (v != w.at[0])
			return false;
	return w.at[0] >= before;
}

/* Threads that begin together, each on a core of its own where there are. */
struct crew {
	template <typename Work>
	void add(Work work)
	{
		threads.emplace_back([this, work] {
			while (!begun)
				std::this_thread::yield();
			work();
		});
		native::pin_to_core(threads.back(),
				    static_cast<unsigned>(threads.size()),
				    here);
	}
	void run()
	{
		begun = true;
		for (auto &thread : threads)
			thread.join();
		threads.clear();
		watchdog::step();
	}

      private:
	std::atomic<bool> begun{false};
	std::vector<std::thread> threads;
	const std::vector<int> here = native::cores();
};

/* One writes, others read until they saw the last value; how many were torn. */
template <typename Write, typename Read>
u32 torn_reads(u32 values, int readers, Write write, Read read)
{
	std::atomic<u32> torn{0};
	crew all_of_them;

	all_of_them.add([=] {
		for (u32 v = 1; v <= values; v++)
			write(v);
	});
	for (int i = 0; i < readers; i++)
		all_of_them.add([=, &torn] {
			for (u32 last = 0; last != values;) {
				const words w = read();

				torn += !fits(w, last);
				last = w.at[0];
			}
		});
	all_of_them.run();
	return torn;
}

/* Two add one to each word, time and again. Updates that got lost. */
template <typename Lock>
u32 lost_updates(Lock &lock, u32 updates)
{
	crew writers;

	for (int i = 0; i < 2; i++)
		writers.add([&lock, updates] {
			for (u32 n = 0; n < updates; n++)
				lock.update([](words &w) {
					for (u32 &v : w.at)
						v++;
				});
		});
	writers.run();
	return 2 * updates - lock.read().at[0];
}

} // namespace

TEST_CASE("seq_lock: readers see whole values, one writer")
{
	klock::seq_lock<words> lock(all(0));

	CHECK(torn_reads(
		      writes, 2, [&](u32 v) { lock.write(all(v)); },
		      [&] { return lock.read(); }) == 0);
}

TEST_CASE("seq_lock: try_read shows whole values")
{
	klock::seq_lock<words> lock(all(0));

	CHECK(torn_reads(
		      writes, 2, [&](u32 v) { lock.write(all(v)); },
		      [&] {
			      words w;

			      while (!lock.try_read(w))
				      std::this_thread::yield();
			      return w;
		      }) == 0);
}

TEST_CASE("seq_count: readers see whole values")
{
	klock::seq_count count;
	klock::atomic<u32> at[24];

	CHECK(torn_reads(
		      writes, 2,
		      [&](u32 v) {
			      count.write_begin();
			      for (auto &one : at)
				      one.store_relaxed(v);
			      count.write_end();
		      },
		      [&] {
			      words w;
			      u32 began;

			      do {
				      began = count.read_begin();
				      for (unsigned i = 0; i < 24; i++)
					      w.at[i] = at[i].load_relaxed();
			      } while (count.read_retry(began));
			      return w;
		      }) == 0);
}

TEST_CASE("seq_latch: readers see whole values")
{
	klock::seq_latch<words> latch(all(0));

	CHECK(torn_reads(
		      writes, 2, [&](u32 v) { latch.write(all(v)); },
		      [&] { return latch.read(); }) == 0);
}

TEST_CASE("seq_lock: no writer's update is lost")
{
	klock::seq_lock<words> lock(all(0));

	CHECK(lost_updates(lock, writes) == 0);
}

/* A matter of luck, one run: the bound on the runs makes it a failure. */
TEST_CASE("seq_lock: wrong ones are found", "[busted]")
{
	constexpr int most_runs = 200;
	bool torn = false, lost = false;

	if (native::cores().size() < 2)
		return;
	for (int run = 0; run < most_runs && !torn; run++) {
		busted_seq_lock<words, seq_mistake::no_second_look> lock(
			all(0));
		torn = torn_reads(
			       many_writes, 1,
			       [&](u32 v) { lock.write(all(v)); },
			       [&] { return lock.read(); }) != 0;
	}
	CHECK(torn);
	for (int run = 0; run < most_runs && !lost; run++) {
		busted_seq_lock<words, seq_mistake::two_writers_enter> lock(
			all(0));
		lost = lost_updates(lock, many_writes) != 0;
	}
	CHECK(lost);
}

} // namespace sequences_tests

/*
 * once, lazy and spin_barrier under real threads; and, plain build only, a
 * wrong once that two cores show.
 */
namespace once_tests {

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

/* Runs each round on all threads, with a barrier before it. */
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
	constexpr u32 rounds = 40;
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
	constexpr u32 rounds = 40;
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
	constexpr u32 threads = 3, meetings = 30;
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

} // namespace once_tests

/*
 * counted_lock under real threads, while another prints and resets.
 */
namespace counted_tests {

namespace {

constexpr u32 threads = 3, sections = 500;

/* Each thread's sections, and what looks on meanwhile. */
template <typename L, typename Look>
void contend(L &lock, unsigned &inside, Look look)
{
	std::vector<std::thread> all;
	std::atomic<u32> left = threads;

	for (u32 i = 0; i < threads; i++)
		all.emplace_back([&] {
			for (u32 n = 0; n < sections; n++) {
				guard held(lock);
				inside++;
				watchdog::step();
			}
			left--;
		});
	do {
		look();
		std::this_thread::yield();
	} while (left > 0);
	for (std::thread &one : all)
		one.join();
}

template <typename L>
void counts_all(L &lock)
{
	unsigned inside = 0;
	u64 before = 0;

	lock.list_counts();
	contend(lock, inside, [&] {
		for_each_count([&](const count_view &one) {
			CHECK(one.acquired >= before);
			CHECK(one.acquired <= threads * sections);
			CHECK(one.waited >= one.longest_wait);
			before = one.acquired;
		});
	});
	CHECK(inside == threads * sections);
	for_each_count([&](const count_view &one) {
		CHECK(one.acquired == threads * sections);
	});
	lock.forget_counts();
}

} // namespace

TEST_CASE("counted_lock: threads are counted, whoever looks meanwhile")
{
	counted_lock<hold_times<ticket_lock<u8>>, "queue"> lock;

	counts_all(lock);
}

TEST_CASE("counted_lock: threads with nodes of their own are counted")
{
	counted_lock<mcs_lock, "queue"> lock;

	counts_all(lock);
}

TEST_CASE("counted_lock: threads, and resets while they count")
{
	counted_lock<ticket_lock<u8>, "queue"> lock;
	unsigned inside = 0;
	u64 most = 0;

	contend(lock, inside, [&] {
		reset_counts();
		print_counts([](const char *) {});
		for_each_count([&](const count_view &one) {
			most = one.acquired > most ? one.acquired : most;
		});
	});
	CHECK(inside == threads * sections);
	CHECK(most <= threads * sections);
	lock.forget_counts();
}

} // namespace counted_tests
