/* SPDX-License-Identifier: MIT */
/*
 * Tests of the checker's reports: each kind is shown once with the fault and
 * once without it, and the checker never stops early in silence.
 */
#include "verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>

#include <fiber/fiber.hpp>
#include <model/example/reference_count.hpp>
#include <model/example/ring.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>

using klock::atomic;
using klock::plain;
using klock::u8;

namespace of_findings {

using klock::atomic_pair;
using klock::half;
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
	verdict::right_by(1, good);

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

	verdict::right_by(2, pass(2, 2));
	verdict::found(bug::failed_check, pass(1, 2), "failed: not so many");
	verdict::found(bug::failed_check, pass(2, 1),
		       "failed: as many as that");
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

	verdict::right_by(1, pass(true));
	verdict::found(bug::deadlock, pass(false));
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

	verdict::right_by(1, pass(0));
	verdict::right_by(1, pass(1));
	verdict::found(bug::deadlock, pass(2));
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
		verdict::right_by(2, show(showing::whole, owner));
		for (const showing how :
		     {showing::unreleased, showing::unawaited,
		      showing::unordered}) {
			INFO(static_cast<int>(how) << ", owner " << owner);
			verdict::found(bug::dead_object, show(how, owner));
		}
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

	verdict::found(bug::panic, r, "panic: a_lock, cpu0: misused");
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

TEST_CASE("findings: a check at the end that outlives the execution")
{
	static int checks;
	checks = 0;
	const auto r = model::explore<message>(
		{.sections = {1, 1}},
		[](message &m, unsigned) {
			(void)m.ready.fetch_add_relaxed(1);
		},
		[](message &) { model::check(++checks != 2, "not twice"); });

	INFO(r.timeline);
	CHECK(r.found == bug::not_repeatable);
	CHECK(r.message.ends_with("(failed: not twice)"));
	CHECK(r.timeline.starts_with("BUG: the execution has no fault when it "
				     "is run once more"));
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
	CHECK(verdict::has(cut.timeline, "NOT EXHAUSTIVE"));
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
	CHECK(spins.limit.starts_with("max_events"));

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

	verdict::right_by(4, r);
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
				w.both.store_release(half::first, 3);
			else
				w.both.store_release(half::second, 5);
		},
		[](world &w) {
			model::check(w.both.load_relaxed(half::first) == 3);
			model::check(w.both.load_relaxed(half::second) == 5);
		});

	verdict::right_by(2, r);
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
					w.both.store_relaxed(half::first, 1);
					w.both.store_relaxed(half::second, 1);
				} else if (w.both.load_relaxed(half::second)) {
					model::check(w.both.load_relaxed(
						half::first));
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

	verdict::right_by(1, r);
}

TEST_CASE("findings: a world whose destructor does not end")
{
	struct world {
		~world()
		{
			for (volatile bool ends = false; !ends;)
				;
		}
		klock::atomic<u8> a{0};
	};
	const auto r = model::explore<world>(
		{.sections = {1}},
		[](world &w, unsigned) { w.a.store_relaxed(1); });

	verdict::found(bug::deadlock, r,
		       "deadlock: the world's destructor does not end");
}

TEST_CASE("findings: the end of a world that was left half-way is none")
{
	struct world {
		klock::atomic<u8> a{0}, done{0};
		~world()
		{
			if (!done.load_relaxed())
				std::abort();
		}
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu)
				return w.a.store_relaxed(1);
			model::assume(w.a.load_relaxed() == 1);
			w.done.store_relaxed(1);
		});

	verdict::right_by(1, r);
	CHECK(r.blocked == 1);
}

TEST_CASE("findings: a look at the end that waits for ever")
{
	const auto pass = [](klock::u8 left) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[left](message &m, unsigned cpu) {
				if (cpu == 0)
					m.ready.store_release(left);
			},
			[](message &m) { m.ready.await_eq_acquire(1); });
	};

	verdict::right(pass(1));
	verdict::found(bug::deadlock, pass(2),
		       "deadlock: the look at the end waits for ever");
}

} // namespace of_findings

namespace of_finding {

/*
 * The execution that is shown: the shortest, as a picture, and under a debugger
 * once more.
 */

namespace {

struct world {
	plain<int> data;
	atomic<u8> ready, other;

	world()
	{
		model::name(data, "a < b & \"c\"");
		model::name(ready, "ready");
		model::name(other, "other");
	}
};

/* CPU 1 reads too early by one flag, or later by the other; CPU 2 is idle. */
model::result too_early(klock::u64 shorten)
{
	return model::explore<world>(
		{.sections = {1, 1, 1}, .shorten = shorten},
		[](world &w, unsigned cpu) {
			if (cpu == 0) {
				w.data.set(7);
				for (auto *flag : {&w.ready, &w.other}) {
					flag->store_relaxed(1);
					flag->store_relaxed(2);
				}
			} else if (cpu == 1) {
				for (auto *flag : {&w.ready, &w.other})
					if (flag->load_acquire() == 1)
						return (void)w.data.get();
			}
		});
}

unsigned rows_of(const model::result &r)
{
	return static_cast<unsigned>(
		std::count(r.timeline.begin(), r.timeline.end(), '\n'));
}

volatile std::sig_atomic_t traps;

} // namespace

TEST_CASE("finding: the shortest is shown, and found as the first is")
{
	const auto first = too_early(0), best = too_early(2000);

	INFO(first.timeline << best.timeline);
	CHECK(first.found == model::bug::data_race);
	CHECK(best.found == model::bug::data_race);
	CHECK(rows_of(best) < rows_of(first));
	CHECK(best.complete == first.complete);
	CHECK_FALSE(best.exhaustive);
	CHECK(too_early(2000).timeline == best.timeline);
}

/* Another fault may be shorter: it is not what was found. */
TEST_CASE("finding: of the first one's kind, the shortest")
{
	const auto either = [](klock::u64 shorten) {
		return model::explore<world>(
			{.sections = {1, 1}, .shorten = shorten},
			[](world &w, unsigned cpu) {
				if (cpu == 0) {
					w.data.set(7);
					w.ready.store_relaxed(1);
					w.ready.store_relaxed(2);
					w.other.store_relaxed(1);
					w.other.store_relaxed(2);
					return;
				}
				model::check(w.ready.load_acquire() != 1);
				if (w.other.load_acquire() == 1)
					(void)w.data.get();
			});
	};
	const auto first = either(0), best = either(2000);

	CHECK(first.found == model::bug::data_race);
	CHECK(best.found == first.found);
	CHECK(best.message == first.message);
}

TEST_CASE("finding: a picture: rows, an arrow a read, the stale read in red")
{
	const auto r = too_early(2000);
	const std::string &svg = r.svg;
	const unsigned rows = rows_of(r) - 3;

	INFO(r.timeline << svg);
	CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
	CHECK(svg.ends_with("</svg>\n"));
	/* CPU 2 is left out. */
	CHECK(pattern::times(svg, "class=\"cpu\"") == 2);
	CHECK(pattern::times(svg, "class=\"(step|stale)\" x") == rows);
	CHECK(pattern::times(svg, "class=\"stale\" x") ==
	      pattern::times(r.timeline, "writes? behind"));
	CHECK(pattern::times(svg, "class=\"(reads|old)\" d") ==
	      pattern::times(r.timeline, "reads row"));
	CHECK(pattern::times(svg, "class=\"bug\"") == 1);
	CHECK(pattern::times(svg, "a &lt; b &amp; &quot;c&quot;") >= 2);
	CHECK(pattern::times(svg, "a < b") == 0);
}

TEST_CASE("finding: the picture is written where it is asked for")
{
	const char *const file = "finding.svg";

	setenv("KLOCK_MODEL_SVG", file, 1);
	const auto r = too_early(2000);
	unsetenv("KLOCK_MODEL_SVG");

	std::ostringstream written;
	written << std::ifstream(file).rdbuf();
	std::remove(file);
	CHECK(written.str() == r.svg);
}

TEST_CASE("finding: of a picture for which there is no room nothing is left")
{
	const char *const file = "no_room.svg";
	rlimit before;

	getrlimit(RLIMIT_FSIZE, &before);
	const rlimit little = {9, before.rlim_max};
	std::signal(SIGXFSZ, SIG_IGN);
	setenv("KLOCK_MODEL_SVG", file, 1);
	setrlimit(RLIMIT_FSIZE, &little);
	(void)too_early(2000);
	setrlimit(RLIMIT_FSIZE, &before);
	std::signal(SIGXFSZ, SIG_DFL);
	unsetenv("KLOCK_MODEL_SVG");
	CHECK(!std::filesystem::exists(file));
	CHECK(!std::filesystem::exists(file + std::string(".part")));
}

TEST_CASE("finding: nothing is shown where nothing is found")
{
	const auto r = model::explore<world>({.sections = {1}},
					     [](world &, unsigned) {});

	CHECK(r.ok());
	CHECK(r.svg.empty());
	CHECK(r.replay.empty());
}

TEST_CASE("finding: a replay stops where it begins, and at the fault")
{
	const auto seen = too_early(2000);
	const auto found = pattern::found(
		seen.replay,
		"^KLOCK_MODEL_REPLAY=([0-9]+) gdb --args .*model.*$");

	INFO(seen.replay);
	REQUIRE(!found.empty());
	CHECK(traps == 0);

	/* The next exploration of this process is the one after that. */
	const int next = std::stoi(found[1]) + 1;
	setenv("KLOCK_MODEL_REPLAY", std::to_string(next).c_str(), 1);
	std::signal(SIGTRAP, [](int) { traps = traps + 1; });
	const auto again = too_early(2000);
	CHECK(traps == 2);
	(void)too_early(2000);
	CHECK(traps == 2);
	std::signal(SIGTRAP, SIG_DFL);
	unsetenv("KLOCK_MODEL_REPLAY");
	CHECK(again.timeline == seen.timeline);
}

} // namespace of_finding

namespace of_timeline {

/* Tests of a failure's text, to the letter, as README.md explains it. */

namespace {

struct world {
	plain<int> data;
	atomic<u8> ready;
	atomic<world *> self;

	world()
	{
		model::name(data, "data");
		model::name(ready, "ready");
	}
};

const char *const also_sc = "CAUSE: also under SC: no memory order is missing, "
			    "the steps themselves interleave wrongly";

/* Compares lines without padding, and without line numbers, which change. */
void check_rows(const model::result &r, const std::vector<std::string> &rows)
{
	std::istringstream in(verdict::without_places(r.timeline));
	std::vector<std::string> all;

	for (std::string line; std::getline(in, line);)
		all.push_back(line.substr(line[0] == ' '));
	INFO(r.timeline);
	CHECK(all == rows);
}

} // namespace

TEST_CASE("timeline: a race, a row an operation, and below the bug its cause")
{
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 0) {
				w.data.set(7);
				w.ready.store_relaxed(1);
				w.ready.store_relaxed(2);
			} else if (w.ready.load_acquire() == 1) {
				(void)w.data.get();
			}
		});

	check_rows(
		r,
		{
			"cpu0 cpu1",
			"1 write data 7 @",
			"2 store ready = 1 relaxed @",
			"3 store ready = 2 relaxed @",
			"4 load ready 1 acquire @ reads row 2, 1 write behind "
			"row 3",
			"5 read data 7 @",
			"BUG: data race with the write by cpu0 at @: data (@)",
			"CAUSE: missing: a release at row 2 (@): impossible "
			"under SC "
			"and on x86",
		});
}

namespace {

/* Named by the symbol table, not by model::name(). */
klock::atomic<unsigned> a_global[2];

} // namespace

TEST_CASE("timeline: in which order writes count, and what globals are called")
{
	const auto r = model::explore<world>(
		{.sections = {1, 1}},
		[](world &, unsigned cpu) {
			if (cpu == 0) {
				a_global[0].store_relaxed(1);
				a_global[1].store_relaxed(1);
			} else {
				a_global[1].store_relaxed(2);
				a_global[0].store_relaxed(2);
			}
		},
		[](world &) {
			model::check(!(a_global[0].load_relaxed() == 1 &&
				       a_global[1].load_relaxed() == 2));
		});

	INFO(r.timeline);
	CHECK(verdict::has(r.timeline, "store a_global[0] = 1 relaxed"));
	CHECK(verdict::has(r.timeline, "store a_global[1] = 2 relaxed"));
	CHECK(verdict::has(r.timeline, "counts before row "));
}

TEST_CASE("timeline: a deadlock says who waits for what")
{
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			w.ready.await_eq_acquire(static_cast<u8>(cpu + 1));
		});

	check_rows(r, {
			      "cpu0 cpu1",
			      "1 await ready 0 acquire @ reads the start",
			      "2 await ready 0 acquire @ reads the start",
			      "3 waits for ready @",
			      "4 waits for ready @",
			      "BUG: deadlock: cpu0 waits for ready at @, cpu1 "
			      "waits for "
			      "ready at @",
			      also_sc,
		      });
}

TEST_CASE("timeline: RMWs, fences, pointers, interrupts and failed checks")
{
	const auto r = model::explore<world>(
		{.sections = {1}, .interrupts = 1},
		[](world &w, unsigned) {
			w.self.store_release(&w);
			klock::fence_seq_cst();
			(void)w.ready.fetch_add_acq_rel(3);
		},
		[](world &w) {
			model::check(w.ready.load_relaxed() == 3, "three");
		},
		[](world &w, unsigned) { w.ready.store_relaxed(9); });

	check_rows(r,
		   {
			   "cpu0",
			   "1 store self = &data release @",
			   "2 fence seq_cst @",
			   "3 fetch_add ready 0 -> 3 acq_rel @ reads the start",
			   "4 -- interrupt --",
			   "5 store ready = 9 relaxed @",
			   "6 -- returns --",
			   "BUG: failed: three (@)",
			   also_sc,
		   });
}

TEST_CASE("timeline: the same at every run")
{
	const auto once = [] {
		return model::explore<world>({.sections = {2, 2}},
					     [](world &w, unsigned) {
						     w.data.set(w.data.get() +
								1);
					     })
			.timeline;
	};

	CHECK_FALSE(once().empty());
	CHECK(once() == once());
}

} // namespace of_timeline

namespace of_fiber {

namespace {

struct counter {
	int steps = 0;
	double kept = 0;
	const void *local = nullptr;
};

void count(void *of)
{
	auto &c = *static_cast<counter *>(of);
	double x = 1.5;
	int i = 0;

	c.local = &i;
	for (; i < 3; i++) {
		c.steps++;
		fiber::suspend();
		x *= 2;
	}
	c.kept = x;
}

} // namespace

TEST_CASE("fiber: goes on where it was left, with its locals")
{
	fiber f;
	counter c;

	CHECK_FALSE(f.resume());
	f.start(count, &c);
	CHECK(f.resume());
	CHECK(c.steps == 1);
	CHECK(c.local >= f.low());
	CHECK(c.local < f.high());
	CHECK(f.resume());
	CHECK(f.resume());
	CHECK(c.steps == 3);
	CHECK_FALSE(f.resume());
	CHECK(c.kept == 12);
	CHECK_FALSE(f.resume());
}

TEST_CASE("fiber: starts anew from anywhere, at the same addresses")
{
	fiber f;
	counter once, again;

	f.start(count, &once);
	f.resume();
	f.resume();
	f.start(count, &again);
	f.resume();
	CHECK(again.steps == 1);
	CHECK(again.local == once.local);
}

TEST_CASE("fiber: its stack is aligned as the ABI wants it")
{
	fiber f;
	std::uintptr_t at = 1;

	f.start(
		[](void *to) {
			alignas(16) volatile char aligned[16] = {};
			*static_cast<std::uintptr_t *>(to) =
				reinterpret_cast<std::uintptr_t>(aligned);
		},
		&at);
	f.resume();
	CHECK(at % 16 == 0);
}

TEST_CASE("fiber: 1,024 of them take turns")
{
	std::vector<std::unique_ptr<fiber>> all;
	std::vector<counter> counts(1024);

	for (auto &c : counts) {
		all.push_back(std::make_unique<fiber>());
		all.back()->start(count, &c);
	}
	for (int round = 0; round < 4; round++)
		for (auto &f : all)
			f->resume();
	for (auto &c : counts)
		REQUIRE(c.kept == 12);
}

} // namespace of_fiber

namespace of_guide {

/*
 * The examples of lib/model/README.md: they pass, their mistakes are found, and
 * the code that the guide shows is the code that is compiled.
 */

namespace {

std::string contents(const std::string &name)
{
	const std::string here = __FILE__;
	std::ifstream file(here.substr(0, here.rfind('/')) +
			   "/../../lib/model/" + name);
	std::stringstream all;

	all << file.rdbuf();
	return all.str();
}

/* Returns the texts between ``` lines. */
std::vector<std::string> blocks(const std::string &text,
				const std::string &language)
{
	const std::string open = "```" + language + "\n";
	std::vector<std::string> all;

	for (auto at = text.find(open); at != std::string::npos;
	     at = text.find(open, at)) {
		at += open.size();
		const auto end = text.find("```", at);
		all.push_back(text.substr(at, end - at));
		at = end;
	}
	return all;
}

struct counted {
	reference_count held;
	klock::plain<unsigned> object{7};
	unsigned ended = 0;

	counted()
	{
		held.get();
		model::name(held, "held");
		model::name(object, "object");
	}
};

model::result count_down(const model::options &how)
{
	return model::explore<counted>(
		how,
		[](counted &w, unsigned) {
			(void)w.object.get();
			if (w.held.put()) {
				w.object.set(0);
				w.ended++;
			}
		},
		[](counted &w) { model::check(w.ended == 1); });
}

} // namespace

TEST_CASE("guide: what it shows is what is compiled")
{
	const std::string guide = contents("README.md");
	const auto code = blocks(guide, "cpp");
	const std::string sources =
		contents("example/reference_count.hpp") +
		contents("example/ring.hpp") +
		contents("example/test_reference_count.cpp");

	REQUIRE(code.size() >= 2);
	for (const std::string &block : code) {
		INFO(block);
		CHECK(verdict::has(sources, block));
	}
}

TEST_CASE("guide: the timeline that it shows is the one that comes")
{
	model::options how{.sections = {1, 1}, .record_uses = true};
	const auto whole = count_down(how);
	std::string shown;

	REQUIRE(whole.ok());
	for (const model::use &u : whole.uses)
		if (u.written == klock::order::release) {
			how.weaken = {u, klock::order::relaxed};
			how.cause = true;
			shown = count_down(how).timeline;
		}
	INFO(shown);
	const auto texts = blocks(contents("README.md"), "text");
	REQUIRE(texts.size() == 1);
	CHECK(verdict::without_places(texts[0]) ==
	      verdict::without_places(shown));
}

TEST_CASE("guide: each order of the reference count is needed")
{
	unsigned weaker = 0;

	verdict::right_by(2, verdict::each_weaker(
				     {.sections = {1, 1}}, count_down,
				     [&weaker](auto &, const model::result &r) {
					     CHECK(r.found ==
						   model::bug::data_race);
					     weaker++;
				     }));
	CHECK(weaker == 2);
}

TEST_CASE("guide: the ring, and each of its orders")
{
	const auto run = [](const model::options &how) {
		return model::explore<ring>(how, [](ring &r, unsigned cpu) {
			for (int i = 1; i <= 4; i++)
				if (cpu == 0)
					r.put(i);
				else
					model::check(r.take() == i);
		});
	};
	unsigned weaker = 0;

	verdict::right_by_at_least(
		4,
		verdict::each_weaker({.sections = {1, 1}}, run,
				     [&weaker](auto &, const model::result &r) {
					     CHECK_FALSE(r.ok());
					     weaker++;
				     }));
	CHECK(weaker == 4);
}

} // namespace of_guide
