/* SPDX-License-Identifier: MIT */
/*
 * Tests of crashes: each kind, where a load is stale, is a finding with its
 * timeline, and the exploration that comes behind it is whole. With the order
 * that is missing there is no crash. Compiled once for each way to link the
 * checker, with and without optimisation.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#undef NDEBUG
#include <cassert>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace of_crashes {

using model::bug;

namespace {

struct node {
	int value = 0;
	std::atomic<int> count{0};
};

/* What is there once the flag is set; but not for a reader that is too soon. */
struct world {
	std::atomic<int> published{0};
	std::atomic<bool> ready{false};
	std::atomic<void (*)()> call{nullptr};
	std::atomic<node *> to{nullptr};
	node one;
};

std::memory_order order_of_flag = std::memory_order_relaxed;
volatile int nothing = 0;

void harmless() {}

constexpr int first_line = __LINE__;

/* More and more of the stack. */
[[gnu::noinline]] int deep(int n)
{
	volatile char much[512] = {};

	much[n % 512] = 1;
	return n < 0 ? 0 : deep(n + 1) + much[(n + 1) % 512];
}

[[gnu::noinline]] void throws(int what) { throw what; }
void throws_through(int what) noexcept { throws(what); }

struct kind {
	const char *name, *told;
	void (*crash)(world &);
};

/* On the line of each is what must be told: the line, too. */
#define KIND(NAME, TOLD, ...)                                                  \
	{                                                                      \
		NAME, TOLD, [](world &w) {                                     \
			(void)w;                                               \
			__VA_ARGS__;                                           \
		}                                                              \
	}

/* An address that is not null to a compiler. */
template <typename T>
T *address(klock::usize at)
{
	volatile klock::usize hidden = at;

	return reinterpret_cast<T *>(hidden);
}

constexpr klock::usize poison = 0xdbdbdbdbdbdbdbdb;

const kind kinds[] = {
	KIND("a null pointer that is read", "SIGSEGV at 0x0",
	     nothing = w.to.load(std::memory_order_relaxed)->value),
	KIND("a null pointer that is written", "SIGSEGV at 0x0",
	     w.to.load(std::memory_order_relaxed)->value = 1),
	KIND("an atomic at a null pointer", "SIGSEGV at 0x4",
	     w.to.load(std::memory_order_relaxed)->count.store(1)),
	KIND("a call of a null pointer", "SIGSEGV at 0x0",
	     w.call.load(std::memory_order_relaxed)();
	     nothing = 0),
#if defined(__x86_64__)
	KIND("a poisoned pointer", "SIGSEGV at an address that no memory",
	     nothing = *address<volatile int>(poison)),
	KIND("a division by zero", "SIGFPE", nothing = 7 / nothing),
	KIND("a trap", "SIGILL", __builtin_trap()),
#endif
	KIND("a stack that is full", "SIGSEGV: the CPU's stack is full",
	     nothing = deep(0)),
	KIND("an assertion", "assert(w.published", assert(w.published == 1)),
	KIND("abort()", "SIGABRT", std::abort()),
	KIND("a signal that is raised", "SIGBUS", std::raise(SIGBUS);
	     nothing = 0),
	KIND("an exception", "of an exception: std::runtime_error: too soon",
	     throw std::runtime_error("too soon")),
	KIND("an exception through noexcept", "of an exception: int",
	     throws_through(1)),
	KIND("terminate()", "std::terminate()", std::terminate()),
	KIND("exit()", "exit(0)", std::exit(0)),
	KIND("_exit()", "_exit(0)", ::_exit(0)),
	KIND("_Exit()", "_Exit(0)", std::_Exit(0)),
	KIND("quick_exit()", "quick_exit(0)", std::quick_exit(0)),
};

constexpr int last_line = __LINE__;

void (*chosen)(world &) = nullptr;

void publish(world &w)
{
	w.call.store(harmless, std::memory_order_relaxed);
	w.to.store(&w.one, std::memory_order_relaxed);
	w.published.store(1, std::memory_order_relaxed);
	w.ready.store(true, order_of_flag);
}

void follow(world &w)
{
	if (!w.ready.load(std::memory_order_acquire))
		return;
	/* Each of the three may be stale by itself. */
	if (w.published.load(std::memory_order_relaxed) &&
	    w.call.load(std::memory_order_relaxed) &&
	    w.to.load(std::memory_order_relaxed))
		return;
	model::assume(!w.published.load(std::memory_order_relaxed) &&
		      !w.call.load(std::memory_order_relaxed) &&
		      !w.to.load(std::memory_order_relaxed));
	chosen(w);
}

model::result explore(const kind &k, std::memory_order o,
		      const model::options &how = {})
{
	chosen = k.crash;
	order_of_flag = o;
	return model::explore_threads<world>(
		how, [](world &) {}, publish, follow);
}

} // namespace

TEST_CASE("crash: each kind is found, with what was read, and its line")
{
	/* All crashes are between those lines. */
	const auto line = [](const std::string &timeline) {
		const std::string file = "(test_crash.cpp:";
		const auto at = timeline.rfind(file);

		return at == timeline.npos
			       ? 0
			       : std::atoi(&timeline[at + file.size()]);
	};

	for (const kind &k : kinds) {
		INFO(k.name);
		const auto bad = explore(k, std::memory_order_relaxed);
		INFO(bad.message << "\n" << bad.timeline);
		CHECK(bad.found == bug::crash);
		CHECK(bad.message.find(k.told) != std::string::npos);
		CHECK(bad.timeline.find("reads the start") !=
		      std::string::npos);
		CHECK(line(bad.timeline) > first_line);
		CHECK(line(bad.timeline) < last_line);

		const auto good = explore(k, std::memory_order_release);
		verdict::right_by_at_least(2, good);
	}
}

TEST_CASE("crash: the loop over the orders goes on behind it")
{
	const kind &null = kinds[0];
	model::options how{.record_uses = true};
	unsigned wrong = 0, right = 0;
	const auto whole = explore(null, std::memory_order_release, how);

	verdict::good(whole);
	for (const model::use &u : whole.uses) {
		for (const model::weakening &w : model::weakenings(u)) {
			how.weaken = w;
			const auto r =
				explore(null, std::memory_order_release, how);
			INFO(model::text(w) << "\n" << r.timeline);
			CHECK((r.ok() || r.found == bug::crash));
			(r.ok() ? right : wrong)++;
		}
	}
	CHECK(wrong == 2); /* the release and the acquire */
	CHECK(right == 0);
}

TEST_CASE("crash: in the look at the end, in an await, and with a handler")
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
		node one;
	};
	const auto pass = [](unsigned workers, bool early) {
		return model::explore<many>(
			{.runs = {4, 3, 3}, .workers = workers},
			[early](many &m, unsigned cpu) {
				const int turn = m.turns.fetch_add(1);

				if (early && cpu == 0)
					m.to = &m.one;
				/* The last, in the last order of all. */
				if (cpu == 0 && turn == 9 && !m.to.load())
					nothing = m.to.load()->value;
			});
	};
	const auto alone = pass(1, false), shared = pass(2, false);

	CHECK(alone.found == bug::crash);
	CHECK(shared.found == bug::crash);
	CHECK(alone.timeline == shared.timeline);
	verdict::good(pass(2, true));
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
	CHECK(explore(kinds[0], std::memory_order_relaxed).found == bug::crash);
	for (const kind &k : kinds)
		if (std::string(k.name) == "an exception")
			CHECK(explore(k, std::memory_order_relaxed).found ==
			      bug::crash);
	CHECK(std::uncaught_exceptions() == 0);
	CHECK(std::current_exception() == nullptr);
	pass();
}

TEST_CASE("crash: outside of the CPUs it stays one")
{
	for (const bool makes : {true, false}) {
		const pid_t child = ::fork();

		if (child == 0) {
			for (const int number : {SIGSEGV, SIGABRT})
				std::signal(number, SIG_DFL);
			static bool in_constructor;
			in_constructor = makes;
			struct crashes {
				std::atomic<int> a{0};
				crashes()
				{
					if (in_constructor)
						nothing =
							*address<volatile int>(
								0);
				}
				~crashes() { std::abort(); }
			};
			(void)model::explore<crashes>(
				{.runs = {1, 1}},
				[](crashes &c, unsigned) { c.a = 1; });
			::_exit(0);
		}
		int status = 0;
		REQUIRE(::waitpid(child, &status, 0) == child);
		REQUIRE(WIFSIGNALED(status));
		CHECK(WTERMSIG(status) == (makes ? SIGSEGV : SIGABRT));
	}
}

} // namespace of_crashes
