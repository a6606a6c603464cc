/* SPDX-License-Identifier: MIT */
/*
 * A handler that takes the lock of the code it interrupts, at every point where
 * the interrupt flag lets it in.
 */
#include "lock_worlds.hpp"
#include "../checker/verdict.hpp"

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/busted.hpp>

#include <catch.hpp>

#include <cstring>

namespace of_interrupts {

using namespace klock::selftest;
using namespace worlds;
using klock::arch::irq_restore;
using klock::arch::irq_save;
using verdict::good;

TEST_CASE("interrupts: a handler comes at every point that the flag allows")
{
	struct world {
		klock::atomic<u8> a, b;
		klock::plain<unsigned> step;
		unsigned at = 0;
	};
	unsigned seen_at = 0;
	const auto points = [&seen_at](bool nmi) {
		seen_at = 0;
		return model::explore<world>(
			{.sections = {1}, .interrupts = 1, .non_maskable = nmi},
			[](world &w, unsigned) {
				w.step.set(1);
				w.a.store_relaxed(1);
				w.step.set(2);
				const auto before = irq_save();
				w.step.set(3);
				w.b.store_relaxed(1);
				w.step.set(4);
				irq_restore(before);
			},
			[&seen_at](world &w) { seen_at |= 1u << w.at; },
			[](world &w, unsigned) { w.at = w.step.get() + 1; });
	};

	/*
	 * The interrupt comes not at all, or in steps 0, 1, 1, 2 and 4; never
	 * in 3.
	 */
	const auto masked = points(false);
	CHECK(masked.ok());
	CHECK(masked.complete == 6);
	CHECK(seen_at == 0b101111);
	const auto nmi = points(true);
	CHECK(nmi.complete == 10);
	CHECK(seen_at == 0b111111);
}

TEST_CASE("interrupts: no execution comes twice")
{
	struct world {
		klock::atomic<u8> x;
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				(void)w.x.load_relaxed();
			else
				w.x.store_relaxed(1);
		},
		[](world &) {}, [](world &, unsigned) {});

	/* Before, after, never, on each CPU; and two values to be read. */
	CHECK(r.exhaustive);
	CHECK(r.complete == 3 * 3 * 2);
}

TEST_CASE("interrupts: with interrupts off first, every lock passes")
{
	for (const kind &k : tested<2>()) {
		const outcome r = play({.lock = k,
					.roles = "ll",
					.handlers = "ll",
					.interrupts_off = everybody},
				       {.interrupts = 1});

		INFO(k.name);
		verdict::right_by_at_least(3, r);
		CHECK(r.most_handled == 2);
	}
}

TEST_CASE("interrupts: with interrupts on, every lock is found")
{
	for (const kind &k : tested<2>()) {
		const outcome r =
			play({.lock = k, .roles = "ll", .handlers = "ll"},
			     {.interrupts = 1});

		INFO(k.name);
		/*
		 * An indexed lock lets its own CPU in again, so there is no
		 * deadlock.
		 */
		if (k.indexed)
			CHECK_FALSE(r.ok());
		else
			CHECK(r.found == model::bug::deadlock);
	}
}

TEST_CASE("interrupts: irq_guard passes where guard deadlocks")
{
	using lock = klock::ticket_lock<u8>;
	/* A user's code, and a handler with the same guard. */
	const auto by = []<typename Guard>() {
		return play({.lock = describe<lock, guarding<lock, Guard>>(""),
			     .roles = "ll",
			     .handlers = "ll"},
			    {.interrupts = 1});
	};

	verdict::right_by_at_least(5, by.operator()<klock::irq_guard<lock>>());
	CHECK(by.operator()<klock::guard<lock>>().found ==
	      model::bug::deadlock);
}

TEST_CASE("interrupts: an NMI's handler may try, and never waits")
{
	/* Each is a contender more, under a number of its own. */
	for (const kind &k : tested<4>()) {
		if (!k.by.try_lock)
			continue;
		const outcome r = play({.lock = k,
					.roles = "ll",
					.handlers = "tt",
					.first_handler = 2},
				       {.interrupts = 1, .non_maskable = true});

		INFO(k.name);
		verdict::right(r);
		CHECK(r.most_handled == 2);
	}
}

/* -- Two mistakes that real kernels shipped ----------------------------------
 */

namespace {

struct tickets {
	klock::atomic<u8> next, owner;
};

/* Takes its ticket first, and disables interrupts then. */
struct ticket_before_cli {
	explicit ticket_before_cli(unsigned) {}
	void lock(tickets &l)
	{
		const u8 mine = l.next.fetch_add_acq_rel(1);

		before = irq_save();
		l.owner.await_eq_acquire(mine);
	}
	void unlock(tickets &l)
	{
		l.owner.store_release(
			static_cast<u8>(l.owner.load_relaxed() + 1));
		irq_restore(before);
	}

	bool before = true;
};

/* Interrupts off first, but the flags of before where a waiter writes too. */
template <typename Flags>
struct flags_in_lock {
	klock::ticket_lock<u8> inner;
	Flags flags;

	void lock()
	{
		save(flags, irq_save());
		inner.lock();
	}
	void unlock()
	{
		const bool before = read(flags);
		inner.unlock();
		irq_restore(before);
	}

      private:
	static void save(klock::atomic<u8> &f, bool v) { f.store_relaxed(v); }
	static void save(klock::plain<u8> &f, bool v) { f.set(v); }
	static bool read(klock::atomic<u8> &f) { return f.load_relaxed(); }
	static bool read(klock::plain<u8> &f) { return f.get(); }
};

/* CPU 0 has interrupts on; CPU 1 has them off, and must have them off after. */
template <typename Flags>
model::result mixed_flags()
{
	return play({.lock = describe<flags_in_lock<Flags>>(""),
		     .roles = "ll",
		     .interrupts_off = 2},
		    {});
}

} // namespace

TEST_CASE("interrupts: a ticket taken before interrupts are off is found")
{
	const kind k = describe<tickets, ticket_before_cli>("");

	CHECK(play({.lock = k, .roles = "l", .handlers = "l"},
		   {.interrupts = 1})
		      .found == model::bug::deadlock);
}

TEST_CASE("interrupts: flags kept in the lock are found")
{
	CHECK(mixed_flags<klock::plain<u8>>().found == model::bug::data_race);
	CHECK(mixed_flags<klock::atomic<u8>>().found ==
	      model::bug::failed_check);
}

} // namespace of_interrupts

namespace of_fairness {

/*
 * The order of service in every execution. A lock that promises an order keeps
 * it; one that promises none is seen to break it, which shows that the tests
 * can tell.
 */

using klock::selftest::queues;
using klock::selftest::service;
using namespace worlds;
using verdict::good;

namespace {

/*
 * CPU 0 has this many sections: the others one each, the last as they come. Its
 * most_bypasses is how often, at most, it enters knowing that CPU 1 has come
 * and not been served.
 */
outcome bypasses(const kind &k, unsigned cpus, unsigned sections)
{
	options how{.sections = std::vector<unsigned>(cpus, 1),
		    .patient = everybody};

	how.sections[0] = sections;
	return play({k, std::string(cpus, 'l'), &world::bypass}, how);
}

} // namespace

TEST_CASE("fairness: first come, first served, where promised and nowhere else")
{
	for (const kind &k : tested_by<3>()) {
		const result r = first_come_first_served(k);

		INFO(k.name);
		if (queues(k.order_of_service))
			verdict::good(r);
		else
			CHECK(r.found == model::bug::failed_check);
	}
}

TEST_CASE("fairness: a stack that claims to be a queue is found")
{
	using lifo =
		klock::selftest::subject<"lifo", klock::selftest::busted::lifo,
					 service::fifo>;

	/* Two in the stack and one inside: CPU 2, CPU 0, CPU 1. */
	CHECK(first_come_first_served(kind_of<lifo>).found ==
	      model::bug::failed_check);
}

TEST_CASE("fairness: a waiter is bypassed so often, and no more")
{
	for (const kind &k : tested<2>()) {
		const outcome r = bypasses(k, 2, 4);

		INFO(k.name << ", 2 CPUs");
		verdict::right(r);
		/* None: as often as it tries. Others: who was ahead. */
		CHECK(r.most_bypasses ==
		      (k.order_of_service == service::none ? 4 : 1));
	}
}

TEST_CASE("fairness: of three, a tree's waiter is bypassed without bound",
	  "[deep]")
{
	for (const kind &k : tested_by<3>()) {
		const outcome r = bypasses(k, 3, 3);

		INFO(k.name << ", 3 CPUs");
		verdict::right(r);
		/*
		 * The tree: while CPU 2, ahead at their node, is slow to climb,
		 * CPU 0 passes at the root as often as it likes.
		 */
		CHECK(r.most_bypasses == (queues(k.order_of_service) ? 1 : 3));
	}
}

/*
 * queued_lock: whoever has looked at the queue and not yet swapped passes those
 * that come meanwhile, and then sees them. To look at the holder alone is to
 * pass them without a bound. A CPU that waits before it queues is passed so.
 */
TEST_CASE("fairness: a look at the queue's tail lets a CPU pass once")
{
	using looks_at_tail =
		klock::selftest::subject<"", klock::queued_lock<3>,
					 service::fifo>;
	using waits_before =
		klock::selftest::subject<"", klock::queued_lock<3, 1>,
					 service::fifo>;
	using looks_at_holder =
		klock::selftest::subject<"", klock::selftest::busted::stealer,
					 service::fifo>;
	const outcome right = bypasses(kind_of<looks_at_tail>, 3, 3);

	verdict::right(right);
	CHECK(right.most_bypasses == 1);
	CHECK(bypasses(kind_of<waits_before>, 3, 3).most_bypasses == 3);
	CHECK(bypasses(kind_of<looks_at_holder>, 3, 3).most_bypasses == 3);
}

} // namespace of_fairness

namespace of_unlock {

/*
 * unlock() does nothing after it has released the lock. Before that it waits
 * for nobody, or for a newcomer.
 */

using namespace worlds;
using verdict::good;

namespace {

/* All locks that so many CPUs may take, with so many critical sections each. */
template <unsigned Cpus>
void last_ends(const std::vector<std::vector<unsigned>> &sizes)
{
	for (const kind &k : tested_by<Cpus>())
		for (const auto &sections : sizes) {
			INFO(k.name << ", " << Cpus << " CPUs, " << sections[0]
				    << " sections");
			good(ended_by_the_last(
				k, {.sections = sections,
				    .patient = Cpus > 3 ? everybody : 0}));
		}
}

} // namespace

TEST_CASE("lifetime: the last of two CPUs ends the lock")
{
	last_ends<2>({{1, 1}, {2, 2}, {3, 1}, {1, 3}});
}

TEST_CASE("lifetime: the last of three CPUs ends the lock", "[deep]")
{
	last_ends<3>({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
}

TEST_CASE("lifetime: the last of four CPUs ends the lock", "[.large]")
{
	last_ends<4>({{1, 1, 1, 1}});
}

TEST_CASE("lifetime: a tree of three levels")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using five = subject<"tournament_lock of 5", klock::tournament_lock<5>,
			     service::starvation_free>;

	/* 3 and 4 meet at the bottom, 2 above them, 0 and 1 at the root. */
	good(ended_by_the_last(kind_of<five>, {.sections = {1, 1, 1, 1, 1}}));
}

/* -- Waiting in unlock() ----------------------------------------------------
 */

TEST_CASE("unlock: waits for nobody, but mcs_lock's for a stopped newcomer")
{
	for (const kind &k : tested<2>()) {
		const result r = play({k, "ll", &world::newcomers, "-|"},
				      {.interrupts = 1, .non_maskable = true});

		INFO(k.name);
		if (std::strcmp(k.name, "mcs_lock") == 0) {
			CHECK(r.found == model::bug::deadlock);
		} else {
			verdict::good(r);
		}
	}
}

} // namespace of_unlock
