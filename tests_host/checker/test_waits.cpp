/* SPDX-License-Identifier: MIT */
/*
 * Loops that store to plain variables: those that store what is there are
 * waits, others are not; and the races of either.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>

namespace of_waits {

namespace {

using enum std::memory_order;
using model::bug;
using model::options;
using model::result;

/*
 * A ring whose two sides keep a copy of the other side's index, in the shape of
 * queues for one producer and one consumer.
 */
struct ring {
	static constexpr unsigned slots = 2;

	void push(int v, bool forgets = false)
	{
		const unsigned at = tail.load(relaxed);
		const unsigned next = (at + 1) % slots;

		while (next == seen_head)
			seen_head = head.load(emptied);
		if (!forgets)
			slot[at] = v;
		tail.store(next, fills);
	}

	int pop()
	{
		const unsigned at = head.load(relaxed);

		while (at == seen_tail)
			seen_tail = tail.load(filled);
		const int v = slot[at];
		head.store((at + 1) % slots, empties);
		return v;
	}

	std::memory_order emptied = acquire, fills = release, filled = acquire,
			  empties = release;
	std::atomic<unsigned> head{0}, tail{0};
	unsigned seen_head = 0, seen_tail = 0;
	int slot[slots] = {};
};

enum class fault { none, emptied, fills, filled, empties, no_value, shared };

result passes_on(fault f, int many)
{
	return model::explore_threads<ring>(
		{}, [](ring &) {},
		[=](ring &r) {
			if (f == fault::emptied)
				r.emptied = relaxed;
			if (f == fault::fills)
				r.fills = relaxed;
			for (int i = 1; i <= many; i++)
				r.push(i, f == fault::no_value && i == many);
			if (f == fault::shared)
				r.seen_tail = r.seen_tail;
		},
		[=](ring &r) {
			if (f == fault::filled)
				r.filled = relaxed;
			if (f == fault::empties)
				r.empties = relaxed;
			for (int i = 1; i <= many; i++)
				model::check(r.pop() == i, "in order");
		});
}

} // namespace

TEST_CASE("waits: a ring that waits by copies of indices is explored to its "
	  "end")
{
	for (const int many : {1, 2, 3, 5})
		verdict::right_by(1, passes_on(fault::none, many));
}

TEST_CASE("waits: each fault of such a ring is found")
{
	CHECK(passes_on(fault::emptied, 3).found == bug::data_race);
	CHECK(passes_on(fault::fills, 3).found == bug::data_race);
	CHECK(passes_on(fault::filled, 3).found == bug::data_race);
	CHECK(passes_on(fault::empties, 3).found == bug::data_race);
	CHECK(passes_on(fault::no_value, 3).found == bug::failed_check);
	/* A store of the same value is one. */
	CHECK(passes_on(fault::shared, 3).found == bug::data_race);
}

TEST_CASE("waits: a value that never comes is a deadlock")
{
	const auto r = model::explore_threads<ring>(
		{}, [](ring &) {}, [](ring &r) { r.push(1); },
		[](ring &r) {
			(void)r.pop();
			(void)r.pop();
		});

	CHECK(r.found == bug::deadlock);
	INFO(r.message);
	CHECK(r.message.find("cpu1 loops for ") != r.message.npos);
	CHECK(r.message.find("test_waits.cpp:") != r.message.npos);
}

/* -- Stores that change something ------------------------------------------ */

namespace {

unsigned looks; /* in no world */

struct flag {
	std::atomic<int> set{0}, done{0};
	int data = 0;
	unsigned looks = 0;
};

/* Gives up after so many looks; a constant store comes with each. */
template <typename Count>
result gives_up(Count count)
{
	return model::explore_threads<flag>(
		{.cut_loops = true}, [](flag &) {},
		[](flag &f) { f.set.store(1, release); },
		[count](flag &f) {
			looks = 0;
			while (!f.set.load(acquire)) {
				f.data = 7;
				if (count(f) == 3)
					return;
			}
		});
}

} // namespace

TEST_CASE("waits: a turn that stores another value is no turn in vain")
{
	/* None, one, two of them; or it gives up. */
	verdict::right_by(4, gives_up([](flag &f) { return ++f.looks; }));
	verdict::right_by(4, gives_up([](flag &) { return ++looks; }));
	/* The first turn changes it, the others do not. */
	verdict::right_by(2, gives_up([](flag &f) { return f.looks = 1; }));
}

/* -- Races of turns that are cut ------------------------------------------- */

namespace {

enum class turn { none, reads, stores };

/* The last CPU learns of the second one's wait, which orders nothing. */
result told_after(turn does)
{
	return model::explore_threads<flag>(
		{.cut_loops = true}, [](flag &) {},
		[](flag &f) { f.set.store(1, release); },
		[does](flag &f) {
			while (!f.set.load(acquire)) {
				if (does == turn::stores)
					f.data = 0;
				if (does == turn::reads && f.data)
					return;
			}
			f.done.store(1, relaxed);
		},
		[](flag &f) {
			if (f.done.load(relaxed))
				f.data = 1;
		});
}

/* The wait reads an old value first. */
result meets(turn does)
{
	return model::explore_threads<flag>(
		{.cut_loops = true}, [](flag &) {},
		[](flag &f) {
			f.data = 1;
			f.set.store(1, release);
		},
		[does](flag &f) {
			while (!f.set.load(acquire)) {
				if (does == turn::stores)
					f.data = 0;
				if (does == turn::reads && f.data)
					return;
			}
		});
}

} // namespace

TEST_CASE("waits: a race of a failed turn is found, also if the other side "
	  "comes of what is behind the loop")
{
	verdict::right(told_after(turn::none));
	CHECK(told_after(turn::reads).found == bug::data_race);
	CHECK(told_after(turn::stores).found == bug::data_race);
	verdict::right(meets(turn::none));
	CHECK(meets(turn::reads).found == bug::data_race);
	CHECK(meets(turn::stores).found == bug::data_race);
}

/* Others use the data, too, and never at the same time. */
TEST_CASE("waits: turns that stay because of others' accesses do not count")
{
	const auto r = model::explore_threads<flag>(
		{.cut_loops = true},
		[](flag &f) { model::check(f.data == 1, "its last value"); },
		[](flag &f) { f.set.store(1, release); },
		[](flag &f) {
			while (!f.set.load(acquire))
				f.data = 0;
			f.done.store(1, release);
		},
		[](flag &f) {
			while (!f.done.load(acquire))
				;
			f.data = 1;
		});

	verdict::right_by(1, r);
	CHECK(r.in_vain > 0);
}

} // namespace of_waits
