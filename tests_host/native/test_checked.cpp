/* SPDX-License-Identifier: MIT */
/*
 * Checked locks that threads use rightly: nothing is said, nothing is lost, and
 * a sanitizer finds no race in what the checks note. The owners of spin locks
 * are CPUs, those of locks that sleep are threads. With a lock order, and
 * without one.
 */
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/host_parking.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/mutex.hpp>
#include <klock/once.hpp>
#include <klock/order_calls.hpp>
#include <klock/print_counts.hpp>
#include <klock/print_held.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/semaphore.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/wait_queue.hpp>

#include "../watchdog.hpp"

#include <catch.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace klock;

namespace {

constexpr unsigned cpus = 3, rounds = 200;

thread_local unsigned cpu = cpus;

lock_order *order_now = nullptr;

/* An order, or none, while no thread runs. */
struct order_or_none {
	explicit order_or_none(bool has_order)
	{
		if (!has_order)
			return;
		memory = std::make_unique<lock_order_memory<64, 64>>();
		order = std::make_unique<order_keeper>(*memory);
		order_now = order.get();
	}
	~order_or_none() { order_now = nullptr; }
	order_or_none(const order_or_none &) = delete;
	order_or_none &operator=(const order_or_none &) = delete;

	std::unique_ptr<lock_order_memory<64, 64>> memory;
	std::unique_ptr<order_keeper> order;
};

/* Each CPU calls what(its number) so many times. */
template <typename What>
void on_each(What what, unsigned times = rounds)
{
	std::vector<std::thread> all;

	for (unsigned i = 0; i < cpus; i++)
		all.emplace_back([&what, times, i] {
			cpu = i;
			for (unsigned n = 0; n < times; n++) {
				watchdog::step();
				what(i);
			}
		});
	for (std::thread &one : all)
		one.join();
}

template <typename Test>
void with_and_without_order(Test test)
{
	for (const bool has_order : {false, true}) {
		const order_or_none here(has_order);

		test();
	}
}

} // namespace

extern "C" unsigned klock_os_cpu_id(void) { return cpu; }

extern "C" int klock_os_context(void) { return 0; }

/* Any thread may call it, so it asks nothing of Catch. */
extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned on_cpu, const char *what)
{
	std::printf("%s, CPU %u: %s\n", lock_name, on_cpu, what);
	std::fflush(stdout);
	std::_Exit(3);
}

extern "C" void klock_os_note(const char *text)
{
	std::printf("%s\n", text);
	std::fflush(stdout);
	std::_Exit(4);
}

lock_order *klock_os_lock_order(void) { return order_now; }

TEST_CASE("checked: each spinning lock, by threads")
{
	with_and_without_order([] {
		using all = selftest::all_locks<cpus>;

		selftest::one_of_each<all>::for_each([]<typename Subject>() {
			using lock_type = checked_lock<typename Subject::lock>;
			static constexpr unsigned many =
				Subject::capacity < cpus ? 2 : cpus;
			const auto lock = std::make_unique<lock_type>();
			selftest::contender<lock_type> mine[cpus] = {
				selftest::contender<lock_type>(0),
				selftest::contender<lock_type>(1),
				selftest::contender<lock_type>(2)};
			unsigned sum = 0;

			watchdog::note(Subject::name, "to be taken");
			set_name(*lock, Subject::name);
			on_each([&](unsigned i) {
				if (i >= many)
					return;
				mine[i].lock(*lock);
				sum++;
				mine[i].unlock(*lock);
			});
			CHECK(sum == many * rounds);
		});
	});
}

TEST_CASE("checked: each lock that is read, by threads")
{
	with_and_without_order([] {
		using all = selftest::all_shared_locks<cpus>;

		selftest::one_of_each<all>::for_each([]<typename Subject>() {
			using lock_type = checked_lock<typename Subject::lock>;
			const auto lock = std::make_unique<lock_type>();
			unsigned sum = 0;
			std::atomic<unsigned> seen = 0;

			watchdog::note(Subject::name, "to be read");
			set_name(*lock, Subject::name);
			on_each([&](unsigned i) {
				selftest::contender<lock_type> writer(i);
				selftest::reader<lock_type> reads(i);

				writer.lock(*lock);
				sum++;
				writer.unlock(*lock);
				reads.lock(*lock);
				seen += sum != 0;
				reads.unlock(*lock);
			});
			CHECK(sum == cpus * rounds);
			CHECK(seen == cpus * rounds);
		});
	});
}

TEST_CASE("checked: each lock that sleeps, by threads")
{
	with_and_without_order([] {
		checked_lock<mutex, "inode"> inode;
		checked_lock<inheriting_mutex, "device"> device;
		checked_lock<recursive_lock<mutex>, "console"> console;
		checked_lock<shared_mutex, "names"> names;
		checked_lock<ticket_lock<u8>, "runqueue"> runqueue;
		unsigned sums[5] = {};
		std::atomic<unsigned> too_many = 0;

		on_each([&](unsigned i) {
			{
				guard outer(inode);
				guard inner(device);

				sums[0]++;
				sums[1]++;
			}
			{
				guard outer(console);
				guard again(console);

				sums[2]++;
			}
			if (i == 0) {
				guard writes(names);

				sums[3]++;
			} else {
				shared_guard reads(names);

				too_many += sums[3] > rounds;
			}
			irq_guard spins(runqueue);
			sums[4]++;
		});
		for (const unsigned i : {0, 1, 2, 4})
			CHECK(sums[i] == cpus * rounds);
		CHECK(sums[3] == rounds);
		CHECK(too_many == 0);
	});
}

TEST_CASE("checked: each event, by threads")
{
	with_and_without_order([] {
		checked_lock<semaphore, "jobs"> jobs;
		checked_lock<completion, "answer"> answer;
		checked_lock<mutex, "buffer"> buffer;
		checked_lock<condition, "not empty"> not_empty;
		checked_lock<wait_queue, "arrivals"> arrivals;
		std::atomic<unsigned> arrived = 0;
		unsigned there = 0;

		on_each([&](unsigned i) {
			if (i == 0) {
				for (unsigned other = 1; other < cpus;
				     other++) {
					(void)jobs.release();
					arrivals.wake_one([&] { arrived++; });
					guard held(buffer);
					there++;
					not_empty.notify_one();
				}
				answer.set();
				return;
			}
			jobs.acquire();
			answer.wait();
			arrivals.wait([&] {
				unsigned now = arrived;

				return now && arrived.compare_exchange_strong(
						      now, now - 1);
			});
			guard held(buffer);
			not_empty.wait(held, [&] { return there != 0; });
			there--;
		});
		CHECK(arrived == 0);
		CHECK(there == 0);
	});
}

TEST_CASE("checked: what others print of locks meanwhile")
{
	static constinit checked_lock<counted_lock<ticket_lock<u8>>, "queue">
		queue;
	static constinit checked_lock<seq_lock<u64>, "time"> time;
	static constinit once tables;

	with_and_without_order([] {
		std::atomic<unsigned> lines = 0;

		on_each([&](unsigned i) {
			tables.call([] {});
			{
				irq_guard held(queue);
			}
			if (i == 0)
				time.update([](u64 &now) { now++; });
			else
				(void)time.read();
			if (i == 1)
				print_held([&](const char *) { lines++; });
			if (i == 2)
				print_counts([&](const char *) { lines++; });
		});
	});
}

/* Not in a run of all: a sanitizer must find it. */
TEST_CASE("checked: a write without its lock", "[.race]")
{
	checked_lock<mutex, "inode"> inode;
	unsigned sum = 0;

	on_each([&](unsigned i) {
		if (i == 0) {
			sum++;
			return;
		}
		guard held(inode);
		sum++;
	});
}
