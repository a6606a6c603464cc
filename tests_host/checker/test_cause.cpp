/* SPDX-License-Identifier: MIT */
/*
 * Tests of what a finding says to be missing. What it says is done to the code:
 * nothing is found then; with a part of it, the fault is still there. That SC
 * and x86 have it or not is compared with their executions.
 */
#include "verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <string>

namespace of_cause {

using klock::atomic;
using klock::plain;
using klock::u8;
using model::machine;
using model::options;
using model::result;

namespace {

struct world {
	atomic<u8> x, y, bell, a, b;
	atomic<atomic<u8> *> to{nullptr};
	plain<int> data;
};

/* The repairs of a program that are made, as bits. */
constexpr unsigned none = 0, first = 1, second = 2, all = 3;

void store(atomic<u8> &to, u8 v, bool release)
{
	if (release)
		to.store_release(v);
	else
		to.store_relaxed(v);
}

u8 load(atomic<u8> &of, bool acquire)
{
	return acquire ? of.load_acquire() : of.load_relaxed();
}

void fence_if(bool there)
{
	if (there)
		klock::fence_seq_cst();
}

/* -- Programs: a body, its look at the end, and what is to be said --------- */

struct program {
	const char *name;
	unsigned cpus;
	void (*body)(world &, unsigned cpu, unsigned repairs);
	void (*end)(world &);
	const char *says; /* @: a line */
	model::bug found;
};

void nothing(world &) {}

const char *const also_sc = "also under SC: no memory order is missing, the "
			    "steps themselves interleave wrongly";

const program programs[] = {
	{"store buffering", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 atomic<u8> &mine = cpu ? w.y : w.x;
		 u8 seen = 0;

		 mine.store_relaxed(1);
		 if (cpu == 0) {
			 fence_if(made & first);
			 seen = w.y.load_relaxed();
		 } else {
			 fence_if(made & second);
			 seen = w.x.load_relaxed();
		 }
		 (cpu ? w.b : w.a).store_relaxed(seen);
	 },
	 [](world &w) {
		 model::check(w.a.load_relaxed() || w.b.load_relaxed());
	 },
	 "missing: a full fence between rows 1 and 2 (@ and @) and a full "
	 "fence between rows 4 and 5 (@ and @): impossible under SC, possible "
	 "on x86",
	 model::bug::failed_check},
	{"a lost wake-up", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.x.store_release(1);
			 fence_if(made & first);
			 if (!w.y.load_acquire())
				 w.bell.await_eq_acquire(1);
		 } else {
			 w.y.store_release(1);
			 fence_if(made & second);
			 if (w.x.load_acquire())
				 w.bell.store_release(1);
		 }
	 },
	 nothing,
	 "missing: a full fence between rows 1 and 2 (@ and @) and a full "
	 "fence between rows 4 and 5 (@ and @): impossible under SC, possible "
	 "on x86",
	 model::bug::deadlock},
	{"a fence on one side", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 atomic<u8> &mine = cpu ? w.y : w.x;
		 u8 seen = 0;

		 mine.store_relaxed(1);
		 if (cpu == 0) {
			 klock::fence_seq_cst();
			 seen = w.y.load_relaxed();
		 } else {
			 fence_if(made == all);
			 seen = w.x.load_relaxed();
		 }
		 if (!seen)
			 w.data.set(static_cast<int>(cpu));
	 },
	 nothing,
	 "missing: a full fence between rows 5 and 6 (@ and @): impossible "
	 "under SC, possible on x86",
	 model::bug::data_race},
	{"a release", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.data.set(1);
			 store(w.x, 1, made == all);
		 } else if (w.x.load_acquire()) {
			 (void)w.data.get();
		 }
	 },
	 nothing,
	 "missing: a release at row 2 (@): impossible under SC and on x86",
	 model::bug::data_race},
	{"an acquire", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.data.set(1);
			 w.x.store_release(1);
		 } else if (load(w.x, made == all)) {
			 (void)w.data.get();
		 }
	 },
	 nothing,
	 "missing: an acquire at row 3 (@): impossible under SC and on x86",
	 model::bug::data_race},
	{"both", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.y.store_relaxed(1);
			 store(w.x, 1, made & first);
		 } else if (load(w.x, made & second)) {
			 model::check(w.y.load_relaxed() == 1);
		 }
	 },
	 nothing,
	 "missing: a release at row 2 (@) and an acquire at row 3 (@): "
	 "impossible under SC and on x86",
	 model::bug::failed_check},
	{"one of three", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.y.store_relaxed(1);
			 w.a.store_release(1);
			 w.x.store_relaxed(1);
		 } else if (w.x.load_relaxed() && load(w.a, made == all)) {
			 model::check(w.y.load_relaxed() == 1);
		 }
	 },
	 nothing,
	 "missing: an acquire at row 5 (@): impossible under SC and on x86",
	 model::bug::failed_check},
	{"two readers", 4,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0)
			 w.x.store_release(1);
		 else if (cpu == 1)
			 w.y.store_release(1);
		 if (cpu == 2 && w.x.load_acquire()) {
			 fence_if(made & first);
			 w.a.store_relaxed(!w.y.load_acquire());
		 }
		 if (cpu == 3 && w.y.load_acquire()) {
			 fence_if(made & second);
			 w.b.store_relaxed(!w.x.load_acquire());
		 }
	 },
	 [](world &w) {
		 model::check(!w.a.load_relaxed() || !w.b.load_relaxed());
	 },
	 "missing: a full fence between rows 3 and 4 (@ and @) and a full "
	 "fence between rows 6 and 7 (@ and @): impossible under SC and on x86",
	 model::bug::failed_check},
	{"an end that comes too early", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 atomic<u8> mine{0};
			 w.to.store_release(&mine);
			 w.x.await_eq_acquire(1);
		 } else {
			 if (atomic<u8> *const its = w.to.load_acquire())
				 (void)its->load_relaxed();
			 store(w.x, 1, made == all);
		 }
	 },
	 nothing,
	 "missing: a release at row 4 (@): impossible under SC and on x86",
	 model::bug::dead_object},
	{"a fence that is too weak", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 atomic<u8> &mine = cpu ? w.y : w.x;
		 atomic<u8> &other = cpu ? w.x : w.y;

		 mine.store_relaxed(1);
		 if (made == all)
			 klock::fence_seq_cst();
		 else
			 klock::fence_acq_rel();
		 if (!other.load_relaxed())
			 w.data.set(static_cast<int>(cpu));
	 },
	 nothing,
	 "missing: a full fence between rows 1 and 3 and between rows 5 and 7 "
	 "(@ and @): impossible under SC, possible on x86",
	 model::bug::data_race},
	{"Peterson's lock", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 atomic<u8> &mine = cpu ? w.y : w.x;
		 atomic<u8> &other = cpu ? w.x : w.y;
		 const u8 me = static_cast<u8>(cpu);

		 mine.store_relaxed(1);
		 fence_if(made & first);
		 w.bell.store_release(me);
		 fence_if(made & second);
		 while (other.load_acquire() && w.bell.load_acquire() == me) {
		 }
		 w.data.set(w.data.get() + 1);
		 mine.store_release(0);
	 },
	 [](world &w) { model::check(w.data.get() == 2); },
	 "missing: a full fence between rows 2 and 3 and between rows 8 and 9 "
	 "(@ and @) and a full fence between rows 1 and 2 and between rows 7 "
	 "and 8 (@ and @): impossible under SC, possible on x86",
	 model::bug::data_race},
	{"a release before a second full fence", 3,
	 [](world &w, unsigned cpu, unsigned made) {
		 if (cpu == 0) {
			 w.x.store_relaxed(1);
			 klock::fence_seq_cst();
			 w.a.store_relaxed(w.y.load_relaxed());
		 } else if (cpu == 1) {
			 w.y.store_relaxed(1);
			 store(w.bell, 1, made & first);
		 } else if (w.bell.load_relaxed()) {
			 fence_if(made & second);
			 w.b.store_relaxed(!w.x.load_relaxed());
		 }
	 },
	 [](world &w) {
		 model::check(w.a.load_relaxed() || !w.b.load_relaxed());
	 },
	 "missing: a release at row 6 (@) and a full fence between rows 7 and "
	 "8 (@ and @): impossible under SC and on x86",
	 model::bug::failed_check},
	{"one read-modify-write, and no fence", 2,
	 [](world &w, unsigned cpu, unsigned made) {
		 atomic<u8> &mine = cpu ? w.y : w.x;
		 u8 seen = 0;

		 mine.store_relaxed(1);
		 if (cpu == 0)
			 seen = w.y.load_relaxed();
		 else
			 seen = w.x.load_relaxed();
		 if (seen)
			 return;
		 (cpu ? w.b : w.a).store_relaxed(1);
		 if (made == all)
			 (void)w.bell.fetch_add_relaxed(1);
		 else
			 w.bell.store_relaxed(
				 static_cast<u8>(w.bell.load_relaxed() + 1));
	 },
	 [](world &w) {
		 model::check(w.bell.load_relaxed() ==
			      w.a.load_relaxed() + w.b.load_relaxed());
	 },
	 "missing: rows 9 and 10 as one read-modify-write (@): impossible "
	 "under SC, possible on x86",
	 model::bug::failed_check},
};

result explore(const program &p, unsigned made, options how = {})
{
	how.sections.assign(p.cpus, 1);
	return model::explore<world>(
		how,
		[&p, made](world &w, unsigned cpu) { p.body(w, cpu, made); },
		[&p](world &w) { p.end(w); });
}

} // namespace

TEST_CASE("cause: what is said to be missing is what the repair is")
{
	for (const program &p : programs) {
		const result r = explore(p, none);
		const std::string said = verdict::without_places(r.cause);
		const bool two = said.find(") and a") != said.npos;

		INFO(p.name << "\n" << r.timeline);
		CHECK(r.found == p.found);
		CHECK(said == p.says);
		CHECK(r.timeline.ends_with("CAUSE: " + r.cause + "\n"));
		verdict::right(explore(p, all));
		for (unsigned part : {first, second})
			CHECK((!two || !explore(p, part).ok()));
	}
}

TEST_CASE("cause: SC and x86 have the fault if it is said")
{
	for (const program &p : programs) {
		const bool said =
			explore(p, none).cause.ends_with(", possible on x86");

		INFO(p.name);
		verdict::right(explore(p, none, {.machine = machine::sc}));
		CHECK(explore(p, none, {.machine = machine::x86}).ok() ==
		      !said);
	}
}

namespace {

/* Faults that SC has, too; there is no repair. */
const program steps[] = {
	{"an update that is lost", 2,
	 [](world &w, unsigned, unsigned) {
		 const u8 was = w.x.load_seq_cst();

		 w.x.store_seq_cst(static_cast<u8>(was + 1));
	 },
	 [](world &w) { model::check(w.x.load_relaxed() == 2, "two"); },
	 "also under SC: no memory order is missing, the steps themselves "
	 "interleave wrongly; missing: rows 3 and 4 as one read-modify-write "
	 "(@)",
	 model::bug::failed_check},
	{"two updates that are lost", 2,
	 [](world &w, unsigned, unsigned) {
		 w.x.store_seq_cst(static_cast<u8>(w.x.load_seq_cst() + 1));
		 w.a.store_seq_cst(static_cast<u8>(w.a.load_seq_cst() + 1));
	 },
	 [](world &w) {
		 model::check(w.x.load_relaxed() == 2 &&
			      w.a.load_relaxed() == 2);
	 },
	 "also under SC: no memory order is missing, the steps themselves "
	 "interleave wrongly; rows 7 and 8 as one read-modify-write (@) would "
	 "forbid it",
	 model::bug::failed_check},
	{"plain data alone", 2,
	 [](world &w, unsigned, unsigned) { w.data.set(w.data.get() + 1); },
	 nothing, also_sc, model::bug::data_race},
	{"each waits for the other", 2,
	 [](world &w, unsigned cpu, unsigned) {
		 w.x.await_eq_relaxed(1);
		 w.x.store_relaxed(static_cast<u8>(cpu));
	 },
	 nothing, also_sc, model::bug::deadlock},
	{"a use after the end", 2,
	 [](world &w, unsigned cpu, unsigned) {
		 if (cpu == 0) {
			 {
				 atomic<u8> mine{0};
				 w.to.store_relaxed(&mine);
			 }
			 w.x.store_release(1);
		 } else {
			 w.x.await_eq_acquire(1);
			 (void)w.to.load_relaxed()->load_relaxed();
		 }
	 },
	 nothing, also_sc, model::bug::dead_object},
	/* The first executions differ in old values: they are not the fault. */
	{"each execution ends wrong", 2,
	 [](world &w, unsigned cpu, unsigned) {
		 (cpu ? w.y : w.x).store_relaxed(1);
		 const u8 seen = (cpu ? w.x : w.y).load_relaxed();

		 (cpu ? w.b : w.a).store_relaxed(seen);
	 },
	 [](world &) { model::check(false, "never"); }, also_sc,
	 model::bug::failed_check},
};

} // namespace

TEST_CASE("cause: a fault that SC has, too, is no order's")
{
	for (const program &p : steps)
		for (const machine m : {machine::rc11, machine::sc}) {
			const result r = explore(p, none, {.machine = m});

			INFO(p.name);
			verdict::found(p.found, r);
			CHECK(verdict::without_places(r.cause) == p.says);
		}
}

TEST_CASE("cause: of a machine's executions")
{
	const program &buffers = programs[0];
	const result r = explore(buffers, none, {.machine = machine::x86});

	CHECK(verdict::without_places(r.cause) ==
	      "missing: a full fence between rows 1 and 2 (@ and @) and a full "
	      "fence between rows 4 and 5 (@ and @): impossible under SC");
	verdict::right(explore(buffers, all, {.machine = machine::x86}));
}

TEST_CASE("cause: none where it is not asked for, or is known, or seen")
{
	const program &release = programs[3];

	CHECK(explore(release, none, {.cause = false}).cause.empty());
	CHECK(explore(release, all).cause.empty());
	verdict::each_weaker(
		{}, [&](const options &o) { return explore(release, all, o); },
		[&](const model::weakening &w, const result &r) {
			CHECK_FALSE(r.ok());
			CHECK(r.cause.empty());
			const options asked{.cause = true, .weaken = w};
			CHECK_FALSE(explore(release, all, asked).cause.empty());
		});
}

TEST_CASE("cause: what is not known is not said")
{
	/* Too many executions to explore them again. */
	const auto r = model::explore<world>(
		{.sections = {1, 1, 1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 0) {
				w.data.set(1);
				w.x.store_relaxed(1);
			} else if (cpu == 1 && w.x.load_relaxed()) {
				(void)w.data.get();
			}
			for (int i = 0; i < 4; i++)
				(void)w.a.fetch_add_relaxed(1);
		});

	INFO(r.timeline);
	CHECK(pattern::times(
		      verdict::without_places(r.cause),
		      "^a release at row [0-9]+ \\(@\\) and an acquire at "
		      "row [0-9]+ \\(@\\) would forbid this execution, "
		      "perhaps not all that fail: it is impossible under "
		      "SC$") == 1);
	CHECK(r.time < 5);
}

} // namespace of_cause
