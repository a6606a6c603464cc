/* SPDX-License-Identifier: MIT */
/*
 * Load buffering: what RC11 rules out and ISO C++ leaves open; small programs,
 * worked out by hand. Random ones: test_load_buffering_random.cpp.
 */
#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <string>

namespace {

using klock::atomic;
using klock::plain;

struct world {
	atomic<unsigned> x{0}, y{0}, z{0}, w{0};
	plain<unsigned> data{0};
	unsigned r0 = 9, r1 = 9, r2 = 9;
};

/* With the option; and that without it nothing is seen. */
template <typename... Thread>
model::result both_ways(bool (*odd)(const world &), Thread... each)
{
	const auto end = [odd](world &w) { model::check(!odd(w), "not odd"); };
	const auto plainly = model::explore_threads<world>({}, end, each...);

	CHECK(plainly.ok());
	CHECK(plainly.exhaustive);
	CHECK(plainly.load_buffered == 0);
	return model::explore_threads<world>({.load_buffering = true}, end,
					     each...);
}

void is_found(const model::result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.found == model::bug::failed_check);
	CHECK(r.open);
	CHECK(r.message == "failed: not odd, by load buffering: RC11 rules it "
			   "out, ISO C++ leaves it open");
	CHECK(r.timeline.find(", below\n") != std::string::npos);
	CHECK(r.svg.find("class=\"old\"") != std::string::npos);
}

void is_not(const model::result &r, klock::u64 others)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK_FALSE(r.open);
	CHECK(r.exhaustive);
	CHECK(r.load_buffered == others);
}

bool both_new(const world &w) { return w.r0 == 1 && w.r1 == 1; }

/* CPU 0 loads x, CPU 1 y, and each then does that with what it has loaded. */
template <typename Left, typename Right>
model::result crossed(bool (*odd)(const world &), Left left, Right right)
{
	return both_ways(
		odd,
		[left](world &w) {
			w.r0 = w.x.load_relaxed();
			left(w, w.r0);
		},
		[right](world &w) {
			w.r1 = w.y.load_relaxed();
			right(w, w.r1);
		});
}

constexpr auto set_y = [](world &w, unsigned) { w.y.store_relaxed(1); };
constexpr auto set_x = [](world &w, unsigned) { w.x.store_relaxed(1); };

} // namespace

TEST_CASE("load buffering: two CPUs store what the other has loaded before")
{
	const auto r = crossed(both_new, set_y, set_x);

	is_found(r);
	CHECK(r.load_buffered == 1);
	CHECK(r.complete == 3);
}

TEST_CASE("load buffering: around three CPUs")
{
	is_found(both_ways(
		[](const world &w) { return w.r0 + w.r1 + w.r2 == 3; },
		[](world &w) {
			w.r0 = w.x.load_relaxed();
			w.y.store_relaxed(1);
		},
		[](world &w) {
			w.r1 = w.y.load_relaxed();
			w.z.store_relaxed(1);
		},
		[](world &w) {
			w.r2 = w.z.load_relaxed();
			w.x.store_relaxed(1);
		}));
}

TEST_CASE("load buffering: one CPU hands on what it has read, the other does "
	  "not look")
{
	is_found(crossed(
		both_new, [](world &w, unsigned r) { w.y.store_relaxed(r); },
		set_x));
}

TEST_CASE("load buffering: a store on both ways of a branch depends on neither")
{
	is_found(crossed(
		both_new,
		[](world &w, unsigned r) {
			r ? w.y.store_relaxed(1) : w.y.store_relaxed(1);
		},
		set_x));
}

TEST_CASE("load buffering: no values out of thin air")
{
	/* Each reads the other's 0: one execution, in which all is 0. */
	is_not(crossed([](const world &w) { return w.r0 || w.r1; },
		       [](world &w, unsigned r) { w.y.store_relaxed(r); },
		       [](world &w, unsigned r) { w.x.store_relaxed(r); }),
	       1);
}

TEST_CASE("load buffering: a store that is made only if is none")
{
	is_not(crossed(
		       both_new,
		       [](world &w, unsigned r) {
			       if (r)
				       w.y.store_relaxed(1);
		       },
		       [](world &w, unsigned r) {
			       if (r)
				       w.x.store_relaxed(1);
		       }),
	       0);
}

TEST_CASE("load buffering: nor one whose value is another then")
{
	is_not(crossed([](const world &w) { return w.r1 > 1; },
		       [](world &w, unsigned r) { w.y.store_relaxed(r + 1); },
		       [](world &w, unsigned r) { w.x.store_relaxed(r); }),
	       0);
}

TEST_CASE("load buffering: what else is written may be another value")
{
	is_found(crossed(
		both_new,
		[](world &w, unsigned r) {
			w.z.store_relaxed(r);
			set_y(w, r);
		},
		[](world &w, unsigned r) {
			w.w.store_relaxed(r);
			set_x(w, r);
		}));
}

TEST_CASE("load buffering: but not another operation")
{
	is_not(crossed(
		       both_new,
		       [](world &w, unsigned r) {
			       if (r)
				       w.z.store_relaxed(1);
			       set_y(w, r);
		       },
		       [](world &w, unsigned r) {
			       if (r)
				       w.w.store_relaxed(1);
			       set_x(w, r);
		       }),
	       0);
}

template <typename Between, typename Other>
static void is_not_after(Between between, Other other)
{
	is_not(crossed(
		       both_new,
		       [between](world &w, unsigned r) {
			       between(w.z, r);
			       set_y(w, r);
		       },
		       [other](world &w, unsigned r) {
			       other(w.w, r);
			       set_x(w, r);
		       }),
	       0);
}

TEST_CASE("load buffering: nor the same by another order, or in two steps")
{
	const auto loads = [](atomic<unsigned> &z, unsigned r) {
		(void)(r ? z.load_acquire() : z.load_relaxed());
	};
	const auto stores = [](atomic<unsigned> &z, unsigned r) {
		r ? z.store_release(1) : z.store_relaxed(1);
	};
	const auto fences = [](atomic<unsigned> &, unsigned r) {
		r ? klock::fence_acquire() : klock::fence_release();
	};
	const auto steps = [](atomic<unsigned> &z, unsigned r) {
		if (r)
			z.store_relaxed(z.load_relaxed());
		else
			(void)z.fetch_add_relaxed(0);
	};

	is_not_after(loads, loads);
	is_not_after(stores, stores);
	is_not_after(fences, loads);
	is_not_after(steps, steps);
}

TEST_CASE("load buffering: what RC11 finds is RC11's")
{
	const auto r = model::explore_threads<world>(
		{.load_buffering = true},
		[](world &w) { model::check(w.r0 == 0, "no news"); },
		[](world &w) {
			w.r0 = w.x.load_relaxed();
			w.y.store_relaxed(1);
		},
		[](world &w) {
			w.r1 = w.y.load_relaxed();
			for (unsigned i = 0; !w.r1 && i < 3; i++)
				w.z.store_relaxed(
					i); /* longer than the other */
			w.x.store_relaxed(1);
		});

	CHECK(r.message == "failed: no news");
	CHECK_FALSE(r.open);
	CHECK(r.load_buffered == 0);
}

TEST_CASE("load buffering: acquire and release rule it out")
{
	is_not(both_ways(
		       both_new,
		       [](world &w) {
			       w.r0 = w.x.load_acquire();
			       w.y.store_release(1);
		       },
		       [](world &w) {
			       w.r1 = w.y.load_acquire();
			       w.x.store_release(1);
		       }),
	       0);
}

/* The flag says that the data are there, to a fence after the store. */
TEST_CASE("load buffering: what happens before it goes before it")
{
	is_not(both_ways([](const world &w) { return w.r0 && w.r2 != 5; },
			 [](world &w) {
				 w.r0 = w.x.load_relaxed();
				 w.y.store_relaxed(1);
				 klock::fence_acquire();
				 if (w.r0)
					 w.r2 = w.data.get();
				 w.w.store_relaxed(w.z.load_relaxed());
			 },
			 [](world &w) {
				 w.r1 = w.y.load_relaxed();
				 w.data.set(5);
				 w.x.store_release(1);
				 w.z.store_relaxed(1);
			 }),
	       2);
}

TEST_CASE("load buffering: and by way of an addition that is early")
{
	const auto r =
		both_ways([](const world &w) { return w.r2 != 9 && w.r2 != 5; },
			  [](world &w) {
				  w.r0 = w.x.fetch_add_relaxed(7);
				  w.y.store_relaxed(1);
			  },
			  [](world &w) {
				  if (w.x.load_acquire() == 8)
					  w.r2 = w.data.get();
				  w.w.store_relaxed(w.z.load_relaxed());
			  },
			  [](world &w) {
				  w.r1 = w.y.load_relaxed();
				  w.data.set(5);
				  w.x.store_release(1);
				  w.z.store_relaxed(1);
			  });
	INFO(r.message << r.timeline);
	CHECK(r.ok());
	CHECK(r.load_buffered > 4);
}

TEST_CASE("load buffering: a fault before the store is one, if the store is")
{
	const auto loads = [](world &w) {
		w.r0 = w.x.load_relaxed();
		model::check(w.r0 == 0, "not odd");
		w.y.store_relaxed(1);
	};
	is_found(both_ways([](const world &) { return false; }, loads,
			   [](world &w) {
				   w.r1 = w.y.load_relaxed();
				   if (w.r1)
					   w.x.store_relaxed(1);
			   }));
	is_not(both_ways([](const world &) { return false; },
			 [](world &w) {
				 w.r0 = w.x.load_relaxed();
				 model::check(w.r0 == 0, "not odd");
				 if (!w.r0)
					 w.y.store_relaxed(1);
			 },
			 [](world &w) {
				 w.r1 = w.y.load_relaxed();
				 if (w.r1)
					 w.x.store_relaxed(1);
			 }),
	       0);
}

TEST_CASE("load buffering: machines that have none have none")
{
	for (const auto on : {model::machine::sc, model::machine::x86}) {
		const auto r = model::explore_threads<world>(
			{.machine = on, .load_buffering = true},
			[](world &w) { model::check(!both_new(w), "not odd"); },
			[](world &w) {
				w.r0 = w.x.load_relaxed();
				w.y.store_relaxed(1);
			},
			[](world &w) {
				w.r1 = w.y.load_relaxed();
				w.x.store_relaxed(1);
			});
		is_not(r, 0);
	}
}
