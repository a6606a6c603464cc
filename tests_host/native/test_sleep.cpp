/* SPDX-License-Identifier: MIT */
/*
 * sleep: the hosted port's four functions about threads; over them the locks
 * that sleep, by real threads, more of them than cores: each section and each
 * unit is counted, and nobody is left asleep.
 */
#include <klock/host_parking.hpp>
#include <klock/mutex.hpp>
#include <klock/selftest/parking.hpp>
#include <klock/selftest/sleepers.hpp>

#include "../watchdog.hpp"

#include <catch.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <deque>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using namespace klock;

/* Weak: test_sequences.cpp has both, too, and is linked beside it. */
extern "C" [[gnu::weak]] unsigned klock_os_cpu_id(void) { return 0; }

extern "C" [[gnu::weak]] void klock_os_panic(const char *, const void *,
					     unsigned, const char *what)
{
	FAIL(what);
	std::abort();
}

namespace {

constexpr unsigned threads = 8, rounds = 500;

/* what(i) by so many threads. */
template <typename What>
void by_all(unsigned so_many, What what)
{
	std::vector<std::thread> all;

	for (unsigned i = 0; i < so_many; i++)
		all.emplace_back([&what, i] { what(i); });
	for (std::thread &one : all)
		one.join();
}

} // namespace

TEST_CASE("host_parking: permits as the contract says", "[parking]")
{
	static constinit klock::selftest::parking_test test{};
	const klock::selftest::parking_world world = {
		[](void (*body)(void *), void *of) {
			std::thread(body, of).detach();
		},
		[] {
			std::this_thread::sleep_for(
				std::chrono::microseconds(100));
		},
		20000};

	CHECK(test.run(world) == nullptr);
	CHECK(test.run_timed(world) == nullptr);
	/* In seconds it fits 32 bits, whatever the deadline. */
	CHECK(klock::host::ns_until(~u64{0}) <= 1'000'000'000);
}

TEST_CASE("host_parking: the system calls come in the order of the wake-ups",
	  "[parking]")
{
	using namespace klock::host;
	constexpr std::size_t kept = std::size(to_wake);
	std::deque<permit> sleepers;
	std::vector<permit *> in_order, woken;
	const irq_state before = irq_save();

	/* For the last there is no place: it is woken at once. */
	while (sleepers.size() <= kept) {
		in_order.push_back(&sleepers.emplace_back(asleep));
		klock_os_unpark(reinterpret_cast<usize>(in_order.back()));
	}
	irq_restore(before);
	REQUIRE(how_many == kept);
	in_order.pop_back();
	wake_in_order([&](permit *one) { woken.push_back(one); });
	CHECK(woken == in_order);
	wake_in_order([&](permit *) { FAIL("woken twice"); });
}

TEST_CASE("sleep: what is brought is taken, and nobody stays behind")
{
	using namespace klock::selftest::sleepers;
	constexpr unsigned bring = 2;

	const auto passes = [](const row &one) {
		INFO(one.name);
		here.prepare(rounds, threads);
		by_all(threads + (one.bring ? bring : 0), [&](unsigned i) {
			selftest::xorshift dice(i + 1);

			priority_changed(klock::host::lending, i % 3);

			for (u32 n = 0; i < threads && n < rounds; n++) {
				watchdog::step();
				one.turn(dice, i);
				here.steps.fetch_add_relaxed(1);
			}
			while (i >= threads &&
			       here.steps.load_relaxed() < threads * rounds) {
				one.bring(i - threads);
				std::this_thread::yield();
			}
		});
		CHECK(fault(one) == nullptr);
	};

	for (const row &one : rows)
		passes(one);
	passes(fifo);
	passes(lends);
}

TEST_CASE("sleep: each kind of fault is named")
{
	using namespace klock::selftest::sleepers;
	const row &sections = rows[0], &units = rows[3];
	const auto verdict = [](const row &of, auto spoil) {
		here.prepare(0, 0);
		spoil();
		const char *wrong = fault(of);
		return std::string(wrong ? wrong : "");
	};

	for (const row *one : {&sections, &units, &lends})
		CHECK(verdict(*one, [] {}) == "");
	CHECK(verdict(sections, [] { here.wrong.store_relaxed(1); }) != "");
	CHECK(verdict(sections, [] { here.brought.store_relaxed(1); }) != "");
	CHECK(verdict(units, [] { here.stock.store_relaxed(1); }) != "");
	CHECK(verdict(units, [] { here.rounds = here.threads = 1; }) != "");
	CHECK(verdict(lends, [] { here.loans_left.store_relaxed(1); }) != "");
}

namespace {

constinit futex_table<8> table;

/* Handed over: the last is woken by the one before it. */
template <typename Lock>
void freed_by_last()
{
	struct counted {
		Lock lock;
		plain<unsigned> left{threads};
	};
	std::vector<counted *> all;
	std::atomic<unsigned> freed = 0;
	std::barrier meet(threads);

	while (all.size() < rounds)
		all.push_back(new counted);
	by_all(threads, [&](unsigned i) {
		for (counted *one : all) {
			watchdog::step();
			meet.arrive_and_wait();
			/* Now and then by a deadline that is soon. */
			if (++i % 4 || !one->lock.try_lock_for(1000))
				one->lock.lock();
			const unsigned left = one->left.get() - 1;

			std::this_thread::yield(); /* others queue */
			one->left.set(left);
			one->lock.unlock();
			if (left)
				continue;
			delete one;
			freed++;
		}
	});
	CHECK(freed == rounds);
}

} // namespace

TEST_CASE("sleep: freed by the last who holds it")
{
	freed_by_last<patient_mutex<0>>();
	freed_by_last<patient_byte_mutex<table, 0>>();
}
