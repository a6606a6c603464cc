/* SPDX-License-Identifier: MIT */
/*
 * sleep: what checks say of locks that sleep, in a kernel whose owners of locks
 * are threads. Each park runs what happens meanwhile.
 */
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/print_held.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_lock_until.hpp>
#include <klock/wait_queue.hpp>

#include "counted.hpp"
#include "order_kernel.hpp"
#include "pretended_kernel.hpp"

#include <functional>

using namespace klock;
using namespace unit;

static std::function<void()> meanwhile;

static usize thread_now = 1;

extern "C" usize klock_os_thread(void) { return thread_now; }
extern "C" void klock_os_park(void) { meanwhile(); }
extern "C" bool klock_os_park_until(u64) { return false; }
extern "C" void klock_os_unpark(usize) {}

namespace {

using spin = checked_lock<ticket_lock<u8>, "runqueue">;

struct threads_locks {
	checked_lock<mutex, "inode"> inode;
	checked_lock<mutex, "log"> log;
	checked_lock<shared_mutex, "names"> names;
	checked_lock<semaphore, "jobs"> jobs;
	checked_lock<completion, "answer"> answer;
	checked_lock<condition, "not full"> not_full;
	checked_lock<wait_queue, "arrivals"> arrivals;
	spin runqueue;
};

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
			has(panic_of(wait), "a wait in a handler, but its "
					    "waiters sleep; at ");
		});
	});
	{
		irqs off(false);

		each_wait(again, [](auto wait) {
			has(panic_of(wait), "a wait with interrupts off, but "
					    "its waiters sleep; at ");
		});
	}
	const guard held(under.runqueue);

	each_wait(under, [](auto wait) {
		has(panic_of(wait), "runqueue, CPU 0: might_wait() with a lock "
				    "held; at ");
	});
	/* What never waits may. */
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
		has(waits(outer), "runqueue, CPU 0: might_wait() with a lock "
				  "held");
	}
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
	has(prepares(of.not_full), "prepare() of who is prepared; at ");
	has(prepares(other), "other, CPU 0: prepare() of who is prepared");
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

	has(panic_of([&] { of.inode.unlock(); }), "unlock of a free lock");
	has(panic_of([&] { of.not_full.wait(of.inode); }),
	    "unlock of a free lock; at " + std::string(__FILE__));
	of.inode.lock();
	has(panic_of([&] { of.inode.lock(); }), "inode, CPU 0: recursion");
	as(0, context::interrupt,
	   [&] { said = panic_of([&] { of.inode.unlock(); }); });
	has(said, "unlock in another context than lock's");
	of.names.lock_shared();
	has(panic_of([&] { of.names.lock_shared(); }), "read recursion");
	has(panic_of([&] { of.names.lock(); }), "upgrade");
	has(panic_of([&] { one.release(); }), "one, CPU 0: a release beyond "
					      "its bound; at ");
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
