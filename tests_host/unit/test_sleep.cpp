/* SPDX-License-Identifier: MIT */
/*
 * sleep: the locks that sleep, by one thread. What happens while it sleeps is
 * a list: each park() runs the next of it, as an interrupt would. Where several
 * wait, each is a fiber, which a test goes on with.
 */
#include <klock/bakery_lock.hpp>
#include <klock/byte_mutex.hpp>
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/futex.hpp>
#include <klock/guard.hpp>
#include <klock/irq_depth.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/synchronized.hpp>
#include <klock/try_lock_until.hpp>
#include <klock/wait_queue.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <fiber/fiber.hpp>

#include <catch.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace klock;
using namespace unit;

namespace {

std::deque<std::function<void()>> while_it_sleeps;
unsigned parks, unparks, unparked;
bool too_late, unparked_with_irqs_on;

/* An inner lock, and whether it was held in klock_os_unparked(). */
struct seen_inner : ticket_lock<u8> {
	static inline bool is_held = false;

	void lock() { ticket_lock::lock(), is_held = true; }
	void unlock() { is_held = false, ticket_lock::unlock(); }
};
bool inner_is_held;

/* Sleeps through these; more is a sleep for ever. */
template <typename Code>
unsigned sleeps_in(std::deque<std::function<void()>> meanwhile, Code code)
{
	while_it_sleeps = meanwhile;
	parks = 0;
	code();
	CHECK(while_it_sleeps.empty());
	CHECK(irqs_enabled());
	return parks;
}

using numbers = std::vector<unsigned>;

/* The threads that were woken, in this order. */
numbers woken;

/* A thread with a stack of its own: where it parks, it is left. */
struct other_thread {
	other_thread(unsigned its_number, std::function<void()> what)
	    : number(its_number), code(what)
	{
		stack.start(
			[](void *me) {
				static_cast<other_thread *>(me)->code();
			},
			this);
		go_on();
	}

	/* Until it parks again; false: it has ended. */
	bool go_on()
	{
		running = this;
		const bool parked = stack.resume();

		running = nullptr;
		return parked;
	}

	static inline other_thread *running = nullptr;
	const unsigned number;

      private:
	std::function<void()> code;
	fiber stack{256 * 1024};
};

/* Threads 1 to 3, which came in this order and wait. */
struct three_waiters {
	explicit three_waiters(std::function<void()> wait)
	{
		for (unsigned i = 1; i <= 3; i++)
			all.emplace_back(i, wait);
	}

	/* Returns whom the call wakes; these go on, until they park again. */
	numbers woken_by(const std::function<void()> &call)
	{
		woken.clear();
		call();
		const numbers now = woken;

		for (const unsigned number : now)
			all[number - 1].go_on();
		return now;
	}

      private:
	std::deque<other_thread> all;
};

irq_depth depth;

} // namespace

extern "C" irq_depth *klock_os_irq_depth(void) { return &depth; }

extern "C" usize klock_os_thread(void)
{
	return other_thread::running ? other_thread::running->number : 7;
}

extern "C" void klock_os_park(void)
{
	CHECK(irqs_enabled());
	if (other_thread::running)
		return fiber::suspend();
	parks++;
	if (while_it_sleeps.empty())
		throw std::runtime_error("sleeps for ever");
	const auto next = while_it_sleeps.front();

	while_it_sleeps.pop_front();
	next();
}

/* A deadline of 0 has passed, and any that is too late: that of a kill. */
extern "C" bool klock_os_park_until(u64 deadline)
{
	if (too_late)
		return false;
	if (deadline != 0)
		klock_os_park();
	return deadline != 0 && !too_late;
}

extern "C" void klock_os_unpark(usize thread)
{
	unparks += thread == 7;
	woken.push_back(static_cast<unsigned>(thread));
	CHECK_FALSE(irqs_enabled());
}

extern "C" void klock_os_unparked(void)
{
	unparked++;
	unparked_with_irqs_on = irqs_enabled();
	inner_is_held = seen_inner::is_held;
}

TEST_CASE("sleep: sizes, and what zero bytes are")
{
	static_assert(sizeof(mutex) == 2 * sizeof(void *));
	static_assert(sizeof(wait_queue) == 2 * sizeof(void *));
	static_assert(sizeof(completion) == 2 * sizeof(void *));
	static_assert(sizeof(condition) == 2 * sizeof(void *));
	static_assert(sizeof(semaphore) == 8 + sizeof(void *));
	static_assert(sizeof(shared_mutex) == 8 + sizeof(void *));
	static_assert(sizeof(klock::detail::sleeper) == 4 * sizeof(void *));
	/* A kernel without klock_os_unparked() pays nothing. */
	static_assert(__is_empty(klock::detail::wake_ups<void>));

	static constinit mutex m;
	static constinit wait_queue q;
	static constinit completion c;
	static constinit condition changed;
	static constinit semaphore s;
	static constinit shared_mutex sm;

	CHECK((all_zero(m) && all_zero(q) && all_zero(c)));
	CHECK((all_zero(changed) && all_zero(s) && all_zero(sm)));
	CHECK_FALSE(c.is_set());
	CHECK_FALSE(s.try_acquire());
	{
		const std::scoped_lock free(m, sm);
	}
	CHECK((all_zero(m) && all_zero(sm)));
}

TEST_CASE("sleep: mutex: a waiter is told, and takes it")
{
	static mutex m;

	m.lock();
	CHECK(m.is_locked());
	CHECK_FALSE(m.is_contended());
	CHECK_FALSE(m.try_lock());
	CHECK_FALSE(m.try_lock_until(0));
	CHECK(sleeps_in({[&] {
				CHECK(m.is_contended());
				m.unlock();
				/* Told, but not in yet: others may take it,
				 * and tell nobody again. */
				CHECK_FALSE(m.is_locked());
				CHECK(m.is_contended());
				CHECK(m.try_lock());
				m.unlock();
			}},
			[&] { m.lock(); }) == 1);
	CHECK(unparks == 1);
	m.unlock();
	CHECK(all_zero(m));
}

TEST_CASE("sleep: recursive_lock: its owner is the thread, on any CPU")
{
	recursive_lock<mutex> plain;
	checked_lock<recursive_lock<mutex>, "tree"> checked;

	plain.lock();
	checked.lock();
	as(3, context::thread, [&] {
		CHECK(plain.try_lock_until(0));
		CHECK(plain.try_lock_for(0));
		checked.lock();
		CHECK(checked.try_lock_until(0));
		CHECK(plain.depth() == 3);
		CHECK(checked.depth() == 3);
	});
	for (int left = 2; left >= 0; left--) {
		checked.unlock();
		CHECK(checked.is_held_by_me() == (left > 0));
	}
	while (plain.depth())
		plain.unlock();
	CHECK_FALSE(plain.is_locked());
}

TEST_CASE("sleep: guards take them, and the standard library's")
{
	static mutex m;
	static shared_mutex sm;
	synchronized<int, shared_mutex> number(3);

	{
		pair_guard both(m, sm);
		const try_guard again(m);

		CHECK_FALSE(again);
		CHECK_FALSE(sm.try_lock_shared());
	}
	{
		const shared_guard one(sm);
		const shared_guard two(sm);

		CHECK_FALSE(sm.try_lock());
	}
	number.with([](int &n) { n++; });
	CHECK(number.with_shared([](const int &n) { return n; }) == 4);

	std::condition_variable_any changed;
	std::unique_lock held(m);

	CHECK(changed.wait_for(held, std::chrono::nanoseconds(1)) ==
	      std::cv_status::timeout);
	CHECK(held.owns_lock());
	CHECK(m.is_locked());
}

TEST_CASE("sleep: shared_mutex: whether it is held, and waited for")
{
	static shared_mutex sm;
	const auto is = [] {
		return std::string(sm.is_locked() ? "held" : "free") +
		       (sm.is_contended() ? ", waited for" : "");
	};

	CHECK(is() == "free");
	sm.lock();
	CHECK(is() == "held");
	sm.downgrade();
	CHECK(is() == "held");
	CHECK(sm.try_lock_shared());
	CHECK(sleeps_in({[&] {
				CHECK(is() == "held, waited for");
				sm.unlock_shared();
				CHECK(is() == "held, waited for");
				sm.unlock_shared();
				/* Told, but not in yet. */
				CHECK(is() == "free, waited for");
				CHECK(sm.try_lock_shared());
				sm.unlock_shared();
			}},
			[&] { sm.lock(); }) == 1);
	CHECK(is() == "held");
	sm.unlock();
	CHECK(is() == "free");
}

/* All of std::unique_lock but its timed forms: those are of <chrono>. */
template <typename L>
static void standard_locks()
{
	L one, two;

	{
		std::unique_lock held(one);
		std::unique_lock late(two, std::defer_lock);
		std::unique_lock none(one, std::try_to_lock);

		CHECK_FALSE(none.owns_lock());
		CHECK(late.try_lock());
		late.unlock();
		late.lock();
		swap(held, late);
		CHECK(held.mutex() == &two);
	}
	CHECK_FALSE(one.is_locked());
	{
		const std::scoped_lock both(one, two);

		CHECK(two.is_locked());
	}
	/* A deadline is one of klock's own, in cycles. */
	REQUIRE(one.try_lock_for(1));
	{
		const std::unique_lock held(one, std::adopt_lock);

		CHECK(one.is_locked());
	}
	CHECK_FALSE(one.is_locked());
}

TEST_CASE("sleep: the standard library's locks, without their timed forms")
{
	standard_locks<mutex>();
	standard_locks<shared_mutex>();
	shared_mutex names;

	{
		const std::shared_lock seen(names);
		std::shared_lock too(names, std::defer_lock);

		CHECK(too.try_lock());
		CHECK_FALSE(names.try_lock());
	}
	REQUIRE(names.try_lock_shared_for(1));
	{
		const std::shared_lock seen(names, std::adopt_lock);

		CHECK(names.is_locked());
	}
	CHECK_FALSE(names.is_locked());
}

TEST_CASE("sleep: try_lock_until asks a lock with a deadline of its own")
{
	mutex m;

	m.lock();
	CHECK_FALSE(klock::try_lock_until(m, 0));
	/* It would be asked again and again, and never sleep. */
	CHECK(sleeps_in({[&] { m.unlock(); }},
			[&] { CHECK(klock::try_lock_for(m, 1)); }) == 1);
}

namespace {

/* A verb with a deadline: it waits after hold(), until bring() by another. */
struct timed_verb {
	const char *name;
	std::function<bool(u64)> waits;
	std::function<void()> hold, bring, give;
};

/* Waits; meanwhile this happens. */
wait_result end_of(const timed_verb &verb, u64 deadline,
		   std::deque<std::function<void()>> meanwhile)
{
	wait_result why{};

	verb.hold();
	sleeps_in(meanwhile,
		  [&] { why = why_ended(verb.waits(deadline), deadline); });
	too_late = false;
	if (why != wait_result::had)
		verb.bring();
	if (why == wait_result::had || verb.waits(0))
		verb.give();
	return why;
}

void ends_of(const timed_verb &verb)
{
	constexpr u64 never = ~u64{0}, long_ago = 1;
	const auto kill = [] { too_late = true; };
	const auto both = [&] {
		kill();
		verb.bring();
	};

	INFO(verb.name);
	CHECK(end_of(verb, never, {verb.bring}) == wait_result::had);
	CHECK(end_of(verb, 0, {}) == wait_result::deadline);
	CHECK(end_of(verb, never, {kill}) == wait_result::killed);
	CHECK(end_of(verb, long_ago, {kill}) == wait_result::deadline);
	/* It has it, though it was killed, or is late. */
	CHECK(end_of(verb, never, {both}) == wait_result::had);
	CHECK(end_of(verb, long_ago, {both}) == wait_result::had);
}

} // namespace

TEST_CASE("sleep: why a wait ended, of each verb with a deadline")
{
	mutex m;
	counted_lock<mutex, "files"> counted;
	shared_mutex names;
	semaphore jobs;
	completion done;
	condition changed;
	wait_queue arrivals;
	bool there = false;
	const auto is_there = [&] { return there; };
	const auto nothing = [] {};
	const auto forget = [&] { there = false; };
	const auto notify = [&] { changed.notify_one(); };
	const auto unlock = [&] { m.unlock(); };
	const auto unlock_names = [&] { names.unlock(); };
	const auto lock_names = [&] { names.lock(); };
	const auto unlock_counted = [&] { counted.unlock(); };
	const timed_verb all[] = {
		{"mutex", [&](u64 by) { return m.try_lock_until(by); },
		 [&] { m.lock(); }, unlock, unlock},
		{"counted_lock<mutex>",
		 [&](u64 by) { return counted.try_lock_until(by); },
		 [&] { counted.lock(); }, unlock_counted, unlock_counted},
		{"shared_mutex",
		 [&](u64 by) { return names.try_lock_until(by); }, lock_names,
		 unlock_names, unlock_names},
		{"shared_mutex, to read",
		 [&](u64 by) { return names.try_lock_shared_until(by); },
		 lock_names, unlock_names, [&] { names.unlock_shared(); }},
		{"semaphore",
		 [&](u64 by) { return jobs.try_acquire_until(by); }, nothing,
		 [&] { jobs.release(); }, nothing},
		{"completion", [&](u64 by) { return done.wait_until(by); },
		 nothing, [&] { done.set(); }, [&] { done.reset(); }},
		{"condition",
		 [&](u64 by) {
			 guard held(m);

			 return changed.wait_until(held, by);
		 },
		 nothing, notify, nothing},
		{"condition, with a predicate",
		 [&](u64 by) {
			 guard held(m);

			 return changed.wait_until(held, by, is_there);
		 },
		 nothing,
		 [&] {
			 there = true;
			 notify();
		 },
		 forget},
		{"condition, in two parts",
		 [&](u64 by) {
			 sleeper me;

			 changed.prepare(me);
			 return changed.sleep(me, &by);
		 },
		 nothing, notify, nothing},
		{"wait_queue",
		 [&](u64 by) { return arrivals.wait_until(is_there, by); },
		 nothing, [&] { arrivals.wake_one([&] { there = true; }); },
		 forget},
	};

	for (const timed_verb &verb : all)
		ends_of(verb);
}

TEST_CASE("sleep: wait_queue: who is woken looks, and may sleep again")
{
	static wait_queue q;
	std::vector<int> order;
	int there = 0;
	const auto one = [&] { return there && there--; };
	const auto bring = [&] { q.wake_one([&] { there++; }); };

	CHECK(sleeps_in({}, [&] { q.wait([] { return true; }); }) == 0);
	CHECK_FALSE(q.wait_until(one, 0));
	/* Woken, and another has taken it; then for good. */
	CHECK(sleeps_in({[&] {
				 bring();
				 there = 0;
			 },
			 bring},
			[&] { q.wait(one); }) == 2);
	/* In the wait of one, another waits: both are woken, in their order. */
	CHECK(sleeps_in({[&] {
				 CHECK(q.wait_for(one, 1));
				 order.push_back(2);
			 },
			 [&] {
				 q.wake_all([&] { there = 2; });
				 order.push_back(0);
			 }},
			[&] {
				q.wait(one);
				order.push_back(1);
			}) == 2);
	CHECK(order == std::vector{0, 2, 1});
	CHECK(all_zero(q));
}

/* Threads run one after the other, in the order in which they are woken. */
TEST_CASE("sleep: wait_queue: all get the same, though most are woken in vain")
{
	static wait_queue q;
	int there = 0;
	bool over = false;
	unsigned got[4] = {};
	three_waiters all([&] {
		while (!over) {
			q.wait([&] { return over || (there && there--); });
			got[other_thread::running->number]++;
		}
	});

	for (unsigned i = 0; i < 300; i++)
		(void)all.woken_by([&] { q.wake_all([&] { there++; }); });
	CHECK(there == 0);
	CHECK((got[1] == 100 && got[2] == 100 && got[3] == 100));
	(void)all.woken_by([&] { q.wake_all([&] { over = true; }); });
	CHECK(all_zero(q));
}

TEST_CASE("sleep: wait_queue: who was woken in vain keeps its place")
{
	wait_queue q;
	int there = 0;
	three_waiters all([&] { q.wait([&] { return there && there--; }); });
	const auto bring = [&] { q.wake_one([&] { there++; }); };

	CHECK(all.woken_by([&] { q.wake_one([] {}); }) == numbers{1});
	CHECK(all.woken_by([&] { q.wake_all([] {}); }) == numbers{1, 2, 3});
	CHECK(all.woken_by(bring) == numbers{1});
	CHECK(all.woken_by([&] { q.wake_all([&] { there = 2; }); }) ==
	      numbers{2, 3});
	CHECK(all.woken_by(bring).empty());
}

TEST_CASE("sleep: wait_queue: who has not come yet is not woken again")
{
	static wait_queue q;
	int there = 0;
	three_waiters all([&] { q.wait([&] { return there && there--; }); });

	CHECK(all.woken_by([&] {
		q.wake_one([&] { there++; });
		q.wake_one([&] { there++; });
		q.wake_all([&] { there++; });
		q.wake_one([] {});
	}) == numbers{1, 2, 3});
	CHECK(all_zero(q));
}

/* Told, it has not come yet; a barger lets it in as it downgrades. */
TEST_CASE("sleep: shared_mutex: a reader that was told is let in by another")
{
	static shared_mutex sm;
	bool writes = false;

	sm.lock();
	other_thread reader(1, [&] {
		sm.lock_shared();
		sm.unlock_shared();
	});
	sm.unlock();
	sm.lock();
	sm.downgrade();
	other_thread writer(2, [&] {
		sm.lock();
		writes = true;
		sm.unlock();
	});
	sm.unlock_shared();
	CHECK_FALSE(writes);
	woken.clear();
	(void)reader.go_on();
	REQUIRE(woken == numbers{2});
	(void)writer.go_on();
	CHECK(writes);
	CHECK(all_zero(sm));
}

/* Told, it comes too late and leaves: the next is told in its place. */
template <typename L>
static void leaves_told()
{
	static L lock;
	bool had = true;

	lock.lock();
	other_thread hasty(1, [&] { had = lock.try_lock_until(1); });
	other_thread next(2, [&] {
		lock.lock();
		lock.unlock();
	});
	lock.unlock();
	lock.lock();
	too_late = true;
	(void)hasty.go_on();
	too_late = false;
	CHECK_FALSE(had);
	woken.clear();
	lock.unlock();
	REQUIRE(woken == numbers{2});
	(void)next.go_on();
	CHECK(all_zero(lock));
}

TEST_CASE("sleep: who was told and gives up leaves nobody behind")
{
	leaves_told<mutex>();
	leaves_told<shared_mutex>();
}

/* While one that was told is on its way, a later one gives up. */
template <typename L>
static void leaves_behind_told()
{
	static L lock;
	bool had = true;

	lock.lock();
	other_thread first(1, [&] {
		lock.lock();
		lock.unlock();
	});
	other_thread hasty(2, [&] { had = lock.try_lock_until(1); });
	lock.unlock();
	too_late = true;
	(void)hasty.go_on();
	too_late = false;
	CHECK_FALSE(had);
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(first.go_on());
	CHECK(all_zero(lock));
}

TEST_CASE("sleep: who gives up behind one that was told changes nothing")
{
	leaves_behind_told<mutex>();
	leaves_behind_told<shared_mutex>();
}

namespace {

/* An inner lock, and what happens before it is taken. */
struct late_inner : ticket_lock<u8> {
	static inline std::function<void()> before;

	void lock()
	{
		if (const auto run = std::exchange(before, nullptr))
			run();
		ticket_lock::lock();
	}
};

} // namespace

/* The first is told, and others come, take it and leave before it runs. */
template <typename L>
static void told_once()
{
	static L lock;
	const auto takes = [] {
		lock.lock();
		lock.unlock();
	};

	lock.lock();
	other_thread first(1, takes);
	lock.unlock();
	CHECK(lock.try_lock());
	other_thread second(2, takes);
	woken.clear();
	lock.unlock();
	lock.lock();
	/* It is free again once the inner lock is asked for. */
	late_inner::before = [] { lock.unlock(); };
	lock.lock();
	CHECK(lock.is_contended());
	other_thread third(3, takes);
	if constexpr (requires { lock.downgrade(); }) {
		lock.downgrade();
		lock.unlock_shared();
	} else {
		lock.unlock();
	}
	CHECK(woken.empty());
	for (other_thread *one : {&first, &second, &third})
		CHECK_FALSE(one->go_on());
	CHECK(woken == numbers{2, 3});
	CHECK_FALSE((lock.is_locked() || lock.is_contended()));
}

TEST_CASE("sleep: who was told is not told again before it has run")
{
	told_once<patient_mutex<8, late_inner>>();
	told_once<patient_shared_mutex<8, late_inner>>();
}

TEST_CASE("sleep: completion: who was woken is not woken again")
{
	completion done;
	other_thread first(1, [&] { done.wait(); });

	done.set();
	woken.clear();
	done.reset();
	other_thread second(2, [&] { done.wait(); });

	done.set();
	CHECK(woken == numbers{2});
	done.reset();
	done.set();
	CHECK(woken == numbers{2});
	CHECK_FALSE(first.go_on());
	CHECK_FALSE(second.go_on());
}

TEST_CASE("sleep: completion: who gives up leaves the others to be woken")
{
	completion done;
	bool was_set = true;
	other_thread hasty(1, [&] { was_set = done.wait_until(1); });
	other_thread waits(2, [&] { done.wait(); });

	too_late = true;
	(void)hasty.go_on();
	too_late = false;
	CHECK_FALSE(was_set);
	woken.clear();
	done.set();
	CHECK(woken == numbers{2});
	CHECK_FALSE(waits.go_on());
}

TEST_CASE("sleep: klock_os_unparked() comes once, behind the inner lock")
{
	mutex m;
	semaphore units;
	completion done;
	condition changed;
	wait_queue q;
	shared_mutex sm;
	ticket_lock<u8> spin;
	const auto calls_in = [](auto code) {
		unparked = 0;
		code();
		return unparked;
	};
	const auto waits = [&](auto wait, auto wake) {
		other_thread waiter(1, wait);
		const unsigned calls = calls_in(wake);

		(void)waiter.go_on();
		return calls;
	};

	/* Interrupts as they were: on, or off in a section of the caller's. */
	const auto called = [&](bool irqs_on) {
		return !inner_is_held && unparked_with_irqs_on == irqs_on;
	};
	patient_mutex<8, seen_inner> seen;

	seen.lock();
	CHECK(waits([&] { seen.lock(); }, [&] { seen.unlock(); }) == 1);
	CHECK(called(true));
	CHECK(waits([&] { seen.lock(); },
		    [&] {
			    const irq_guard off(spin);
			    seen.unlock();
		    }) == 1);
	CHECK(called(false));
	CHECK(calls_in([&] {
		      m.lock(), m.unlock();
		      (void)units.release(), units.acquire();
		      changed.notify_all(), q.wake_all([] {});
		      sm.lock(), sm.downgrade(), sm.unlock_shared();
	      }) == 0);
	m.lock();
	CHECK(waits([&] { m.lock(); }, [&] { m.unlock(); }) == 1);
	sm.lock();
	CHECK(waits([&] { sm.lock_shared(); }, [&] { sm.downgrade(); }) == 1);
	CHECK(waits([&] { units.acquire(); }, [&] { units.release(); }) == 1);
	CHECK(waits([&] { done.wait(); }, [&] { done.set(); }) == 1);
	int there = 0;
	const auto one = [&] { return there && there--; };

	CHECK(waits([&] { q.wait(one); },
		    [&] { q.wake_one([&] { there++; }); }) == 1);
	CHECK(waits(
		      [&] {
			      irq_guard held(spin);
			      changed.wait(held);
		      },
		      [&] { changed.notify_one(); }) == 1);
	/* A checked lock calls it again, with interrupts on. */
	checked_lock<semaphore> checked;

	CHECK(waits([&] { checked.acquire(); }, [&] { checked.release(); }) ==
	      2);
	CHECK(called(true));
	CHECK(waits([&] { checked.acquire(); },
		    [&] {
			    const irq_guard off(spin);
			    checked.release();
		    }) == 1);
	CHECK(called(false));
}

TEST_CASE("sleep: who waits longest is woken first, and all by what wakes all")
{
	mutex m;
	completion done;
	condition changed;
	semaphore units(0);
	const auto wait = [&] {
		guard held(m);
		changed.wait(held);
	};

	three_waiters for_event([&] { done.wait(); });
	CHECK(for_event.woken_by([&] { done.set(); }) == numbers{1, 2, 3});
	CHECK(for_event.woken_by([&] { done.set(); }).empty());

	three_waiters for_change(wait);
	CHECK(for_change.woken_by([&] { changed.notify_one(); }) == numbers{1});
	CHECK(for_change.woken_by([&] { changed.notify_all(); }) ==
	      numbers{2, 3});
	CHECK(for_change.woken_by([&] { changed.notify_all(); }).empty());

	three_waiters for_unit([&] { units.acquire(); });
	for (unsigned i = 1; i <= 3; i++)
		CHECK(for_unit.woken_by([&] { CHECK(units.release()); }) ==
		      numbers{i});
	CHECK_FALSE(units.try_acquire());
}

TEST_CASE("sleep: a wait that is too late returns what ready() said last")
{
	mutex m;
	condition changed;
	wait_queue q;
	unsigned asked = 0;
	/* True as soon as the time is over. */
	const auto late = [&] { return asked++ == 1; };
	guard held(m);

	CHECK(changed.wait_until(held, 0, late));
	CHECK(asked == 2);
	asked = 0;
	CHECK(q.wait_until(late, 0));
	CHECK(asked == 2);
	CHECK_FALSE(changed.wait_until(held, 0, late));
	CHECK_FALSE(q.wait_until(late, 0));
}

TEST_CASE("sleep: semaphore: Most units, and none that somebody waits for")
{
	bounded_semaphore<2> s(1);

	CHECK(s.release());
	CHECK_FALSE(s.release());
	CHECK(s.try_acquire());
	s.acquire();
	CHECK_FALSE(s.try_acquire());
	CHECK_FALSE(s.try_acquire_until(0));
	CHECK(sleeps_in({[&] {
				CHECK(s.release());
				CHECK_FALSE(s.try_acquire()); /* handed over */
			}},
			[&] { s.acquire(); }) == 1);
	CHECK(sleeps_in({[&] { CHECK(s.release()); }},
			[&] { CHECK(s.try_acquire_for(1)); }) == 1);
	CHECK_FALSE(s.try_acquire());
	for (const u32 first : {3u, ~0u}) {
		bounded_semaphore<2> full(first);

		CHECK_FALSE(full.release());
		CHECK((full.try_acquire() && full.try_acquire()));
		CHECK_FALSE(full.try_acquire());
	}
}

TEST_CASE("sleep: completion: set for good, until reset")
{
	completion done;

	CHECK_FALSE(done.wait_until(0));
	CHECK(sleeps_in({[&] { done.set(); }}, [&] { done.wait(); }) == 1);
	CHECK(done.is_set());
	CHECK(done.wait_for(1));
	done.reset();
	CHECK_FALSE(done.is_set());
}

TEST_CASE("sleep: condition: lets go of its lock, of any kind, and no other")
{
	mutex m, other;
	ticket_lock<u8> spin;
	mcs_lock with_node;
	shared_mutex read;
	condition changed;
	bool ready = false;
	const auto is_ready = [&] { return ready; };
	const auto now_ready = [&](auto &lock) {
		CHECK(lock.try_lock());
		ready = true;
		lock.unlock();
		changed.notify_all();
	};
	const guard kept(other);

	const auto waits = [&](auto &lock, auto held) {
		ready = false;
		CHECK(sleeps_in({[&] { changed.notify_one(); },
				 [&] {
					 CHECK(other.is_locked());
					 now_ready(lock);
				 }},
				held) == 2);
		CHECK_FALSE(lock.is_locked());
	};
	waits(m, [&] {
		guard held(m);
		changed.wait(held, is_ready);
		CHECK(m.is_locked());
	});
	waits(m, [&] {
		std::unique_lock held(m);
		CHECK(changed.wait_for(held, 1, is_ready));
		CHECK(held.owns_lock());
	});
	waits(m, [&] {
		m.lock();
		changed.wait(m, is_ready);
		CHECK_FALSE(changed.wait_until(m, 0));
		m.unlock();
	});
	/* Interrupts are on while it sleeps, and off again. */
	waits(spin, [&] {
		irq_guard held(spin);
		changed.wait(held, is_ready);
		CHECK(spin.is_locked());
		CHECK_FALSE(irqs_enabled());
	});
	{
		irq_guard held(with_node);

		CHECK_FALSE(changed.wait_until(held, 0));
		CHECK_FALSE(irqs_enabled());
		CHECK(with_node.is_locked());
	}
	shared_guard seen(read);

	ready = false;
	CHECK_FALSE(changed.wait_until(seen, 0, is_ready));
	CHECK_FALSE(read.try_lock());
}

/* The guard has the lock and interrupts as it had them; its end restores all.
 */
TEST_CASE("sleep: condition: a guard that was let go of ends as any other")
{
	ticket_lock<u8> spin;
	phase_fair_lock<u8> read;
	condition changed;

	{
		irq_depth_guard held(spin);

		CHECK_FALSE(changed.wait_until(held, 0));
		CHECK(spin.is_locked());
		CHECK(push_depth() == 1);
	}
	CHECK_FALSE(spin.is_locked());
	CHECK(push_depth() == 0);
	CHECK(irqs_enabled());
	for (const bool upgrades : {false, true}) {
		{
			upgradable_guard held(read);

			if (upgrades)
				held.upgrade();
			CHECK_FALSE(changed.wait_until(held, 0));
			/* It reads, upgraded before or not. */
			CHECK(read.try_lock_shared());
			read.unlock_shared();
			CHECK_FALSE(read.try_lock_upgradable());
		}
		CHECK(read.try_lock());
		read.unlock();
	}
}

/* A number may be another thread's there; a node is the caller's own. */
template <typename L>
static void wakes_elsewhere()
{
	L lock;
	condition changed;
	const unsigned before = current_cpu;
	const auto moves = [&] {
		CHECK_FALSE(lock.is_locked());
		current_cpu = before + 1;
		changed.notify_one();
	};

	CHECK(sleeps_in({moves}, [&] {
		      irq_guard held(lock);

		      CHECK(lock.is_queued(before));
		      changed.wait(held);
		      CHECK_FALSE(lock.is_queued(before));
		      CHECK(lock.is_queued(before + 1));
	      }) == 1);
	CHECK_FALSE(lock.is_locked());
	current_cpu = before;
	CHECK(sleeps_in({moves}, [&] {
		      guard held(lock, [] { return current_cpu; });

		      changed.wait(held);
		      CHECK(lock.is_queued(before + 1));
	      }) == 1);
	current_cpu = before;
	/* It was no number of a CPU's. */
	CHECK(sleeps_in({moves}, [&] {
		      guard held(lock, before + 2);

		      changed.wait(held);
		      CHECK(lock.is_queued(before + 2));
	      }) == 1);
	CHECK_FALSE(lock.is_locked());
	current_cpu = before;
}

TEST_CASE("sleep: condition: an upgraded guard that has become a reader")
{
	checked_lock<phase_fair_lock<u8>, "routes"> routes;
	condition changed;
	irq_upgradable_guard held(routes);

	held.upgrade();
	held.downgrade();
	has(panic_of([&] { changed.wait(held); }),
	    "routes, CPU 0: a wait with a guard that was downgraded; at ");
}

TEST_CASE("sleep: condition: a thread that wakes up on another CPU has its "
	  "number")
{
	wakes_elsewhere<bakery_lock<4>>();
	wakes_elsewhere<checked_lock<bakery_lock<4>>>();
}

TEST_CASE("sleep: condition: who waits longest is notified first")
{
	mutex m;
	condition changed;
	klock::detail::sleeper again;
	const u64 soon = 0;

	/* A sleeper that was notified once can wait again. */
	changed.prepare(again);
	changed.notify_one();
	CHECK(changed.sleep(again, &soon));
	changed.prepare(again);
	CHECK_FALSE(changed.sleep(again, &soon));

	/* The second is there when the first is told. */
	bool second_goes_on = false;
	const auto wait = [&] {
		guard held(m);
		changed.wait(held);
	};

	CHECK(sleeps_in({[&] { wait(), second_goes_on = true; },
			 [&] { changed.notify_one(); },
			 [&] {
				 CHECK_FALSE(second_goes_on);
				 changed.notify_one();
			 }},
			wait) == 3);
}

namespace {

using addresses = futex_table<4>;

futex_look same() { return futex_look::same; }
futex_look other() { return futex_look::changed; }

/* A key, one of its bucket, and one of another. */
constexpr futex_key here = {1, 0x1000};
constexpr futex_key key_beside(futex_key of, bool same_bucket)
{
	futex_key key = of;

	do
		key.address += 4;
	while ((addresses::index_of(key) == addresses::index_of(of)) !=
	       same_bucket);
	return key;
}
constexpr futex_key near = key_beside(here, true),
		    far = key_beside(here, false);

/* Waits for the key, and says that it was woken. */
std::function<void()> waits_for(addresses &lot, futex_key key,
				u32 mask = addresses::any_bit)
{
	return [&lot, key, mask] {
		CHECK(lot.wait(key, same, mask) == futex_result::woken);
	};
}

} // namespace

TEST_CASE("futex: sizes, and what zero bytes are")
{
	using futex = futex_table<8>;
	static_assert(sizeof(futex) == 8 * klock::cache_line);
	static_assert(alignof(futex) == klock::cache_line);
	static_assert(sizeof(addresses::waiter) ==
		      (sizeof(void *) == 8 ? 64 : 36));

	static constinit addresses lot;
	static constinit futex_table<1> one_bucket;
	static_assert(sizeof(byte_mutex<lot>) == 1);
	static constinit byte_mutex<lot> m;
	static constinit byte_mutex<one_bucket> m_of_one;

	CHECK((all_zero(lot) && all_zero(m)));
	CHECK(m.try_lock());
	CHECK_FALSE(m.try_lock());
	CHECK(m.is_locked());
	CHECK_FALSE(m.try_lock_until(0));
	m.unlock();
	CHECK((all_zero(lot) && all_zero(m)));
	{
		const guard held(m_of_one);
	}
	CHECK((all_zero(one_bucket) && all_zero(m_of_one)));
}

TEST_CASE("futex: keys are spread over the buckets, and compared whole")
{
	using many = futex_table<64>;
	std::vector<unsigned> in(64), of_spaces(64);

	for (usize i = 0; i < 6400; i++) {
		in[many::index_of({0x5000, 0x7f001000 + i * 4})]++;
		of_spaces[many::index_of({0x100000 + i * 0x240, 0x601000})]++;
	}
	for (const auto &each : {in, of_spaces})
		for (const unsigned n : each)
			CHECK((n > 50 && n < 200));

	addresses lot;
	unsigned told = 0;
	other_thread one(1, [&] {
		waits_for(lot, here)();
		told++;
	});

	CHECK(lot.wake({here.space + 1, here.address}, 1) == 0);
	CHECK(lot.wake({here.space, here.address + 4}, 1) == 0);
	CHECK(lot.wake(here, 1) == 1);
	CHECK_FALSE(one.go_on());
	CHECK(told == 1);
}

TEST_CASE("futex: why a wait ended")
{
	addresses lot;
	const auto faults = [] { return futex_look::faulted; };

	CHECK(lot.wait(here, other) == futex_result::changed);
	CHECK(lot.wait(here, faults) == futex_result::faulted);
	CHECK(lot.wait_until(here, other, 0) == futex_result::changed);
	CHECK(lot.wait_until(here, same, 0) == futex_result::deadline);
	too_late = true;
	CHECK(lot.wait_until(here, same, ~u64{0}) == futex_result::killed);
	CHECK(lot.wait_for(here, same, ~u64{0}) == futex_result::killed);
	too_late = false;
	CHECK(sleeps_in({[&] { CHECK(lot.wake(here, 1) == 1); }},
			waits_for(lot, here)) == 1);
	/* It was counted, so it was woken, though its time has passed. */
	CHECK(sleeps_in({[&] {
				CHECK(lot.wake(here, 1) == 1);
				too_late = true;
			}},
			[&] {
				CHECK(lot.wait_until(here, same, 1) ==
				      futex_result::woken);
			}) == 1);
	too_late = false;
	CHECK(all_zero(lot));
}

TEST_CASE("futex: order: first come, first woken, by their masks")
{
	addresses lot;
	three_waiters three(waits_for(lot, here, 6));
	std::deque<other_thread> more;

	more.emplace_back(4u, waits_for(lot, here, 1));
	more.emplace_back(5u, waits_for(lot, near));
	CHECK(three.woken_by([&] { CHECK(lot.wake(here, 0) == 0); }).empty());
	CHECK(three.woken_by([&] { CHECK(lot.wake(here, 2, 4) == 2); }) ==
	      numbers{1, 2});
	woken.clear();
	CHECK(lot.wake(here, ~0u, 1) == 1);
	CHECK(lot.wake(near, ~0u, 8) == 1);
	CHECK(woken == numbers{4, 5});
	CHECK(three.woken_by([&] {
		unsigned changes = 0;

		CHECK(lot.wake(here, 9, 2, [&] {
			CHECK(woken.empty());
			changes++;
		}) == 1);
		CHECK(changes == 1);
	}) == numbers{3});
	for (other_thread &one : more)
		CHECK_FALSE(one.go_on());
	CHECK(all_zero(lot));
}

TEST_CASE("futex: order: who is requeued comes behind those that wait")
{
	for (const futex_key to : {near, far}) {
		addresses lot;
		std::deque<other_thread> of_it;

		for (unsigned i = 1; i <= 4; i++)
			of_it.emplace_back(i, waits_for(lot, here));
		of_it.emplace_back(5u, waits_for(lot, to));
		woken.clear();
		CHECK(lot.requeue(here, to, 1, 2, other).found ==
		      futex_look::changed);
		CHECK(woken.empty());
		const futex_count done = lot.requeue(here, to, 1, 2, same);

		CHECK((done.woken == 1 && done.moved == 2));
		CHECK(lot.wake(here, 9) == 1);
		CHECK(lot.wake(to, 9) == 3);
		CHECK(woken == numbers{1, 4, 5, 2, 3});
		for (other_thread &one : of_it)
			CHECK_FALSE(one.go_on());
		CHECK(all_zero(lot));
	}
}

TEST_CASE("futex: order: a requeue to the same key ends, and moves nobody")
{
	addresses lot;
	three_waiters three(waits_for(lot, here));

	CHECK(three.woken_by([&] {
		const futex_count done = lot.requeue(here, here, 1, ~0u, same);

		CHECK((done.woken == 1 && done.moved == 2));
	}) == numbers{1});
	CHECK(three.woken_by([&] { lot.wake(here, 1); }) == numbers{2});
	CHECK(three.woken_by([&] { lot.wake(here, 1); }) == numbers{3});
}

TEST_CASE("futex: a deadline of who was requeued")
{
	addresses lot;

	CHECK(sleeps_in(
		      {[&] {
			      CHECK(lot.requeue(here, far, 0, 1, same).moved ==
				    1);
			      too_late = true;
		      }},
		      [&] {
			      CHECK(lot.wait_until(here, same, 1) ==
				    futex_result::deadline);
		      }) == 1);
	too_late = false;
	CHECK(all_zero(lot));
}

TEST_CASE("futex: wake_op wakes one key, or both")
{
	for (const futex_key second : {here, near, far}) {
		addresses lot;
		std::deque<other_thread> all;

		for (unsigned i = 1; i <= 3; i++)
			all.emplace_back(i, waits_for(lot, here));
		for (unsigned i = 4; i <= 6; i++)
			all.emplace_back(i, waits_for(lot, second));
		woken.clear();
		CHECK(lot.wake_op(here, 1, second, 1, [] {
				 return futex_op::faulted;
			 }).found == futex_look::faulted);
		CHECK(woken.empty());
		CHECK(lot.wake_op(here, 1, second, 1, [] {
				 return futex_op::wakes_one;
			 }).woken == 1);
		CHECK(lot.wake_op(here, 1, second, 2, [] {
				 return futex_op::wakes_both;
			 }).woken == 3);
		CHECK(woken == (second == here ? numbers{1, 2, 3, 4}
					       : numbers{1, 2, 4, 5}));
		lot.wake(here, 9);
		lot.wake(second, 9);
		for (other_thread &one : all)
			CHECK_FALSE(one.go_on());
		CHECK(all_zero(lot));
	}
}

TEST_CASE("futex: wait_any: the first that was woken, and none is left")
{
	addresses lot;
	addresses::waiter nodes[3];
	const futex_key keys[] = {here, near, far};
	const auto got = [&](std::deque<std::function<void()>> meanwhile) {
		futex_of_several any = {};

		sleeps_in(meanwhile, [&] {
			any = lot.wait_any(nodes, keys, 3,
					   [](u32) { return same(); });
		});
		CHECK(any.why == futex_result::woken);
		CHECK(all_zero(lot));
		return any.which;
	};

	CHECK(got({[&] { lot.wake(far, 1); }}) == 2);
	/* The other wake-ups are consumed. */
	CHECK(got({[&] {
		      CHECK(lot.wake(far, 1) == 1);
		      CHECK(lot.wake(near, 1) == 1);
	      }}) == 1);
	/* For nothing, and then for one that was requeued. */
	CHECK(got({[] {},
		   [&] {
			   lot.requeue(near, far, 0, 1, same);
			   CHECK(lot.wake(far, 1) == 1);
			   CHECK(lot.wake(far, 1) == 1);
		   }}) == 1);

	const futex_of_several late = lot.wait_any_until(
		nodes, keys, 3, [](u32) { return same(); }, 0);
	CHECK(late.why == futex_result::deadline);
	for (const u32 which : {0u, 1u, 2u}) {
		const futex_of_several found =
			lot.wait_any(nodes, keys, 3, [which](u32 i) {
				return i == which ? other() : same();
			});

		CHECK(found.why == futex_result::changed);
		CHECK(found.which == which);
	}
	/* It was woken for the first before it has looked at the second. */
	const futex_of_several early = lot.wait_any(nodes, keys, 3, [&](u32 i) {
		if (i == 2)
			lot.wake(near, 1);
		return i == 2 ? other() : same();
	});
	CHECK(early.why == futex_result::woken);
	CHECK(early.which == 1);
	CHECK(all_zero(lot));
}

TEST_CASE("futex: wake-ups go on behind both buckets' locks")
{
	using table = futex_table<4, seen_inner>;
	static table lot;
	const unsigned before = unparked;

	CHECK(sleeps_in({[&] {
				lot.requeue(here, far, 1, 1, same);
				CHECK_FALSE(inner_is_held);
				CHECK(unparked_with_irqs_on);
			}},
			[&] {
				CHECK(lot.wait(here, same) ==
				      futex_result::woken);
			}) == 1);
	CHECK(unparked == before + 1);
}

TEST_CASE("futex: byte_mutex: hand-over")
{
	static addresses lot;
	constexpr unsigned patience = 3;
	static patient_byte_mutex<lot, patience, 0> m;

	m.lock();
	other_thread one(1, [] { m.lock(); });
	other_thread two(2, [] { m.lock(); });

	for (unsigned i = 0; i < patience; i++) {
		woken.clear();
		m.unlock();
		/* It barges: who was woken stays the first. */
		CHECK(m.try_lock());
		CHECK(woken == numbers{1});
		CHECK(one.go_on());
		CHECK(m.is_contended());
	}
	m.unlock();
	CHECK_FALSE(m.try_lock());
	CHECK_FALSE(one.go_on());
	m.unlock();
	CHECK_FALSE(m.is_locked());
	CHECK_FALSE(two.go_on());
	CHECK(m.is_locked());
	m.unlock();
	CHECK((all_zero(m) && all_zero(lot)));
}

TEST_CASE("futex: byte_mutex: those that wait are woken in turn")
{
	static addresses lot;
	static byte_mutex<lot> m;

	m.lock();
	three_waiters three([] { m.lock(); });

	/* Until the woken one runs, nobody else is woken. */
	CHECK(three.woken_by([] {
		m.unlock();
		CHECK(m.try_lock());
		m.unlock();
	}) == numbers{1});
	CHECK(three.woken_by([] { m.unlock(); }) == numbers{2});
	CHECK(three.woken_by([] { m.unlock(); }) == numbers{3});
	CHECK(three.woken_by([] { m.unlock(); }).empty());
	CHECK((all_zero(m) && all_zero(lot)));
}

TEST_CASE("futex: byte_mutex: a waiter that gives up")
{
	static addresses lot;
	static byte_mutex<lot> m;

	m.lock();
	CHECK(sleeps_in({[&] { too_late = true; }},
			[&] { CHECK_FALSE(m.try_lock_until(1)); }) == 1);
	too_late = false;
	CHECK(all_zero(lot));
	/* Its mark goes with the next unlock(). */
	CHECK(m.is_contended());
	m.unlock();
	CHECK(all_zero(m));
}
