/* SPDX-License-Identifier: MIT */
/*
 * What C++20 took out of release sequences: a CPU's own later relaxed store.
 * Programs that the two rules tell apart, and programs that look as if.
 */
#include "reference/run.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <catch.hpp>

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
