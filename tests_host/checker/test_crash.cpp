/* SPDX-License-Identifier: MIT */
/*
 * Tests of crashes: each kind is a finding with its timeline, and what comes
 * behind it is whole. Compiled once for each way to link the checker, with and
 * without optimisation; crash_table.py has the other levels and compilers.
 */
#include "crash_kinds.hpp"
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <malloc.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace of_crashes {

using model::bug;
using namespace crashes;

TEST_CASE("crash: each kind is found, with what was read, and its line")
{
	for (const kind &k : kinds) {
		INFO(k.name);
		const auto bad = explore(k, relaxed);
		verdict::found(bug::crash, bad);
		CHECK(verdict::has(bad.message, k.told));
		CHECK(verdict::has(bad.timeline, "reads the start"));
		CHECK(line_of_crash(bad));

		verdict::right_by_at_least(2, explore(k, release));
	}
}

TEST_CASE("crash: the loop over the orders goes on behind it")
{
	const kind &null = kinds[0];
	unsigned wrong = 0, right = 0;

	verdict::good(verdict::each_weaker(
		{},
		[&](const model::options &how) {
			return explore(null, release, how);
		},
		[&](auto &, const model::result &r) {
			CHECK((r.ok() || r.found == bug::crash));
			(r.ok() ? right : wrong)++;
		}));
	CHECK(wrong == 2); /* the release and the acquire */
	CHECK(right == 0);
}

TEST_CASE("crash: in the look at the end, beside a wait, and in a handler")
{
	const auto at_end = model::explore_threads<world>(
		{}, [](world &w) { nothing = w.to.load()->value; },
		[](world &w) { w.ready = true; },
		[](world &w) {
			if (w.ready)
				w.to = &w.one;
		});
	CHECK(at_end.found == bug::crash);
	CHECK(at_end.message == "crash: SIGSEGV at 0x0");

	/* Nobody wakes who waits, and that is not what is told. */
	const auto beside = model::explore_threads<world>(
		{}, [](world &) {}, [](world &w) { w.ready.wait(0); },
		[](world &w) {
			nothing = w.to.load()->value;
			w.ready = 1;
			w.ready.notify_one();
		});
	CHECK(beside.found == bug::crash);

	const auto in_handler = model::explore<world>(
		{.runs = {1, 1}, .interrupts = 1},
		[](world &w, unsigned cpu) {
			if (cpu)
				w.to = &w.one;
		},
		[](world &) {},
		[](world &w, unsigned) { nothing = w.to.load()->value; });
	CHECK(in_handler.found == bug::crash);
	CHECK(in_handler.timeline.find("-- interrupt --") != std::string::npos);
}

TEST_CASE("crash: the same with workers, after many executions")
{
	struct many {
		std::atomic<int> turns{0};
		std::atomic<node *> to{nullptr};
	};
	const auto pass = [](unsigned workers) {
		return model::explore<many>(
			{.runs = {4, 3, 3}, .workers = workers},
			[](many &m, unsigned cpu) {
				/* The last of all orders have this one. */
				if (m.turns.fetch_add(1) == 0 && cpu == 1)
					nothing = m.to.load(relaxed)->value;
			});
	};
	const auto alone = pass(1), shared = pass(2);

	CHECK(alone.found == bug::crash);
	CHECK(shared.found == bug::crash);
	CHECK(alone.timeline == shared.timeline);
	/* Workers begin after 2,000. */
	CHECK(shared.complete > 2'000);
}

TEST_CASE("crash: exceptions that are caught are none, before and behind one")
{
	const auto catches = [](world &w) {
		try {
			if (!w.ready)
				throw std::runtime_error("too soon");
			w.published = 1;
		} catch (const std::exception &) {
			w.published = 2;
		}
	};
	const auto pass = [&] {
		verdict::good(model::explore_threads<world>(
			{}, [](world &) {}, [](world &w) { w.ready = true; },
			catches));
	};

	pass();
	CHECK(explore(kinds[0], relaxed).found == bug::crash);
	for (const kind &k : kinds)
		if (std::string(k.name) == "an exception")
			CHECK(explore(k, relaxed).found == bug::crash);
	CHECK(std::uncaught_exceptions() == 0);
	CHECK(std::current_exception() == nullptr);
	pass();
}

TEST_CASE("crash: in the world's destructor, of what the CPUs have left")
{
	struct list {
		std::atomic<int> full{0};
		std::atomic<node *> head{nullptr};
		node one;
		~list()
		{
			if (full)
				nothing = head.load()->value;
		}
	};
	const auto puts = [](bool early) {
		return model::explore_threads<list>(
			{}, [](list &) {},
			[](list &l) { l.full.store(1, relaxed); },
			[early](list &l) {
				if (early || !l.full.load(relaxed))
					l.head = &l.one;
			});
	};
	const auto bad = puts(false);

	INFO(bad.timeline);
	CHECK(bad.found == bug::crash);
	CHECK(bad.message ==
	      "crash: in the world's destructor: SIGSEGV at 0x0");
	CHECK(bad.timeline.find("BUG: " + bad.message + " (test_crash.cpp:") !=
	      std::string::npos);
	verdict::right_by(1, puts(true));
}

/* A handler of exit() that stays behind is an entry of the C library's list. */
TEST_CASE("crash: explorations leave no memory behind")
{
	const auto some = [] {
		for (unsigned i = 0; i < 33; i++)
			(void)model::explore<world>({.runs = {1, 1}},
						    [](world &, unsigned) {});
		return ::mallinfo2().uordblks;
	};
	some();
	const std::size_t before = some(), after = some();

	CHECK(before == after);
}

TEST_CASE("crash: in the world's constructor it stays one")
{
	const pid_t child = ::fork();

	if (child == 0) {
		std::signal(SIGSEGV, SIG_DFL);
		struct world {
			world() { nothing = *address<volatile int>(0); }
		};
		(void)model::explore<world>({.runs = {1, 1}},
					    [](world &, unsigned) {});
		::_exit(0);
	}
	int status = 0;
	REQUIRE(::waitpid(child, &status, 0) == child);
	REQUIRE(WIFSIGNALED(status));
	CHECK(WTERMSIG(status) == SIGSEGV);
}

} // namespace of_crashes
