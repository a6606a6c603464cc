/* SPDX-License-Identifier: MIT */
/* Tests of a wait between two looks: watched, held up, given up. */
#include <klock/atomic.hpp>
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/mutex.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/queued_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/try_lock_until.hpp>

#include <fiber/fiber.hpp>

#include "../claims/stage.hpp"
#include "../widths.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <functional>
#include <memory>
using namespace klock;
using namespace claims;

/* Its turns of waiting are counted, move a clock from 100, and do something. */
struct watched_turns : arch::watcher {
	explicit watched_turns(std::function<void()> then = [] {})
	    : does(std::move(then))
	{
		arch::watched_by = this;
	}
	~watched_turns() { arch::watched_by = before; }
	void turn() override
	{
		turns++;
		clock++;
		does();
	}
	u64 time() override { return clock; }

	unsigned turns = 0;
	u64 clock = 100;
	std::function<void()> does;

      private:
	arch::watcher *const before = arch::watched_by;
};

/*
 * How often a native wait looks, and how long it pauses in between.
 *
 * One thread: its spin iterations are watched (tests_host/overlays/watched),
 * and the watcher is who ends the wait. A wait without a pause would never end:
 * each predicate gives up after a number of looks.
 */
namespace atomic_waits_tests {

namespace {

constexpr unsigned too_many = 1000;

/* In the last turn the value is what is waited for. */
struct ending final : watched_turns {
	ending(atomic<u8> &value, unsigned last)
	    : watched_turns([this, &value, last] {
		      if (turns == last)
			      value.store_relaxed(1);
	      })
	{
	}
};

/* A predicate: the value is 1; counts its calls. */
struct until_one {
	unsigned &looks;

	bool operator()(u8 v) const { return ++looks > too_many || v == 1; }
};

} // namespace

TEST_CASE("waits: a pause between two looks, and none after the last")
{
	atomic<u8> x;
	unsigned looks = 0;
	const until_one done{looks};
	const unsigned turns = GENERATE(1u, 2u, 7u);
	ending watch(x, turns);

	SECTION("await_relaxed") { CHECK(x.await_relaxed(done) == 1); }
	SECTION("await_acquire") { CHECK(x.await_acquire(done) == 1); }
	SECTION("await_seq_cst") { CHECK(x.await_seq_cst(done) == 1); }
	SECTION("await_either_acquire, the first")
	{
		atomic<u8> y;
		unsigned others = 0;
		x.await_either_acquire(done, y, until_one{others});
		CHECK(others == looks - 1);
	}
	SECTION("await_either_acquire, the second")
	{
		atomic<u8> y;
		unsigned others = 0;
		y.await_either_acquire(until_one{others}, x, done);
		CHECK(others == looks);
	}
	CHECK(watch.turns == turns);
	CHECK(looks == turns + 1);
}

TEST_CASE("waits: an exchange is tried again after each pause")
{
	atomic<u8> x{2};
	unsigned looks = 0;
	ending watch(x, 5);

	CHECK(x.await_exchange_acquire(2, until_one{looks}) == 1);
	CHECK(x.load_relaxed() == 2);
	CHECK(watch.turns == 5);
	CHECK(looks == 6);
}

template <typename L>
static void serves_once_between_looks(unsigned turns)
{
	L lock;
	unsigned served = 0;
	watched_turns watch([&] {
		if (watch.turns == turns)
			lock.unlock();
	});

	lock.lock();
	lock.lock([&] { CHECK(watch.turns == served++); });
	CHECK(watch.turns == turns);
	CHECK(served == turns);
}

TEST_CASE("waits: lock(serve) serves once between two looks")
{
	for (const unsigned turns : {1u, 2u, 7u}) {
		CAPTURE(turns);
		serves_once_between_looks<ticket_lock<u8>>(turns);
		serves_once_between_looks<preemptable_ticket_lock<u8>>(turns);
		serves_once_between_looks<tas_lock>(turns);
		serves_once_between_looks<ttas_lock>(turns);
	}
}

TEST_CASE("waits: a paced wait pauses for as long as the pace says")
{
	atomic<u8> x{2};
	unsigned looks = 0, asked = 0;
	const until_one done{looks};
	/* 1, 2, 3 turns: the sixth ends the wait. It keeps state, by reference.
	 */
	const auto pace = [&asked](u8 found) {
		CHECK(found == 2);
		return ++asked;
	};
	ending watch(x, 6);

	SECTION("await_paced_relaxed")
	{
		CHECK(x.await_paced_relaxed(done, pace) == 1);
	}
	SECTION("await_paced_acquire")
	{
		CHECK(x.await_paced_acquire(done, pace) == 1);
	}
	CHECK(watch.turns == 6);
	CHECK(asked == 3);
	CHECK(looks == 4);
}

TEST_CASE("waits: patience counts looks at one value, and gives up")
{
	/* 1 comes in that turn; 0: never. */
	static constexpr struct {
		const char *of;
		u8 value;
		unsigned ends_at;
		u8 found;
		unsigned turns;
	} table[] = {
		{"it runs out", 2, 0, 2, 5},
		{"the value comes before", 2, 4, 1, 4},
		{"endless: until the value is another", 3, 100, 1, 100},
	};

	for (const auto &row : table) {
		unsigned asked = 0;
		/* 2 ends after five looks in vain, 1 at once, else never. */
		const auto patience = [&asked](u8 found) {
			CHECK(++asked < too_many);
			return found == 2 ? 5u : found == 1 ? 0u : endless;
		};

		INFO(row.of);
		{
			atomic<u8> x{row.value};
			ending watch(x, row.ends_at);
			CHECK(x.await_patient_relaxed(patience) == row.found);
			CHECK(watch.turns == row.turns);
			CHECK(asked == row.turns + 1);
		}
		atomic<u8> x{row.value};
		ending watch(x, row.ends_at);
		CHECK(x.await_patient_acquire(patience) == row.found);
		CHECK(watch.turns == row.turns);
	}
}

TEST_CASE("waits: patience begins anew when the value has changed")
{
	atomic<u8> x{2};
	watched_turns watch([&] { x.store_relaxed(watch.turns == 3 ? 3 : 2); });
	const auto patience = [&watch](u8) {
		return watch.turns < too_many ? 5u : 0u;
	};

	/* Two looks in vain, one at 3, then 2 again, and five in vain. */
	CHECK(x.await_patient_relaxed(patience) == 2);
	CHECK(watch.turns == 9);
}

TEST_CASE("waits: a deadline ends one, and so does what it waits for")
{
	/* The value comes in that turn; 0: never. The clock begins at 100. */
	static constexpr struct {
		const char *of;
		unsigned ends_at;
		u64 deadline;
		u8 found;
		unsigned turns;
	} table[] = {
		{"the deadline", 0, 105, 2, 5},
		{"the value, before it", 3, 1000, 1, 3},
		{"it has passed: one look, and no pause", 0, 7, 2, 0},
		{"the value at the last look", 5, 105, 1, 5},
	};

	for (const auto &row : table) {
		unsigned looks = 0;
		const until_one done{looks};

		INFO(row.of);
		{
			atomic<u8> x{2};
			ending watch(x, row.ends_at);
			CHECK(x.await_until_relaxed(done, row.deadline) ==
			      row.found);
			CHECK(watch.turns == row.turns);
			CHECK(looks == row.turns + 1);
		}
		atomic<u8> x{2};
		ending watch(x, row.ends_at);
		CHECK(x.await_until_acquire(done, row.deadline) == row.found);
		CHECK(watch.turns == row.turns);
	}
}

TEST_CASE("waits: half of a pair is paced as a value is")
{
	atomic<u8> ended;
	atomic_pair<u8> x{{2, 3}};
	unsigned looks = 0;
	ending watch(ended, 12);

	CHECK(x.await_paced_acquire(
		      half::second,
		      [&](u8 v) {
			      return ++looks > too_many ||
				     (v == 3 && ended.load_relaxed());
		      },
		      [](u8 v) { return v + 1u; }) == 3);
	CHECK(watch.turns == 12);
	CHECK(looks == 4);
}

} // namespace atomic_waits_tests

/*
 * try_lock_until, try_lock_for: of every lock that can be tried, by a clock
 * that the test moves, a pause at a time.
 */
namespace try_until_tests {

namespace {

/*
 * A lock, and two CPUs that try it, with whatever it asks for: nothing, a node,
 * a number. The tests are compiled once, and not for each lock.
 */
struct tried_lock {
	virtual ~tried_lock() = default;
	virtual bool until(unsigned cpu, u64 deadline) = 0;
	virtual bool in(unsigned cpu, u64 how_long) = 0;
	virtual void unlock(unsigned cpu) = 0;
	virtual bool is_locked() const = 0;
};

template <typename L>
struct tried final : tried_lock {
	bool until(unsigned cpu, u64 deadline) override
	{
		if constexpr (plain_lock<L>)
			return try_lock_until(lock, deadline);
		else
			return try_lock_until(lock, with(cpu), deadline);
	}
	bool in(unsigned cpu, u64 how_long) override
	{
		if constexpr (plain_lock<L>)
			return try_lock_for(lock, how_long);
		else
			return try_lock_for(lock, with(cpu), how_long);
	}
	void unlock(unsigned cpu) override
	{
		if constexpr (plain_lock<L>)
			lock.unlock();
		else
			lock.unlock(with(cpu));
	}
	bool is_locked() const override { return lock.is_locked(); }

      private:
	decltype(auto) with(unsigned cpu)
	{
		if constexpr (node_lock<L>)
			return (nodes.node[cpu]);
		else
			return cpu;
	}

	struct none {};
	template <typename T>
	struct nodes_of {
		using type = none;
	};
	template <node_lock T>
	struct nodes_of<T> {
		struct type {
			typename T::node node[2];
		};
	};

	L lock;
	typename nodes_of<L>::type nodes;
};

void for_each_lock_that_can_be_tried(void (*visit)(tried_lock &))
{
	unsigned seen = 0;
	const auto named = [&](const char *name, tried_lock &lock) {
		INFO(name);
		visit(lock);
		seen++;
	};

	selftest::all_locks<2>::for_each([&]<typename Subject>() {
		if constexpr (try_lockable<typename Subject::lock>) {
			tried<typename Subject::lock> lock;
			named(Subject::name, lock);
		}
	});
	CHECK(seen >= 20);
}

} // namespace

TEST_CASE("try_lock_until: a free lock is taken at once, deadline or not")
{
	for_each_lock_that_can_be_tried([](tried_lock &lock) {
		watched_turns s;

		for (const u64 deadline : {u64{0}, u64{100}, ~u64{0}}) {
			CHECK(lock.until(0, deadline));
			CHECK(lock.is_locked());
			lock.unlock(0);
			CHECK(lock.in(0, deadline));
			lock.unlock(0);
		}
		CHECK(s.clock == 100);
	});
}

TEST_CASE("try_lock_until: a lock that stays held is given up when it is time")
{
	for_each_lock_that_can_be_tried([](tried_lock &lock) {
		watched_turns s;

		REQUIRE(lock.until(0, 0));
		CHECK_FALSE(lock.until(1, 107));
		CHECK(s.clock == 107);
		CHECK_FALSE(lock.in(1, 5));
		CHECK(s.clock == 112);
		/* Asked once, and not waited for. */
		CHECK_FALSE(lock.until(1, 3));
		CHECK_FALSE(lock.in(1, 0));
		CHECK(s.clock == 112);
		lock.unlock(0);
		CHECK(lock.until(1, 0));
		lock.unlock(1);
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("try_lock_until: one that comes free in time is taken")
{
	for_each_lock_that_can_be_tried([](tried_lock &lock) {
		watched_turns s;

		REQUIRE(lock.until(0, 0));
		s.does = [&] {
			if (s.clock == 104)
				lock.unlock(0);
		};
		CHECK(lock.in(1, ~u64{0}));
		CHECK(s.clock == 104);
		CHECK(lock.is_locked());
		lock.unlock(1);
	});
}

TEST_CASE("rescue_guard: a spin iteration between two attempts, none behind")
{
	watched_turns s;
	ticket_lock<u8> lock;

	lock.lock();
	for (const u32 patience : {0u, 1u, 7u}) {
		const u64 before = s.clock;
		rescue_guard held(lock, patience);
		CHECK_FALSE(held);
		CHECK(s.clock - before == patience);
	}
	s.does = [&] {
		if (s.clock == 111)
			lock.unlock();
	};
	rescue_guard held(lock, 100);
	CHECK(held);
	CHECK(s.clock == 111);
}

TEST_CASE("counted_lock: a clock that is behind shows no time, and not 2^64")
{
	counted_lock<hold_times<ticket_lock<u8>>, "clocks"> lock;
	watched_turns s;

	lock.lock();
	s.clock = 10;
	s.does = [&] {
		lock.unlock();
		s.clock = 5;
	};
	lock.lock();
	CHECK(for_each_count([](const count_view &one) {
		CHECK(one.contended == 1);
		CHECK(one.waited == 0);
		CHECK(one.held == 0);
	}));
	lock.forget_counts();
}

} // namespace try_until_tests

/*
 * queued_lock: CPUs that are stopped in a wait, as by an exception out of it;
 * one that waits without a node.
 */
namespace queued_tests {

namespace {

using lock5 = queued_lock<5>;

/* Its first turn of waiting does that; by default it is its last. */
struct stopped {};
struct first_turn final : arch::watcher {
	explicit first_turn(std::function<void()> f) : then(std::move(f))
	{
		arch::watched_by = this;
	}
	~first_turn() { arch::watched_by = before; }
	void turn() override
	{
		arch::watched_by = before;
		then();
	}

	arch::watcher *before = arch::watched_by;
	std::function<void()> then;
};

/* A CPU that queues, and waits: then it is stopped. */
void stop_in_wait(lock5 &lock, unsigned cpu)
{
	first_turn at([] { throw stopped(); });

	CHECK_THROWS_AS(lock.lock_from(cpu), stopped);
}

/* It has the nodes of a CPU that was never stopped: waits, in order. */
void starts_anew(unsigned cpu)
{
	lock5 lock;
	bool waited = false;

	CHECK_FALSE(lock5::is_clean(cpu));
	lock5::forget_waits(cpu);
	CHECK(lock5::is_clean(cpu));
	lock.lock_from(0);
	first_turn at([&] {
		waited = true;
		lock.unlock();
	});
	lock.lock_from(cpu);
	lock.unlock();
	CHECK(waited);
	CHECK(lock5::is_clean(cpu));
}

} // namespace

TEST_CASE("queued_lock: stopped with a successor, a CPU has its nodes again")
{
	lock5 lock;

	lock.lock_from(0);
	stop_in_wait(lock, 1);
	stop_in_wait(lock, 2);
	starts_anew(1);
	starts_anew(2);
}

TEST_CASE("queued_lock: stopped when it is the first, it has its nodes again")
{
	lock5 lock;

	lock.lock_from(0);
	first_turn at([&] {
		stop_in_wait(lock, 2);
		lock.unlock();
	});
	/* Makes CPU 2 the first in the queue. */
	lock.lock_from(1);
	CHECK(lock5::is_clean(1));
	starts_anew(2);
}

TEST_CASE("queued_lock: without a node, a CPU pauses between two looks")
{
	lock5 lock;

	lock.lock_from(0);
	watched_turns s([&] {
		if (s.turns == 7)
			lock.unlock();
	});
	watchdog::note<lock5>("to wait without a node", 5);
	lock.lock_from(5);
	CHECK(s.turns == 7);
	CHECK(lock.is_locked());
}

/* The holder unlocks at that turn of CPU 1's wait: has CPU 1 queued? */
static bool queues_before(unsigned turn)
{
	queued_lock<2, 3> lock;
	bool queued = false;
	watched_turns watched([&] {
		if (watched.turns != turn)
			return;
		queued = lock.is_contended();
		lock.unlock();
	});

	lock.lock_from(0);
	lock.lock_from(1);
	lock.unlock();
	CHECK(watched.turns == turn);
	return queued;
}

TEST_CASE("queued_lock: patience, and then it queues")
{
	CHECK_FALSE(queues_before(1));
	CHECK_FALSE(queues_before(3));
	CHECK(queues_before(4));
}

/* CPU 2 comes when CPU 1 queues, and is stopped at its first iteration. */
TEST_CASE("queued_lock: no patience behind others")
{
	using lock_type = queued_lock<3, 3>;
	lock_type lock;
	watched_turns watched([&] {
		if (watched.turns != 4)
			return;
		first_turn at([] { throw stopped(); });
		CHECK_THROWS_AS(lock.lock_from(2), stopped);
		lock.unlock();
	});

	lock.lock_from(0);
	lock.lock_from(1);
	lock.unlock();
	CHECK_FALSE(lock_type::is_clean(2));
	lock_type::forget_waits(2);
}

} // namespace queued_tests

/*
 * mutex, shared_mutex, inheriting_mutex: some turns before a thread sleeps.
 */
namespace spins_before_sleep_tests {

namespace {

/* A park begins with this: the others go on meanwhile. */
std::function<void()> in_park;
unsigned parks;

/* One lock() that waits: the others release it at that turn, or in the sleep.
 */
struct wait {
	unsigned turns, sleeps;
};
wait wait_of(std::function<void()> lock, std::function<void()> release,
	     unsigned at)
{
	watched_turns watched([&] {
		if (watched.turns == at)
			release();
	});

	in_park = release;
	parks = 0;
	lock();
	return {watched.turns, parks};
}

/* The holder has taken it by take(). */
template <typename Take, typename Release, typename Lock, typename Unlock>
void spins_and_sleeps(unsigned most, Take take, Release release, Lock lock,
		      Unlock unlock)
{
	for (unsigned at = 1; at <= most; at++) {
		take();
		const wait early = wait_of(lock, release, at);
		unlock();
		CHECK(early.turns == at);
		CHECK(early.sleeps == 0);
	}
	take();
	const wait late = wait_of(lock, release, 0);
	unlock();
	CHECK(late.turns == most);
	CHECK(late.sleeps == 1);
}

template <typename L>
void exclusive(unsigned most)
{
	L l;
	const auto lock = [&] { l.lock(); };
	const auto unlock = [&] { l.unlock(); };

	spins_and_sleeps(most, lock, unlock, lock, unlock);
}

template <typename L>
void shared(unsigned most)
{
	L l;
	const auto lock = [&] { l.lock(); };
	const auto unlock = [&] { l.unlock(); };
	const auto read = [&] { l.lock_shared(); };
	const auto unread = [&] { l.unlock_shared(); };

	spins_and_sleeps(most, lock, unlock, lock, unlock);
	spins_and_sleeps(most, lock, unlock, read, unread);
	spins_and_sleeps(most, read, unread, lock, unlock);
}

/* The threads of an inheriting mutex; one runs. */
inheriting_thread threads[3];
inheriting_thread *runs = &threads[0];

struct by_thread {
	explicit by_thread(unsigned number) { runs = &threads[number]; }
	~by_thread() { runs = before; }

      private:
	inheriting_thread *const before = runs;
};

/* Thread 1 holds what thread 0 wants. */
template <u32 Spins, u32 Looks>
void inheriting()
{
	inheriting_mutex_in<inheritance, Spins, Looks> l;

	spins_and_sleeps(
		Spins + Looks, [&] { by_thread(1), l.lock(); },
		[&] { by_thread(1), l.unlock(); }, [&] { l.lock(); },
		[&] { l.unlock(); });
}

} // namespace

TEST_CASE("spins before sleep: taken without a sleep if it comes free in time")
{
	using inner = detail::sleepers_lock;

	exclusive<klock::mutex>(spins_before_sleep);
	shared<klock::shared_mutex>(4 * spins_before_sleep);
	exclusive<patient_mutex<8, inner, 3>>(3);
	shared<patient_shared_mutex<8, inner, 3>>(3);
	exclusive<patient_mutex<8, inner, 0>>(0);
	shared<patient_shared_mutex<8, inner, 0>>(0);
	/* In strict order: as they come. */
	exclusive<patient_mutex<0>>(0);
	shared<patient_shared_mutex<0>>(0);
}

TEST_CASE("inheriting_mutex: tries, then looks")
{
	inheriting<spins_before_sleep, 2 * spins_before_sleep>();
	inheriting<3, 2>();
	inheriting<3, 0>();
	inheriting<0, 2>();
	inheriting<0, 0>();
}

namespace {

/* Until a deadline after so many turns, for what is not released. */
template <typename TryUntil>
void spins_until_deadlines(unsigned most, TryUntil try_until)
{
	in_park = [] {};
	for (unsigned turns = 0; turns <= most; turns++) {
		watched_turns watched;

		parks = 0;
		CHECK_FALSE(try_until(watched.clock + turns));
		CHECK(watched.turns == turns);
		CHECK(parks == 1);
	}
}

} // namespace

TEST_CASE("spins before sleep: none after the deadline")
{
	klock::mutex m;
	klock::shared_mutex names;
	inheriting_mutex_in<inheritance, 3, 2> bus;
	const auto writes = [&](u64 by) { return names.try_lock_until(by); };

	m.lock();
	spins_until_deadlines(spins_before_sleep,
			      [&](u64 by) { return m.try_lock_until(by); });
	names.lock_shared();
	spins_until_deadlines(4 * spins_before_sleep, writes);
	names.unlock_shared();
	names.lock();
	spins_until_deadlines(4 * spins_before_sleep, writes);
	spins_until_deadlines(4 * spins_before_sleep, [&](u64 by) {
		return names.try_lock_shared_until(by);
	});
	spins_until_deadlines(3 + 2, [&](u64 by) {
		by_thread(1), bus.lock();
		const bool had = bus.try_lock_until(by);
		by_thread(1), bus.unlock();
		return had;
	});
}

/* Threads 0 and 1 want what thread 2 holds. */
TEST_CASE("inheriting_mutex: who is not next does neither")
{
	inheriting_mutex_in<inheritance, 3, 2> l;
	const watched_turns watched;
	unsigned turns = 0;

	by_thread(2), l.lock();
	in_park = [&] {
		turns = watched.turns;
		in_park = [&] {
			by_thread(2), l.unlock();
			by_thread(0), l.unlock();
		};
		const by_thread next(1);
		l.lock();
	};
	l.lock();
	CHECK(turns == 3 + 2);
	CHECK(watched.turns == turns);
	by_thread(1), l.unlock();
}

} // namespace spins_before_sleep_tests

extern "C" {

usize klock_os_thread(void) { return 1; }
inheriting_thread *klock_os_inheriting_thread(void)
{
	return spins_before_sleep_tests::runs;
}
void klock_os_run_with_priority(inheriting_thread *, unsigned) {}
void klock_os_unpark(usize) {}
void klock_os_park(void)
{
	spins_before_sleep_tests::parks++;
	spins_before_sleep_tests::in_park();
}
/* Ended at once, as if a kernel had looked at its clock late. */
bool klock_os_park_until(u64)
{
	klock_os_park();
	return false;
}
}

/*
 * preemptable_ticket_lock: its sizes, its wrap, and scripts of who is served
 * when somebody does not run. A step of a waiter is one spin iteration.
 */
namespace preemptable_ticket_tests {

namespace {

using lock8 = preemptable_ticket_lock<u8>;
using lock16 = preemptable_ticket_lock<u16>;

/* The default patience: spin iterations for each ticket ahead. */
constexpr unsigned looks = 32;

/* All leave in order, each after its first look at its own turn. */
bool served_in_turn(stage_of_any &s)
{
	for (unsigned who = 0; who < s.size(); who++) {
		if (s.where(who) != place::inside)
			return false;
		s.step(who);
		/* All others look before the next in turn does. */
		for (unsigned other = s.size(); other-- > who + 2;)
			if (s.step(other) != place::waits)
				return false;
		if (who + 1 < s.size())
			s.step(who + 1);
	}
	return true;
}

/* At rest, the turn is the next ticket's: else this would fail. */
template <typename L>
bool rests(L &lock)
{
	if (lock.is_locked() || lock.is_contended() || !lock.try_lock())
		return false;
	lock.unlock();
	return true;
}

} // namespace

TEST_CASE("preemptable_ticket_lock: sizes are two counters, zero bytes free")
{
	static_assert(sizeof(lock8) == 2 && alignof(lock8) == 2);
	static_assert(sizeof(lock16) == 4 && alignof(lock16) == 4);
	static_assert(sizeof(preemptable_ticket_lock<u8, 1000>) == 2);
	static_assert(lock8::max_contenders == 64);
	static_assert(lock16::max_contenders == 16384);
	static_assert(same_as<preemptable_ticket_lock_for<1>, lock8>);
	static_assert(same_as<preemptable_ticket_lock_for<64>, lock8>);
	static_assert(same_as<preemptable_ticket_lock_for<65>, lock16>);
	static_assert(same_as<preemptable_ticket_lock_for<16384>, lock16>);
	static constinit lock8 lock;

	CHECK(rests(lock));
}

template <typename L>
static void draws_no_ticket()
{
	L lock;

	for (unsigned i = 0; i < 300; i++) {
		lock.lock();
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.is_contended());
		CHECK_FALSE(lock.try_lock());
		lock.unlock();
		CHECK(rests(lock));
		/* The lower half of next. */
		CHECK(*reinterpret_cast<const u8 *>(&lock) == 0);
	}
}

TEST_CASE("preemptable_ticket_lock: alone, it draws no ticket")
{
	draws_no_ticket<lock8>();
	draws_no_ticket<lock16>();
}

TEST_CASE("preemptable_ticket_lock: in turn, whoever else looks, at every wrap")
{
	stage<lock8> s(7);

	/* 6 tickets a round, of 128 until they wrap. */
	for (unsigned round = 0; round < 100; round++) {
		s.all_come();
		CHECK(s.lock.is_contended());
		CHECK(served_in_turn(s));
		CHECK(rests(s.lock));
	}
}

TEST_CASE("preemptable_ticket_lock: 64 contend for 8-bit counters, in order")
{
	stage<lock8> s(64);

	for (unsigned round = 0; round < 5; round++) {
		s.all_come();
		CHECK(served_in_turn(s));
		CHECK(rests(s.lock));
	}
}

TEST_CASE("preemptable_ticket_lock: patience is spent while it is free")
{
	const unsigned sleepers = GENERATE(1u, 2u, 5u);
	stage<lock8> s(sleepers + 2);
	const unsigned last = sleepers + 1;

	/* However long the section is. */
	s.all_come();
	CHECK_FALSE(s.looks(last, 10 * sleepers * looks));
	s.step(0);
	/* The look that finds it free, and those in vain. */
	CHECK_FALSE(s.looks(last, sleepers * looks));
	CHECK(s.looks(last, 1));
	s.step(last);
	/* Its ticket was the last: the turn is the next one's. */
	CHECK_FALSE(s.lock.is_contended());

	/* An overtaken waiter gets in by its first look at a free lock. */
	for (unsigned who = 1; who <= sleepers; who++) {
		CHECK(s.step(who) == place::inside);
		CHECK(s.lock.is_locked());
		s.step(who);
	}
	CHECK(rests(s.lock));
	s.all_come();
	CHECK(served_in_turn(s));
}

TEST_CASE("preemptable_ticket_lock: patience begins anew at each turn")
{
	constexpr unsigned runs = 1, sleeps = 2, last = 3;
	stage<lock8> s(4);

	s.all_come();
	s.step(0);
	CHECK_FALSE(s.looks(last, 2 * looks));
	CHECK(s.step(runs) == place::inside);
	CHECK_FALSE(s.looks(last, 5));
	s.step(runs);
	CHECK_FALSE(s.looks(last, looks));
	CHECK(s.looks(last, 1));
	s.step(last);
	CHECK(s.serves(sleeps));
	CHECK(rests(s.lock));
}

TEST_CASE("preemptable_ticket_lock: patience can be set, and ends")
{
	stage<preemptable_ticket_lock<u8, 3>> s(3);

	s.all_come();
	s.step(0);
	CHECK_FALSE(s.looks(2, 3));
	CHECK(s.looks(2, 1));
	s.step(2);
	CHECK(s.looks(1, 1));
	s.step(1);

	/* Farther back than 64 nobody is more patient: 16 bits, 80 ahead. */
	stage<lock16> far(82);
	far.all_come();
	far.step(0);
	CHECK_FALSE(far.looks(81, 64 * looks));
	CHECK(far.looks(81, 1));
	far.step(81);
	for (unsigned who = 1; who < 81; who++) {
		CHECK(far.serves(who));
	}
	CHECK(rests(far.lock));
}

namespace {

/* Serves that many tickets, past the waiters that do not run. */
bool pass(stage_of_any &s, unsigned tickets)
{
	for (unsigned i = 0; i < tickets; i++) {
		s.steps({0, 3, 0});
		if (!s.serves(3))
			return false;
	}
	return true;
}

} // namespace

TEST_CASE("preemptable_ticket_lock: late, it gets in at its first look")
{
	constexpr unsigned sleeper = 1, overtaker = 2;
	stage<lock8> s(4);

	s.steps({0, sleeper, overtaker, 0});
	CHECK(s.looks(overtaker, looks + 1));
	CHECK(s.step(sleeper) == place::waits);
	s.step(overtaker);
	CHECK(pass(s, 10));
	s.steps({0, 3});
	CHECK(s.step(sleeper) == place::waits);
	s.step(0);
	CHECK(s.serves(sleeper));
	/* The turn is still that of who has waited. */
	CHECK(s.serves(3));
	CHECK(rests(s.lock));
}

namespace {

/* Its old ticket looks early, or on turn again; the turn stays right. */
template <typename L>
void sleeps_while_passed(unsigned tickets)
{
	constexpr unsigned sleeper = 1, overtaker = 2;
	stage<L> s(4);

	s.steps({0, sleeper, overtaker, 0});
	CHECK(s.looks(overtaker, looks + 1));
	s.step(overtaker);
	INFO(tickets << " tickets");
	CHECK(pass(s, tickets));
	CHECK(rests(s.lock));
	CHECK(s.looks(sleeper, 64 * looks + 1));
	s.step(sleeper);
	CHECK(rests(s.lock));
}

} // namespace

TEST_CASE("preemptable_ticket_lock: passed by more turns than its capacity")
{
	/* The overtaker's besides: 128 turns are all there are. */
	for (const unsigned tickets : {62u, 63u, 64u, 70u, 125u, 126u, 127u})
		sleeps_while_passed<lock8>(tickets);
	sleeps_while_passed<lock16>(16390);
}

TEST_CASE("preemptable_ticket_lock: try_lock leaves the turn to who waits")
{
	stage<lock8> s(2);

	s.steps({0, 1, 0});
	/* Free, and 1 has not looked yet. */
	CHECK_FALSE(s.lock.is_locked());
	CHECK_FALSE(s.lock.try_lock());
	CHECK(s.step(1) == place::inside);
	CHECK_FALSE(s.lock.try_lock());
	s.step(1);
	CHECK(rests(s.lock));
}

} // namespace preemptable_ticket_tests

/*
 * Every lock with as many contenders as it may have, and no more: by all mixes
 * of readers and writers, unchecked and checked.
 */
namespace capacity_tests {

namespace {

/* Counters of 16 bits have room for more than there are threads. */
constexpr int most = 300, few = 6;

/* One lock is waited for once by a CPU. */
template <typename L>
constexpr unsigned writers_of()
{
	if (per_cpu_lock<L>)
		return L::max_contenders / queued_cpu::levels;
	return L::max_contenders > most ? few : L::max_contenders;
}

/*
 * A CPU that takes and leaves a lock step by step, as an actor of the stage;
 * not a thread but a fiber, as there are hundreds.
 */
struct cpu final : private arch::watcher {
	std::function<void()> lock, unlock;
	std::string said; /* a panic */

	/* Comes, takes one more look, or leaves. */
	place step(unsigned number)
	{
		current_cpu = number;
		arch::watched_by = this;
		if (now == place::outside) {
			now = place::waits;
			stack.start(
				[](void *me) {
					static_cast<cpu *>(me)->play();
				},
				this);
		}
		stack.resume();
		arch::watched_by = nullptr;
		return now;
	}
	place where() const { return now; }
	/* Wherever it stood: a test failed. */
	void forget()
	{
		now = place::outside;
		said.clear();
	}

      private:
	void turn() override { fiber::suspend(); }
	void play()
	{
		try {
			lock();
			now = place::inside;
			fiber::suspend();
			unlock();
		} catch (const std::runtime_error &panic) {
			said = panic.what();
		}
		now = place::outside;
	}

	fiber stack;
	place now = place::outside;
};

/* Made once for all locks. */
cpu &cpu_number(usize number)
{
	static std::deque<cpu> all;

	while (all.size() <= number)
		all.emplace_back();
	return all[number];
}

/* An object of some type. */
using owned = std::unique_ptr<void, void (*)(void *)>;

template <typename T, typename... With>
owned make(With... with)
{
	return {new T(with...), [](void *it) { delete static_cast<T *>(it); }};
}

/* A contender for a lock, both with their types erased. */
struct contender {
	owned who;
	void (*take)(void *who, void *lock), (*leave)(void *who, void *lock);
	bool writes;
};

template <typename L, typename Who>
contender contends(unsigned number)
{
	return {make<Who>(number),
		[](void *who, void *lock) {
			static_cast<Who *>(who)->lock(*static_cast<L *>(lock));
		},
		[](void *who, void *lock) {
			static_cast<Who *>(who)->unlock(
				*static_cast<L *>(lock));
		},
		same_as<Who, selftest::contender<L>>};
}

/*
 * A lock's type, as far as a test at its capacity has to know it: the test is
 * compiled once, and not for each lock.
 */
struct kind {
	const char *name;
	unsigned writers, readers;
	/* Readers and writers have one capacity together. */
	bool together;
	owned (*make)();
	bool (*is_locked)(const void *);
	contender (*writer)(unsigned), (*reader)(unsigned); /* or null */
};

template <typename L>
kind kind_of(const char *name)
{
	constexpr bool together = requires { L::readers_contend; };
	const auto is_locked = [](const void *lock) {
		return static_cast<const L *>(lock)->is_locked();
	};
	kind k = {name,
		  writers_of<L>(),
		  0,
		  together,
		  make<L>,
		  is_locked,
		  contends<L, selftest::contender<L>>,
		  nullptr};

	if constexpr (shared_lockable<L>) {
		k.readers = L::max_readers > most ? few : L::max_readers;
		k.reader = contends<L, selftest::reader<L>>;
	}
	return k;
}

/* The holders and waiters of a lock, each a CPU of its own. */
struct crowd {
	crowd(const char *lock, void *of, std::vector<contender> contenders)
	    : name(lock), cast(std::move(contenders))
	{
		for (usize i = 0; i < cast.size(); i++) {
			cpu &it = cpu_number(i);
			it.lock = [&c = cast[i], of] {
				c.take(c.who.get(), of);
			};
			it.unlock = [&c = cast[i], of] {
				c.leave(c.who.get(), of);
			};
			it.forget();
			cpus.push_back(&it);
		}
	}

	/* All come, are served, and leave; nobody beside a writer. */
	void pass()
	{
		for (usize i = 0; i < cast.size(); i++)
			REQUIRE(move(i) != place::outside);
		for (usize left = cast.size(); left--;) {
			for (int looks = 0; !inside; looks++) {
				REQUIRE(looks < 1 << 14);
				all_look(1);
			}
			/* All the others of a few; of many, now and then. */
			if (left < 8 || left % 32 == 0)
				all_look(most);
			usize first = 0;
			while (where(first) != place::inside)
				first++;
			REQUIRE(move(first) == place::outside);
		}
		CHECK(inside == 0);
	}

      private:
	place where(usize i) const { return cpus[i]->where(); }

	place move(usize i)
	{
		cpu &it = *cpus[i];
		const bool was = it.where() == place::inside;

		watchdog::note(name, "a step of one of", cast.size());
		it.step(static_cast<unsigned>(i));
		if (!it.said.empty())
			FAIL(it.said);
		const bool is = it.where() == place::inside;
		inside += is - was;
		writers_inside += (is - was) * cast[i].writes;
		if (writers_inside > 0 && inside > 1)
			FAIL("somebody is inside beside a writer");
		return it.where();
	}

	/*
	 * Lets waiters look in the order of arrival, until that many are
	 * inside.
	 */
	void all_look(int until)
	{
		for (usize i = 0; i < cast.size(); i++)
			if (inside < until && where(i) == place::waits)
				move(i);
	}

	const char *name;
	std::vector<contender> cast;
	std::vector<cpu *> cpus;
	int inside = 0, writers_inside = 0;
};

/* Writers come first, or last, or each behind a reader. */
enum class order { writers, readers, by_turns };

/* A lock's writers and readers in that order, who all pass. */
void pass(const kind &of, unsigned writers, unsigned readers, order by)
{
	const owned lock = of.make();
	std::vector<contender> cast;

	while (writers || readers) {
		if (!readers || (writers && by == order::writers) ||
		    (writers && by == order::by_turns && cast.size() % 2))
			cast.push_back(of.writer(--writers));
		else
			cast.push_back(of.reader(--readers));
	}
	crowd all(of.name, lock.get(), std::move(cast));
	all.pass();
	CHECK_FALSE(of.is_locked(lock.get()));
}

void at_capacity(const kind &of)
{
	const unsigned writers = of.writers;

	INFO(of.name);
	pass(of, writers, 0, order::writers);
	if (!of.reader)
		return;
	for (const auto by : {order::writers, order::readers, order::by_turns})
		for (const unsigned w : {1u, writers / 2, writers - 1}) {
			CAPTURE(w, static_cast<int>(by));
			pass(of, w, of.together ? writers - w : of.readers, by);
		}
	pass(of, 0, of.readers, order::readers);
	if (!of.together)
		pass(of, writers, of.readers, order::by_turns);
}

} // namespace

TEST_CASE("every lock: as many contenders as it may have, of either kind")
{
	widths_of<selftest::all_locks<4>>::for_each([]<typename Subject>() {
		at_capacity(kind_of<typename Subject::lock>(Subject::name));
	});
}

TEST_CASE("every lock: checked, at capacity: silent")
{
	widths_of<selftest::all_locks<4>>::for_each([]<typename Subject>() {
		at_capacity(
			kind_of<checked_lock<typename Subject::lock, "full">>(
				Subject::name));
	});
}

} // namespace capacity_tests
