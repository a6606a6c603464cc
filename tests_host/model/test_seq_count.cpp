/* SPDX-License-Identifier: MIT */
/*
 * seq_count and seq_latch: no execution shows a reader two halves, each order
 * is needed; the latch over its own half-done write.
 */
#include "proof.hpp"

#include <klock/plain.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/tas_lock.hpp>

#include <catch.hpp>

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

	/* Of the reader's turns all, or the last alone where no await is. */
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
	proof::passes(44640, {.sections = {3, 1}}, every_turn);
	proof::passes(5393, {.sections = {2, 2}}, every_turn);
	const auto last_turn = [](options how) {
		how.cut_loops = true;
		return latch_is_right(how);
	};

	proof::passes(3, {.sections = {1, 1}}, last_turn);
	proof::passes(5, {.sections = {2, 1}}, last_turn);
	proof::passes(7, {.sections = {3, 1}}, last_turn);
	proof::passes(15, {.sections = {2, 2}}, last_turn);
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

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 372);
}
