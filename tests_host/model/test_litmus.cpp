/* SPDX-License-Identifier: MIT */
/*
 * The known small programs of the memory-model literature: how many executions
 * each has, and whether the one it is known for is among them. The counts are
 * worked out by hand from the axioms; brute force (reference/) agrees.
 */
#include "reference/rc11.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <catch.hpp>

namespace of_litmus {

using namespace reference;

namespace {

using enum klock::order;

constexpr unsigned x = 0, y = 1, z = 2;

op R(unsigned at, order o) { return {action::load, at, o, 0, 0}; }
op W(unsigned at, u64 v, order o) { return {action::store, at, o, v, 0}; }
op X(unsigned at, u64 v, order o) { return {action::exchange, at, o, v, 0}; }
op A(unsigned at, u64 v, order o) { return {action::add, at, o, v, 0}; }
op C(unsigned at, u64 from, u64 to, order o)
{
	return {action::cas, at, o, to, from};
}
op F(order o) { return {action::fence, 0, o, 0, 0}; }

struct known {
	const char *name;
	std::vector<thread> threads;
	unsigned executions;
	/* What is read, thread by thread, and the last values of x, y, z. */
	std::vector<std::vector<u64>> read;
	std::vector<u64> last;
	bool seen;
};

const known all[] = {
	{"SB relaxed",
	 {{W(x, 1, relaxed), R(y, relaxed)}, {W(y, 1, relaxed), R(x, relaxed)}},
	 4,
	 {{0}, {0}},
	 {1, 1, 0},
	 true},
	{"SB release, acquire",
	 {{W(x, 1, release), R(y, acquire)}, {W(y, 1, release), R(x, acquire)}},
	 4,
	 {{0}, {0}},
	 {1, 1, 0},
	 true},
	{"SB SC",
	 {{W(x, 1, seq_cst), R(y, seq_cst)}, {W(y, 1, seq_cst), R(x, seq_cst)}},
	 3,
	 {{0}, {0}},
	 {1, 1, 0},
	 false},
	{"SB, one access not SC",
	 {{W(x, 1, seq_cst), R(y, seq_cst)}, {W(y, 1, release), R(x, seq_cst)}},
	 4,
	 {{0}, {0}},
	 {1, 1, 0},
	 true},
	{"SB, SC fences",
	 {{W(x, 1, relaxed), F(seq_cst), R(y, relaxed)},
	  {W(y, 1, relaxed), F(seq_cst), R(x, relaxed)}},
	 3,
	 {{0}, {0}},
	 {1, 1, 0},
	 false},
	{"SB, weaker fences",
	 {{W(x, 1, relaxed), F(acq_rel), R(y, relaxed)},
	  {W(y, 1, relaxed), F(seq_cst), R(x, relaxed)}},
	 4,
	 {{0}, {0}},
	 {1, 1, 0},
	 true},
	{"SB, an SC fence against SC accesses",
	 {{W(x, 1, relaxed), F(seq_cst), R(y, relaxed)},
	  {W(y, 1, seq_cst), R(x, seq_cst)}},
	 3,
	 {{0}, {0}},
	 {1, 1, 0},
	 false},
	{"MP relaxed",
	 {{W(x, 1, relaxed), W(y, 1, relaxed)}, {R(y, relaxed), R(x, relaxed)}},
	 4,
	 {{}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"MP release, acquire",
	 {{W(x, 1, relaxed), W(y, 1, release)}, {R(y, acquire), R(x, relaxed)}},
	 3,
	 {{}, {1, 0}},
	 {1, 1, 0},
	 false},
	{"MP release, relaxed",
	 {{W(x, 1, relaxed), W(y, 1, release)}, {R(y, relaxed), R(x, relaxed)}},
	 4,
	 {{}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"MP, fences",
	 {{W(x, 1, relaxed), F(release), W(y, 1, relaxed)},
	  {R(y, relaxed), F(acquire), R(x, relaxed)}},
	 3,
	 {{}, {1, 0}},
	 {1, 1, 0},
	 false},
	{"MP, a release fence alone",
	 {{W(x, 1, relaxed), F(release), W(y, 1, relaxed)},
	  {R(y, relaxed), R(x, relaxed)}},
	 4,
	 {{}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"LB relaxed: RC11 has no thin air",
	 {{R(x, relaxed), W(y, 1, relaxed)}, {R(y, relaxed), W(x, 1, relaxed)}},
	 3,
	 {{1}, {1}},
	 {1, 1, 0},
	 false},
	{"IRIW release, acquire",
	 {{W(x, 1, release)},
	  {W(y, 1, release)},
	  {R(x, acquire), R(y, acquire)},
	  {R(y, acquire), R(x, acquire)}},
	 16,
	 {{}, {}, {1, 0}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"IRIW SC",
	 {{W(x, 1, seq_cst)},
	  {W(y, 1, seq_cst)},
	  {R(x, seq_cst), R(y, seq_cst)},
	  {R(y, seq_cst), R(x, seq_cst)}},
	 15,
	 {{}, {}, {1, 0}, {1, 0}},
	 {1, 1, 0},
	 false},
	{"IRIW, SC fences between the reads",
	 {{W(x, 1, relaxed)},
	  {W(y, 1, relaxed)},
	  {R(x, relaxed), F(seq_cst), R(y, relaxed)},
	  {R(y, relaxed), F(seq_cst), R(x, relaxed)}},
	 15,
	 {{}, {}, {1, 0}, {1, 0}},
	 {1, 1, 0},
	 false},
	{"WRC relaxed",
	 {{W(x, 1, relaxed)},
	  {R(x, relaxed), W(y, 1, relaxed)},
	  {R(y, relaxed), R(x, relaxed)}},
	 8,
	 {{}, {1}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"WRC release, acquire: what was read is known",
	 {{W(x, 1, relaxed)},
	  {R(x, acquire), W(y, 1, release)},
	  {R(y, acquire), R(x, relaxed)}},
	 7,
	 {{}, {1}, {1, 0}},
	 {1, 1, 0},
	 false},
	{"2+2W relaxed",
	 {{W(x, 1, relaxed), W(y, 2, relaxed)},
	  {W(y, 1, relaxed), W(x, 2, relaxed)}},
	 4,
	 {{}, {}},
	 {1, 1, 0},
	 true},
	{"2+2W SC",
	 {{W(x, 1, seq_cst), W(y, 2, seq_cst)},
	  {W(y, 1, seq_cst), W(x, 2, seq_cst)}},
	 3,
	 {{}, {}},
	 {1, 1, 0},
	 false},
	{"R, one SC fence: still there",
	 {{W(x, 1, relaxed), W(y, 1, relaxed)},
	  {W(y, 2, relaxed), F(seq_cst), R(x, relaxed)}},
	 4,
	 {{}, {0}},
	 {1, 2, 0},
	 true},
	{"R, two SC fences",
	 {{W(x, 1, relaxed), F(seq_cst), W(y, 1, relaxed)},
	  {W(y, 2, relaxed), F(seq_cst), R(x, relaxed)}},
	 3,
	 {{}, {0}},
	 {1, 2, 0},
	 false},
	{"CoRR: no read goes back",
	 {{W(x, 1, relaxed)}, {R(x, relaxed), R(x, relaxed)}},
	 3,
	 {{}, {1, 0}},
	 {1, 0, 0},
	 false},
	{"CoRR of two writes",
	 {{W(x, 1, relaxed)},
	  {W(x, 2, relaxed)},
	  {R(x, relaxed), R(x, relaxed)}},
	 12,
	 {{}, {}, {1, 2}},
	 {1, 0, 0},
	 false},
	{"CoWR: its own write or a later one",
	 {{W(x, 1, relaxed), R(x, relaxed)}, {W(x, 2, relaxed)}},
	 3,
	 {{2}, {}},
	 {1, 0, 0},
	 false},
	{"CoRW: not what comes after",
	 {{R(x, relaxed), W(x, 1, relaxed)}, {W(x, 2, relaxed)}},
	 3,
	 {{2}, {}},
	 {2, 0, 0},
	 false},
	{"CoWW",
	 {{W(x, 1, relaxed), W(x, 2, relaxed)}},
	 1,
	 {{}},
	 {1, 0, 0},
	 false},
	{"release sequence: an RMW carries it on",
	 {{W(x, 1, relaxed), W(y, 1, release)},
	  {A(y, 1, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 9,
	 {{}, {1}, {2, 0}},
	 {1, 2, 0},
	 false},
	{"release sequence: another's store ends it",
	 {{W(x, 1, relaxed), W(y, 1, release)},
	  {R(y, relaxed), W(y, 2, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 15,
	 {{}, {1}, {2, 0}},
	 {1, 2, 0},
	 true},
	{"release sequence: its own relaxed store",
	 {{W(x, 1, relaxed), W(y, 1, release), W(y, 2, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 5,
	 {{}, {2, 0}},
	 {1, 2, 0},
	 true},
	{"atomicity: two exchanges",
	 {{X(x, 1, relaxed)}, {X(x, 2, relaxed)}},
	 2,
	 {{0}, {0}},
	 {1, 0, 0},
	 false},
	{"atomicity: three adds",
	 {{A(x, 1, relaxed)}, {A(x, 1, relaxed)}, {A(x, 1, relaxed)}},
	 6,
	 {{0}, {0}, {1}},
	 {2, 0, 0},
	 false},
	{"atomicity: a store does not come between",
	 {{A(x, 10, relaxed)}, {W(x, 1, relaxed)}},
	 2,
	 {{0}, {}},
	 {10, 0, 0},
	 false},
	{"atomicity: one of two swaps",
	 {{C(x, 0, 1, relaxed)}, {C(x, 0, 2, relaxed)}},
	 2,
	 {{0}, {0}},
	 {1, 0, 0},
	 false},
	{"atomicity: a swap that fails only reads",
	 {{C(x, 7, 1, relaxed)}, {W(x, 2, relaxed)}},
	 2,
	 {{2}, {}},
	 {1, 0, 0},
	 false},
	{"SC RMWs order like SC accesses",
	 {{X(x, 1, seq_cst), R(y, seq_cst)}, {X(y, 1, seq_cst), R(x, seq_cst)}},
	 3,
	 {{0, 0}, {0, 0}},
	 {1, 1, 0},
	 false},
	{"acquire-release RMWs do not",
	 {{X(x, 1, acq_rel), R(y, acquire)}, {X(y, 1, acq_rel), R(x, acquire)}},
	 4,
	 {{0, 0}, {0, 0}},
	 {1, 1, 0},
	 true},
	{"SC through happens-before by way of other locations",
	 {{W(x, 1, seq_cst), W(y, 1, release)},
	  {R(y, acquire), R(z, seq_cst)},
	  {W(z, 1, seq_cst), R(x, seq_cst)}},
	 7,
	 {{}, {1, 0}, {0}},
	 {1, 1, 1},
	 false},
	{"SC from a fence to the access behind it",
	 {{W(x, 2, relaxed), F(seq_cst), R(z, seq_cst)},
	  {W(z, 1, seq_cst), W(x, 1, seq_cst)}},
	 3,
	 {{0}, {}},
	 {2, 0, 1},
	 false},
	{"SC from a fence to an access that happens after it",
	 {{W(x, 2, relaxed), F(seq_cst), W(y, 1, release)},
	  {R(y, acquire), R(z, seq_cst)},
	  {W(z, 1, seq_cst), W(x, 1, seq_cst)}},
	 7,
	 {{}, {1, 0}, {}},
	 {2, 1, 1},
	 false},
	{"IRIW, SC reads of release stores: ISO orders these, RC11 does not",
	 {{W(x, 1, release)},
	  {W(y, 1, release)},
	  {R(x, seq_cst), R(y, seq_cst)},
	  {R(y, seq_cst), R(x, seq_cst)}},
	 16,
	 {{}, {}, {1, 0}, {1, 0}},
	 {1, 1, 0},
	 true},
	{"Z6.U: SC is weaker than in C++11",
	 {{W(x, 1, seq_cst), W(y, 1, release)},
	  {A(y, 1, seq_cst), R(z, relaxed)},
	  {W(z, 1, seq_cst), R(x, seq_cst)}},
	 8,
	 {{}, {1, 0}, {0}},
	 {1, 2, 1},
	 true},
};

} // namespace

TEST_CASE("litmus: each program has its executions, and no others")
{
	for (const known &k : all) {
		const litmus l{3, k.threads};
		model::result r;
		const outcomes found = run(l, {}, r);
		const bool seen = found.count(spell(k.read, k.last));

		INFO(k.name << "\n" << text(l));
		for (const auto &[what, times] : found)
			UNSCOPED_INFO(times << " x " << what);
		CHECK(r.exhaustive);
		CHECK(r.complete == k.executions);
		CHECK(seen == k.seen);

		for (const auto by :
		     {release_sequence::cxx20, release_sequence::rc11}) {
			outcomes brute;
			CHECK(enumerate(l, by, 100'000, brute));
			CHECK(run(l, {.sequence = by}, r) == brute);
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
		const litmus l{3, k.threads};
		outcomes rc11, iso;

		CHECK(enumerate(l, cxx20, 100'000, rc11));
		CHECK(enumerate(l, cxx20, 100'000, iso, sc_axiom::iso));
		for (const auto &[what, times] : iso) {
			INFO(text(l) << what);
			CHECK(rc11[what] >= times);
		}
		if (rc11 != iso)
			iso_orders_more.push_back(k.name);
	}
	REQUIRE(iso_orders_more.size() == 1);
	CHECK(iso_orders_more[0].find("IRIW, SC reads of release") == 0);
}

} // namespace of_litmus

namespace of_release_sequences {

/*
 * What C++20 took out of release sequences: a CPU's own later relaxed store.
 * Programs that the two rules tell apart, and programs that look as if.
 */

using namespace reference;

namespace {

using enum klock::order;
using klock::atomic;
using klock::u32;
using klock::u8;

constexpr unsigned x = 0, y = 1;

op R(unsigned at, order o) { return {action::load, at, o, 0, 0}; }
op W(unsigned at, u64 v, order o) { return {action::store, at, o, v, 0}; }
op A(unsigned at, u64 v, order o) { return {action::add, at, o, v, 0}; }
op F(order o) { return {action::fence, 0, o, 0, 0}; }

struct rule {
	unsigned executions;
	bool stale; /* y's last value is read, and x is 0 all the same */
};

struct known {
	const char *name;
	std::vector<thread> threads;
	std::vector<std::vector<u64>> read; /* the stale outcome */
	std::vector<u64> last;
	rule cxx20, rc11;
};

const known all[] = {
	{"its own relaxed store",
	 {{W(x, 1, relaxed), W(y, 1, release), W(y, 2, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{}, {2, 0}},
	 {1, 2},
	 {5, true},
	 {4, false}},
	{"its own relaxed stores, two of them",
	 {{W(x, 1, relaxed), W(y, 1, release), W(y, 2, relaxed),
	   W(y, 3, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{}, {3, 0}},
	 {1, 3},
	 {7, true},
	 {5, false}},
	{"its own relaxed store, and another's RMW on top",
	 {{W(x, 1, relaxed), W(y, 1, release), W(y, 2, relaxed)},
	  {A(y, 10, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{}, {2}, {12, 0}},
	 {1, 12},
	 {20, true},
	 {16, false}},
	{"its own RMW stays in",
	 {{W(x, 1, relaxed), W(y, 1, release), A(y, 1, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{1}, {2, 0}},
	 {1, 2},
	 {4, false},
	 {4, false}},
	{"its own store after a release fence is behind the fence",
	 {{W(x, 1, relaxed), F(release), W(y, 1, relaxed), W(y, 2, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{}, {2, 0}},
	 {1, 2},
	 {4, false},
	 {4, false}},
	{"its own store of another place never was in",
	 {{W(x, 1, relaxed), W(x, 2, release), W(y, 2, relaxed)},
	  {R(y, acquire), R(x, relaxed)}},
	 {{}, {2, 0}},
	 {2, 2},
	 {6, true},
	 {6, true}},
};

outcomes checked_by_force(const litmus &l, release_sequence by,
			  model::result &r)
{
	const outcomes found = run(l, {.sequence = by}, r);
	outcomes brute;

	CHECK(r.exhaustive);
	CHECK(enumerate(l, by, 100'000, brute));
	CHECK(found == brute);
	return found;
}

} // namespace

TEST_CASE("release_sequences: programs that tell C++20's rule from RC11's")
{
	for (const known &k : all) {
		const litmus l{2, k.threads};
		const std::string stale = spell(k.read, k.last);

		for (const auto by :
		     {release_sequence::cxx20, release_sequence::rc11}) {
			const bool iso = by == release_sequence::cxx20;
			const rule &expected = iso ? k.cxx20 : k.rc11;
			model::result r;
			const outcomes found = checked_by_force(l, by, r);

			INFO(k.name << (iso ? ", C++20" : ", RC11"));
			for (const auto &[what, times] : found)
				UNSCOPED_INFO(times << " x " << what);
			CHECK(r.complete == expected.executions);
			CHECK(found.count(stale) == expected.stale);
		}
	}
}

TEST_CASE("release_sequences: C++20's rule is what one gets")
{
	const litmus l{2, all[0].threads};
	model::result r;

	CHECK(run(l, {}, r).size() == 5);
	CHECK(r.complete == 5);
}

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
	INFO(before.timeline);
	CHECK(before.ok());
	CHECK(before.exhaustive);
	CHECK(before.complete == 3);
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
	CHECK(now.ok());
	CHECK(now.exhaustive);
	CHECK(now.complete == 6561);
	CHECK(before.ok());
	CHECK(before.complete == 5041);
}

} // namespace of_release_sequences

namespace of_machines {

/*
 * The known small programs on machines: how many executions each has under SC,
 * on x86 and in C++, all accesses relaxed but where it says so. By hand; brute
 * force agrees. And code that is right on x86 and wrong on Arm.
 */

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

} // namespace of_machines
