/* SPDX-License-Identifier: MIT */
/*
 * seq_lock: no execution shows a reader two halves, no update is lost, each
 * order is needed, and what handlers may do.
 */
#include "proof.hpp"

#include <klock/irq.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_lock.hpp>

#include <catch.hpp>

using klock::seq_lock;
using klock::u32;
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

/* -- seq_lock: writers write {n, n}; what they knew before is published -- */

template <typename Lock>
struct locked_world {
	Lock lock;
	klock::plain<u32> before; /* the writer's, where there is one alone */
	u32 seen[3] = {};
};

template <typename Lock>
void look_at(locked_world<Lock> &w, unsigned cpu, const two &t, bool one_writer)
{
	check(t.a == t.b, "two halves of two writes");
	check(t.a >= w.seen[cpu], "older than what was seen before");
	w.seen[cpu] = t.a;
	/* Who sees a write sees what its writer did before it. */
	if (one_writer && t.a != 0)
		(void)w.before.get();
}

void whole(const locked_world<seq_lock<two>> &w)
{
	const two t = w.lock.read();

	check(t.a == t.b, "two halves of two writes");
}

/* The first so many CPUs write, the others read. */
template <typename Lock = seq_lock<two>>
result seq_lock_is_right(options how, unsigned writers)
{
	return model::explore<locked_world<Lock>>(
		how, [writers](locked_world<Lock> &w, unsigned cpu) {
			if (cpu >= writers) {
				look_at(w, cpu, w.lock.read(), writers == 1);
			} else {
				if (writers == 1 && w.seen[0]++ == 0)
					w.before.set(1);
				w.lock.update([](two &t) {
					t = {t.a + 1, t.b + 1};
				});
			}
		});
}

/* Every write counts: none of two writers' updates is lost. */
template <typename Lock = seq_lock<two>>
result writers_exclude(options how)
{
	const u32 all = how.sections[0] + how.sections[1];

	return model::explore<locked_world<Lock>>(
		how,
		[](locked_world<Lock> &w, unsigned) {
			w.lock.update([](two &t) { t = {t.a + 1, t.b + 1}; });
		},
		[all](locked_world<Lock> &w) {
			const two t = w.lock.read();
			check(t.a == all && t.b == all, "an update is lost");
		});
}

result tries_are_right(options how)
{
	return model::explore<locked_world<seq_lock<two>>>(
		how, [](locked_world<seq_lock<two>> &w, unsigned cpu) {
			two t;

			if (cpu == 0) {
				if (w.seen[0]++ == 0)
					w.before.set(1);
				w.lock.update([](two &v) {
					v = {v.a + 1, v.b + 1};
				});
			} else if (w.lock.try_read(t)) {
				look_at(w, cpu, t, true);
			}
		});
}

constexpr auto seq_lock_clients = [](const options &how, auto enough) {
	const auto with = [&how](std::vector<unsigned> sections) {
		options o = how;
		o.sections = sections;
		return o;
	};

	return enough(seq_lock_is_right(with({1, 1}), 1)) ||
	       enough(seq_lock_is_right(with({2, 1}), 1)) ||
	       enough(writers_exclude(with({2, 2}))) ||
	       enough(tries_are_right(with({1, 1}))) ||
	       enough(tries_are_right(with({2, 1}))) ||
	       enough(seq_lock_is_right(with({1, 1, 1}), 2));
};

} // namespace

TEST_CASE("seq_lock: no reader sees two halves")
{
	const auto one_writer = [](const options &o) {
		return seq_lock_is_right(o, 1);
	};
	proof::passes(10, {.sections = {1, 1}}, one_writer);
	proof::passes(109, {.sections = {2, 1}}, one_writer);
	proof::passes(298, {.sections = {2, 2}}, one_writer);
	proof::passes(100, {.sections = {1, 1, 1}}, one_writer);
	proof::passes(11881, {.sections = {2, 1, 1}}, one_writer);
}

TEST_CASE("seq_lock: writers exclude each other")
{
	proof::passes(142, {.sections = {2, 2}}, writers_exclude<>);
	proof::passes(654, {.sections = {1, 1, 1}},
		      [](const options &o) { return seq_lock_is_right(o, 2); });
}

TEST_CASE("seq_lock: try_read shows a whole value or none")
{
	proof::passes(11, {.sections = {1, 1}}, tries_are_right);
	proof::passes(196, {.sections = {2, 2}}, tries_are_right);
}

TEST_CASE("seq_lock: wrap: a reader that slept through all numbers is fooled")
{
	/* 2 bits: two writes bring the sequence back to where it was. */
	const result r =
		seq_lock_is_right({.sections = {2, 1}, .counter_bits = 2}, 1);

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
		const result r =
			seq_lock_is_right<wrong>({.sections = {1, 1}}, 1);
		const result w = writers_exclude<wrong>({.sections = {1, 1}});

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

/* CPU 0 does one thing, its handler another, and CPU 1 reads. */
template <typename Thread, typename Handler>
result with_handler(bool interrupts_off, Thread thread, Handler handler)
{
	using world = locked_world<seq_lock<two>>;

	return model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1},
		[=](world &w, unsigned cpu) {
			if (cpu == 1)
				return whole(w);
			const bool before =
				interrupts_off ? klock::irq_save() : true;
			thread(w);
			if (interrupts_off)
				klock::irq_restore(before);
		},
		[](world &) {},
		[=](world &w, unsigned cpu) {
			if (cpu == 0)
				handler(w);
		});
}

TEST_CASE("seq_lock: a handler reads or writes over its own CPU")
{
	const auto passes = [](const result &r) {
		INFO(r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete >= 20);
	};
	const auto read = [](auto &w) { whole(w); };
	const auto write = [](auto &w) { w.lock.write({1, 1}); };

	/* Over a reader: with interrupts on. */
	passes(with_handler(false, read, read));
	passes(with_handler(false, read, write));
	/* Over a writer: with interrupts off. */
	passes(with_handler(true, write, read));
	passes(with_handler(true, write, write));
	CHECK(with_handler(false, write, read).found == bug::deadlock);
	CHECK(with_handler(false, write, write).found == bug::deadlock);
}

TEST_CASE("seq_lock: an NMI tries over its own CPU's writer")
{
	using world = locked_world<seq_lock<two>>;
	const result r = model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1, .non_maskable = true},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				w.lock.write({1, 1});
			else
				whole(w);
		},
		[](world &) {},
		[](world &w, unsigned) {
			two t = {0, 0};

			(void)w.lock.try_read(t);
			check(t.a == t.b, "two halves of two writes");
		});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= 100);
}
