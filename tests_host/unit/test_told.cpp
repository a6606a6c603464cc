/* SPDX-License-Identifier: MIT */
/*
 * Events that have a name at run time, and whose verbs are told a call site:
 * each of them reports the line that it was told.
 */
#include <klock/checked_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/semaphore.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/wait_queue.hpp>

#include "pretended_kernel.hpp"

using namespace klock;

namespace {

constinit auto jobs = named<checked_if<true, semaphore>>("jobs");
constinit auto three = named<checked_if<true, semaphore>>("three", 3u);
constinit auto answer = named<checked_if<true, completion>>("answer");
constinit auto changed = named<checked_if<true, condition>>("changed");
constinit auto arrivals = named<checked_if<true, wait_queue>>("arrivals");
constinit auto queue =
	named<irq_lock<checked_if<true, ticket_lock<u8>>>>("queue");

/* Without checks, the name is dropped, and the units are not. */
constinit auto unnamed = named<checked_if<false, semaphore>>("jobs", 2u);
constinit auto plain_queue =
	named<irq_lock<checked_if<false, ticket_lock<u8>>>>("queue");

constexpr call_site caller = {"caller.cpp", 77};

/* No verb of an event may be called in an NMI handler. */
void tells_its_line(const char *name, block verb)
{
	as(0, context::nmi, [&] {
		const std::string said = panic_of(verb);

		has(said, std::string(name) + ", CPU 0: may sleep, but was "
					      "called in an NMI handler");
		has(said, "; at caller.cpp:77");
	});
}

} // namespace

TEST_CASE("named: events, and a lock in an irq_lock")
{
	has(panic_of([] {
		    irq_guard held(queue);
		    irq_guard again(queue);
	    }),
	    "queue, CPU 0: recursion");
	CHECK(three.try_acquire());
	CHECK(three.try_acquire());
	CHECK(three.try_acquire());
	CHECK_FALSE(three.try_acquire());
	CHECK(unnamed.try_acquire());
	CHECK(unnamed.try_acquire());
	CHECK_FALSE(unnamed.try_acquire());
	irq_guard held(plain_queue);
}

TEST_CASE("told: each verb of an event has the line that it was told")
{
	const auto of_jobs = told(jobs, caller);
	const auto of_answer = told(answer, caller);
	const auto of_changed = told(changed, caller);
	const auto of_arrivals = told(arrivals, caller);
	const auto never = [] { return false; };
	detail::sleeper me;

	tells_its_line("jobs", [&] { of_jobs.acquire(); });
	tells_its_line("jobs", [&] { (void)of_jobs.try_acquire(); });
	tells_its_line("jobs", [&] { (void)of_jobs.try_acquire_until(1); });
	tells_its_line("jobs", [&] { (void)of_jobs.try_acquire_for(1); });
	tells_its_line("jobs", [&] { of_jobs.release(); });
	tells_its_line("answer", [&] { of_answer.set(); });
	tells_its_line("answer", [&] { of_answer.reset(); });
	tells_its_line("answer", [&] { (void)of_answer.is_set(); });
	tells_its_line("answer", [&] { (void)of_answer.is_contended(); });
	tells_its_line("answer", [&] { of_answer.wait(); });
	tells_its_line("answer", [&] { (void)of_answer.wait_until(1); });
	tells_its_line("answer", [&] { (void)of_answer.wait_for(1); });
	tells_its_line("changed", [&] { of_changed.notify_one(); });
	tells_its_line("changed", [&] { of_changed.notify_all(); });
	tells_its_line("changed", [&] { of_changed.prepare(me); });
	tells_its_line("changed", [&] { (void)of_changed.sleep(me, nullptr); });
	tells_its_line("arrivals", [&] { of_arrivals.wake_one([] {}); });
	tells_its_line("arrivals", [&] { of_arrivals.wake_all([] {}); });
	tells_its_line("arrivals", [&] { of_arrivals.wait(never); });
	tells_its_line("arrivals",
		       [&] { (void)of_arrivals.wait_until(never, 1); });
	tells_its_line("arrivals",
		       [&] { (void)of_arrivals.wait_for(never, 1); });
}
