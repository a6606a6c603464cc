/* SPDX-License-Identifier: MIT */
/*
 * A thread's own: thread_local, which is a CPU's. Explored as it is written
 * (klock::model_plain).
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>

namespace of_threads {

namespace {

using enum std::memory_order;
using model::bug;
using model::check;

thread_local int own, first = 3;

struct world {
	int before = own++; /* of the thread that makes it */
	std::atomic<int *> shown{nullptr};
	std::atomic<int> flag{0}, ended{0};
};

/* It is made when it is used first, and ends with its CPU. */
struct made_late {
	made_late() { own = 7; }
	~made_late()
	{
		if (of)
			of->ended.fetch_add(1, relaxed);
	}
	world *of = nullptr;
};
thread_local made_late late;
thread_local std::atomic<int> number{0};

void nothing(world &) {}

void counts(world &w)
{
	static thread_local int in_function = 1;

	check(own++ == 0 && first++ == 3 && in_function++ == 1);
	check(own == 1 && w.before == 0);
}

void shows(world &w)
{
	own = 1;
	w.shown.store(&own, release);
	while (!w.flag.load(acquire))
		;
}

void shows_and_goes(world &w)
{
	own = 1;
	w.shown.store(&own, release);
}

void reads(world &w)
{
	if (const int *const of_other = w.shown.load(acquire))
		check(*of_other >= 0 && &own != of_other && own == 0);
	w.flag.store(1, release);
}

const struct {
	const char *name;
	void (*one)(world &), (*other)(world &);
	void (*end)(world &);
	bug found;
	const char *says = "", *of = "";
} rows[] = {
	{"each CPU has one, which begins anew", counts, counts,
	 [](world &) { check(own == 1 && first == 3); }, bug::none},
	{"its constructor and its destructor run",
	 [](world &w) { late.of = &w; },
	 [](world &w) {
		 late.of = &w;
		 check(own == 7);
	 },
	 [](world &w) { check(w.ended == 2 && own == 1); }, bug::none},
	{"a destructor's access races", [](world &w) { late.of = &w; },
	 [](world &w) { *reinterpret_cast<int *>(&w.ended) = 1; }, nothing,
	 bug::data_race},
	{"an atomic one is each CPU's",
	 [](world &) { check(number.fetch_add(1, relaxed) == 0); },
	 [](world &) { check(number.fetch_add(1, relaxed) == 0); },
	 [](world &) { check(number == 0); }, bug::none},
	{"another CPU may access it, in order", shows, reads, nothing,
	 bug::none},
	{"a race with another CPU",
	 [](world &w) {
		 w.shown.store(&own, release);
		 own = 1;
		 while (!w.flag.load(acquire))
			 ;
	 },
	 [](world &w) {
		 if (int *const of_other = w.shown.load(acquire))
			 *of_other = 1;
		 w.flag.store(1, release);
	 },
	 nothing, bug::data_race,
	 "data race with the access by cpu0 at test_threads.cpp:",
	 ": cpu0's own"},
	{"its CPU may have ended", shows_and_goes, reads, nothing,
	 bug::dead_object},
	{"its CPU waits for another, and is not ordered",
	 [](world &w) {
		 w.shown.store(&own, release);
		 while (!w.flag.load(relaxed))
			 ;
	 },
	 reads, nothing, bug::dead_object, "end of an object that is in use"},
	{"its CPU has ended", shows_and_goes,
	 [](world &w) {
		 while (!w.shown.load(acquire))
			 ;
		 *w.shown.load(relaxed) = 2;
	 },
	 nothing, bug::dead_object},
};

} // namespace

TEST_CASE("threads: a thread_local is its CPU's own")
{
	own = 5;
	for (const auto &row : rows) {
		const auto r = model::explore_threads<world>(
			{}, row.end, row.one, row.other);

		INFO(row.name << "\n" << r.timeline << r.limit);
		CHECK(r.found == row.found);
		CHECK(r.message.starts_with(row.says));
		CHECK(r.ok() == r.proved());
		CHECK(r.message.ends_with(row.of));
	}
	CHECK(own == 5);
}

/* It does not begin anew, and is no CPU's. */
TEST_CASE("threads: what is of the test's thread is refused")
{
	static int *of_test;

	of_test = &own;
	verdict::found(
		bug::unseen,
		model::explore_threads<world>({}, nothing, nothing,
					      [](world &) { ++*of_test; }),
		"refused: a thread_local that is one for all CPUs (it is "
		"of the thread that explores): ");
}

} // namespace of_threads
