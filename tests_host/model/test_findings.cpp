/* SPDX-License-Identifier: MIT */
/*
 * What the checker reports, each kind shown once with the fault and once
 * without it; and that it never stops early in silence.
 */
#include <klock/atomic.hpp>
#include <klock/atomic_pair.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

using klock::atomic;
using klock::atomic_pair;
using klock::half;
using klock::plain;
using klock::u8;
using model::bug;

namespace {

struct message {
	atomic<u8> ready;
	plain<int> data;
};

struct pointed {
	atomic<atomic<int *> *> to{nullptr};
	atomic<u8> done;
};

constinit atomic<int> static_count{40};
constinit plain<int> static_data{40};

} // namespace

TEST_CASE("findings: a data race, and none with release and acquire")
{
	const auto pass = [](bool released) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[released](message &m, unsigned cpu) {
				if (cpu == 0) {
					m.data.set(7);
					if (released)
						m.ready.store_release(1);
					else
						m.ready.store_relaxed(1);
				} else {
					m.ready.await_eq_acquire(1);
					model::check(m.data.get() == 7);
				}
			});
	};

	const auto good = pass(true);
	CHECK(good.ok());
	CHECK(good.exhaustive);
	CHECK(good.complete == 1);

	const auto bad = pass(false);
	CHECK(bad.found == bug::data_race);
	CHECK_FALSE(bad.exhaustive);
}

TEST_CASE("findings: two reads are no race, a write beside them is")
{
	const auto pass = [](bool write) {
		return model::explore<message>(
			{.sections = {1, 1, 1}},
			[write](message &m, unsigned cpu) {
				if (cpu == 2 && write)
					m.data.set(1);
				else
					(void)m.data.get();
			});
	};

	CHECK(pass(false).ok());
	CHECK(pass(true).found == bug::data_race);
}

TEST_CASE("findings: a check that fails, in a body and at the end")
{
	const auto pass = [](int limit, int last) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[limit](message &m, unsigned) {
				const u8 was = m.ready.fetch_add_relaxed(1);
				model::check(was < limit, "not so many");
			},
			[last](message &m) {
				model::check(m.ready.load_relaxed() == last,
					     "as many as that");
			});
	};

	const auto good = pass(2, 2);
	CHECK(good.ok());
	CHECK(good.complete == 2);
	CHECK(pass(1, 2).found == bug::failed_check);
	CHECK(pass(1, 2).message == "failed: not so many");
	CHECK(pass(2, 1).found == bug::failed_check);
	CHECK(pass(2, 1).message == "failed: as many as that");
}

TEST_CASE("findings: a deadlock, and none where one goes on with newer values")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto pass = [](bool first_gives) {
		return model::explore<two>(
			{.sections = {1, 1}},
			[first_gives](two &w, unsigned cpu) {
				if (cpu == 0 && first_gives)
					w.b.store_release(1);
				if (cpu == 0)
					w.a.await_eq_acquire(1);
				else
					w.b.await_eq_acquire(1);
				if (cpu == 1)
					w.a.store_release(1);
			});
	};

	CHECK(pass(true).ok());
	CHECK(pass(true).complete == 1);
	CHECK(pass(false).found == bug::deadlock);
}

TEST_CASE("findings: await_either ends by either, and deadlocks by neither")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto pass = [](int which) {
		return model::explore<two>(
			{.sections = {1, 1}}, [which](two &w, unsigned cpu) {
				const auto set = [](u8 v) { return v == 1; };
				if (cpu == 0)
					w.a.await_either_acquire(set, w.b, set);
				else if (which == 0)
					w.a.store_release(1);
				else if (which == 1)
					w.b.store_release(1);
				else
					w.b.store_release(2);
			});
	};

	CHECK(pass(0).ok());
	CHECK(pass(0).complete == 1);
	CHECK(pass(1).ok());
	CHECK(pass(1).complete == 1);
	CHECK(pass(2).found == bug::deadlock);
}

namespace {

/* How the owner of a stack object shows it, and when it lets it die. */
enum class showing { whole, unreleased, unawaited, unordered };

/* CPU `owner` shows an object on its stack, the other uses it. */
model::result show(showing how, unsigned owner)
{
	return model::explore<pointed>(
		{.sections = {1, 1}}, [=](pointed &w, unsigned cpu) {
			if (cpu == owner) {
				atomic<int *> mine{nullptr};
				if (how == showing::unreleased)
					w.to.store_relaxed(&mine);
				else
					w.to.store_release(&mine);
				if (how == showing::unordered)
					w.done.await_eq_relaxed(1);
				else if (how != showing::unawaited)
					w.done.await_eq_acquire(1);
			} else {
				auto *at = w.to.load_acquire();
				if (at)
					(void)at->load_relaxed();
				w.done.store_release(1);
			}
		});
}

} // namespace

TEST_CASE("findings: an object that is used before it is made or when it ends")
{
	/* Whichever runs first: the owner may be either. */
	for (unsigned owner : {0u, 1u}) {
		INFO("owner " << owner);
		CHECK(show(showing::whole, owner).ok());
		CHECK(show(showing::whole, owner).complete == 2);
		CHECK(show(showing::unreleased, owner).found ==
		      bug::dead_object);
		CHECK(show(showing::unawaited, owner).found ==
		      bug::dead_object);
		CHECK(show(showing::unordered, owner).found ==
		      bug::dead_object);
	}
}

TEST_CASE("findings: an object that is used long after its end")
{
	const auto r = model::explore<pointed>(
		{.sections = {1, 1}}, [](pointed &w, unsigned cpu) {
			if (cpu == 0) {
				{
					atomic<int *> mine{nullptr};
					w.to.store_relaxed(&mine);
				}
				w.done.store_release(1);
			} else {
				w.done.await_eq_acquire(1);
				(void)w.to.load_relaxed()->load_relaxed();
			}
		});

	CHECK(r.found == bug::dead_object);
}

TEST_CASE("findings: a panic of the code under test")
{
	const auto r = model::explore<message>(
		{.sections = {1}}, [](message &m, unsigned cpu) {
			klock::panic("a_lock", &m, cpu, "misused");
		});

	CHECK(r.found == bug::panic);
	CHECK(r.message == "panic: a_lock, cpu0: misused");
}

TEST_CASE("findings: a body that does not do the same twice")
{
	static int calls;
	calls = 0;
	const auto r = model::explore<message>(
		{.sections = {1, 1}}, [](message &m, unsigned) {
			if (calls++ % 3 == 2)
				m.ready.store_relaxed(1);
			else
				(void)m.ready.fetch_add_relaxed(1);
		});

	CHECK(r.found == bug::not_repeatable);
}

TEST_CASE("findings: a body that stores another value each time")
{
	static unsigned calls;
	calls = 0;
	const auto r = model::explore<message>(
		{.sections = {1, 1}}, [](message &m, unsigned) {
			m.ready.store_relaxed(++calls);
			(void)m.ready.load_relaxed();
		});

	CHECK(r.found == bug::not_repeatable);
}

TEST_CASE("findings: limits are reported, never kept silent")
{
	const auto many = [](model::options how) {
		return model::explore<message>(how, [](message &m, unsigned) {
			(void)m.ready.fetch_add_relaxed(1);
		});
	};

	const auto cut = many({.sections = {2, 2}, .max_executions = 3});
	CHECK(cut.ok());
	CHECK_FALSE(cut.exhaustive);
	CHECK(cut.limit == "max_executions");
	CHECK(cut.timeline.find("NOT EXHAUSTIVE") != std::string::npos);
	CHECK(many({.sections = {2, 2}, .max_executions = 7}).exhaustive);

	/* A loop that counts its turns. */
	const auto spins = model::explore<message>(
		{.sections = {1, 1}}, [](message &m, unsigned cpu) {
			unsigned turns = 0;

			if (cpu == 1)
				m.ready.store_relaxed(1);
			while (m.ready.load_relaxed() == 0)
				if (++turns == 1000)
					m.ready.store_relaxed(2);
		});
	CHECK_FALSE(spins.exhaustive);
	CHECK(spins.limit.find("max_events") == 0);

	CHECK_FALSE(many({.sections = {}}).exhaustive);
	CHECK_FALSE(
		many({.sections = std::vector<unsigned>(17, 1)}).exhaustive);
}

TEST_CASE("findings: statics are met as they are, and left as they were")
{
	const auto r = model::explore<message>(
		{.sections = {1, 1}},
		[](message &m, unsigned) {
			(void)static_count.fetch_add_relaxed(1);
			if (m.ready.fetch_add_acq_rel(1) == 1)
				static_data.set(static_data.get() + 1);
		},
		[](message &) {
			model::check(static_count.load_relaxed() == 42);
			model::check(static_data.get() == 41);
		});

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.complete == 4);
	CHECK(static_count.load_relaxed() == 40);
	CHECK(static_data.get() == 40);
}

TEST_CASE("findings: a store to half of a pair leaves the other alone")
{
	struct world {
		atomic_pair<u8> both;
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				w.both.store_release<half::first>(3);
			else
				w.both.store_release<half::second>(5);
		},
		[](world &w) {
			model::check(w.both.load_relaxed<half::first>() == 3);
			model::check(w.both.load_relaxed<half::second>() == 5);
		});

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.complete == 2);
}

TEST_CASE("findings: halves are ordered with each other, split ones are not")
{
	struct world {
		atomic_pair<u8> both;
	};
	const auto pass = [](bool split) {
		return model::explore<world>(
			{.sections = {1, 1}, .split_pairs = split},
			[](world &w, unsigned cpu) {
				if (cpu == 0) {
					w.both.store_relaxed<half::first>(1);
					w.both.store_relaxed<half::second>(1);
				} else if (w.both.load_relaxed<
						   half::second>()) {
					model::check(w.both.load_relaxed<
						     half::first>());
				}
			});
	};

	CHECK(pass(false).ok());
	CHECK(pass(true).found == bug::failed_check);
}

TEST_CASE("findings: a wait's hook runs on the CPU that waits, before it")
{
	struct world {
		atomic<u8> go, waits;
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 0) {
				auto tell = [&w] { w.waits.store_release(1); };
				model::before_waits hook(tell);
				w.go.await_eq_acquire(1);
			} else {
				w.waits.await_eq_acquire(1);
				w.go.store_release(1);
			}
		});

	CHECK(r.ok());
	CHECK(r.complete == 1);
}
