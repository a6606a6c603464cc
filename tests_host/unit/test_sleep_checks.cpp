/* SPDX-License-Identifier: MIT */
/*
 * sleep: what checks say of locks that sleep, in a kernel whose owners of locks
 * are threads. Each park runs what happens meanwhile.
 */
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/futex.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_lock_until.hpp>
#include <klock/wait_queue.hpp>

#include "counted.hpp"
#include "hooked_lock.hpp"
#include "order_kernel.hpp"
#include "pretended_kernel.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <system_error>

using namespace klock;
using namespace unit;

static std::function<void()> meanwhile;
static std::function<void()> when_unparked;

usize thread_now = 1;

extern "C" usize klock_os_thread(void) { return thread_now; }
extern "C" void klock_os_park(void) { meanwhile(); }
extern "C" bool klock_os_park_until(u64) { return false; }
extern "C" void klock_os_unpark(usize)
{
	if (when_unparked)
		when_unparked();
}

namespace {

using spin = checked_lock<ticket_lock<u8>, "runqueue">;
using changed = checked_lock<condition, "changed">;

struct threads_locks {
	checked_lock<mutex, "inode"> inode;
	checked_lock<mutex, "log"> log;
	checked_lock<shared_mutex, "names"> names;
	checked_lock<semaphore, "jobs"> jobs;
	checked_lock<completion, "answer"> answer;
	checked_lock<condition, "not full"> not_full;
	checked_lock<wait_queue, "arrivals"> arrivals;
	checked_lock<wait_queue, "departures"> departures;
	checked_lock<futex_table<4>, "futexes"> futexes;
	checked_lock<ticket_lock<u8>, "data"> data;
	checked_lock<ticket_lock<u8>, "scheduler"> scheduler;
	spin runqueue;
};

/* Runs code as another thread, on another CPU. */
template <typename Code>
void as_other(Code code)
{
	const unsigned long before = current_thread;
	const usize thread_before = thread_now;

	current_thread = 1 - before;
	thread_now = 3 - thread_before;
	as(1 - current_cpu, context::thread, code);
	current_thread = before;
	thread_now = thread_before;
}

/* A panic passes through, which CHECK() would keep. */
void must(bool holds)
{
	if (!holds)
		throw std::runtime_error("it is there, and was not had");
}

/* All that waits, and need not, each by itself. */
template <typename Check>
void each_wait(threads_locks &of, Check check)
{
	bool ready = true;
	const auto is_ready = [&] { return ready; };
	const auto differs = [](u32 = 0) { return futex_look::changed; };
	const auto differed = futex_result::changed;
	const auto twice = [&](auto &lock, auto take) {
		check([&] { take(), lock.unlock(); });
	};

	of.jobs.release();
	of.jobs.release();
	of.answer.set();
	twice(of.inode, [&] { of.inode.lock(); });
	twice(of.inode, [&] { must(try_lock_for(of.inode, 1)); });
	twice(of.names, [&] { of.names.lock(); });
	check([&] { of.names.lock_shared(), of.names.unlock_shared(); });
	check([&] {
		must(of.names.try_lock_shared_for(1));
		of.names.unlock_shared();
	});
	check([&] { of.jobs.acquire(); });
	check([&] { must(of.jobs.try_acquire_for(1)); });
	check([&] { of.answer.wait(); });
	check([&] { must(of.answer.wait_for(1)); });
	check([&] { of.arrivals.wait(is_ready); });
	check([&] { must(of.arrivals.wait_for(is_ready, 1)); });
	check([&] { must(of.futexes.wait({1, 1}, differs) == differed); });
	check([&] {
		must(of.futexes.wait_for({1, 1}, differs, 1) == differed);
	});
	check([&] {
		futex_table<4>::waiter node;
		const futex_key key = {1, 1};

		must(of.futexes.wait_any(&node, &key, 1, differs).why ==
		     differed);
	});
	check([&] {
		detail::sleeper me;
		const u64 soon = 0;

		of.not_full.prepare(me);
		of.not_full.notify_one();
		must(of.not_full.sleep(me, &soon));
	});
}

} // namespace

TEST_CASE("sleep: checked: a wait in a thread, interrupts on, is right")
{
	new_order<64, 4> fresh;
	threads_locks of;

	each_wait(of, [](auto wait) { CHECK(panic_of(wait) == ""); });
	of.names.lock();
	of.names.downgrade();
	CHECK(panic_of([&] { of.names.unlock_shared(); }) == "");
	CHECK(kernel_order_keeper()->places() == 0);
}

TEST_CASE("sleep: checked: in a handler, interrupts off, a spin lock held")
{
	new_order<64, 4> fresh;
	threads_locks of, again, under;

	as(0, context::interrupt, [&] {
		each_wait(of, [](auto wait) {
			has(panic_of(wait), "may sleep, but was called in an "
					    "interrupt handler; at ");
		});
	});
	{
		irqs off(false);

		each_wait(again, [](auto wait) {
			has(panic_of(wait), "may sleep, but was called with "
					    "interrupts off; at ");
		});
	}
	const guard held(under.runqueue);

	each_wait(under, [](auto wait) {
		const std::string said = panic_of(wait);

		has(said,
		    "CPU 0: may sleep, but the caller holds a spinlock; at ");
		has(said, "; runqueue was taken at ");
	});
	/* A verb that never waits may. */
	CHECK(panic_of([&] {
		      must(under.inode.try_lock());
		      under.inode.unlock();
		      must(under.jobs.try_acquire());
	      }) == "");
}

TEST_CASE("sleep: checked: a condition's own lock, and one more")
{
	new_order<64, 4> fresh;
	threads_locks of;
	const auto waits = [&](auto &lock) {
		return panic_of(
			[&] { must(!of.not_full.wait_until(lock, 0)); });
	};

	{
		irq_guard held(of.runqueue);
		CHECK(waits(held) == "");
		CHECK(of.runqueue.is_held_by_me());
	}
	guard outer(of.inode);
	CHECK(waits(outer) == "");
	CHECK(waits(of.inode) == "");
	{
		guard held(of.runqueue);
		has(waits(outer), "not full, CPU 0: may sleep, but the caller "
				  "holds a spinlock");
	}
}

/* A predicate may return a reference to this, as to an atomic. */
struct flag {
	flag() = default;
	flag(const flag &) = delete;
	flag &operator=(const flag &) = delete;
	operator bool() const { return true; }
};

/* Each wait takes a predicate that is moved, and each waker a change. */
template <typename Condition, typename Queue>
static void predicates()
{
	Condition changed;
	Queue arrivals;
	mutex m;
	guard held(m);
	int asked = 0;
	const auto moved = [&] {
		return [&asked, one = std::make_unique<int>(1)] {
			asked += *one;
			return true;
		};
	};

	changed.wait(held, moved());
	CHECK(changed.wait_until(held, 0, moved()));
	CHECK(changed.wait_for(held, 1, moved()));
	arrivals.wait(moved());
	CHECK(arrivals.wait_until(moved(), 0));
	CHECK(arrivals.wait_for(moved(), 1));
	arrivals.wake_one(moved());
	arrivals.wake_all(moved());
	CHECK(asked == 8);

	const flag is_set;
	const auto looks = [&]() -> const flag & { return is_set; };

	changed.wait(held, looks);
	CHECK(changed.wait_until(held, 0, looks));
	arrivals.wait(looks);
	CHECK(arrivals.wait_for(looks, 1));

	/* A change is copied, and the caller's stays as it was. */
	auto count = [n = 0]() mutable { return n++; };
	const auto once = count;

	arrivals.wake_one(count);
	arrivals.wake_all(count);
	arrivals.wake_one(once);
	CHECK(count() == 0);
}

template <typename Condition>
concept waits_with_temporary = requires(Condition &of, guard<mutex> held) {
	of.wait(static_cast<guard<mutex> &&>(held));
};
template <typename Condition>
concept asks_with_temporary = requires(Condition &of, guard<mutex> held) {
	of.wait(static_cast<guard<mutex> &&>(held), [] { return true; });
};

TEST_CASE("sleep: a predicate may be movable only, checked or not")
{
	predicates<condition, wait_queue>();
	predicates<checked_lock<condition>, checked_lock<wait_queue>>();
}

TEST_CASE("sleep: a guard without a name is refused, checked or not")
{
	CHECK_FALSE(waits_with_temporary<condition>);
	CHECK_FALSE(waits_with_temporary<checked_lock<condition>>);
	CHECK_FALSE(asks_with_temporary<condition>);
	CHECK_FALSE(asks_with_temporary<checked_lock<condition>>);
}

/* The report of a wait with this guard. Then a report was made before:
 * nothing is said, and nothing may be touched. */
template <typename Condition, typename Held>
static std::string said_of_wait(Held &held)
{
	Condition first, later;
	const std::string said =
		panic_of([&] { must(!first.wait_until(held, 0)); });

	set_checks(false);
	must(!later.wait_until(held, 0));
	set_checks(true);
	CHECK(irqs_enabled());
	return said;
}

TEST_CASE("sleep: checked: a wait with a guard that holds nothing")
{
	new_order<64, 4> fresh;
	threads_locks of;
	mutex files;
	ticket_lock<u8> lock;
	irq_lock<spin> handlers;
	irq_shared_lock<checked_lock<phase_fair_lock<u8>, "routes">> routes;
	const std::string nothing = "a wait with a guard that holds nothing; "
				    "at " +
				    shown(__FILE__);
	{
		guard held(of.inode);
		held.unlock();
		has(said_of_wait<changed>(held), "changed, CPU 0: " + nothing);
		has(said_of_wait<condition>(held), "inode, CPU 0: " + nothing);
	}
	{
		guard held(files);
		held.unlock();
		has(said_of_wait<changed>(held), nothing);
		irq_guard off(lock);
		off.unlock();
		has(said_of_wait<changed>(off), nothing);
	}
	{
		irq_guard held(handlers);
		held.unlock();
		has(said_of_wait<condition>(held),
		    "runqueue, CPU 0: " + nothing);
		irq_guard writes(routes);
		writes.unlock();
		has(said_of_wait<condition>(writes),
		    "routes, CPU 0: " + nothing);
	}
	const guard holder(of.inode);
	try_guard held(of.inode);
	CHECK_FALSE(held);
	has(said_of_wait<changed>(held), nothing);
	has(said_of_wait<condition>(held), nothing);
	CHECK(of.inode.is_held_by_me());
	CHECK(files.try_lock());
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("sleep: checked: a guard that was downgraded")
{
	new_order<64, 4> fresh;
	threads_locks of;
	shared_mutex files;
	const std::string downgraded = "a wait with a guard that was "
				       "downgraded; at " +
				       shown(__FILE__);
	{
		guard held(of.names);
		CHECK(panic_of([&] { held.downgrade(); }) == "");
		has(said_of_wait<changed>(held), downgraded);
		has(said_of_wait<condition>(held),
		    "names, CPU 0: " + downgraded);
		has(panic_of([&] { held.downgrade(); }),
		    "by a caller that holds it for reading; at " +
			    shown(__FILE__));
		held.unlock();
		has(panic_of([&] { held.downgrade(); }),
		    "names, CPU 0: downgrade of what was released; "
		    "at " + shown(__FILE__));
	}
	{
		guard held(files);
		held.downgrade();
		CHECK(files.try_lock_shared());
		files.unlock_shared();
		has(said_of_wait<changed>(held), downgraded);
	}
	CHECK(files.try_lock());
	{
		try_guard held(of.names);
		CHECK(held);
		held.downgrade();
	}
	/* A reader waits, and reads again after it. */
	{
		shared_guard held(of.names);
		CHECK(panic_of([&] {
			      must(!of.not_full.wait_until(held, 0));
		      }) == "");
		CHECK_FALSE(of.names.try_lock());
	}
	CHECK(kernel_order_keeper()->places() == 0);
}

TEST_CASE("sleep: checked: a condition's parts out of turn")
{
	new_order<64, 4> fresh;
	threads_locks of;
	checked_lock<condition, "other"> other;
	klock::detail::sleeper me, before_me;
	const u64 soon = 0;
	const auto prepares = [&](auto &on) {
		return panic_of([&] { on.prepare(me); });
	};
	const auto sleeps = [&](auto &on, auto &who) {
		return panic_of([&] { (void)on.sleep(who, &soon); });
	};

	has(sleeps(of.not_full, me), "not full, CPU 0: sleep() without "
				     "prepare(); at ");
	of.not_full.prepare(before_me);
	CHECK(prepares(of.not_full) == "");
	has(prepares(of.not_full),
	    "prepare() twice: the thread has not slept since; at ");
	has(prepares(other),
	    "other, CPU 0: prepare() twice: the thread has not slept since");
	has(sleeps(other, me), "other, CPU 0: sleep() without prepare()");
	thread_now = 2;
	has(sleeps(of.not_full, me),
	    "sleep() in another thread than prepare()");
	thread_now = 1;
	CHECK(sleeps(of.not_full, me) == "");
	of.not_full.notify_one();
	CHECK(of.not_full.sleep(before_me, &soon));
	has(sleeps(of.not_full, before_me), "sleep() without prepare()");
}

TEST_CASE("sleep: checked: recursion, another's release, beyond the bound")
{
	new_order<64, 4> fresh;
	threads_locks of;
	checked_lock<bounded_semaphore<1>, "one"> one(1u);
	std::string said;

	has(panic_of([&] { of.inode.unlock(); }),
	    "unlock() of a lock that nobody holds");
	has(panic_of([&] { of.not_full.wait(of.inode); }),
	    "unlock() of a lock that nobody holds; at " + shown(__FILE__));
	of.inode.lock();
	has(panic_of([&] { of.inode.lock(); }), "inode, CPU 0: recursion");
	as(0, context::interrupt,
	   [&] { said = panic_of([&] { of.inode.unlock(); }); });
	has(said,
	    "unlock() in another context (thread, handler) than its lock()");
	of.names.lock_shared();
	has(panic_of([&] { of.names.lock_shared(); }), "read recursion");
	has(panic_of([&] { of.names.lock(); }), "upgrade");
	has(panic_of([&] { one.release(); }),
	    "one, CPU 0: release() beyond the semaphore's bound; at ");
}

/* The kernel has no lock order: the lock's own checks find it. */
TEST_CASE("sleep: checked: a wait by a deadline for what the caller has")
{
	threads_locks of;

	of.names.lock_shared();
	has(panic_of([&] { (void)of.names.try_lock_shared_until(0); }),
	    "names, CPU 0: read recursion: the caller already holds it for "
	    "reading; at " +
		    shown(__FILE__));
	has(panic_of([&] { (void)of.names.try_lock_shared_for(1); }),
	    "read recursion: the caller already holds it for reading");
	CHECK(panic_of([&] { of.names.unlock_shared(); }) == "");
	of.inode.lock();
	has(panic_of([&] { (void)of.inode.try_lock_until(0); }),
	    "inode, CPU 0: recursion: the caller already holds it; at ");
	CHECK(panic_of([&] { of.inode.unlock(); }) == "");
}

TEST_CASE("sleep: checked: one order of those that sleep and those that spin")
{
	new_order<64, 4> fresh;
	threads_locks of;

	{
		const guard first(of.inode);
		const guard second(of.log);
		const guard third(of.runqueue);
	}
	const guard first(of.log);

	has(panic_of([&] { of.inode.lock(); }),
	    "inode, CPU 0: lock order: log");
	/* Waited for with one held, and brought with the same one held. */
	CHECK(panic_of([&] {
		      of.jobs.release();
		      of.jobs.acquire();
	      }) == "");
}

/* An event: its name, a wait for it that gives up at once or comes through, and
 * what ends waits. */
static const struct {
	const char *name;
	void (*waits)(threads_locks &);
	void (*sets)(threads_locks &);
} events[] = {
	{"answer", [](threads_locks &of) { (void)of.answer.wait_until(0); },
	 [](threads_locks &of) { of.answer.set(); }},
	{"jobs", [](threads_locks &of) { (void)of.jobs.try_acquire_until(0); },
	 [](threads_locks &of) { of.jobs.release(); }},
	{"not full",
	 [](threads_locks &of) {
		 irq_guard held(of.data);

		 (void)of.not_full.wait_until(held, 0);
	 },
	 [](threads_locks &of) { of.not_full.notify_one(); }},
	{"not full",
	 [](threads_locks &of) {
		 irq_guard held(of.data);

		 (void)of.not_full.wait_until(held, 0);
	 },
	 [](threads_locks &of) { of.not_full.notify_all(); }},
	{"arrivals",
	 [](threads_locks &of) {
		 (void)of.arrivals.wait_until([] { return false; }, 0);
	 },
	 [](threads_locks &of) { of.arrivals.wake_one([] {}); }},
	{"arrivals",
	 [](threads_locks &of) {
		 (void)of.arrivals.wait_until([] { return false; }, 0);
	 },
	 [](threads_locks &of) { of.arrivals.wake_all([] {}); }},
};

/* Each part in a thread of its own; returns the first panic. */
template <typename... Parts>
static std::string in_threads(threads_locks &of, Parts... parts)
{
	std::string said;
	const auto one = [&](auto part) {
		if (said.empty())
			as_other([&] { said = panic_of([&] { part(of); }); });
	};

	(one(parts), ...);
	return said;
}

static void waits_with_inode(threads_locks &of)
{
	const guard held(of.inode);

	(void)of.answer.wait_until(0);
}

static void sets_with_inode(threads_locks &of)
{
	const guard held(of.inode);

	of.answer.set();
}

static void sets_with_log(threads_locks &of)
{
	const guard held(of.log);

	of.answer.set();
}

TEST_CASE("sleep: checked: an event is waited for with its setter's lock")
{
	for (const auto &one : events) {
		const int waiter = __LINE__ + 2, setter = __LINE__ + 6;
		const auto waits = [&](threads_locks &of) {
			const guard held(of.inode);
			one.waits(of);
		};
		const auto sets = [&](threads_locks &of) {
			const guard held(of.inode);
			one.sets(of);
		};
		const auto check = [&](const std::string &said) {
			const std::string name = one.name;

			has(said, name + ", CPU 1: event: " + name +
					  " is waited for at ");
			has(said, " with inode held (taken at " +
					  site_text(__FILE__, waiter) + ")");
			has(said, "; its setter needs inode (taken at " +
					  site_text(__FILE__, setter) +
					  "), to set it at ");
		};

		INFO(one.name);
		for (bool first : {false, true}) {
			new_order<64, 4> fresh;
			threads_locks of;

			check(first ? in_threads(of, waits, sets)
				    : in_threads(of, sets, waits));
		}
	}
}

/* The cycle goes over another lock, and any part of it comes last. */
TEST_CASE("sleep: checked: an event's setter needs what its waiter blocks")
{
	const auto nests = [](threads_locks &of) {
		const guard outer(of.log);
		const guard inner(of.inode);
	};
	const auto event = [](const std::string &said) {
		has(said, "answer, CPU 1: event: answer is waited for at ");
		has(said, "with inode held (taken at ");
		has(said, "; its setter needs log (taken at ");
		has(said, "; known: log (");
		has(said, ") then inode (");
	};
	new_order<64, 4> fresh;
	threads_locks of;

	event(in_threads(of, nests, waits_with_inode, sets_with_log));
	{
		new_order<64, 4> again;

		event(in_threads(of, sets_with_log, nests, waits_with_inode));
	}
	new_order<64, 4> again;
	const std::string said =
		in_threads(of, waits_with_inode, sets_with_log, nests);

	has(said, "inode, CPU 1: lock order: log (");
	has(said, "; known: inode (");
	has(said, ") then answer (");
	has(said, ", whose setter needs log (");
}

/* Two locks by address are no cycle alone. */
TEST_CASE("sleep: checked: an event, and two locks by their addresses")
{
	new_order<64, 4> fresh;
	threads_locks of;

	has(in_threads(
		    of,
		    [](threads_locks &its) {
			    const guard held(its.log);

			    (void)its.answer.wait_until(0);
		    },
		    [](threads_locks &its) {
			    const guard held(its.inode);

			    its.answer.set();
		    },
		    [](threads_locks &its) {
			    const pair_guard both(its.log, its.inode);
		    }),
	    "log, CPU 1: lock order: inode (");
}

/* Two events, each of which is set by who waits for the other. */
TEST_CASE("sleep: checked: two events, and two locks")
{
	const auto one = [](threads_locks &of) {
		const guard held(of.inode);

		of.answer.set();
		(void)of.jobs.try_acquire_until(0);
	};
	const auto other = [](threads_locks &of) {
		const guard held(of.log);

		of.jobs.release();
		(void)of.answer.wait_until(0);
	};
	new_order<64, 4> fresh;
	threads_locks of;

	has(in_threads(of, one, other),
	    "answer, CPU 1: event: answer is waited for at ");
}

/* Nothing is certain where one setter needs no lock, or may give up. */
TEST_CASE("sleep: checked: an event that can be set while its waiter waits")
{
	const auto sets = [](threads_locks &of) { of.answer.set(); };
	const auto sets_by_try = [](threads_locks &of) {
		must(of.inode.try_lock());
		of.answer.set();
		of.inode.unlock();
	};
	const auto handler_sets = [](threads_locks &of) {
		const guard held(of.inode);

		as(0, context::interrupt, [&] { of.answer.set(); });
	};
	const auto check = [](auto... parts) {
		new_order<64, 4> fresh;
		threads_locks of;

		CHECK(in_threads(of, parts...) == "");
	};

	check(sets, waits_with_inode, sets_with_inode);
	check(waits_with_inode, sets, sets_with_inode);
	check(sets_with_inode, sets, waits_with_inode);
	check(sets_by_try, waits_with_inode, sets_by_try);
	check(sets_with_log, waits_with_inode, sets_with_inode);
	check(sets_with_inode, sets_with_log, waits_with_inode);
	check(handler_sets, waits_with_inode, handler_sets);
	check(waits_with_inode, handler_sets, sets_with_inode);
	/* While it waits, another sets it. */
	check(
		[](threads_locks &of) {
			const guard held(of.inode);

			meanwhile = [&] { as_other([&] { of.answer.set(); }); };
			of.answer.wait();
		},
		sets_with_inode);
}

TEST_CASE("sleep: checked: who uses an event twice with one lock held")
{
	const auto check = [](auto part) {
		new_order<64, 4> fresh;
		threads_locks of;

		CHECK(in_threads(of, part, part) == "");
	};

	/* As a lock behind it, which also has more than one of it. */
	check([](threads_locks &of) {
		const guard held(of.inode);

		(void)of.jobs.try_acquire_until(0);
		of.jobs.release();
		(void)of.answer.wait_until(0);
		of.jobs.release();
		of.answer.set();
	});
	check([](threads_locks &of) {
		const guard held(of.inode);

		of.jobs.release();
		(void)of.jobs.try_acquire_until(0);
	});
	/* A condition's own lock. */
	check([](threads_locks &of) {
		guard held(of.inode);

		of.not_full.notify_one();
		(void)of.not_full.wait_until(held, 0);
	});
}

TEST_CASE("sleep: checked: an event and a lock that are declared harmless")
{
	static constexpr declared_order waits_well[] = {
		harmless("inode", "answer")};
	static constexpr declared_order sets_well[] = {
		harmless("answer", "inode")};

	for (bool first : {false, true}) {
		for (bool at_wait : {false, true}) {
			new_order<64, 4> fresh;
			threads_locks of;

			at_wait ? declare(waits_well) : declare(sets_well);
			CHECK((first ? in_threads(of, waits_with_inode,
						  sets_with_inode)
				     : in_threads(of, sets_with_inode,
						  waits_with_inode)) == "");
		}
	}
}

/* A finding that is noted is noted once, and the rest is checked. */
TEST_CASE("sleep: checked: an event's finding is noted once")
{
	for (bool first : {false, true}) {
		new_order<64, 4> fresh(on_finding::note);
		threads_locks of;

		for (int i = 0; i < 2; i++)
			CHECK((first ? in_threads(of, waits_with_inode,
						  sets_with_inode)
				     : in_threads(of, sets_with_inode,
						  waits_with_inode)) == "");
		REQUIRE(notes.size() == 1);
		has(notes[0], "answer, CPU 1: event: answer is waited for at ");
	}
}

/* Its setter has the lock before, not meanwhile: the kernel says from where on
 * others wait for it. */
TEST_CASE("sleep: checked: who is on the way to set an event")
{
	new_order<64, 4> fresh;
	threads_locks of;
	const auto sets = [](threads_locks &of) {
		acquired(&of.answer, "answer");
		of.inode.lock();
		of.inode.unlock();
		of.answer.set();
		released(&of.answer);
	};
	const std::string said = in_threads(of, sets, waits_with_inode);

	has(said, "answer, CPU 1: lock order: inode (");
	has(said, "known: answer (");
}

TEST_CASE("sleep: counted: a wait is one, and a deadline's")
{
	listed<counted_lock<mutex, "files">> files;
	listed<counted_lock<shared_mutex, "tables">> tables;

	files.lock();
	tables.lock();
	CHECK_FALSE(files.try_lock_for(1));
	meanwhile = [&] { files.unlock(); };
	files.lock();
	meanwhile = [&] { tables.unlock(); };
	tables.lock_shared();
	tables.unlock_shared();
	CHECK(tables.try_lock_for(1));

	u64 contended = 0, by_readers = 0;

	for (const count_view &one : all_counts())
		(one.shared ? by_readers : contended) += one.contended;
	CHECK(contended == 1);
	CHECK(by_readers == 1);
}

/* held: a guard, or a lock by itself. */
template <typename Held>
static void reads_once_downgraded(Held &held)
{
	std::vector<std::string> lines;
	const auto look = [&] {
		lines.clear();
		print_held([&](const char *line) { lines.push_back(line); });
	};

	look();
	has(lines.back(), " holds routes (");
	held.downgrade();
	look();
	has(lines.back(), " reads routes (");
	CHECK(lines.back().find("holds") == std::string::npos);
}

template <typename L>
static void reads_once_downgraded()
{
	const new_order<64, 4> fresh;
	L lock;
	const irqs on(sleeping<L>);

	INFO(shown(__PRETTY_FUNCTION__));
	lock.lock();
	reads_once_downgraded(lock);
	lock.unlock_shared();
	guard held(lock);
	reads_once_downgraded(held);
}

TEST_CASE("print_held: a writer that was downgraded reads")
{
	reads_once_downgraded<checked_lock<rw_ticket_lock<u8>, "routes">>();
	reads_once_downgraded<checked_lock<phase_fair_lock<u8>, "routes">>();
	reads_once_downgraded<checked_lock<shared_mutex, "routes">>();

	const new_order<64, 4> fresh;
	checked_lock<phase_fair_lock<u8>, "routes"> routes;
	irq_shared_lock<checked_lock<phase_fair_lock<u8>, "routes">> handlers;
	{
		upgradable_guard held(routes);

		held.upgrade();
		reads_once_downgraded(held);
	}
	irq_guard held(handlers);

	reads_once_downgraded(held);
}

TEST_CASE("sleep: checked: print_held names who sleeps on what")
{
	new_order<64, 4> fresh;
	threads_locks of;
	std::vector<std::string> lines;
	const auto print = [&] {
		lines.clear();
		print_held([&](const char *line) { lines.push_back(line); });
		CHECK(note_long_waits(0) == 0);
	};

	meanwhile = [&] {
		print();
		of.jobs.release();
	};
	{
		const guard held(of.inode);
		of.jobs.acquire();
	}
	REQUIRE(lines.size() == 2);
	has(lines[0], "holds inode");
	has(lines[1], "sleeps on jobs");

	meanwhile = [&] {
		print();
		of.not_full.notify_one();
	};
	guard held(of.inode);
	of.not_full.wait(held);
	REQUIRE(lines.size() == 1);
	has(lines[0], "sleeps on not full");
}

namespace {

/* A waker that holds the lock which the predicate takes. */
void wake_with_data_held(threads_locks &of)
{
	irq_guard held(of.data);

	of.arrivals.wake_one([] {});
}

bool look_with_data_held(threads_locks &of)
{
	irq_guard held(of.data);

	return true;
}

} // namespace

TEST_CASE("sleep: checked: a predicate takes the lock that its waker holds")
{
	new_order<64, 4> fresh;
	threads_locks of;
	const auto looks = [&](auto &queue) {
		return panic_of([&] {
			queue.wait([&] { return look_with_data_held(of); });
		});
	};

	CHECK(looks(of.departures) == "");
	wake_with_data_held(of);
	/* Another queue's waker: no cycle. */
	CHECK(looks(of.departures) == "");
	const std::string said = looks(of.arrivals);

	has(said, "data, CPU 0: lock order: arrivals (inner) (");
	has(said, "known: data (");
	has(said, ") then arrivals (inner) (" + shown(__FILE__));
}

TEST_CASE("sleep: checked: unpark() takes a lock that a waker holds")
{
	const auto said_by = [](auto first, auto second) {
		new_order<64, 4> fresh;
		threads_locks of;
		std::string said;
		const auto with_a_waiter = [&](auto wake) {
			meanwhile = [&] { wake(of); };
			said += panic_of([&] { of.jobs.acquire(); });
		};

		when_unparked = [&] { irq_guard held(of.scheduler); };
		with_a_waiter(first);
		with_a_waiter(second);
		when_unparked = nullptr;
		return said;
	};
	const auto releases = [](threads_locks &of) { of.jobs.release(); };
	const auto under_scheduler = [](threads_locks &of) {
		irq_guard held(of.scheduler);

		of.jobs.release();
	};

	CHECK(said_by(releases, releases) == "");
	has(said_by(releases, under_scheduler),
	    "jobs (inner), CPU 0: lock order: scheduler (");
}

TEST_CASE("sleep: checked: a hand-over unparks under the inner lock")
{
	new_order<64, 4> fresh;
	threads_locks of;

	when_unparked = [&] { irq_guard held(of.scheduler); };
	meanwhile = [&] { as_other([&] { of.inode.unlock(); }); };
	of.inode.lock();
	as_other([&] { of.inode.lock(), of.inode.unlock(); });
	when_unparked = nullptr;
	of.inode.lock();
	irq_guard held(of.scheduler);

	has(panic_of([&] { of.inode.unlock(); }),
	    "inode (inner), CPU 0: lock order: scheduler (");
}

TEST_CASE("sleep: checked: a predicate waits, or calls its own queue")
{
	const auto predicate_that = [](auto acts) {
		threads_locks of;

		return panic_of([&] {
			of.arrivals.wait([&] { return acts(of), true; });
		});
	};
	const auto change_that = [](auto acts) {
		threads_locks of;

		return panic_of(
			[&] { of.arrivals.wake_all([&] { acts(of); }); });
	};
	const auto wakes_itself = [](threads_locks &of) {
		of.arrivals.wake_one([] {});
	};
	const auto locks = [](threads_locks &of) {
		of.inode.lock();
		of.inode.unlock();
	};

	{
		new_order<64, 4> fresh;

		has(predicate_that([](threads_locks &) { might_wait(); }),
		    "arrivals (inner), CPU 0: might_wait() with a lock held");
		has(change_that([](threads_locks &) { might_switch(); }),
		    "arrivals (inner), CPU 0: might_switch() with a spinlock "
		    "held");
		has(predicate_that(locks), "called with interrupts off");
	}
	{
		new_order<64, 4> fresh;

		has(predicate_that(wakes_itself), "with its inner lock held");
	}
	/* Without an order, too. */
	has(predicate_that(wakes_itself),
	    "arrivals, CPU 0: called by a predicate or a change of its own, "
	    "which run with its inner lock held; at ");
	has(change_that(wakes_itself), "with its inner lock held");
	CHECK(change_that([](threads_locks &of) { of.jobs.release(); }) == "");
}

/* Called of a lock, or an event, and of what told() makes of it: the report has
 * this line, or the one that it was told. */
template <typename L, typename Verb>
static void expect_named_in_nmi(const char *name, L &of, Verb verb)
{
	const call_site by{"caller.c", 7};
	const auto said_of = [&](auto &&what) {
		std::string said;

		as(0, context::nmi,
		   [&] { said = panic_of([&] { verb(what); }); });
		return said;
	};
	const std::string text =
		name + std::string(", CPU 0: may sleep, but was called in an "
				   "NMI handler; at ");

	has(said_of(of), text + shown(__FILE__));
	has(said_of(told(of, by)), text + "caller.c:7");
}

TEST_CASE("sleep: checked: every verb is named in an NMI handler, told or not")
{
	threads_locks of;
	detail::sleeper me;
	const u64 soon = 0;
	const auto never = [] { return false; };
	const auto jobs = [&](auto verb) {
		expect_named_in_nmi("jobs", of.jobs, verb);
	};
	const auto answer = [&](auto verb) {
		expect_named_in_nmi("answer", of.answer, verb);
	};
	const auto not_full = [&](auto verb) {
		expect_named_in_nmi("not full", of.not_full, verb);
	};
	const auto arrivals = [&](auto verb) {
		expect_named_in_nmi("arrivals", of.arrivals, verb);
	};
	const auto futexes = [&](auto verb) {
		expect_named_in_nmi("futexes", of.futexes, verb);
	};
	const auto inode = [&](auto verb) {
		expect_named_in_nmi("inode", of.inode, verb);
	};
	const auto names = [&](auto verb) {
		expect_named_in_nmi("names", of.names, verb);
	};

	jobs([](auto &it) { it.release(); });
	jobs([](auto &it) { (void)it.try_acquire(); });
	jobs([](auto &it) { (void)it.try_acquire_until(1); });
	jobs([](auto &it) { (void)it.try_acquire_for(1); });
	jobs([](auto &it) { it.acquire(); });
	answer([](auto &it) { it.set(); });
	answer([](auto &it) { it.reset(); });
	answer([](auto &it) { (void)it.is_set(); });
	answer([](auto &it) { (void)it.is_contended(); });
	answer([](auto &it) { it.wait(); });
	answer([](auto &it) { (void)it.wait_until(1); });
	answer([](auto &it) { (void)it.wait_for(1); });
	not_full([](auto &it) { it.notify_one(); });
	not_full([](auto &it) { it.notify_all(); });
	not_full([&](auto &it) { it.prepare(me); });
	not_full([&](auto &it) { (void)it.sleep(me, &soon); });
	not_full([&](auto &it) { (void)it.sleep(me, nullptr); });
	arrivals([](auto &it) { it.wake_one([] {}); });
	arrivals([](auto &it) { it.wake_all([] {}); });
	arrivals([&](auto &it) { it.wait(never); });
	arrivals([&](auto &it) { (void)it.wait_until(never, 1); });
	arrivals([&](auto &it) { (void)it.wait_for(never, 1); });
	const futex_key key = {1, 1};
	futex_table<4>::waiter node;
	const auto differs = [](u32 = 0) { return futex_look::changed; };
	const auto op = [] { return futex_op::wakes_one; };
	futexes([&](auto &it) { (void)it.wait(key, differs); });
	futexes([&](auto &it) { (void)it.wait(key, differs, 1u); });
	futexes([&](auto &it) { (void)it.wait_until(key, differs, 1); });
	futexes([&](auto &it) { (void)it.wait_until(key, differs, 1, 1u); });
	futexes([&](auto &it) { (void)it.wait_for(key, differs, 1); });
	futexes([&](auto &it) { (void)it.wait_for(key, differs, 1, 1u); });
	futexes([&](auto &it) { (void)it.wait_any(&node, &key, 1, differs); });
	futexes([&](auto &it) {
		(void)it.wait_any_until(&node, &key, 1, differs, 1);
	});
	futexes([&](auto &it) { it.wake(key, 1); });
	futexes([&](auto &it) { it.wake(key, 1, 1u); });
	futexes([&](auto &it) { it.wake(key, 1, 1u, [] {}); });
	futexes([&](auto &it) { it.requeue(key, key, 1, 1, differs); });
	futexes([&](auto &it) { it.wake_op(key, 1, key, 1, op); });
	inode([](auto &it) { it.lock(); });
	inode([](auto &it) { (void)it.try_lock(); });
	inode([](auto &it) { (void)it.try_lock_until(0); });
	names([](auto &it) { (void)it.try_lock_shared(); });
	names([](auto &it) { (void)it.try_lock_shared_until(0); });
	of.inode.lock();
	inode([](auto &it) { it.unlock(); });
	of.names.lock();
	names([](auto &it) { it.downgrade(); });
}

TEST_CASE("named: events, and a lock in an irq_lock")
{
	static constinit auto jobs = named<checked_if<true, semaphore>>("jobs");
	static constinit auto three =
		named<checked_if<true, semaphore>>("three", 3u);
	static constinit auto answer =
		named<checked_if<true, completion>>("answer");
	static constinit auto changed_too =
		named<checked_if<true, condition>>("changed");
	static constinit auto arrivals =
		named<checked_if<true, wait_queue>>("arrivals");
	static constinit auto queue =
		named<irq_lock<checked_if<true, ticket_lock<u8>>>>("queue");
	/* Without checks, the name is dropped, and the units are not. */
	static constinit auto unnamed =
		named<checked_if<false, semaphore>>("jobs", 2u);
	static constinit auto plain_queue =
		named<irq_lock<checked_if<false, ticket_lock<u8>>>>("queue");

	expect_named_in_nmi("jobs", jobs, [](auto &it) { it.release(); });
	expect_named_in_nmi("answer", answer, [](auto &it) { it.set(); });
	expect_named_in_nmi("changed", changed_too,
			    [](auto &it) { it.notify_one(); });
	expect_named_in_nmi("arrivals", arrivals,
			    [](auto &it) { it.wake_one([] {}); });
	has(panic_of([] {
		    irq_guard held(queue);
		    irq_guard again(queue);
	    }),
	    "queue, CPU 0: recursion");
	for (int units = 0; units < 3; units++)
		CHECK(three.try_acquire());
	CHECK_FALSE(three.try_acquire());
	for (int units = 0; units < 2; units++)
		CHECK(unnamed.try_acquire());
	CHECK_FALSE(unnamed.try_acquire());
	irq_guard held(plain_queue);
}

TEST_CASE("sleep: checked: a panic leaves a condition's wait, and no sleeper")
{
	threads_locks of;
	unsigned told = 0;
	std::string said;

	when_unparked = [&] { told++; };
	has(panic_of([&] { of.not_full.wait(of.inode); }),
	    "unlock() of a lock that nobody holds");
	of.not_full.notify_one();
	{
		guard held(of.inode);

		as(0, context::interrupt,
		   [&] { said = panic_of([&] { of.not_full.wait(held); }); });
		has(said, "unlock() in another context");
		of.not_full.notify_all();
	}
	irqs off(false);
	guard held(of.data);
	has(panic_of([&] { of.not_full.wait(held); }),
	    "called with interrupts off");
	of.not_full.notify_all();
	CHECK(told == 0);
	when_unparked = nullptr;
}

/* The next notification would write to the memory of a sleeper that is gone. */
TEST_CASE("sleep: a wait whose release throws leaves no sleeper")
{
	threads_locks of;
	condition changed;
	std::mutex one;
	std::unique_lock none(one, std::defer_lock);
	unsigned told = 0;

	when_unparked = [&] { told++; };
	CHECK_THROWS_AS(changed.wait(none), std::system_error);
	has(panic_of([&] { changed.wait(of.inode); }),
	    "unlock() of a lock that nobody holds");
	changed.notify_all();
	CHECK(told == 0);
	when_unparked = nullptr;
}

TEST_CASE("sleep: checked: freed, reset or ended with a thread in it")
{
	new_order<64, 4> fresh;
	threads_locks of;
	std::string freed, reset, ended;

	meanwhile = [&] {
		thread_now = 2;
		freed = panic_of([&] { none_held_in(&of, sizeof(of)); });
		reset = panic_of([&] { of.answer.reset(); });
		of.answer.set();
		thread_now = 1;
	};
	of.answer.wait();
	has(freed, "answer, CPU 0: memory was freed with a lock in it that a "
		   "thread waits for; at ");
	has(reset, "answer, CPU 0: reset() while a thread waits; at ");
	CHECK(panic_of([&] {
		      of.answer.reset();
		      none_held_in(&of, sizeof(of));
		      thread_ends();
	      }) == "");
	of.inode.lock();
	has(panic_of([] { thread_ends(); }),
	    "inode, CPU 0: a thread ends with it held; at ");
	CHECK(panic_of([] { thread_ends<false>(); }) == "");
	of.inode.unlock();
	of.names.lock_shared();
	has(panic_of([] { thread_ends(); }), "names, CPU 0: a thread ends");
}

TEST_CASE("sleep: checked: a reader that waits to write, without an order")
{
	threads_locks of;

	of.names.lock_shared();
	has(panic_of([&] { (void)of.names.try_lock_until(~u64{0}); }),
	    "upgrade: the caller already holds it for reading; at ");
	has(panic_of([&] { of.names.lock(); }),
	    "; last read at " + shown(__FILE__));
	has(panic_of([&] { of.names.unlock(); }), "; last read at ");
	has(panic_of([&] { of.names.lock_shared(); }), "; last read at ");
}

TEST_CASE("sleep: checked: a spin lock is held, without an order")
{
	threads_locks of;
	const auto slept_under = [&](auto &spin) {
		const guard held(spin);

		return panic_of([&] { of.inode.lock(); });
	};

	has(slept_under(of.data),
	    "inode, CPU 0: may sleep, but the caller holds a spinlock; at " +
		    shown(__FILE__));
	has(slept_under(of.data), "; data was taken at ");
	{
		const guard other(of.scheduler);
		guard held(of.data);

		held.unlock();
		has(panic_of([&] { of.jobs.acquire(); }),
		    "; scheduler was taken at ");
		has(panic_of([] { might_switch(); }),
		    "scheduler, CPU 0: might_switch() with a spinlock");
		has(panic_of([] { might_wait(); }), "might_wait() with a lock");
		as_other([&] {
			CHECK(panic_of([&] {
				      of.inode.lock();
				      of.inode.unlock();
				      might_wait();
			      }) == "");
		});
	}
	CHECK(panic_of([&] {
		      must(of.data.try_lock());
		      of.data.unlock();
		      of.inode.lock();
		      might_wait();
		      of.inode.unlock();
	      }) == "");
	for (int i = 0; i < 100; i++) {
		const guard held(of.data);
	}
	CHECK(panic_of([] { might_switch(); }) == "");
}

TEST_CASE("sleep: checked: a reader is said to read, a waiter to wait")
{
	new_order<64, 4> fresh;
	threads_locks of;
	std::vector<std::string> lines;
	std::string again;

	of.names.lock_shared();
	print_held([&](const char *line) { lines.push_back(line); });
	REQUIRE(lines.size() == 1);
	has(lines[0], " reads names (");
	of.names.unlock_shared();

	meanwhile = [&] {
		again = panic_of([&] { of.inode.lock(); });
		as_other([&] { of.inode.unlock(); });
	};
	of.arrivals.wake_one([&] {
		lines.clear();
		print_held([&](const char *line) { lines.push_back(line); });
	});
	REQUIRE(lines.size() == 1);
	has(lines[0], " holds arrivals (inner) (");

	of.inode.lock();
	as_other([&] { of.inode.lock(), of.inode.unlock(); });
	has(again, "recursion: the caller already waits for it; at ");
	has(again, "; inode is waited for at ");
}

TEST_CASE("sleep: checked: a bound below the units that it begins with")
{
	const volatile u32 ten = 10;
	bounded_semaphore<4> four(ten);
	unsigned had = 0;

	CHECK_FALSE(four.release());
	while (four.try_acquire())
		had++;
	CHECK(had == 4);
	has(panic_of([&] {
		    const checked_lock<bounded_semaphore<4>, "few"> few(ten);
	    }),
	    "few, CPU 0: more units than the semaphore's bound; at ");
}

/* A wrapper of the kernel's calls this, with checks and without. */
template <bool Debug>
void takes_for_a_caller(call_site by)
{
	checked_if<Debug, mutex> files;
	checked_if<Debug, shared_mutex> names;

	CHECK(told(files, by).try_lock_for(1));
	CHECK_FALSE(told(files, by).is_contended());
	told(files, by).unlock();
	CHECK(told(files, by).try_lock_until(u64{0}));
	told(files, by).unlock();
	CHECK(told(names, by).try_lock_shared_for(1));
	told(names, by).unlock_shared();
	CHECK(told(names, by).try_lock_shared_until(u64{0}));
	told(names, by).unlock_shared();
	CHECK_FALSE(told(names, by).is_locked());
}

TEST_CASE("sleep: checked: told(): waits with a deadline name their caller")
{
	const call_site by{"caller.c", 7};
	checked_lock<mutex, "files"> files;

	takes_for_a_caller<false>(by);
	takes_for_a_caller<true>(by);
	files.lock();
	has(panic_of([&] { (void)told(files, by).try_lock_for(1); }),
	    "caller.c:7");
	files.unlock();
}

void waits_unlocked(auto &condition)
{
	mutex own;

	own.lock();
	condition.wait(own);
}

/* One body, with checks and without. */
template <bool Debug>
std::string named_at_run_time()
{
	static checked_if<Debug, semaphore> jobs[2];
	static checked_if<Debug, completion> done;
	static checked_if<Debug, condition> full;
	static checked_if<Debug, wait_queue> arrivals;

	for (u32 i = 0; i < 2; i++)
		set_name(jobs[i], "jobs", i);
	set_name(done, "done");
	set_name(full, "full");
	set_name(arrivals, "arrivals");
	const irqs off(false);
	std::string said;

	if constexpr (Debug) {
		said += panic_of([] { jobs[1].acquire(); });
		said += panic_of([] { done.wait(); });
		said += panic_of([] { waits_unlocked(full); });
		said += panic_of([] { arrivals.wait([] { return true; }); });
	}
	return said;
}

TEST_CASE("sleep: checked: what has no holder is named at run time, too")
{
	const std::string said = named_at_run_time<true>();

	CHECK(named_at_run_time<false>() == "");
	for (const char *name : {"jobs[1]", "done", "full", "arrivals"})
		has(said, name + std::string(", CPU 0: "));
}

/* Without an order it would wait for its own inner lock. */
TEST_CASE("sleep: checked: unpark() uses what it is called for")
{
	threads_locks of;
	/* The panic leaves the waker alone: the waiter was told before it. */
	const auto said_of = [](auto unparked, auto waits, auto wakes) {
		std::string said;

		when_unparked = unparked;
		meanwhile = [&] { as_other([&] { said = panic_of(wakes); }); };
		waits();
		when_unparked = nullptr;
		return said;
	};
	const auto acquires = [&] { of.jobs.acquire(); };
	const auto releases = [&] { of.jobs.release(); };
	const std::string wrong = ", CPU 1: called by klock_os_unpark(), which "
				  "runs with its inner lock held; at " +
				  shown(__FILE__);

	has(said_of([&] { (void)of.jobs.try_acquire(); }, acquires, releases),
	    "jobs" + wrong);
	has(said_of([&] { (void)of.answer.is_contended(); },
		    [&] { of.answer.wait(); }, [&] { of.answer.set(); }),
	    "answer" + wrong);
	has(said_of([] { might_switch(); }, acquires, releases),
	    "jobs, CPU 1: might_switch() with a spinlock held");
	/* Another lock is no misuse, nor is the same one later. */
	CHECK(said_of([&] { of.answer.set(); }, acquires, releases) == "");
	CHECK(panic_of(releases) == "");
	CHECK(panic_of([] { might_switch(); }) == "");
}

TEST_CASE("sleep: checked: freed by the thread that a wake has woken")
{
	new_order<64, 4> fresh;
	checked_lock<completion_with<hooked_lock>, "answer"> answer;
	checked_lock<wait_queue_with<hooked_lock>, "arrivals"> arrivals;
	const auto freed_behind = [](auto &lock, auto wakes) {
		std::string said = "not reached";

		next_hook = {place::released, [&] {
				     as_other([&] {
					     said = panic_of([&] {
						     none_held_in(&lock,
								  sizeof(lock));
					     });
				     });
			     }};
		wakes();
		return said;
	};

	/* Again: the inner lock is taken although nobody waits. */
	answer.set();
	CHECK(freed_behind(answer, [&] { answer.set(); }) == "");
	CHECK(freed_behind(arrivals, [&] { arrivals.wake_all([] {}); }) == "");
}

TEST_CASE("sleep: checked: a lock is handed over, without an order")
{
	threads_locks of;
	std::string said;

	of.scheduler.lock();
	as_other([&] {
		handed_over(of.scheduler);
		said = panic_of([&] { of.inode.lock(); });
	});
	has(said, "; scheduler was taken at " + shown(__FILE__));
	/* The owner that took it holds it no more. */
	CHECK(panic_of([] { might_switch(); }) == "");
	as_other([&] {
		of.scheduler.unlock();
		CHECK(panic_of([] { might_switch(); }) == "");
	});
	of.scheduler.lock();
	handed_over(of.scheduler);
	handed_over(of.scheduler);
	of.scheduler.unlock();
	CHECK(panic_of([] { might_switch(); }) == "");
}

TEST_CASE("sleep: checked: where a spin lock was read, without an order")
{
	checked_lock<phase_fair_lock<u8>, "routes"> routes;

	routes.lock_shared();
	has(panic_of([] { might_switch(); }),
	    "; routes was taken at " + shown(__FILE__));
	routes.unlock_shared();
}

TEST_CASE("sleep: checked: might_wait_with() and a second spin lock")
{
	const auto check = [] {
		threads_locks of;
		irq_shared_lock<checked_lock<phase_fair_lock<u8>, "routes">>
			routes;

		of.data.lock();
		CHECK(panic_of([&] { might_wait_with(of.data); }) == "");
		of.scheduler.lock();
		has(panic_of([&] { might_wait_with(of.data); }),
		    "scheduler, CPU 0: might_wait() with a lock held");
		of.scheduler.unlock();
		of.data.unlock();
		/* Its gate is a part of it. */
		irq_guard held(routes);

		CHECK(panic_of([&] { might_wait_with(routes); }) == "");
		has(panic_of([] { might_switch(); }), "might_switch() with");
		held.unlock();
		CHECK(panic_of([] { might_switch(); }) == "");
	};

	check();
	new_order<64, 4> fresh;
	check();
}

TEST_CASE("sleep: checked: what nobody holds is named at run time, too")
{
	checked_lock<bounded_semaphore<1>> units[2];
	semaphore unchecked;

	set_name(units[0], "units");
	set_name(units[1], "units", 1);
	set_name(unchecked, "units");
	set_name(unchecked, "units", 1);
	units[0].release();
	units[1].release();
	has(panic_of([&] { units[0].release(); }), "units, CPU 0: release()");
	has(panic_of([&] { units[1].release(); }),
	    "units[1], CPU 0: release()");
}

/* Looks and changes run with the bucket's lock held, and may not wait. */
TEST_CASE("sleep: checked: a futex_table's looks and changes")
{
	using table = checked_lock<futex_table<4>, "futexes">;
	const futex_key key = {1, 1};
	const auto same = [] { return futex_look::same; };
	const auto each = [&](table &of, auto inside, auto check) {
		const auto look = [&](u32 = 0) {
			inside(of);
			return futex_look::changed;
		};
		const auto op = [&] {
			inside(of);
			return futex_op::wakes_one;
		};
		table::waiter node;

		check([&] { (void)of.wait(key, look); });
		check([&] { (void)of.wait_until(key, look, 0); });
		check([&] { (void)of.wait_any(&node, &key, 1, look); });
		check([&] {
			(void)of.wait_any_until(&node, &key, 1, look, 0);
		});
		check([&] { of.wake(key, 1, 1, [&] { inside(of); }); });
		check([&] { of.requeue(key, key, 1, 1, look); });
		check([&] { of.wake_op(key, 1, key, 1, op); });
	};

	{
		new_order<64, 4> fresh;
		table of;

		each(
			of, [](table &) {},
			[](auto verb) { CHECK(panic_of(verb) == ""); });
		CHECK(of.wait_until(key, same, 0) == futex_result::deadline);
		CHECK(of.wake(key, 1) == 0);
	}
	/* A look that reads its page in would sleep with the lock held. */
	{
		new_order<64, 4> fresh;
		table of;
		checked_lock<mutex, "pages"> pages;

		each(
			of, [&](table &) { pages.lock(); },
			[](auto verb) {
				has(panic_of(verb),
				    "called with interrupts off");
			});
	}
	{
		new_order<64, 4> fresh;
		table of;

		each(
			of, [](table &) { might_wait(); },
			[](auto verb) {
				has(panic_of(verb),
				    "futexes (inner), CPU 0: "
				    "might_wait() with a lock held");
			});
	}
	/* Without an order, too. */
	table of;

	each(
		of, [&](table &its) { its.wake(key, 1); },
		[](auto verb) {
			has(panic_of(verb),
			    "futexes, CPU 0: called by a predicate or a "
			    "change of its own, ");
		});
}

/* Whatever is requeued to where, two buckets' locks are taken in one order. */
TEST_CASE("sleep: checked: the locks of two buckets, from both sides")
{
	using table = futex_table<4, checked_lock<ticket_lock<u8>, "bucket">>;
	new_order<64, 4> fresh;
	table of;
	const futex_key one = {1, 0};
	futex_key other = one;
	const auto same = [] { return futex_look::same; };
	const auto op = [] { return futex_op::wakes_both; };

	while (table::index_of(other) == table::index_of(one))
		other.address++;
	CHECK(panic_of([&] {
		      of.requeue(one, other, 1, 1, same);
		      of.requeue(other, one, 1, 1, same);
		      of.wake_op(one, 1, other, 1, op);
		      of.wake_op(other, 1, one, 1, op);
	      }) == "");
}
