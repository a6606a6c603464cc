/* SPDX-License-Identifier: MIT */
/*
 * seq_lock: no execution shows a reader two halves, no update is lost, each
 * order is needed, and what handlers may do.
 */
#include "orders.hpp"

#include <klock/barrier.hpp>
#include <klock/irq.hpp>
#include <klock/once.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/tas_lock.hpp>

#include <catch.hpp>

namespace of_seq_lock {

using klock::seq_lock;
using klock::u32;
using klock::u64;
using klock::selftest::busted_seq_lock;
using klock::selftest::plain_seq_lock;
using klock::selftest::seq_mistake;
using model::bug;
using model::check;
using model::options;
using model::result;

namespace {

/* Whole: both the same. */
struct two {
	u32 a, b;
};

/*
 * -- seq_lock: each CPU has a role, a letter, and so have its handlers. Writers
 * write {n, n}; what one alone knew before is published.
 *
 *	u	updates: one more	w	writes {1, 1}
 *	r	reads			s	tries to read
 *	-	does nothing
 */

/* A game is one for all executions. */
struct game {
	std::string roles, handlers = "";
	unsigned interrupts_off = 0; /* a mask of CPUs */
	u32 updates = 0;	     /* of all, set by play() */

	[[nodiscard]] bool has_one_writer() const
	{
		return roles.find('u') == roles.rfind('u');
	}
};

template <typename Lock>
struct shown {
	const game &now;
	Lock lock;
	klock::plain<u32> before; /* the writer's, where there is one alone */
	u32 seen[3] = {};

	explicit shown(const game &g) : now(g) {}

	void look_at(unsigned cpu, const two &t)
	{
		check(t.a == t.b, "two halves of two writes");
		check(t.a >= seen[cpu], "older than what was seen before");
		seen[cpu] = t.a;
		/* A reader that sees a write sees what came before it, too. */
		if (now.updates && now.has_one_writer() && t.a != 0)
			(void)before.get();
	}
	void update(unsigned cpu)
	{
		if (now.has_one_writer() && seen[cpu]++ == 0)
			before.set(1);
		lock.update([](two &t) { t = {t.a + 1, t.b + 1}; });
	}
	void act(char role, unsigned cpu)
	{
		two t = {0, 0};

		if (role == 'u')
			update(cpu);
		else if (role == 'w')
			lock.write({1, 1});
		else if (role == 'r')
			look_at(cpu, lock.read());
		if constexpr (requires { lock.try_read(t); })
			if (role == 's' && lock.try_read(t))
				look_at(cpu, t);
	}
	void section(unsigned cpu)
	{
		const bool off = now.interrupts_off >> cpu & 1;

		if (off)
			(void)klock::irq_save();
		act(now.roles[cpu], cpu);
		if (off)
			klock::irq_restore(true);
	}
	/* Every update counts. */
	void at_end() const
	{
		if (!now.updates)
			return;
		const two t = lock.read();
		check(t.a == now.updates && t.b == now.updates,
		      "an update is lost");
	}
};

template <typename Lock = seq_lock<two>>
result play(game g, const options &how)
{
	for (unsigned cpu = 0; cpu < g.roles.size(); cpu++)
		if (g.roles[cpu] == 'u')
			g.updates += how.sections[cpu];
	using world = shown<Lock>;
	return model::explore_from(
		how, [&g] { return world(g); },
		[](world &w, unsigned cpu) { w.section(cpu); },
		[](world &w) { w.at_end(); },
		[](world &w, unsigned cpu) {
			w.act(w.now.handlers[cpu], cpu);
		});
}

constexpr auto seq_lock_clients = [](const options &how, auto enough) {
	const auto by = [&](const char *roles, std::vector<unsigned> sections) {
		options o = how;
		o.sections = sections;
		return enough(play({roles}, o));
	};

	return by("ur", {1, 1}) || by("ur", {2, 1}) || by("uu", {2, 2}) ||
	       by("us", {1, 1}) || by("us", {2, 1}) || by("uur", {1, 1, 1});
};

/* Passes in so many executions. */
void counts(u64 complete, const char *roles, std::vector<unsigned> sections)
{
	proof::passes(complete, {.sections = sections},
		      [roles](const options &o) { return play({roles}, o); });
}

} // namespace

TEST_CASE("seq_lock: no reader sees two halves")
{
	counts(10, "ur", {1, 1});
	counts(109, "ur", {2, 1});
	counts(298, "ur", {2, 2});
	counts(100, "urr", {1, 1, 1});
	counts(11881, "urr", {2, 1, 1});
}

TEST_CASE("seq_lock: writers exclude each other")
{
	counts(142, "uu", {2, 2});
	counts(654, "uur", {1, 1, 1});
}

TEST_CASE("seq_lock: try_read shows a whole value or none")
{
	counts(11, "us", {1, 1});
	counts(196, "us", {2, 2});
}

TEST_CASE("seq_lock: wrap: a reader that slept through all numbers is fooled")
{
	/* 2 bits: two writes bring the sequence back to where it was. */
	const result r = play({"ur"}, {.sections = {2, 1}, .counter_bits = 2});

	CHECK(r.found == bug::failed_check);
}

TEST_CASE("seq_lock: orders needed")
{
	proof::each_order_is_needed(seq_lock_clients, "seq_lock.hpp", 6);
}

TEST_CASE("seq_lock: every one that is wrong is found")
{
	/* Two halves; or a value seen before what was written before it. */
	const auto is_torn = [](bug found) {
		return found == bug::failed_check || found == bug::data_race;
	};
	const auto finds = [&]<seq_mistake Mistake>(const char *how) {
		using wrong = busted_seq_lock<two, Mistake>;
		const result r = play<wrong>({"ur"}, {.sections = {1, 1}});
		const result w = play<wrong>({"uu"}, {.sections = {1, 1}});

		INFO(how);
		CHECK((is_torn(r.found) || is_torn(w.found)));
	};

	finds.operator()<seq_mistake::no_write_fence>("no fence in write");
	finds.operator()<seq_mistake::no_read_fence>("no fence in read");
	finds.operator()<seq_mistake::no_second_look>("no second look");
	finds.operator()<seq_mistake::reads_while_odd>("reads while odd");
	finds.operator()<seq_mistake::two_writers_enter>("two writers");

	/* Whatever its fences, a plain word is a race. */
	const result r = model::explore<plain_seq_lock<u32>>(
		{.sections = {1, 1}},
		[](plain_seq_lock<u32> &lock, unsigned cpu) {
			if (cpu == 0)
				lock.write(1);
			else
				(void)lock.read();
		});
	CHECK(r.found == bug::data_race);
}

TEST_CASE("seq_lock: a handler reads or writes over its own CPU")
{
	/* CPU 0 does one thing, its handler another, and CPU 1 reads. */
	const auto by = [](const char *roles, const char *handlers,
			   unsigned interrupts_off) {
		return play({roles, handlers, interrupts_off},
			    {.sections = {1, 1}, .interrupts = 1});
	};

	/* Over a reader: with interrupts on. */
	verdict::right_by_at_least(20, by("rr", "r-", 0));
	verdict::right_by_at_least(20, by("rr", "w-", 0));
	/* Over a writer: with interrupts off. */
	verdict::right_by_at_least(20, by("wr", "r-", 1));
	verdict::right_by_at_least(20, by("wr", "w-", 1));
	CHECK(by("wr", "r-", 0).found == bug::deadlock);
	CHECK(by("wr", "w-", 0).found == bug::deadlock);
}

TEST_CASE("seq_lock: an NMI tries over its own CPU's writer")
{
	verdict::right_by_at_least(100,
				   play({"wr", "ss"}, {.sections = {1, 1},
						       .interrupts = 1,
						       .non_maskable = true}));
}

} // namespace of_seq_lock

namespace of_seq_count {

/*
 * seq_count and seq_latch: no execution shows a reader two halves, each order
 * is needed; the latch over its own half-done write.
 */

using klock::seq_count;
using klock::seq_latch;
using klock::u32;
using model::check;
using model::options;
using model::result;

namespace {

/* Whole: both the same. */
struct two {
	u32 a, b;
};

/* -- seq_count, under a lock of the writers' -- */

struct counted_world {
	klock::tas_lock writers;
	seq_count count;
	klock::atomic<u32> a, b;
	klock::plain<u32> before;
};

result seq_count_is_right(options how, bool tries)
{
	return model::explore<counted_world>(
		how, [tries](counted_world &w, unsigned cpu) {
			u32 began, a, b;

			if (cpu == 0) {
				w.writers.lock();
				if (w.a.load_relaxed() == 0)
					w.before.set(1);
				w.count.write_begin();
				w.a.store_relaxed(w.a.load_relaxed() + 1);
				w.b.store_relaxed(w.b.load_relaxed() + 1);
				w.count.write_end();
				w.writers.unlock();
				return;
			}
			do {
				if (!tries)
					began = w.count.read_begin();
				else if (!w.count.read_try_begin(began))
					return;
				a = w.a.load_relaxed();
				b = w.b.load_relaxed();
			} while (w.count.read_retry(began));
			check(a == b, "two halves of two writes");
			if (a != 0)
				(void)w.before.get();
		});
}

constexpr auto seq_count_clients = [](const options &how, auto enough) {
	options one = how, two_writes = how;

	one.sections = {1, 1};
	two_writes.sections = {2, 1};
	return enough(seq_count_is_right(one, false)) ||
	       enough(seq_count_is_right(one, true)) ||
	       enough(seq_count_is_right(two_writes, false));
};

/* -- seq_latch -- */

struct latched_world {
	seq_latch<two> latch;
	klock::plain<u32> before;
	u32 writes = 0, seen = 0;
};

void look_at(latched_world &w, const two &t)
{
	check(t.a == t.b, "two halves of two writes");
	check(t.a >= w.seen, "older than what was seen before");
	w.seen = t.a;
	if (t.a != 0)
		(void)w.before.get();
}

void write_one_more(latched_world &w)
{
	if (w.writes++ == 0)
		w.before.set(1);
	w.latch.write({w.writes, w.writes});
}

result latch_is_right(options how)
{
	return model::explore<latched_world>(
		how, [](latched_world &w, unsigned cpu) {
			if (cpu == 0)
				write_one_more(w);
			else
				look_at(w, w.latch.read());
		});
}

constexpr auto latch_clients = [](const options &how, auto enough) {
	const auto with = [&how](std::vector<unsigned> sections) {
		options o = how;
		o.sections = sections;
		return o;
	};

	return enough(latch_is_right(with({1, 1}))) ||
	       enough(latch_is_right(with({2, 1})));
};

} // namespace

TEST_CASE("seq_count: no reader sees two halves")
{
	const auto waits = [](const options &o) {
		return seq_count_is_right(o, false);
	};
	const auto tries = [](const options &o) {
		return seq_count_is_right(o, true);
	};

	/* all: explores each turn of the reader; cut_loops keeps the last. */
	const bool all = true;

	proof::passes(10, {.sections = {1, 1}}, waits);
	proof::passes(109, {.sections = {2, 1}}, waits);
	proof::passes(168, {.sections = {2, 1}, .every_turn = all}, tries);
	proof::passes(5, {.sections = {2, 1}, .cut_loops = true}, tries);
}

TEST_CASE("seq_count: orders needed")
{
	proof::each_order_is_needed(seq_count_clients, "seq_count.hpp", 4);
}

TEST_CASE("seq_latch: no reader sees two halves")
{
	const auto every_turn = [](options how) {
		how.every_turn = true;
		return latch_is_right(how);
	};

	proof::passes(35, {.sections = {1, 1}}, every_turn);
	proof::passes(1249, {.sections = {2, 1}}, every_turn);
	const auto last_turn = [](options how) {
		how.cut_loops = true;
		return latch_is_right(how);
	};

	proof::passes(3, {.sections = {1, 1}}, last_turn);
	proof::passes(5, {.sections = {2, 1}}, last_turn);
}

TEST_CASE("seq_latch: no reader sees two halves, of more reads and writes",
	  "[deep]")
{
	proof::passes(5393, {.sections = {2, 2}, .every_turn = true},
		      latch_is_right);
	proof::passes(7, {.sections = {3, 1}, .cut_loops = true},
		      latch_is_right);
	proof::passes(15, {.sections = {2, 2}, .cut_loops = true},
		      latch_is_right);
	proof::passes(44640, {.sections = {3, 1}, .every_turn = true},
		      latch_is_right);
}

TEST_CASE("seq_latch: orders needed")
{
	proof::each_order_is_needed(latch_clients, "seq_latch.hpp", 6);
}

/*
 * Two NMIs, in all places: 372. Where they do not look at `before`, which is
 * written before each write, they find 358; where it is written once, 331.
 */
TEST_CASE("seq_latch: an NMI reads over its own CPU's writer, at once")
{
	const result r = model::explore<latched_world>(
		{.sections = {2}, .interrupts = 2, .non_maskable = true},
		[](latched_world &w, unsigned) {
			w.writes++;
			w.before.set(w.writes);
			w.latch.write({w.writes, w.writes});
		},
		[](latched_world &) {},
		[](latched_world &w, unsigned) {
			const two t = w.latch.read();
			check(t.a == t.b, "two halves");
			check(t.a + 1 >= w.writes, "older than the last");
			if (t.a != 0)
				check(w.before.get() >= t.a, "not the whole");
		});

	verdict::right_by(372, r);
}

} // namespace of_seq_count

namespace of_once {

/*
 * once and spin_barrier: done once, seen by all; nobody leaves early, nobody is
 * left behind; each order is needed.
 */

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

/* get() returns the whole value; peek() the whole value or nothing. */
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

} // namespace of_once
