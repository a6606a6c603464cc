/* SPDX-License-Identifier: MIT */
/*
 * The known small programs of the memory-model literature (../litmus/c.litmus):
 * how many executions each has, and whether the outcome that it is known for is
 * among them. Brute force (reference/) agrees. Below: what differs in code.
 */
#include "reference/rc11.hpp"
#include "verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace of_litmus {

using namespace reference;

namespace {

/* The value of a CPU's nth read, or a location's last one (cpu: -1). */
struct clause {
	int cpu;
	unsigned of;
	u64 value;
};

struct rule {
	const char *name;
	model::options how;
};

const rule rules[] = {
	{"C++20", {}},
	{"RC11's release sequences", {.sequence = release_sequence::rc11}},
	{"SC", {.machine = machine::sc}},
	{"x86", {.machine = machine::x86}},
	{"load buffering", {.load_buffering = true}},
};

struct known {
	const char *name;
	litmus program;
	std::vector<clause> outcome; /* of which all hold */
	/* One of each of `rules`, where it is known. */
	std::optional<unsigned> executions[std::size(rules)];
	std::optional<bool> allowed[std::size(rules)];
};

/* Made of ../litmus/c.litmus. */
const known all[] = {
#include "c_litmus.inc"
};

bool has(const outcome &o, const std::vector<clause> &clauses)
{
	return std::ranges::all_of(clauses, [&o](const clause &c) {
		return (c.cpu < 0 ? o.last : o.read[unsigned(c.cpu)])[c.of] ==
		       c.value;
	});
}

/* Brute force finds others if a stored value depends on one that is read. */
bool is_constant(const op &o)
{
	return o.what != action::add && o.what != action::cas;
}

void check_by_force(const litmus &l, const model::options &how,
		    const outcomes &found)
{
	const bool opens = how.load_buffering;
	outcomes brute;

	CHECK(enumerate(l, how.sequence, 100'000, brute, sc_axiom::rc11,
			how.machine,
			opens ? causality::open : causality::acyclic));
	if (!opens || std::ranges::all_of(l.threads, [](const thread &t) {
		    return std::ranges::all_of(t, is_constant);
	    }))
		CHECK(found == brute);
	for (const auto &[what, times] : found)
		CHECK(brute[what] >= times);
}

} // namespace

TEST_CASE("litmus: each program has its executions, and no others")
{
	for (const known &k : all) {
		for (unsigned i = 0; i < std::size(rules); i++) {
			model::result r;
			const outcomes found = run(k.program, rules[i].how, r);
			const auto many = r.complete + r.load_buffered;
			const bool seen =
				std::ranges::any_of(found, [&k](auto &one) {
					return has(one.first, k.outcome);
				});

			INFO(k.name << ", " << rules[i].name << "\n"
				    << text(k.program));
			for (const auto &[what, times] : found)
				UNSCOPED_INFO(times << " x " << what);
			CHECK(r.exhaustive);
			CHECK(many == k.executions[i].value_or(many));
			CHECK(seen == k.allowed[i].value_or(seen));
			check_by_force(k.program, rules[i].how, found);
		}
	}
}

/*
 * The checker's order of SC operations is RC11's, which is not the standard's.
 * It must never forbid what the standard allows; the other way round it may.
 */
TEST_CASE("litmus: no execution of ISO C++20 is left out for SC's sake")
{
	constexpr auto cxx20 = release_sequence::cxx20;
	std::vector<std::string> iso_orders_more;

	for (const known &k : all) {
		outcomes rc11, iso;

		CHECK(enumerate(k.program, cxx20, 100'000, rc11));
		CHECK(enumerate(k.program, cxx20, 100'000, iso, sc_axiom::iso));
		for (const auto &[what, times] : iso) {
			INFO(k.name << "\n" << text(k.program) << what);
			CHECK(rc11[what] >= times);
		}
		if (rc11 != iso)
			iso_orders_more.push_back(k.name);
	}
	REQUIRE(iso_orders_more.size() == 1);
	CHECK(iso_orders_more[0].ends_with(": IRIW+rels+scs"));
}

/* C++20 took a CPU's own later relaxed store out of release sequences. */
TEST_CASE("release_sequences: C++20's rule is what one gets")
{
	for (const known &k : all) {
		model::result r;

		INFO(k.name);
		CHECK(run(k.program, {}, r) ==
		      run(k.program, {.sequence = release_sequence::cxx20}, r));
	}
}

} // namespace of_litmus

namespace of_release_sequences {

using klock::atomic;
using klock::u32;
using klock::u8;
using model::release_sequence;

TEST_CASE("release_sequences: data behind an own relaxed store are a race")
{
	struct message {
		klock::plain<int> data;
		atomic<u8> ready;
	};
	const auto pass = [](model::options how) {
		how.sections = {1, 1};
		return model::explore<message>(
			how, [](message &m, unsigned cpu) {
				if (cpu == 0) {
					m.data.set(7);
					m.ready.store_release(1);
					m.ready.store_relaxed(2);
				} else if (m.ready.load_acquire() == 2) {
					model::check(m.data.get() == 7);
				}
			});
	};

	CHECK(pass({}).found == model::bug::data_race);
	CHECK(pass({.sequence = release_sequence::cxx20}).found ==
	      model::bug::data_race);
	const auto before = pass({.sequence = release_sequence::rc11});
	verdict::right_by(3, before);
}

/*
 * A writer that writes twice marks its second write by a relaxed store on top
 * of the release of its first. Who reads that mark has, by RC11, seen the first
 * write; by C++20, nothing. Each reader by itself: 71 or 81 ways.
 */
TEST_CASE("release_sequences: a seqlock's executions, two writes, two readers")
{
	struct seqlock {
		atomic<u32> sequence, a, b;
	};
	const auto count = [](model::options how) {
		how.sections = {2, 1, 1};
		return model::explore<seqlock>(how, [](seqlock &s,
						       unsigned cpu) {
			if (cpu == 0) {
				const u32 was = s.sequence.load_relaxed();
				s.sequence.store_relaxed(was + 1);
				klock::fence_release();
				s.a.store_relaxed(was);
				s.b.store_relaxed(was);
				s.sequence.store_release(was + 2);
			} else {
				const u32 was = s.sequence.load_acquire();
				const u32 a = s.a.load_relaxed();
				const u32 b = s.b.load_relaxed();
				klock::fence_acquire();
				const u32 is = s.sequence.load_relaxed();
				model::check(a == b || was != is ||
					     was % 2 == 1);
			}
		});
	};
	const auto now = count({});
	const auto before = count({.sequence = release_sequence::rc11});

	INFO(now.timeline << before.timeline);
	verdict::right_by(6561, now);
	CHECK(before.ok());
	CHECK(before.complete == 5041);
}

} // namespace of_release_sequences

namespace of_machines {

/* Code that is right on x86 and wrong on Arm. */

namespace {

/* All orders were left out: x86 gives most of them anyway. */
struct published {
	klock::atomic<klock::u8> ready;
	klock::plain<int> data;
};

bool is_published(model::machine on)
{
	return model::explore<published>(
		       {.sections = {1, 1}, .machine = on},
		       [](published &p, unsigned cpu) {
			       if (cpu == 0) {
				       p.data.set(7);
				       p.ready.store_relaxed(1);
			       } else if (p.ready.load_relaxed()) {
				       model::check(p.data.get() == 7);
			       }
		       })
		.ok();
}

struct flags {
	klock::atomic<klock::u8> mine[2];
	klock::atomic<klock::u8> inside;
};

/* Each shows its flag, then looks at the other's: SC alone keeps them apart. */
bool is_exclusive(model::machine on, bool fence)
{
	return model::explore<flags>(
		       {.sections = {1, 1}, .machine = on},
		       [fence](flags &f, unsigned cpu) {
			       f.mine[cpu].store_relaxed(1);
			       if (fence)
				       klock::fence_seq_cst();
			       if (f.mine[1 - cpu].load_relaxed())
				       return;
			       model::check(f.inside.fetch_add_relaxed(1) == 0);
		       })
		.ok();
}

} // namespace

TEST_CASE("machines: data behind a relaxed store are published on x86")
{
	CHECK(is_published(model::machine::sc));
	CHECK(is_published(model::machine::x86));
	CHECK_FALSE(is_published(model::machine::rc11));
}

TEST_CASE("machines: a flag shown and a look at another want a full fence")
{
	CHECK(is_exclusive(model::machine::sc, false));
	CHECK_FALSE(is_exclusive(model::machine::x86, false));
	CHECK_FALSE(is_exclusive(model::machine::rc11, false));
	for (auto on :
	     {model::machine::sc, model::machine::x86, model::machine::rc11})
		CHECK(is_exclusive(on, true));
}

/* A store to a half is no read: it does not order what is behind it. */
TEST_CASE("machines: a store to half of a pair waits in the buffer, too")
{
	struct pairs {
		klock::atomic_pair<klock::u8> a, b;
	};
	const auto both_zero = [](model::machine on) {
		using klock::half;
		return !model::explore<pairs>(
				{.sections = {1, 1}, .machine = on},
				[](pairs &p, unsigned cpu) {
					auto &to = cpu ? p.b : p.a;
					auto &from = cpu ? p.a : p.b;
					to.store_relaxed(half::first, 1);
					const bool old =
						!from.load_relaxed(half::first);
					to.store_relaxed(half::second,
							 old ? 1 : 2);
				},
				[](pairs &p) {
					using klock::half;
					const auto a =
						p.a.load_relaxed(half::second);
					const auto b =
						p.b.load_relaxed(half::second);
					model::check(!(a == 1 && b == 1));
				})
				.ok();
	};

	CHECK_FALSE(both_zero(model::machine::sc));
	CHECK(both_zero(model::machine::x86));
	CHECK(both_zero(model::machine::rc11));
}

} // namespace of_machines

namespace of_load_buffering {

/*
 * Load buffering: what RC11 rules out and ISO C++ leaves open; small programs,
 * worked out by hand. Random ones: test_random.cpp.
 */

namespace {

using klock::atomic;
using klock::plain;

struct world {
	atomic<unsigned> x{0}, y{0}, z{0}, w{0};
	plain<unsigned> data{0};
	unsigned r0 = 9, r1 = 9, r2 = 9;
};

/* Checks what is seen with the option, and that nothing is without it. */
template <typename... Thread>
model::result both_ways(bool (*odd)(const world &), Thread... each)
{
	const auto end = [odd](world &w) { model::check(!odd(w), "not odd"); };
	const auto plainly = model::explore_threads<world>({}, end, each...);

	verdict::right(plainly);
	CHECK(plainly.load_buffered == 0);
	return model::explore_threads<world>({.load_buffering = true}, end,
					     each...);
}

void check_found(const model::result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.found == model::bug::failed_check);
	CHECK(r.open);
	CHECK(r.message == "failed: not odd, by load buffering: RC11 rules it "
			   "out, ISO C++ leaves it open");
	CHECK(verdict::has(r.timeline, ", below\n"));
	CHECK(verdict::has(r.svg, "class=\"old\""));
}

void check_not_found(const model::result &r, klock::u64 others)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK_FALSE(r.open);
	CHECK(r.exhaustive);
	CHECK(r.load_buffered == others);
}

bool both_new(const world &w) { return w.r0 == 1 && w.r1 == 1; }
bool any_new(const world &w) { return w.r0 || w.r1; }
bool other_new(const world &w) { return w.r1 > 1; }

using step = void (*)(world &, unsigned loaded);

/* CPU 0 loads x, CPU 1 y, and each then does that with what it has loaded. */
model::result crossed(bool (*odd)(const world &), step left, step right)
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

void set_y(world &w, unsigned) { w.y.store_relaxed(1); }
void set_x(world &w, unsigned) { w.x.store_relaxed(1); }

struct crossing {
	const char *name;
	step left, right;
	bool is_found;
	klock::u64 others = 0; /* found beyond RC11, of what is not odd */
	bool (*odd)(const world &) = both_new;
};

const crossing crossings[] = {
	{"one hands on what it has read, the other does not look",
	 [](world &w, unsigned r) { w.y.store_relaxed(r); }, set_x, true},
	{"a store on both ways of a branch depends on neither",
	 [](world &w, unsigned r) {
		 r ? w.y.store_relaxed(1) : w.y.store_relaxed(1);
	 },
	 set_x, true},
	/* Each reads the other's 0: one execution, in which all is 0. */
	{"no values out of thin air",
	 [](world &w, unsigned r) { w.y.store_relaxed(r); },
	 [](world &w, unsigned r) { w.x.store_relaxed(r); }, false, 1, any_new},
	{"no store that is made only if there is one",
	 [](world &w, unsigned r) {
		 if (r)
			 w.y.store_relaxed(1);
	 },
	 [](world &w, unsigned r) {
		 if (r)
			 w.x.store_relaxed(1);
	 },
	 false},
	{"none whose value is another then",
	 [](world &w, unsigned r) { w.y.store_relaxed(r + 1); },
	 [](world &w, unsigned r) { w.x.store_relaxed(r); }, false, 0,
	 other_new},
	{"what else is written may be another value",
	 [](world &w, unsigned r) {
		 w.z.store_relaxed(r);
		 set_y(w, r);
	 },
	 [](world &w, unsigned r) {
		 w.w.store_relaxed(r);
		 set_x(w, r);
	 },
	 true},
	{"but not another operation",
	 [](world &w, unsigned r) {
		 if (r)
			 w.z.store_relaxed(1);
		 set_y(w, r);
	 },
	 [](world &w, unsigned r) {
		 if (r)
			 w.w.store_relaxed(1);
		 set_x(w, r);
	 },
	 false},
};

} // namespace

TEST_CASE("load buffering: two CPUs store what the other has loaded before")
{
	const auto r = crossed(both_new, set_y, set_x);

	check_found(r);
	CHECK(r.load_buffered == 1);
	CHECK(r.complete == 3);
}

TEST_CASE("load buffering: what a store depends on, and what it does not")
{
	for (const crossing &c : crossings) {
		INFO(c.name);
		const auto r = crossed(c.odd, c.left, c.right);

		c.is_found ? check_found(r) : check_not_found(r, c.others);
	}
}

TEST_CASE("load buffering: around three CPUs")
{
	check_found(both_ways(
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

template <typename Between, typename Other>
static void check_none_after(Between, Other)
{
	check_not_found(crossed(
				both_new,
				[](world &w, unsigned r) {
					Between()(w.z, r);
					set_y(w, r);
				},
				[](world &w, unsigned r) {
					Other()(w.w, r);
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

	check_none_after(loads, loads);
	check_none_after(stores, stores);
	check_none_after(fences, loads);
	check_none_after(steps, steps);
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
	check_not_found(both_ways(
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

static void publishes(world &w)
{
	w.r1 = w.y.load_relaxed();
	w.data.set(5);
	w.x.store_release(1);
	w.z.store_relaxed(1);
}

/* The flag says that the data are there, to a fence after the store. */
TEST_CASE("load buffering: what happens before it goes before it")
{
	check_not_found(
		both_ways([](const world &w) { return w.r0 && w.r2 != 5; },
			  [](world &w) {
				  w.r0 = w.x.load_relaxed();
				  w.y.store_relaxed(1);
				  klock::fence_acquire();
				  if (w.r0)
					  w.r2 = w.data.get();
				  w.w.store_relaxed(w.z.load_relaxed());
			  },
			  publishes),
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
			  publishes);
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
	check_found(both_ways([](const world &) { return false; }, loads,
			      [](world &w) {
				      w.r1 = w.y.load_relaxed();
				      if (w.r1)
					      w.x.store_relaxed(1);
			      }));
	check_not_found(both_ways([](const world &) { return false; },
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
		check_not_found(r, 0);
	}
}

} // namespace of_load_buffering
