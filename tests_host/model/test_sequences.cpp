/* SPDX-License-Identifier: MIT */
/*
 * seq_lock: no execution shows a reader two halves, no update is lost, each
 * order is needed, and what handlers may do.
 */
#include "orders.hpp"
#include "value_worlds.hpp"

#include <klock/barrier.hpp>
#include <klock/once.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/tas_lock.hpp>

#include <catch.hpp>

using namespace worlds;
using klock::u64;

namespace {

/* Whole: both the same. */
struct two {
	u32 a, b;
};

parts parts_of(const two &t)
{
	return {std::min(t.a, t.b), std::max(t.a, t.b)};
}

/* The roles, and how often: the quick ones first. */
struct row {
	const char *roles;
	std::vector<unsigned> sections;
};

template <typename Value>
bool any_finds(const std::vector<row> &rows, options how, auto enough)
{
	for (const row &one : rows) {
		how.sections = one.sections;
		if (enough(values<Value>(how, one.roles)))
			return true;
	}
	return false;
}

/* Passes in so many executions. Of a reader that looks again each turn is
 * explored, or the last alone, or those that the checker does not leave out. */
enum class turns : u8 { some, each, last };

template <typename Value>
void passes(u64 complete, const char *roles, std::vector<unsigned> sections,
	    turns of = turns::some)
{
	proof::passes(
		complete,
		{.sections = sections,
		 .cut_loops = of == turns::last,
		 .every_turn = of == turns::each},
		[roles](const options &o) { return values<Value>(o, roles); });
}

} // namespace

namespace of_seq_lock {

using klock::seq_lock;
using klock::selftest::busted_seq_lock;
using klock::selftest::plain_seq_lock;
using klock::selftest::seq_mistake;
using model::bug;

namespace {

template <typename Lock>
struct locked_by : some_value {
	void update() override
	{
		lock.update([](two &t) { t = {t.a + 1, t.b + 1}; });
	}
	void write_ones() override { lock.write({1, 1}); }
	parts read() override { return parts_of(lock.read()); }
	bool try_read([[maybe_unused]] parts &seen) override
	{
		two t = {0, 0};

		if constexpr (requires { lock.try_read(t); }) {
			if (!lock.try_read(t))
				return false;
			seen = parts_of(t);
			return true;
		}
		return false;
	}

	Lock lock;
};

using right = locked_by<seq_lock<two>>;

/* The mistake: whatever its fences, a plain word is a race. */
struct in_plain_word : some_value {
	void update() override { lock.write(1); }
	parts read() override
	{
		const u32 seen = lock.read();

		return {seen, seen};
	}

	plain_seq_lock<u32> lock;
};

constexpr auto seq_lock_clients = [](const options &how, auto enough) {
	return any_finds<right>({{"lr", {1, 1}},
				 {"lr", {2, 1}},
				 {"ll", {2, 2}},
				 {"ls", {1, 1}},
				 {"ls", {2, 1}},
				 {"llr", {1, 1, 1}}},
				how, enough);
};

} // namespace

TEST_CASE("seq_lock: no reader sees two halves")
{
	passes<right>(10, "lr", {1, 1});
	passes<right>(109, "lr", {2, 1});
	passes<right>(298, "lr", {2, 2});
	passes<right>(100, "lrr", {1, 1, 1});
	passes<right>(11881, "lrr", {2, 1, 1});
}

TEST_CASE("seq_lock: writers exclude each other")
{
	passes<right>(142, "ll", {2, 2});
	passes<right>(654, "llr", {1, 1, 1});
}

TEST_CASE("seq_lock: try_read shows a whole value or none")
{
	passes<right>(11, "ls", {1, 1});
	passes<right>(196, "ls", {2, 2});
}

TEST_CASE("seq_lock: wrap: a reader that slept through all numbers is fooled")
{
	/* 2 bits: two writes bring the sequence back to where it was. */
	const result r =
		values<right>({.sections = {2, 1}, .counter_bits = 2}, "lr");

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
		using wrong = locked_by<busted_seq_lock<two, Mistake>>;
		const result r = values<wrong>({}, "lr");
		const result w = values<wrong>({}, "ll");

		INFO(how);
		CHECK((is_torn(r.found) || is_torn(w.found)));
	};

	finds.operator()<seq_mistake::no_write_fence>("no fence in write");
	finds.operator()<seq_mistake::no_read_fence>("no fence in read");
	finds.operator()<seq_mistake::no_second_look>("no second look");
	finds.operator()<seq_mistake::reads_while_odd>("reads while odd");
	finds.operator()<seq_mistake::two_writers_enter>("two writers");

	CHECK(values<in_plain_word>({}, "lr").found == bug::data_race);
}

TEST_CASE("seq_lock: a handler reads or writes over its own CPU")
{
	/* CPU 0 does one thing, its handler another, and CPU 1 reads. */
	const auto by = [](const char *roles, const char *handlers,
			   unsigned interrupts_off) {
		return values<right>({.sections = {1, 1}, .interrupts = 1},
				     roles, handlers, interrupts_off);
	};

	/* Over a reader: with interrupts on. */
	verdict::right_by_at_least(20, by("rr", "r-", 0));
	verdict::right_by_at_least(20, by("rr", "1-", 0));
	/* Over a writer: with interrupts off. */
	verdict::right_by_at_least(20, by("1r", "r-", 1));
	verdict::right_by_at_least(20, by("1r", "1-", 1));
	CHECK(by("1r", "r-", 0).found == bug::deadlock);
	CHECK(by("1r", "1-", 0).found == bug::deadlock);
}

TEST_CASE("seq_lock: an NMI tries over its own CPU's writer")
{
	verdict::right_by_at_least(100, values<right>({.sections = {1, 1},
						       .interrupts = 1,
						       .non_maskable = true},
						      "1r", "ss"));
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

namespace {

/* seq_count, under a lock of the writers'. */
struct counted : some_value {
	void update() override
	{
		writers.lock();
		count.write_begin();
		a.store_relaxed(a.load_relaxed() + 1);
		b.store_relaxed(b.load_relaxed() + 1);
		count.write_end();
		writers.unlock();
	}
	parts read() override
	{
		u32 began;
		two seen;

		do {
			began = count.read_begin();
			seen = {a.load_relaxed(), b.load_relaxed()};
		} while (count.read_retry(began));
		return parts_of(seen);
	}
	bool try_read(parts &of) override
	{
		u32 began;
		two seen;

		do {
			if (!count.read_try_begin(began))
				return false;
			seen = {a.load_relaxed(), b.load_relaxed()};
		} while (count.read_retry(began));
		of = parts_of(seen);
		return true;
	}

	klock::tas_lock writers;
	seq_count count;
	klock::atomic<u32> a, b;
};

struct latched : some_value {
	void update() override
	{
		writes++;
		latch.write({writes, writes});
	}
	parts read() override { return parts_of(latch.read()); }

	seq_latch<two> latch;
	u32 writes = 0; /* on the host */
};

constexpr auto seq_count_clients = [](const options &how, auto enough) {
	return any_finds<counted>(
		{{"lr", {1, 1}}, {"ls", {1, 1}}, {"lr", {2, 1}}}, how, enough);
};
constexpr auto latch_clients = [](const options &how, auto enough) {
	return any_finds<latched>({{"lr", {1, 1}}, {"lr", {2, 1}}}, how,
				  enough);
};

} // namespace

TEST_CASE("seq_count: no reader sees two halves")
{
	passes<counted>(10, "lr", {1, 1});
	passes<counted>(109, "lr", {2, 1});
	passes<counted>(168, "ls", {2, 1}, turns::each);
	passes<counted>(5, "ls", {2, 1}, turns::last);
}

TEST_CASE("seq_count: orders needed")
{
	proof::each_order_is_needed(seq_count_clients, "seq_count.hpp", 4);
}

TEST_CASE("seq_latch: no reader sees two halves")
{
	passes<latched>(35, "lr", {1, 1}, turns::each);
	passes<latched>(1249, "lr", {2, 1}, turns::each);
	passes<latched>(3, "lr", {1, 1}, turns::last);
	passes<latched>(5, "lr", {2, 1}, turns::last);
}

TEST_CASE("seq_latch: no reader sees two halves, of more reads and writes",
	  "[deep]")
{
	passes<latched>(5393, "lr", {2, 2}, turns::each);
	passes<latched>(7, "lr", {3, 1}, turns::last);
	passes<latched>(15, "lr", {2, 2}, turns::last);
	passes<latched>(44640, "lr", {3, 1}, turns::each);
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
	const result r = values<latched>(
		{.sections = {2}, .interrupts = 2, .non_maskable = true}, "l",
		"r");

	verdict::right_by(372, r);
}

} // namespace of_seq_count

namespace of_once {

/*
 * once and spin_barrier: done once, seen by all; nobody leaves early, nobody is
 * left behind; each order is needed.
 */

using klock::plain;
using klock::selftest::barrier_mistake;
using klock::selftest::busted_barrier;
using klock::selftest::busted_once;
using klock::selftest::once_mistake;
using model::bug;

namespace {

/* -- once: the first `failing` runs fail, whoever's they are -- */

template <typename Once>
struct once_world {
	Once tables;
	plain<u32> made, tries;

	void act(char letter, unsigned failing)
	{
		const role &is = role_of(letter);
		bool failed = false;

		if (is.what == as::finder) {
			if (tables.is_done())
				check(made.get() == 1, "done, and not made");
			return;
		}
		const bool did = tables.call([&] {
			const u32 before = tries.get();

			tries.set(before + 1);
			failed = before < failing;
			if (!failed)
				made.set(made.get() + 1);
			return !failed;
		});
		if (did)
			check(made.get() == 1, "not made once");
		else
			check(failed, "failed for nothing");
	}
	void at_end()
	{
		check(made.get() <= 1, "made more than once");
		check(made.get() == tables.is_done(), "is_done");
	}
};

/* A value whose parts the checker watches, made once: get() returns all of it,
 * peek() all of it or nothing. Its maker cannot fail. */
struct lazy_table {
	struct table {
		explicit table(u32 v) : a(v), b(v) {}
		plain<u32> a, b;
	};

	bool call(auto make)
	{
		check_whole(shared.get([&] {
			(void)make();
			return table(5);
		}));
		return true;
	}
	bool is_done() const
	{
		const table *const t = shared.peek();

		if (t)
			check_whole(*t);
		return t;
	}
	static void check_whole(const table &t)
	{
		check(t.a.get() + t.b.get() == 10, "half made");
	}

	mutable klock::lazy<table> shared; /* peek() is no const */
};

template <typename Once = klock::once>
result done_once(const options &how, const char *roles, unsigned failing = 0)
{
	using world = once_world<Once>;

	return model::explore<world>(
		how,
		[=](world &w, unsigned cpu) { w.act(roles[cpu], failing); },
		[](world &w) { w.at_end(); },
		[=](world &w, unsigned) { w.act('D', failing); });
}

/* Passes in so many executions. */
template <typename Once = klock::once>
void done_in(u64 complete, const char *roles, std::vector<unsigned> sections,
	     unsigned failing = 0)
{
	proof::passes(complete, {.sections = sections}, [=](const options &o) {
		return done_once<Once>(o, roles, failing);
	});
}

constexpr auto once_clients = [](const options &how, auto enough) {
	const auto by = [&](const char *roles, std::vector<unsigned> sections,
			    unsigned failing) {
		options o = how;
		o.sections = sections;
		return enough(done_once(o, roles, failing));
	};

	return by("DD", {1, 1}, 0) || by("DA", {1, 1}, 0) ||
	       by("DD", {2, 2}, 1) || by("DDD", {1, 1, 1}, 1);
};

/*
 * -- spin_barrier: each writes before, all read behind. Of a barrier all CPUs
 * do one thing, so that there is no role to tell them apart by. --
 */

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
	done_in(8, "DD", {1, 1});
	done_in(48, "DDD", {1, 1, 1});
	done_in(8, "DD", {2, 2});
	done_in(8, "DD", {1, 1}, 1);
	done_in(288, "DDD", {1, 1, 1}, 1);
	done_in(56, "DD", {2, 2}, 1);
	done_in(288, "DDD", {1, 1, 1}, 2);
	done_in(248, "DD", {2, 2}, 2);
	done_in(6912, "DDDD", {1, 1, 1, 1}, 1);
}

TEST_CASE("once: who is told that it is done sees it")
{
	/* It reads new, running or done; twice: never an older one. */
	done_in(3, "DA", {1, 1});
	done_in(6, "DA", {1, 2});
}

TEST_CASE("lazy: made once, and whoever has it sees all of it")
{
	done_in<lazy_table>(8, "DD", {1, 1});
	done_in<lazy_table>(48, "DDD", {1, 1, 1});
	done_in<lazy_table>(3, "DA", {1, 1});
}

TEST_CASE("once: orders needed")
{
	proof::each_order_is_needed(once_clients, "once.hpp", 6);
}

TEST_CASE("once: a handler over its own CPU's call is named, not hung")
{
	const result r = done_once({.sections = {1}, .interrupts = 1}, "D");

	CHECK(r.found == bug::panic);
	CHECK(r.message.find("called again by the CPU that runs it") !=
	      std::string::npos);
}

TEST_CASE("once: every one that is wrong is found")
{
	const auto finds = []<once_mistake Mistake>(bug what, const char *how) {
		using wrong = busted_once<Mistake>;
		const result all_well =
			done_once<wrong>({.sections = {1, 1}}, "DD");
		const result one_fails =
			done_once<wrong>({.sections = {1, 1}}, "DD", 1);

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
