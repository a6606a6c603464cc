/* SPDX-License-Identifier: MIT */
/*
 * Accesses that nobody tells of where atomics alone are seen
 * (klock::model_std), in code that is optimised: the CPU's function is inlined
 * into the checker's.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <pthread.h>

namespace {

using model::bug;

struct world {
	world() { x.fetch_add(1); }

	std::atomic<int> x{0};
	std::shared_ptr<int> shared = std::make_shared<int>(1);
	int count = 0;
};

template <typename Do>
model::result by_two(Do what)
{
	return model::explore<world>({.runs = {1, 1}},
				     [what](world &w, unsigned) { what(w); });
}

} // namespace

TEST_CASE("untold: compilers' atomics, beside <atomic>")
{
	const auto r = by_two([](world &w) {
		__atomic_fetch_add(&w.count, 1, __ATOMIC_RELAXED);
	});

	INFO(r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(r.message.find("not compiled for the checker") !=
	      std::string::npos);
}

TEST_CASE("untold: threads, beside <atomic>")
{
	const auto r = by_two([](world &) { pthread_testcancel(); });

	INFO(r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(r.message.find("refused: pthread_testcancel()") == 0);
}

/* Plain memory is not looked at; shared_ptr's counts are the library's. */
TEST_CASE("untold: what is no atomic, beside <atomic>")
{
	verdict::right_by(1, by_two([](world &w) {
				  char text[8];

				  std::snprintf(text, sizeof(text), "%d",
						w.count);
				  const std::shared_ptr<int> mine = w.shared;
				  model::check(text[0] == '0' && *mine == 1);
			  }));
}
