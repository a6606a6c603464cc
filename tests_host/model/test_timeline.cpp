/* SPDX-License-Identifier: MIT */
/*
 * What a failure prints: to the letter, as README.md explains it.
 */
#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <regex>
#include <sstream>

using klock::atomic;
using klock::plain;
using klock::u8;

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

/* Lines without padding, and without line numbers, which change. */
std::vector<std::string> rows(const std::string &timeline)
{
	const std::regex place("test_timeline\\.cpp:[0-9]+"), spaces(" +");
	std::vector<std::string> all;
	std::istringstream in(timeline);

	for (std::string line; std::getline(in, line);) {
		line = std::regex_replace(line, place, "@");
		line = std::regex_replace(line, spaces, " ");
		all.push_back(line.substr(line[0] == ' '));
	}
	return all;
}

} // namespace

TEST_CASE("timeline: a race, a row an operation, and the bug on the last row")
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

	const std::vector<std::string> expected = {
		"cpu0 cpu1",
		"1 write data 7 @",
		"2 store ready = 1 relaxed @",
		"3 store ready = 2 relaxed @",
		"4 load ready 1 acquire @ reads row 2, 1 write behind",
		"5 read data 7 @",
		"BUG: data race with the write by cpu0 at @: data (@)",
	};
	INFO(r.timeline);
	CHECK(rows(r.timeline) == expected);
}

TEST_CASE("timeline: a deadlock says who waits for what")
{
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			w.ready.await_eq_acquire(static_cast<u8>(cpu + 1));
		});

	INFO(r.timeline);
	const std::vector<std::string> expected = {
		"cpu0 cpu1",
		"1 await ready 0 acquire @ reads the start",
		"2 await ready 0 acquire @ reads the start",
		"3 waits for ready @",
		"4 waits for ready @",
		"BUG: deadlock: nobody can go on",
	};
	CHECK(rows(r.timeline) == expected);
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

	INFO(r.timeline);
	const auto all = rows(r.timeline);
	const std::vector<std::string> expected = {
		"cpu0",
		"1 store world+0x8 = &data release @",
		"2 fence seq_cst @",
		"3 fetch_add ready 0 -> 3 acq_rel @ reads the start",
		"4 -- interrupt --",
		"5 store ready = 9 relaxed @",
		"6 -- returns --",
		"BUG: failed: three (@)",
	};
	CHECK(all == expected);
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
