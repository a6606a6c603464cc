/* SPDX-License-Identifier: MIT */
/*
 * options.deepen: wider and wider bounds until nothing is left, something is
 * found, or the time is up. No verdict depends on how long anything takes.
 */
#include "verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <chrono>

namespace of_deepen {

using klock::atomic;
using klock::plain;
using klock::u8;
using model::options;
using model::result;

namespace {

constexpr double for_ever = 1e12;

/*
 * A list of free indices, last in, first out: in its head are the first index
 * and a number of takings, which is to tell a head from one before it. A taker
 * that is held up until the number has come round takes what is not free.
 */
template <unsigned Bits>
struct free_list {
	static constexpr u8 none = 7;

	u8 take()
	{
		u8 was = head.load_acquire();

		for (;;) {
			const u8 first = was & 7;
			if (first == none)
				return none;
			const u8 second = next[first].load_relaxed();
			const u8 taken = (was >> 3) + 1;
			if (head.compare_exchange_acq_rel(was,
							  to(taken, second)))
				return first;
		}
	}

	void give(u8 index)
	{
		u8 was = head.load_relaxed();

		do
			next[index].store_relaxed(was & 7);
		while (!head.compare_exchange_acq_rel(was,
						      to(was >> 3, index)));
	}

	static u8 to(unsigned number, u8 index)
	{
		return static_cast<u8>((number % (1u << Bits)) << 3 | index);
	}

	free_list()
	{
		next[0].store_relaxed(1);
		next[1].store_relaxed(2);
		next[2].store_relaxed(3);
		next[3].store_relaxed(none);
	}

	atomic<u8> head, next[4];
	plain<unsigned> user[4];
};

/* Each uses what it takes; the last CPU keeps it. */
template <unsigned Bits>
result uses(options how)
{
	using list = free_list<Bits>;

	how.sections = {3, 1, 2};
	return model::explore<list>(how, [](list &l, unsigned cpu) {
		const u8 mine = l.take();

		if (mine == list::none)
			return;
		l.user[mine].set(cpu);
		if (cpu != 2)
			l.give(mine);
	});
}

/* Two CPUs with a number that never comes round: all is soon explored. */
template <typename End>
result few(options how, End end)
{
	using list = free_list<4>;

	how.sections = {2, 2};
	return model::explore<list>(
		how,
		[](list &l, unsigned) {
			const u8 mine = l.take();

			l.user[mine].set(1);
			l.give(mine);
		},
		end);
}

result few(const options &how)
{
	return few(how, [](free_list<4> &) {});
}

} // namespace

TEST_CASE("deepen: a fault after many steps is found, though not by the first "
	  "levels")
{
	for (const unsigned level : {1u, 2u})
		CHECK(uses<2>({.preemptions = level, .max_reorder = level})
			      .ok());

	const result r = uses<2>({.deepen = for_ever});

	verdict::found(model::bug::data_race, r);
	CHECK(r.levels == 2);
	CHECK(verdict::has(r.timeline, "BUG: "));
}

TEST_CASE("deepen: without bounds that are reached all is explored")
{
	const result all = few({}), r = few({.deepen = for_ever});

	verdict::right_by(all.complete, r);
	CHECK(r.levels > 2);
	CHECK(r.limit.empty());
	CHECK(r.left_out == 0);
}

TEST_CASE("deepen: the first level is explored whatever the time")
{
	const result one = few({.preemptions = 1, .max_reorder = 1}),
		     r = few({.deepen = 0});

	CHECK(r.ok());
	CHECK_FALSE(r.exhaustive);
	CHECK(r.complete == one.complete);
	CHECK(r.left_out == one.left_out);
	CHECK(r.levels == 1);
	CHECK(r.limit ==
	      "deepen: all executions with at most 1 preemptions and "
	      "1 reorderings; the next level was not finished in 0 "
	      "s");
	CHECK(r.timeline == "NOT EXHAUSTIVE: " + r.limit + "\n");
}

/* The time is up soon after the second level has begun, or before. */
TEST_CASE("deepen: a level that is under way is left when the time is up")
{
	using clock = std::chrono::steady_clock;
	constexpr std::chrono::milliseconds budget(100);
	const result one = few({.preemptions = 1, .max_reorder = 1});
	const auto over = clock::now() + 2 * budget;
	klock::u64 ended = 0;
	const result r =
		few({.deepen = 0.1, .run_all = true}, [&](free_list<4> &) {
			if (++ended > one.complete + 1)
				while (clock::now() < over)
					;
		});

	CHECK(r.levels == 1);
	CHECK(r.complete == one.complete);
	CHECK(verdict::has(r.limit, "was not finished in 0.1 s"));
}

/* A level that is not explored to its end counts for nothing. */
TEST_CASE("deepen: the result is the last level's that came to its end")
{
	const result two = few({.preemptions = 2, .max_reorder = 2}),
		     three = few({.preemptions = 3, .max_reorder = 3});
	const auto stopped_after = [](klock::u64 executions) {
		return few({.max_executions = executions, .deepen = for_ever});
	};
	const result r = stopped_after(three.complete);

	CHECK(r.ok());
	CHECK_FALSE(r.exhaustive);
	CHECK(r.levels == 2);
	CHECK(r.complete == two.complete);
	CHECK(r.limit ==
	      "deepen: all executions with at most 2 preemptions and "
	      "2 reorderings; the next level ended by "
	      "max_executions");
	CHECK(stopped_after(three.complete + 1).levels == 3);
	/* No level did. */
	CHECK(stopped_after(1).levels == 0);
	CHECK(stopped_after(1).limit == "max_executions");
}

TEST_CASE("deepen: bounds that are given are the first level's")
{
	const options how{.preemptions = 2, .max_reorder = 0};
	options deepens = how;

	deepens.deepen = 0;
	CHECK(few(deepens).complete == few(how).complete);
	CHECK(verdict::has(few(deepens).limit,
			   "2 preemptions and 0 reorderings"));
	deepens.deepen = for_ever;
	verdict::right_by(few({}).complete, few(deepens));
}

TEST_CASE("deepen: with workers as with one")
{
	const auto both = [](options how) {
		const result one = uses<4>(how);
		how.workers = 2;
		const result many = uses<4>(how);

		CHECK(one.ok());
		verdict::alike(one, many);
		CHECK(one.levels == many.levels);
		return many;
	};
	const result limited =
		both({.max_executions = 100'000, .deepen = for_ever});

	CHECK(limited.levels == 2);
	CHECK(limited.complete > 2'000); /* so many are explored alone */
	both({.preemptions = 2, .max_reorder = 2, .deepen = 0});

	const result found = uses<2>({.deepen = for_ever, .workers = 2});
	CHECK(found.found == model::bug::data_race);
	CHECK(found.levels == 2);
}

TEST_CASE("deepen: executions that differ in who is who stay one")
{
	const auto counts = [](options how) {
		how.sections = {2, 2, 2};
		how.symmetric = true;
		return model::explore<atomic<u8>>(
			how, [](atomic<u8> &sum, unsigned) {
				(void)sum.fetch_add_relaxed(1);
			});
	};
	const result r = counts({.deepen = for_ever});

	verdict::right_by(90, r);
	CHECK(r.levels > 1);
	CHECK(r.explored == counts({}).explored);
}

} // namespace of_deepen
