/* SPDX-License-Identifier: MIT */
/*
 * Of executions that differ in who is who one is explored, and all are counted.
 */
#include "lock_cases.hpp"
#include "lock_counts.hpp"

#include <set>

using klock::atomic;
using klock::plain;
using klock::u64;
using klock::u8;
using klock::selftest::all_locks;
using model::bug;
using namespace worlds;

namespace {

struct world {
	atomic<u8> first, second;
	plain<u8> data;
};

options alike(std::vector<unsigned> sections)
{
	return {.sections = sections, .patient = everybody, .symmetric = true};
}

/* A lock whose words say which CPU it is of: that is told, and no result. */
bool told(const result &r)
{
	return r.ok() && !r.exhaustive && r.limit.find("not symmetric") == 0;
}

/* As many by one of each as by all; how many that are. */
template <typename Explore>
result as_many(options how, Explore explore)
{
	how.symmetric = false;
	const result all = explore(how);
	how.symmetric = true;
	const result one = explore(how);

	INFO(one.timeline << one.limit);
	CHECK(one.ok() == all.ok());
	CHECK(one.exhaustive);
	CHECK(one.complete == all.complete);
	CHECK(all.explored == all.complete);
	return one;
}

} // namespace

TEST_CASE("symmetry: every lock has as many executions as are pinned")
{
	unsigned reduced = 0;
	std::set<std::string> by_number;
	const auto counted = [&](const char *name, const result &r,
				 u64 expected, u64 alike_in) {
		if (told(r)) {
			by_number.insert(name);
			return;
		}
		good(r);
		CHECK(r.complete == expected);
		reduced += r.explored * alike_in == r.complete;
	};

	for_each_lock<3>([&]<typename Subject>() {
		const pinned *const p = pinned_of(Subject::name);
		if (!p || p->three > 20'000)
			return;
		counted(p->name, exclusion<Subject>(alike({2, 2, 2})), p->three,
			6);
	});
	for_each_lock<4>([&]<typename Subject>() {
		const pinned *const p = pinned_of(Subject::name);
		if (!p || p->four > 4'000)
			return;
		counted(p->name, exclusion<Subject>(alike({1, 1, 1, 1})),
			p->four, 24);
	});
	CHECK(reduced >= 10);
	CHECK(by_number ==
	      std::set<std::string>{"graunke_thakkar_lock", "tournament_lock"});
}

TEST_CASE("symmetry: CPUs of as many sections are alike, no others")
{
	const auto add = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			(void)w.first.fetch_add_relaxed(1);
			if (w.second.load_relaxed() == 0)
				w.second.store_relaxed(1);
		});
	};

	CHECK(as_many({.sections = {1, 1, 2}}, add).explored <
	      add({.sections = {1, 1, 2}}).complete);
	const result none = as_many({.sections = {1, 2, 3}}, add);
	CHECK(none.explored == none.complete);
	const result two = as_many({.sections = {1, 2, 1, 2}}, add);
	CHECK(two.complete == two.explored * 4);
}

TEST_CASE("symmetry: CPUs that do not come to the gate have no order")
{
	const auto some = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			if (model::choose(2))
				(void)w.second.load_relaxed();
			else if (w.first.fetch_add_relaxed(1) == 1)
				w.second.store_relaxed(1);
		});
	};
	const result r = as_many({.sections = {1, 1, 1}}, some);

	CHECK(r.explored < r.complete);
	CHECK(r.explored * 6 > r.complete);
}

/* Held back is then who does not wait, in executions that are walked, too. */
TEST_CASE("symmetry: CPUs that wait before the gate for those behind it")
{
	const auto wait = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			if (model::choose(2))
				w.second.await_eq_acquire(1);
			(void)w.first.fetch_add_relaxed(1);
			(void)w.first.fetch_add_relaxed(1);
			w.second.store_relaxed(1);
		});
	};
	const result r =
		as_many({.sections = {1, 1, 1}, .may_deadlock = true}, wait);

	CHECK(r.explored < r.complete);
	CHECK(r.explored > 64);
	CHECK(r.blocked == 1);
}

TEST_CASE("symmetry: where the order is none, all is explored")
{
	const auto tas = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.exchange_acquire(1) == 0)
				w.first.store_release(0);
		});
	};
	const auto swap = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			u8 seen = 0;
			(void)w.first.compare_exchange_acq_rel(seen, 1);
			(void)w.second.fetch_add_relaxed(1);
		});
	};
	const auto either = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.load_relaxed())
				(void)w.second.fetch_add_relaxed(1);
			else
				(void)w.first.fetch_add_relaxed(1);
		});
	};
	const auto store = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			w.first.store_relaxed(1);
			(void)w.first.fetch_add_relaxed(1);
		});
	};

	const auto late = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.fetch_add_relaxed(1) == 2)
				w.first.store_relaxed(0);
		});
	};

	for (const result &r : {as_many({.sections = {2, 2}}, tas),
				as_many({.sections = {1, 1, 1}}, late),
				as_many({.sections = {1, 1, 1}}, store),
				as_many({.sections = {1, 1, 1}}, swap),
				as_many({.sections = {1, 1, 1}}, either)})
		CHECK(r.explored == r.complete);
}

TEST_CASE("symmetry: code that tells its CPUs apart is told")
{
	const auto r = model::explore<world>(
		alike({1, 1, 1}), [](world &w, unsigned cpu) {
			if (cpu == 1)
				(void)w.second.load_relaxed();
			(void)w.first.fetch_add_relaxed(1);
		});

	CHECK(told(r));
	CHECK(told(model::explore<world>(
		alike({1, 1, 1}), [](world &w, unsigned cpu) {
			if (cpu == 1)
				w.second.store_release(1);
			else
				w.second.store_relaxed(1);
			(void)w.first.fetch_add_relaxed(1);
		})));
}

/* The fault is CPU 0's alone, in executions that its like do not stand for. */
TEST_CASE("symmetry: plain data that tell the CPUs apart are told, too")
{
	struct marked : world {
		plain<u8> mine[3];
	};
	const auto last_is = [](const options &how) {
		return model::explore<marked>(how, [](marked &w, unsigned cpu) {
			w.mine[cpu].set(cpu == 0 ? 1 : 2);
			if (w.first.fetch_add_relaxed(1) == 2)
				model::check(w.mine[cpu].get() == 2);
		});
	};

	CHECK(last_is({.sections = {1, 1, 1}}).found == bug::failed_check);
	CHECK(told(last_is(alike({1, 1, 1}))));
}

TEST_CASE("symmetry: a fault of two CPUs among three is found")
{
	const auto race = [](const options &how) {
		return model::explore<world>(how, [](world &w, unsigned) {
			const u8 at = w.first.fetch_add_relaxed(1);
			if (at == 0)
				w.data.set(1);
			if (at == 2)
				(void)w.data.get();
		});
	};

	CHECK(race(alike({1, 1, 1})).found == bug::data_race);
	CHECK(race({.sections = {1, 1, 1}}).found == bug::data_race);
}

TEST_CASE("symmetry: a deadlock is found, and a wait for one to come is none")
{
	const auto wait_for = [](u8 many, const options &how) {
		static u8 until;
		until = many;
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.fetch_add_relaxed(1) == 0)
				w.first.await_eq_acquire(until);
		});
	};

	CHECK(wait_for(4, alike({1, 1, 1})).found == bug::deadlock);
	const result r = wait_for(3, alike({1, 1, 1}));
	good(r);
	CHECK(r.complete == wait_for(3, {.sections = {1, 1, 1}}).complete);
	CHECK(r.explored * 6 == r.complete);
}

TEST_CASE("symmetry: panics that are allowed stand for others, too")
{
	const auto panics = [](options how) {
		how.may_panic = true;
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.fetch_add_relaxed(1) == 2)
				klock::panic("no_lock", &w, 0, "the third");
		});
	};
	const result all = panics({.sections = {1, 1, 1}});
	const result one = panics(alike({1, 1, 1}));

	CHECK(all.panicked == 6);
	CHECK(one.panicked == 6);
	CHECK(one.exhaustive);
}

TEST_CASE("symmetry: shared by workers, and with RC11's release sequences")
{
	all_locks<3>::for_each([]<typename Subject>() {
		if (Subject::name != std::string("mcs_lock"))
			return;
		options how = alike({2, 2, 2});
		how.workers = 2;
		how.sequence = model::release_sequence::rc11;
		const result r = exclusion<Subject>(how);
		good(r);
		CHECK(r.complete == 17'670);
		CHECK(r.explored == 17'670 / 6);
	});
}
