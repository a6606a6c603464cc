/* SPDX-License-Identifier: MIT */
/*
 * The known small programs on machines: how many executions each has under SC,
 * on x86 and in C++, all accesses relaxed but where it says so. By hand; brute
 * force agrees. And code that is right on x86 and wrong on Arm.
 */
#include "reference/run.hpp"

#include <klock/atomic.hpp>
#include <klock/atomic_pair.hpp>
#include <klock/plain.hpp>

#include <catch.hpp>

using namespace reference;

namespace {

using enum klock::order;

constexpr unsigned x = 0, y = 1;

op R(unsigned at) { return {action::load, at, relaxed, 0, 0}; }
op W(unsigned at, u64 v, order o = relaxed)
{
	return {action::store, at, o, v, 0};
}
op X(unsigned at, u64 v) { return {action::exchange, at, relaxed, v, 0}; }
op C(unsigned at, u64 from, u64 to)
{
	return {action::cas, at, relaxed, to, from};
}
op F(order o) { return {action::fence, 0, o, 0, 0}; }
op L(unsigned at, u64 v) { return {action::loads, at, relaxed, v, 0}; }

struct known {
	const char *name;
	std::vector<thread> threads;
	unsigned sc, x86, rc11;
};

const known all[] = {
	{"SB", {{W(x, 1), R(y)}, {W(y, 1), R(x)}}, 3, 4, 4},
	{"SB, full fences",
	 {{W(x, 1), F(seq_cst), R(y)}, {W(y, 1), F(seq_cst), R(x)}},
	 3,
	 3,
	 3},
	{"SB, a full fence on one side",
	 {{W(x, 1), F(seq_cst), R(y)}, {W(y, 1), R(x)}},
	 3,
	 4,
	 4},
	{"SB, acquire-release fences are nothing on x86",
	 {{W(x, 1), F(acq_rel), R(y)}, {W(y, 1), F(acq_rel), R(x)}},
	 3,
	 4,
	 4},
	{"SB, seq_cst stores are locked",
	 {{W(x, 1, seq_cst), R(y)}, {W(y, 1, seq_cst), R(x)}},
	 3,
	 3,
	 4},
	{"SB, relaxed exchanges are locked",
	 {{X(x, 1), R(y)}, {X(y, 1), R(x)}},
	 3,
	 3,
	 4},
	{"SB, a swap that fails is locked",
	 {{W(x, 1), C(2, 9, 1), R(y)}, {W(y, 1), C(2, 9, 1), R(x)}},
	 3,
	 3,
	 4},
	{"SB, its own store is read from the buffer",
	 {{W(x, 1), R(x), R(y)}, {W(y, 1), R(y), R(x)}},
	 3,
	 4,
	 4},
	{"MP", {{W(x, 1), W(y, 1)}, {R(y), R(x)}}, 3, 3, 4},
	{"MP, a loop", {{W(x, 1), W(y, 1)}, {L(y, 1), R(x)}}, 1, 1, 2},
	{"LB", {{R(x), W(y, 1)}, {R(y), W(x, 1)}}, 3, 3, 3},
	{"2+2W", {{W(x, 1), W(y, 2)}, {W(y, 1), W(x, 2)}}, 3, 3, 4},
	{"R", {{W(x, 1), W(y, 1)}, {W(y, 2), R(x)}}, 3, 4, 4},
	{"S", {{W(x, 2), W(y, 1)}, {R(y), W(x, 1)}}, 3, 3, 4},
	{"IRIW",
	 {{W(x, 1)}, {W(y, 1)}, {R(x), R(y)}, {R(y), R(x)}},
	 15,
	 15,
	 16},
	{"WRC", {{W(x, 1)}, {R(x), W(y, 1)}, {R(y), R(x)}}, 7, 7, 8},
	{"CoRR", {{W(x, 1)}, {R(x), R(x)}}, 3, 3, 3},
};

} // namespace

TEST_CASE("machines: each program has its executions, and no others")
{
	for (const known &k : all) {
		const litmus l{3, k.threads};
		const std::pair<model::machine, unsigned> expected[] = {
			{model::machine::sc, k.sc},
			{model::machine::x86, k.x86},
			{model::machine::rc11, k.rc11},
		};

		for (const auto &[on, executions] : expected) {
			model::result r;
			outcomes brute;
			const outcomes found = run(l, {.machine = on}, r);

			INFO(k.name << ", machine " << static_cast<int>(on));
			for (const auto &[what, times] : found)
				UNSCOPED_INFO(times << " x " << what);
			CHECK(r.exhaustive);
			CHECK(r.complete == executions);
			CHECK(enumerate(l, release_sequence::cxx20, 100'000,
					brute, sc_axiom::rc11, on));
			CHECK(found == brute);
		}
	}
}

/* -- Right on x86, wrong on Arm ----------------------------------------------
 */

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
					to.store_relaxed<half::first>(1);
					const bool old = !from.load_relaxed<
						half::first>();
					to.store_relaxed<half::second>(old ? 1
									   : 2);
				},
				[](pairs &p) {
					using klock::half;
					const auto a = p.a.load_relaxed<
						half::second>();
					const auto b = p.b.load_relaxed<
						half::second>();
					model::check(!(a == 1 && b == 1));
				})
				.ok();
	};

	CHECK_FALSE(both_zero(model::machine::sc));
	CHECK(both_zero(model::machine::x86));
	CHECK(both_zero(model::machine::rc11));
}
