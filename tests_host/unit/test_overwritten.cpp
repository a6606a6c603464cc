/* SPDX-License-Identifier: MIT */
/*
 * A checked lock whose memory somebody overwrites, or makes anew: each kind of
 * lock, held and free, in a kernel with a lock order and in one without.
 */
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/semaphore.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/wait_queue.hpp>

#include "order_kernel.hpp"
#include "pretended_kernel.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <string>

using namespace klock;

/* A thread each CPU, and none ever sleeps. */
static inheriting_thread threads[2];

extern "C" usize klock_os_thread(void) { return 1 + current_cpu; }
extern "C" void klock_os_park(void) { throw std::runtime_error("sleeps"); }
extern "C" bool klock_os_park_until(u64) { return false; }
extern "C" void klock_os_unpark(usize) {}
extern "C" inheriting_thread *klock_os_inheriting_thread(void)
{
	return &threads[current_cpu];
}
extern "C" void klock_os_run_with_priority(inheriting_thread *, unsigned) {}

namespace {

/* copy: as it was when it was free, after it had been used. */
enum class by { poison, zeros, anew, copy };

constexpr const char *overwritten = "its memory was overwritten: 0x6b6b";
constexpr const char *lost =
	"its memory was overwritten or made anew while it was held; at ";

template <typename L>
void overwrite(L &lock, by how)
{
	if (how == by::anew)
		new (&lock) L();
	else
		std::memset(static_cast<void *>(&lock),
			    how == by::poison ? 0x6b : 0, sizeof(lock));
}

/* A lock in memory that no destructor reads. */
template <typename L>
struct victim_memory {
	alignas(L) unsigned char bytes[sizeof(L)];
	L &lock = *new (bytes) L();
};

/* Two CPUs take it. */
template <typename L>
struct victim : victim_memory<L> {
	using victim_memory<L>::lock;
	selftest::contender<L> mine[2] = {selftest::contender<L>(0),
					  selftest::contender<L>(1)};

	std::string locks(unsigned cpu)
	{
		return does(cpu, [&] { mine[cpu].lock(lock); });
	}
	std::string unlocks(unsigned cpu)
	{
		return does(cpu, [&] { mine[cpu].unlock(lock); });
	}
	/* CPU 0 takes it; then it is overwritten. */
	void held_and(by how)
	{
		victim_memory<L> before;

		if (how == by::copy) {
			REQUIRE(locks(0) == "");
			REQUIRE(unlocks(0) == "");
			std::memcpy(before.bytes, &lock, sizeof(lock));
		}
		REQUIRE(locks(0) == "");
		if (how == by::copy)
			std::memcpy(static_cast<void *>(&lock), before.bytes,
				    sizeof(lock));
		else
			overwrite(lock, how);
	}

      private:
	static std::string does(unsigned cpu, block what)
	{
		running here(cpu, context::thread);

		return panic_of(what);
	}
};

/* The kernel, and the kind of its lock. */
struct kernel {
	bool has_order;
	bool spins;

	/* Whether it knows holders apart from their locks. */
	[[nodiscard]] bool knows() const { return has_order || spins; }
};

void names_holder(const std::string &said)
{
	has(said, "victim, CPU ");
	has(said, "; held by CPU 0");
	has(said, ", taken at ");
}

/* A lock in a kernel that knows of no other. */
template <typename L, typename Play>
void play(kernel in, Play play_it)
{
	std::unique_ptr<new_order<>> order;
	const irqs as_it_waits(!in.spins);
	victim<L> one;

	if (in.has_order)
		order = std::make_unique<new_order<>>();
	play_it(one);
	forget_locks();
}

/* 0x6b while it is held: the next verb of any CPU finds it. */
template <typename L>
void poison_held(kernel in)
{
	const auto names_it = [in](const std::string &said) {
		has(said, overwritten);
		if (in.knows())
			names_holder(said);
	};

	play<L>(in, [&](victim<L> &one) {
		one.held_and(by::poison);
		names_it(one.locks(1));
		names_it(one.unlocks(1));
		names_it(one.unlocks(0));
	});
}

/* Another state while it is held: a free lock's. */
template <typename L>
void free_held(kernel in, by how)
{
	const auto names_it = [in](const std::string &said) {
		has(said,
		    in.knows() ? lost : "unlock() of a lock that nobody holds");
		if (in.knows())
			names_holder(said);
	};

	for (const bool other : {true, false})
		play<L>(in, [&](victim<L> &one) {
			one.held_and(how);
			names_it(one.unlocks(other));
		});
	if (how != by::anew)
		return;
	/* It lets another in, which finds that, if there is an order. */
	play<L>(in, [&](victim<L> &one) {
		one.held_and(how);
		if (in.has_order)
			names_it(one.locks(1));
		else
			CHECK(one.locks(1) == "");
	});
}

/* Another has had it since: its first holder finds that. */
template <typename L>
void copied_held(kernel in)
{
	for (const bool is_in : {true, false})
		play<L>(in, [&](victim<L> &one) {
			one.held_and(by::copy);
			CHECK(one.locks(1) == "");
			if (!is_in)
				CHECK(one.unlocks(1) == "");
			const std::string said = one.unlocks(0);

			has(said, lost);
			names_holder(said);
		});
}

template <typename L>
void spoil_free(kernel in)
{
	play<L>(in, [](victim<L> &one) {
		REQUIRE(one.locks(0) == "");
		REQUIRE(one.unlocks(0) == "");
		overwrite(one.lock, by::poison);
		has(one.locks(1), overwritten);
		has(one.unlocks(1), overwritten);
	});
	/* That is allowed. */
	play<L>(in, [](victim<L> &one) {
		REQUIRE(one.locks(0) == "");
		REQUIRE(one.unlocks(0) == "");
		overwrite(one.lock, by::anew);
		for (const unsigned cpu : {1, 0}) {
			CHECK(one.locks(cpu) == "");
			CHECK(one.unlocks(cpu) == "");
		}
	});
}

template <typename L>
void spoil(const char *name, bool spins = true)
{
	for (const bool has_order : {true, false}) {
		const kernel in = {has_order, spins};

		INFO(name << (has_order ? ", with an order" : ""));
		poison_held<L>(in);
		free_held<L>(in, by::zeros);
		free_held<L>(in, by::anew);
		if (in.knows())
			copied_held<L>(in);
		spoil_free<L>(in);
	}
}

/* An event has no holder. */
template <typename L, typename Use>
void spoil_event(Use use)
{
	victim_memory<L> one;

	CHECK(panic_of([&] { use(one.lock); }) == "");
	overwrite(one.lock, by::poison);
	has(panic_of([&] { use(one.lock); }), overwritten);
	overwrite(one.lock, by::anew);
	CHECK(panic_of([&] { use(one.lock); }) == "");
}

} // namespace

TEST_CASE("overwritten: each spinning lock")
{
	selftest::one_of_each<selftest::all_locks<2>>::for_each(
		[]<typename Subject>() {
			spoil<checked_lock<typename Subject::lock, "victim">>(
				Subject::name);
		});
	spoil<checked_lock<recursive_lock<ticket_lock<u8>>, "victim">>(
		"recursive_lock");
}

TEST_CASE("overwritten: each lock that sleeps")
{
	spoil<checked_lock<mutex, "victim">>("mutex", false);
	spoil<checked_lock<shared_mutex, "victim">>("shared_mutex", false);
	spoil<checked_lock<inheriting_mutex, "victim">>("inheriting_mutex",
							false);
	spoil<checked_lock<recursive_lock<mutex>, "victim">>("recursive_lock",
							     false);
}

TEST_CASE("overwritten: readers, upgrades, data, events")
{
	using table = checked_lock<phase_fair_lock<u8>, "victim">;
	const irqs off(false);

	for (const bool has_order : {true, false}) {
		play<table>({has_order, true}, [](victim<table> &one) {
			one.lock.lock_shared();
			overwrite(one.lock, by::poison);
			has(one.locks(1), overwritten);
			names_holder(
				panic_of([&] { one.lock.unlock_shared(); }));
		});
		play<table>({has_order, true}, [](victim<table> &one) {
			one.lock.lock_shared();
			overwrite(one.lock, by::anew);
			const std::string said =
				panic_of([&] { one.lock.unlock_shared(); });

			has(said, lost);
			names_holder(said);
		});
	}
	/* A reader that is the first is not one too many. */
	play<table>({true, true}, [](victim<table> &one) {
		one.lock.lock_shared();
		as(1, context::thread, [&] {
			CHECK(panic_of([&] { one.lock.lock_shared(); }) == "");
			one.lock.unlock_shared();
		});
		one.lock.unlock_shared();
	});
	/* Nor is one that reads beside the upgradable reader. */
	play<table>({true, true}, [](victim<table> &one) {
		one.lock.lock_upgradable();
		as(1, context::thread, [&] {
			CHECK(panic_of([&] { one.lock.lock_shared(); }) == "");
			one.lock.unlock_shared();
		});
		overwrite(one.lock, by::poison);
		has(panic_of([&] { one.lock.upgrade(); }), overwritten);
		has(panic_of([&] { one.lock.lock_upgradable(); }), overwritten);
		has(panic_of([&] { (void)one.lock.try_lock_upgradable(); }),
		    overwritten);
		has(panic_of([&] { assert_held(one.lock); }), overwritten);
	});

	victim_memory<checked_lock<seq_lock<u64>, "time">> time;

	overwrite(time.lock, by::poison);
	has(panic_of([&] { time.lock.write(1); }), overwritten);
	has(panic_of([&] { (void)time.lock.read(); }), overwritten);
}

TEST_CASE("overwritten: a stray unlock is none")
{
	using spin = checked_lock<ticket_lock<u8>, "victim">;

	for (const bool has_order : {true, false})
		play<spin>({has_order, true}, [](victim<spin> &one) {
			has(one.unlocks(1),
			    "unlock() of a lock that nobody holds");
			REQUIRE(one.locks(0) == "");
			has(one.unlocks(1),
			    "unlock() by a caller that does not hold it");
		});
}

TEST_CASE("overwritten: each event")
{
	const irqs on(true);

	spoil_event<checked_lock<semaphore, "jobs">>([](auto &jobs) {
		(void)jobs.release();
		jobs.acquire();
	});
	spoil_event<checked_lock<completion, "answer">>([](auto &answer) {
		answer.set();
		answer.wait();
	});
	spoil_event<checked_lock<condition, "changed">>(
		[](auto &changed) { changed.notify_one(); });
	spoil_event<checked_lock<wait_queue, "arrivals">>(
		[](auto &arrivals) { arrivals.wait([] { return true; }); });
}
