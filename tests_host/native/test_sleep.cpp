/* SPDX-License-Identifier: MIT */
/*
 * sleep: the hosted port's four functions about threads; over them the locks
 * that sleep, by real threads, more of them than cores: each section and each
 * unit is counted, and nobody is left asleep.
 */
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/guard.hpp>
#include <klock/host_parking.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/wait_queue.hpp>

#include "../watchdog.hpp"
#include "parking_threads.hpp"

#include <catch.hpp>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace klock;

namespace {

constexpr unsigned threads = 8, rounds = 2000;

/* what(i) by each of the threads. */
template <typename What>
void by_all(What what)
{
	std::vector<std::thread> all;

	for (unsigned i = 0; i < threads; i++)
		all.emplace_back([&what, i] { what(i); });
	for (std::thread &one : all)
		one.join();
}

/* Takes it, now and then by a try or a deadline that is soon. */
template <typename Lock>
void take(Lock &lock, unsigned round)
{
	if (round % 8 == 3 && lock.try_lock())
		return;
	if (round % 8 == 5 && lock.try_lock_for(round * 16))
		return;
	lock.lock();
}

template <typename Lock>
void excludes()
{
	Lock lock;
	plain<unsigned> count;

	by_all([&](unsigned) {
		for (unsigned i = 0; i < rounds; i++) {
			watchdog::step();
			take(lock, i);
			count.set(count.get() + 1);
			lock.unlock();
		}
	});
	CHECK(count.get() == threads * rounds);
	CHECK(lock.try_lock());
}

/* As many units as are brought; the one who brings is a handler. */
template <typename Take, typename Bring>
void all_are_taken(Take take_one, Bring bring)
{
	constexpr unsigned each = rounds / 4;

	by_all([&](unsigned i) {
		for (unsigned n = 0; n < each; n++) {
			watchdog::step();
			if (i % 2)
				take_one();
			else
				bring();
		}
	});
}

} // namespace

TEST_CASE("host_parking: permits as the contract says", "[parking]")
{
	static constinit klock::selftest::parking_test test{};
	const klock::selftest::parking_world world = {
		native::start_thread, native::pause_thread, 20000};

	CHECK(test.run(world) == nullptr);
	CHECK(test.run_timed(world) == nullptr);
}

TEST_CASE("sleep: mutex, of any patience, excludes, and nobody stays behind")
{
	excludes<mutex>();
	excludes<patient_mutex<0>>();
	excludes<patient_mutex<16>>();
	excludes<shared_mutex>();
}

TEST_CASE("sleep: shared_mutex: readers see whole writes")
{
	shared_mutex lock;
	plain<unsigned> a, b;

	by_all([&](unsigned i) {
		for (unsigned n = 0; n < rounds; n++) {
			watchdog::step();
			if (n % 8 != i) {
				const shared_guard seen(lock);

				if (a.get() != b.get())
					std::abort();
				continue;
			}
			lock.lock();
			a.set(a.get() + 1);
			b.set(b.get() + 1);
			if (n % 16 == i) {
				lock.downgrade();
				lock.unlock_shared();
			} else {
				lock.unlock();
			}
		}
	});
	CHECK(a.get() == threads * rounds / 8);
}

TEST_CASE("sleep: whatever is brought is taken")
{
	semaphore units;
	wait_queue arrivals;
	condition changed, spun;
	mutex m;
	preemptable_ticket_lock<u8> spin;
	plain<unsigned> there, under_mutex, under_spin;

	all_are_taken([&] { units.acquire(); }, [&] { units.release(); });
	CHECK_FALSE(units.try_acquire());

	const auto one = [](plain<unsigned> &of) {
		if (of.get() == 0)
			return false;
		of.set(of.get() - 1);
		return true;
	};
	const auto more = [](plain<unsigned> &of) { of.set(of.get() + 1); };

	all_are_taken([&] { arrivals.wait([&] { return one(there); }); },
		      [&] { arrivals.wake_one([&] { more(there); }); });
	CHECK(there.get() == 0);

	all_are_taken(
		[&] {
			guard held(m);
			changed.wait(held, [&] { return one(under_mutex); });
		},
		[&] {
			const guard held(m);
			more(under_mutex);
			changed.notify_one();
		});
	CHECK(under_mutex.get() == 0);

	all_are_taken(
		[&] {
			irq_guard held(spin);
			while (!spun.wait_for(held, 100000,
					      [&] { return one(under_spin); }))
				;
		},
		[&] {
			irq_guard held(spin);
			more(under_spin);
			held.unlock();
			spun.notify_all();
		});
	CHECK(under_spin.get() == 0);
}

TEST_CASE("sleep: completion on the stack, gone as soon as it is set")
{
	semaphore requests;
	mutex m;
	std::vector<completion *> asked;
	unsigned answered = 0;

	by_all([&](unsigned i) {
		for (unsigned n = 0; n < rounds / 4; n++) {
			completion done, *of = nullptr;

			if (i % 2) {
				const guard held(m);

				asked.push_back(&done);
				requests.release();
			} else {
				requests.acquire();
				const guard held(m);

				of = asked.back();
				asked.pop_back();
				answered++;
			}
			if (of)
				of->set();
			else
				done.wait();
		}
	});
	CHECK(answered == threads / 2 * (rounds / 4));
}

TEST_CASE("sleep: freed by the last who holds it")
{
	struct counted {
		mutex lock;
		plain<unsigned> left{threads};
	};
	constexpr unsigned objects = 500;
	std::vector<std::unique_ptr<counted>> all;

	for (unsigned n = 0; n < objects; n++)
		all.push_back(std::make_unique<counted>());
	by_all([&](unsigned) {
		for (unsigned n = 0; n < objects; n++) {
			watchdog::step();
			counted &one = *all[n];

			take(one.lock, n);
			const unsigned left = one.left.get() - 1;
			one.left.set(left);
			one.lock.unlock();
			if (left == 0)
				all[n].reset();
		}
	});
	for (const auto &one : all)
		CHECK_FALSE(one);
}
