/* SPDX-License-Identifier: MIT */
/*
 * seq_count, seq_lock, seq_latch under real threads; and, plain build only,
 * the wrong ones that two cores show.
 */
#include "../watchdog.hpp"
#include "cores.hpp"

#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include <catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

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
