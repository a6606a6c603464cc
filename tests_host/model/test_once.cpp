/* SPDX-License-Identifier: MIT */
/*
 * once and spin_barrier: done once, seen by all; nobody leaves early, nobody is
 * left behind; each order is needed.
 */
#include "proof.hpp"

#include <klock/barrier.hpp>
#include <klock/irq.hpp>
#include <klock/once.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/busted_sequences.hpp>

#include <catch.hpp>

using klock::plain;
using klock::u32;
using klock::selftest::barrier_mistake;
using klock::selftest::busted_barrier;
using klock::selftest::busted_once;
using klock::selftest::once_mistake;
using model::bug;
using model::check;
using model::options;
using model::result;

namespace {

/* -- once: the first `failing` runs fail, whoever's they are -- */

template <typename Once>
struct once_world {
	Once tables;
	plain<u32> made;
	plain<u32> tries;
};

template <typename Once = klock::once>
result done_once(const options &how, unsigned failing)
{
	return model::explore<once_world<Once>>(
		how,
		[failing](once_world<Once> &w, unsigned) {
			bool failed = false;
			const bool did = w.tables.call([&] {
				const u32 before = w.tries.get();

				w.tries.set(before + 1);
				failed = before < failing;
				if (!failed)
					w.made.set(w.made.get() + 1);
				return !failed;
			});
			if (did)
				check(w.made.get() == 1, "not made once");
			else
				check(failed, "failed for nothing");
		},
		[](once_world<Once> &w) {
			check(w.made.get() <= 1, "made more than once");
			check(w.made.get() == w.tables.is_done(), "is_done");
		});
}

/* CPU 0 makes it; the others ask whether it is made, and read it if so. */
result done_is_seen(const options &how)
{
	using world = once_world<klock::once>;

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 0)
			w.tables.call([&] { w.made.set(1); });
		else if (w.tables.is_done())
			check(w.made.get() == 1, "done, and not made");
	});
}

/* Whoever gets it reads it; whoever only looks reads all of it, or nothing. */
struct lazy_world {
	/* A value whose parts the checker watches. */
	struct table {
		explicit table(u32 v) : a(v), b(v) {}
		plain<u32> a, b;
	};
	klock::lazy<table> shared;
	plain<u32> made;
};

result made_once(const options &how, unsigned getting)
{
	return model::explore<lazy_world>(
		how,
		[getting](lazy_world &w, unsigned cpu) {
			if (cpu < getting) {
				const lazy_world::table &t = w.shared.get([&] {
					w.made.set(w.made.get() + 1);
					return lazy_world::table(5);
				});
				check(t.a.get() + t.b.get() == 10, "half made");
			} else if (const auto *t = w.shared.peek()) {
				check(t->a.get() + t->b.get() == 10,
				      "half made");
			}
		},
		[](lazy_world &w) {
			check(w.made.get() == 1, "not made once");
		});
}

constexpr auto once_clients = [](const options &how, auto enough) {
	const auto with = [&how](std::vector<unsigned> sections) {
		options o = how;
		o.sections = sections;
		return o;
	};

	return enough(done_once(with({1, 1}), 0)) ||
	       enough(done_is_seen(with({1, 1}))) ||
	       enough(done_once(with({2, 2}), 1)) ||
	       enough(done_once(with({1, 1, 1}), 1));
};

/* -- spin_barrier: each writes before, all read behind -- */

template <typename Barrier>
struct barrier_world {
	Barrier meeting;
	plain<u32> wrote[4];
	u32 rounds[4] = {};
	u32 last = 0; /* how often it returned true; on the host */
};

template <typename Barrier = klock::spin_barrier>
result all_meet(const options &how)
{
	const u32 cpus = static_cast<u32>(how.sections.size());
	const u32 meetings = how.sections[0];

	return model::explore<barrier_world<Barrier>>(
		how,
		[cpus](barrier_world<Barrier> &w, unsigned cpu) {
			const u32 round = ++w.rounds[cpu];

			w.wrote[cpu].set(round);
			w.last += w.meeting.arrive_and_wait(cpus);
			for (u32 i = 0; i < cpus; i++)
				check(w.wrote[i].get() == round,
				      "left before all had arrived");
			/* All have read before anybody writes again. */
			w.last += w.meeting.arrive_and_wait(cpus);
		},
		[meetings](barrier_world<Barrier> &w) {
			check(w.last == 2 * meetings, "one last a meeting");
		});
}

constexpr auto barrier_clients = [](const options &how, auto enough) {
	options once = how, twice = how;

	once.sections = {1, 1};
	twice.sections = {2, 2};
	return enough(all_meet(once)) || enough(all_meet(twice));
};

} // namespace

TEST_CASE("once: done once, and whoever is told so sees it")
{
	const auto none_fails = [](const options &o) {
		return done_once(o, 0);
	};
	const auto first_fails = [](const options &o) {
		return done_once(o, 1);
	};
	const auto two_fail = [](const options &o) { return done_once(o, 2); };

	proof::passes(8, {.sections = {1, 1}}, none_fails);
	proof::passes(48, {.sections = {1, 1, 1}}, none_fails);
	proof::passes(8, {.sections = {2, 2}}, none_fails);
	proof::passes(8, {.sections = {1, 1}}, first_fails);
	proof::passes(288, {.sections = {1, 1, 1}}, first_fails);
	proof::passes(56, {.sections = {2, 2}}, first_fails);
	proof::passes(288, {.sections = {1, 1, 1}}, two_fail);
	proof::passes(248, {.sections = {2, 2}}, two_fail);
	proof::passes(6912, {.sections = {1, 1, 1, 1}}, first_fails);
}

TEST_CASE("once: who is told that it is done sees it")
{
	/* It reads new, running or done; twice: never an older one. */
	proof::passes(3, {.sections = {1, 1}}, done_is_seen);
	proof::passes(6, {.sections = {1, 2}}, done_is_seen);
}

TEST_CASE("lazy: made once, and whoever has it sees all of it")
{
	proof::passes(8, {.sections = {1, 1}},
		      [](const options &o) { return made_once(o, 2); });
	proof::passes(48, {.sections = {1, 1, 1}},
		      [](const options &o) { return made_once(o, 3); });
	proof::passes(3, {.sections = {1, 1}},
		      [](const options &o) { return made_once(o, 1); });
}

TEST_CASE("once: orders needed")
{
	proof::each_order_is_needed(once_clients, "once.hpp", 6);
}

TEST_CASE("once: a handler over its own CPU's call is named, not hung")
{
	const result r = model::explore<once_world<klock::once>>(
		{.sections = {1}, .interrupts = 1},
		[](once_world<klock::once> &w, unsigned) {
			w.tables.call([] {});
		},
		[](once_world<klock::once> &) {},
		[](once_world<klock::once> &w, unsigned) {
			w.tables.call([] {});
		});

	CHECK(r.found == bug::panic);
	CHECK(r.message.find("called again by the CPU that runs it") !=
	      std::string::npos);
}

TEST_CASE("once: every one that is wrong is found")
{
	const auto finds = []<once_mistake Mistake>(bug what, const char *how) {
		using wrong = busted_once<Mistake>;
		const result all_well =
			done_once<wrong>({.sections = {1, 1}}, 0);
		const result one_fails =
			done_once<wrong>({.sections = {1, 1}}, 1);

		INFO(how);
		CHECK((all_well.found == what || one_fails.found == what));
	};

	finds.operator()<once_mistake::published_relaxed>(bug::data_race,
							  "relaxed");
	finds.operator()<once_mistake::looked_not_taken>(bug::data_race,
							 "looked, not taken");
	finds.operator()<once_mistake::failure_is_final>(bug::deadlock,
							 "failure is final");
}

TEST_CASE("spin_barrier: nobody leaves early, nobody is left behind")
{
	proof::passes(4, {.sections = {1, 1}}, all_meet<>);
	proof::passes(36, {.sections = {1, 1, 1}}, all_meet<>);
	proof::passes(16, {.sections = {2, 2}}, all_meet<>);
	proof::passes(4, {.sections = {1, 1}, .counter_bits = 2}, all_meet<>);
}

TEST_CASE("spin_barrier: orders needed")
{
	proof::each_order_is_needed(barrier_clients, "barrier.hpp", 4);
}

TEST_CASE("spin_barrier: every one that is wrong is found")
{
	const auto finds = []<barrier_mistake Mistake>(bug what,
						       const char *how) {
		using wrong = busted_barrier<Mistake>;

		INFO(how);
		CHECK(all_meet<wrong>({.sections = {1, 1}}).found == what);
	};

	finds.operator()<barrier_mistake::resets_late>(bug::deadlock,
						       "resets late");
	finds.operator()<barrier_mistake::generation_late>(bug::deadlock,
							   "generation late");
	finds.operator()<barrier_mistake::counts_relaxed>(bug::data_race,
							  "counts relaxed");
}
