/* SPDX-License-Identifier: MIT */
/*
 * queued_lock: what belongs to the CPUs and not to the lock. Nodes are clean at
 * rest; a handler's wait has another node than the wait that it interrupted;
 * who has no node competes.
 */
#include "lock_cases.hpp"

#include <klock/queued_lock.hpp>
#include <klock/selftest/busted.hpp>

using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;

namespace {

template <unsigned Cpus>
using queued = subject<"queued_lock", klock::queued_lock<Cpus>, service::fifo>;

/* As exclusion(); and at rest it is free, nobody queues, all nodes are there */
template <unsigned Cpus>
result clean_at_rest(const options &how)
{
	using world = counted;
	const unsigned expected = sum(how.sections);

	return explore<world>(
		kind_of<queued<Cpus>>, how,
		[](world &w, unsigned cpu) { w.section(cpu); },
		[expected](world &w) {
			auto &lock = w.lock.as<klock::queued_lock<Cpus>>();

			w.all_counted(expected);
			model::check(lock.try_lock(), "it is free");
			model::check(!lock.is_contended(), "nobody queues");
			for (unsigned cpu = 0; cpu < Cpus; cpu++)
				model::check(lock.is_clean(cpu),
					     "the nodes are clean");
		});
}

/*
 * Threads take one lock, handlers another, each with the number of its CPU: a
 * handler may come anywhere in a thread's wait.
 */
template <typename Lock>
result with_handlers(const options &given, unsigned *most_handled = nullptr)
{
	struct world {
		Lock of_threads, of_handlers;
		klock::plain<unsigned> count, handled;
		unsigned handlers = 0; /* on the host */
	};
	const unsigned expected = sum(given.sections);

	return model::explore<world>(
		given,
		[](world &w, unsigned cpu) {
			w.of_threads.lock_from(cpu);
			w.count.set(w.count.get() + 1);
			w.of_threads.unlock();
		},
		[expected, most_handled](world &w) {
			model::check(w.count.get() == expected,
				     "every section counted");
			model::check(w.handled.get() == w.handlers,
				     "every handler counted");
			if (most_handled && *most_handled < w.handlers)
				*most_handled = w.handlers;
		},
		[](world &w, unsigned cpu) {
			w.of_handlers.lock_from(cpu);
			w.handled.set(w.handled.get() + 1);
			w.of_handlers.unlock();
			w.handlers++;
		});
}

} // namespace

TEST_CASE("queued_lock: clean at rest")
{
	good(clean_at_rest<2>({.sections = {3, 3}}));
	good(clean_at_rest<3>({.sections = {2, 1, 1}}));
}

TEST_CASE("queued_lock: two locks, one after the other, with the same nodes",
	  "[deep]")
{
	const auto both = [](std::vector<unsigned> sections) {
		return two_in_turn(kind_of<queued<3>>, {.sections = sections});
	};

	good(both({2, 2, 2}));
	CHECK(both({2, 2, 2}).complete == 6084);
	good(both({4, 3}));
}

TEST_CASE("queued_lock: interrupts, whose handlers wait for another lock")
{
	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1}, {2, 1}}) {
		unsigned handled = 0;
		good(with_handlers<klock::queued_lock<2>>(
			{.sections = sections, .interrupts = 1}, &handled));
		CHECK(handled == 2);
	}
}

TEST_CASE("queued_lock: a handler that gets the same node is found")
{
	using klock::selftest::busted::late_depth;

	CHECK_FALSE(with_handlers<late_depth>(
			    {.sections = {1, 1, 1}, .interrupts = 1})
			    .ok());
}

TEST_CASE("queued_lock: without a node, a CPU competes with those that queue")
{
	struct world {
		klock::queued_lock<2> lock;
		klock::plain<unsigned> count;
	};

	/* CPU 2 has a number that the table has no row for. */
	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1, 1}, {2, 1, 1}}) {
		const unsigned expected = sum(sections);
		good(model::explore<world>(
			{.sections = sections},
			[](world &w, unsigned cpu) {
				w.lock.lock_from(cpu);
				w.count.set(w.count.get() + 1);
				w.lock.unlock();
			},
			[expected](world &w) {
				model::check(w.count.get() == expected,
					     "every section counted");
			}));
	}
}
