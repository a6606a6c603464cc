/* SPDX-License-Identifier: MIT */
/*
 * The watchdog: it names what stands still, and leaves alone what is slow.
 */
#include "line.hpp"

#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include <time.h>

using namespace klock;
using namespace unit;

namespace {

/* Lets go of nothing. */
struct never_unlocked : ticket_lock<u8> {
	void unlock() {}
};

void burn_cpu_time(unsigned ms)
{
	timespec now;
	long end = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		const long at = now.tv_sec * 1000 + now.tv_nsec / 1000000;
		if (end == 0)
			end = at + ms;
		if (at >= end)
			return;
	} while (true);
}

} // namespace

TEST_CASE("watchdog: much CPU time, step by step, is no stand-still")
{
	watchdog::patience_ms = 400;
	for (unsigned i = 0; i < 12; i++) {
		watchdog::note("no lock", "burns CPU time", i);
		burn_cpu_time(100);
	}
	watchdog::patience_ms = 5000;
	SUCCEED();
}

TEST_CASE("watchdog: time without CPU time is no stand-still")
{
	watchdog::patience_ms = 400;
	watchdog::note("no lock", "sleeps");
	std::this_thread::sleep_for(std::chrono::milliseconds(1200));
	watchdog::patience_ms = 5000;
	SUCCEED();
}

/* CTest runs this one alone, and reads what is said of it. */
TEST_CASE("watchdog: a lock that is never released", "[.hangs]")
{
	never_unlocked lock;

	/* Little: who waits by yields gets hardly any beside busy loops. */
	watchdog::patience_ms = 50;
	CHECK(served_behind_holder(lock, 2) == one_to(2));
}

TEST_CASE("watchdog: a wake-up that is lost", "[.sleeps]")
{
	std::mutex mutex;
	std::condition_variable told;
	std::thread other([&] {
		std::unique_lock hold(mutex);

		told.wait(hold, [] { return false; });
	});

	other.join();
}

TEST_CASE("watchdog: a wait that nobody can end", "[.alone]")
{
	ticket_lock<u8> lock;

	lock.lock();
	lock.lock();
}
