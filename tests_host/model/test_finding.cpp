/* SPDX-License-Identifier: MIT */
/*
 * The execution that is shown: the shortest, as a picture, and under a debugger
 * once more.
 */
#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

using klock::atomic;
using klock::plain;
using klock::u8;

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

unsigned times(const std::string &what, const std::string &in)
{
	const std::regex pattern(what);

	return static_cast<unsigned>(std::distance(
		std::sregex_iterator(in.begin(), in.end(), pattern), {}));
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
	const unsigned rows = rows_of(r) - 2;

	INFO(r.timeline << svg);
	CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
	CHECK(svg.ends_with("</svg>\n"));
	CHECK(times("class=\"cpu\"", svg) == 3);
	CHECK(times("class=\"(step|stale)\" x", svg) == rows);
	CHECK(times("class=\"stale\" x", svg) ==
	      times("writes? behind", r.timeline));
	CHECK(times("class=\"(reads|old)\" d", svg) ==
	      times("reads row", r.timeline));
	CHECK(times("class=\"bug\"", svg) == 1);
	CHECK(times("a &lt; b &amp; &quot;c&quot;", svg) >= 2);
	CHECK(times("a < b", svg) == 0);
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
	const std::regex form(
		"KLOCK_MODEL_REPLAY=([0-9]+) gdb --args .*model.*");
	std::smatch number;

	INFO(seen.replay);
	REQUIRE(std::regex_match(seen.replay, number, form));
	CHECK(traps == 0);

	/* The next exploration of this process is the one after that. */
	const int next = std::stoi(number[1]) + 1;
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
