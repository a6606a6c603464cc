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

namespace {

/* Handlers bring their own nodes, under their CPU's number: or from First. */
struct interrupted : counted {
	contenders handlers;
	unsigned handled = 0; /* on the host */

	explicit interrupted(const kind &k, unsigned first = 0)
	    : counted(k), handlers(k, k.by, first)
	{
	}
};

enum class how { by_guard, by_irq_guard };

struct seen {
	model::result r;
	unsigned most_handled = 0;
};

template <how How>
seen interrupt(const kind &k, const options &given)
{
	using world = interrupted;
	const unsigned expected = sum(given.sections);
	seen s;

	s.r = explore<world>(
		k, given,
		[](world &w, unsigned cpu) {
			const bool off = How == how::by_irq_guard;
			const bool before = off ? irq_save() : true;
			w.section(cpu);
			if (off)
				irq_restore(before);
		},
		[&s, expected](world &w) {
			s.most_handled = std::max(s.most_handled, w.handled);
			model::check(w.count.get() == expected + w.handled,
				     "every section counted");
		},
		[](world &w, unsigned cpu) {
			w.section(w.handlers[cpu]);
			w.handled++;
		});
	return s;
}

} // namespace

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
		const seen s = interrupt<how::by_irq_guard>(
			k, {.sections = {1, 1}, .interrupts = 1});
		INFO(k.name << " " << s.r.complete << " " << s.r.message
			    << s.r.timeline);
		verdict::right_by_at_least(3, s.r);
		CHECK(s.most_handled == 2);
	}
}

TEST_CASE("interrupts: with interrupts on, every lock is found")
{
	for (const kind &k : tested<2>()) {
		const seen s = interrupt<how::by_guard>(
			k, {.sections = {1, 1}, .interrupts = 1});
		INFO(k.name);
		/*
		 * An indexed lock lets its own CPU in again, so there is no
		 * deadlock.
		 */
		if (k.indexed)
			CHECK_FALSE(s.r.ok());
		else
			CHECK(s.r.found == model::bug::deadlock);
	}
}

namespace {

/* A user's code: the two guards, and a handler with the same. */
struct user_world {
	klock::ticket_lock<u8> lock;
	klock::plain<unsigned> count;
	unsigned handled = 0;

	template <typename Guard>
	void section()
	{
		Guard held(lock);
		count.set(count.get() + 1);
	}
};

template <typename Guard>
model::result user()
{
	return model::explore<user_world>(
		{.sections = {1, 1}, .interrupts = 1},
		[](user_world &w, unsigned) { w.section<Guard>(); },
		[](user_world &w) {
			model::check(w.count.get() == 2 + w.handled);
		},
		[](user_world &w, unsigned) {
			w.section<Guard>();
			w.handled++;
		});
}

} // namespace

TEST_CASE("interrupts: irq_guard passes where guard deadlocks")
{
	const auto r = user<klock::irq_guard<klock::ticket_lock<u8>>>();
	verdict::right_by_at_least(5, r);

	CHECK(user<klock::guard<klock::ticket_lock<u8>>>().found ==
	      model::bug::deadlock);
}

TEST_CASE("interrupts: an NMI's handler may try, and never waits")
{
	/* Each is a contender more, under a number of its own. */
	for (const kind &k : tested<4>()) {
		if (k.by.try_lock) {
			using world = interrupted;
			unsigned most = 0;
			const auto r = model::explore_from(
				{.sections = {1, 1},
				 .interrupts = 1,
				 .non_maskable = true},
				[&k] { return world(k, 2); },
				[](world &w, unsigned cpu) { w.section(cpu); },
				[&most](world &w) {
					most = std::max(most, w.handled);
					model::check(w.count.get() ==
						     2 + w.handled);
				},
				[](world &w, unsigned cpu) {
					w.handled += w.section_by_try(
						w.handlers[cpu]);
				});
			INFO(k.name << " " << r.complete << " " << r.message
				    << r.timeline);
			verdict::right(r);
			CHECK(most == 2);
		}
	}
}

/* -- Two mistakes that real kernels shipped ----------------------------------
 */

namespace {

/* Takes its ticket first, and disables interrupts then. */
struct ticket_before_cli {
	klock::atomic<u8> next, owner;

	bool lock()
	{
		const u8 mine = next.fetch_add_acq_rel(1);
		const bool before = irq_save();

		owner.await_eq_acquire(mine);
		return before;
	}
	void unlock(bool before)
	{
		owner.store_release(static_cast<u8>(owner.load_relaxed() + 1));
		irq_restore(before);
	}
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
	struct world {
		flags_in_lock<Flags> lock;
	};

	return model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 1)
				(void)irq_save();
			w.lock.lock();
			w.lock.unlock();
			model::check(model::interrupts_on() == (cpu == 0),
				     "interrupts are as they were");
		});
}

} // namespace

TEST_CASE("interrupts: a ticket taken before interrupts are off is found")
{
	struct world {
		ticket_before_cli lock;
	};
	const auto r = model::explore<world>(
		{.sections = {1}, .interrupts = 1},
		[](world &w, unsigned) { w.lock.unlock(w.lock.lock()); },
		[](world &) {},
		[](world &w, unsigned) { w.lock.unlock(w.lock.lock()); });

	CHECK(r.found == model::bug::deadlock);
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
 * CPU 0 enters `sections` times; how often, at most, it enters knowing that CPU
 * 1 has come and not been served. With a third CPU where cpus is 3.
 */
unsigned most_bypasses(const kind &k, unsigned cpus, unsigned sections,
		       model::result &r)
{
	std::vector<unsigned> sizes(cpus, 1);
	unsigned most = 0;

	sizes[0] = sections;
	r = explore<queue>(
		k, {.sections = sizes, .patient = everybody},
		[](queue &w, unsigned cpu) {
			if (cpu == 1)
				w.come(cpu);
			else if (cpu == 2)
				w.section(cpu);
			else
				w.try_to_bypass();
		},
		[&most](queue &w) { most = std::max(most, w.bypassed); });
	return most;
}

} // namespace

TEST_CASE("fairness: first come, first served, where promised and nowhere else")
{
	for (const kind &k : tested<3>()) {
		if (k.capacity >= 3) {
			const auto r = first_come_first_served(k);
			INFO(k.name << " " << r.complete << " " << r.message
				    << "\n"
				    << r.timeline);
			if (queues(k.order_of_service)) {
				verdict::good(r);
			} else {
				CHECK(r.found == model::bug::failed_check);
			}
		}
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
		model::result r;
		const unsigned most = most_bypasses(k, 2, 4, r);

		INFO(k.name << ", 2 CPUs: " << most << ", " << r.complete << " "
			    << r.message);
		verdict::right(r);
		/* None: as often as it tries. Others: who was ahead. */
		if (k.order_of_service == service::none)
			CHECK(most == 4);
		else
			CHECK(most == 1);
	}
}

TEST_CASE("fairness: of three, a tree's waiter is bypassed without bound",
	  "[deep]")
{
	for (const kind &k : tested<3>()) {
		if (k.capacity >= 3) {
			model::result r;
			const unsigned most = most_bypasses(k, 3, 3, r);

			INFO(k.name << ", 3 CPUs: " << most << ", "
				    << r.complete << " " << r.message);
			verdict::right(r);
			/*
			 * The tree: while CPU 2, ahead at their node, is slow
			 * to climb, CPU 0 passes at the root as often as it
			 * likes.
			 */
			if (queues(k.order_of_service))
				CHECK(most == 1);
			else
				CHECK(most == 3);
		}
	}
}

/*
 * queued_lock: whoever has looked at the queue and not yet swapped passes those
 * that come meanwhile, and then sees them. To look at the holder alone is to
 * pass them without a bound.
 */
TEST_CASE("fairness: a look at the queue's tail lets a CPU pass once")
{
	using looks_at_tail =
		klock::selftest::subject<"", klock::queued_lock<3>,
					 service::fifo>;
	using looks_at_holder =
		klock::selftest::subject<"", klock::selftest::busted::stealer,
					 service::fifo>;
	model::result r;

	CHECK(most_bypasses(kind_of<looks_at_tail>, 3, 3, r) == 1);
	verdict::right(r);
	CHECK(most_bypasses(kind_of<looks_at_holder>, 3, 3, r) == 3);
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
	for (const kind &k : tested<Cpus>()) {
		if (k.capacity >= Cpus)
			for (const auto &sections : sizes) {
				INFO(k.name << ", " << sections.size()
					    << " CPUs, " << sections[0]
					    << " sections");
				good(ended_by_the_last(
					k,
					{.sections = sections,
					 .patient = Cpus > 3 ? everybody : 0}));
			}
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

namespace {

/*
 * CPU 0 holds the lock when CPU 1 comes, and leaves. Anywhere on its way CPU 1
 * is stopped, as by a debugger, until CPU 0 is back from unlock().
 */
result stopped_newcomer(const kind &k)
{
	struct world : counted {
		using counted::counted;
		klock::atomic<u8> inside, left;
	};

	return explore<world>(
		k, {.sections = {1, 1}, .interrupts = 1, .non_maskable = true},
		[](world &w, unsigned cpu) {
			if (cpu == 1) {
				w.inside.await_eq_acquire(1);
				w.section(1u);
				return;
			}
			w.who[0].lock(w.lock);
			w.inside.store_release(1);
			w.who[0].unlock(w.lock);
			w.left.store_release(1);
		},
		[](world &) {},
		[](world &w, unsigned cpu) {
			if (cpu == 1)
				w.left.await_eq_acquire(1);
		});
}

} // namespace

TEST_CASE("unlock: waits for nobody, but mcs_lock's for a stopped newcomer")
{
	for (const kind &k : tested<2>()) {
		const result r = stopped_newcomer(k);

		INFO(k.name << " " << r.message << "\n" << r.timeline);
		if (std::strcmp(k.name, "mcs_lock") == 0) {
			CHECK(r.found == model::bug::deadlock);
		} else {
			verdict::good(r);
		}
	}
}

} // namespace of_unlock
