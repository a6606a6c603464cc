/* SPDX-License-Identifier: MIT */
/*
 * Waits with patience or a deadline: each look that may be the last is, in some
 * execution, and options.patient takes that away.
 */
#include "lock_worlds.hpp"
#include "../checker/verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/calibrate.hpp>
#include <klock/plain.hpp>
#include <klock/try_lock_until.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <operations/recorder.hpp>
#include <set>

namespace of_patience {

using klock::endless;
using klock::u32;
using klock::u64;
using klock::u8;

namespace {

struct world {
	klock::atomic<u8> value;
	u8 seen = 9; /* on the host: CPU 1's alone */
};

/* CPU 0 stores first and second; CPU 1 waits. What it has seen, in all. */
template <typename Patience>
model::result wait_for_two(unsigned patient, Patience patience,
			   std::set<u8> &seen)
{
	return model::explore<world>(
		{.sections = {1, 1}, .patient = patient},
		[patience](world &w, unsigned cpu) {
			if (cpu == 1) {
				w.seen =
					w.value.await_patient_acquire(patience);
				return;
			}
			w.value.store_release(1);
			w.value.store_release(2);
		},
		[&seen](world &w) { seen.insert(w.seen); });
}

} // namespace

TEST_CASE("patience: it may run out at every value that allows it")
{
	std::set<u8> seen;
	const auto r = wait_for_two(
		0,
		[](u8 v) { return v == 2   ? 0u
				  : v == 1 ? endless
					   : u32{1000}; },
		seen);

	verdict::right(r);
	CHECK(seen == std::set<u8>{0, 2});
	CHECK(r.complete == 2);
}

TEST_CASE("patience: a CPU that is patient waits for what needs none")
{
	const auto patience = [](u8 v) { return v == 2 ? 0u : 1u; };
	std::set<u8> seen;

	CHECK(wait_for_two(0, patience, seen).complete == 3);
	CHECK(seen == std::set<u8>{0, 1, 2});
	/* The mask is by CPU: CPU 0 does not wait here. */
	seen.clear();
	CHECK(wait_for_two(1, patience, seen).complete == 3);
	seen.clear();
	const auto r = wait_for_two(2, patience, seen);
	verdict::right_by(1, r);
	CHECK(seen == std::set<u8>{2});
}

TEST_CASE("patience: what never runs out, and never comes, is a deadlock")
{
	std::set<u8> seen;
	const auto never = [](u8) { return endless; };
	const auto some = [](u8) { return u32{1}; };

	CHECK(wait_for_two(0, never, seen).found == model::bug::deadlock);
	CHECK(wait_for_two(0, some, seen).ok());
	CHECK(wait_for_two(2, some, seen).found == model::bug::deadlock);
}

TEST_CASE("deadline: it may have passed at any look, but for who is patient")
{
	std::set<u8> seen;
	const auto until_two = [&seen](unsigned patient) {
		seen.clear();
		return model::explore<world>(
			{.sections = {1, 1}, .patient = patient},
			[](world &w, unsigned cpu) {
				if (cpu == 1) {
					w.seen = w.value.await_until_acquire(
						[](u8 v) { return v == 2; }, 7);
					return;
				}
				w.value.store_release(1);
				w.value.store_release(2);
			},
			[&seen](world &w) { seen.insert(w.seen); });
	};

	CHECK(until_two(0).complete == 3);
	CHECK(seen == std::set<u8>{0, 1, 2});
	const auto r = until_two(2);
	verdict::right_by(1, r);
	CHECK(seen == std::set<u8>{2});
}

/* -- Calls of an engine -----------------------------------------------------
 */

namespace {

using klock::order;
using namespace klock::tests;

/* One wait was asked for: on x, so, with this patience or until then. */
template <typename T>
bool told(const recorder &r, const klock::atomic<T> &x, request what, order o,
	  u64 operand, u64 expected)
{
	if (r.calls.size() != 1)
		return false;
	const call &c = r.calls[0];

	return c.what == what && c.ord == o && c.at.at == &x &&
	       c.at.bits == 8 * sizeof(T) && c.at.shift == 0 &&
	       c.operand == operand &&
	       (what == request::patient_wait || c.expected == expected) &&
	       c.where.line == 42;
}

constexpr klock::site there{"caller.cpp", 42};

/* Whether the wait returns another value, or sends another request. */
template <typename T>
bool patience_arrives_otherwise(order o, u32 looks)
{
	const T found = value_of<T>(~u64{0});
	const auto patience = [=](T v) { return v == found ? looks : u32{1}; };
	klock::atomic<T> x{};
	const recorder r(bits_of(found));
	const T got = o == order::relaxed
			      ? x.await_patient_relaxed(patience, there)
			      : x.await_patient_acquire(patience, there);

	return got != found || !told(r, x, request::patient_wait, o, looks, 0);
}

template <typename T>
bool deadline_arrives_otherwise(order o)
{
	const T found = value_of<T>(~u64{0});
	const auto done = [=](T v) { return v == found; };
	klock::atomic<T> x{};
	const recorder r(bits_of(found));
	const T got = o == order::relaxed
			      ? x.await_until_relaxed(done, 77, there)
			      : x.await_until_acquire(done, 77, there);

	return got != found || !told(r, x, request::timed_wait, o, 1, 77);
}

} // namespace

TEST_CASE("patience, deadline: an engine is told the order, the bits, how long")
{
	unsigned otherwise = 0;

	all_types::for_each([&otherwise]<typename T>() {
		for (const order o : {order::relaxed, order::acquire}) {
			for (const u32 looks : {0u, 7u, endless})
				otherwise +=
					patience_arrives_otherwise<T>(o, looks);
			otherwise += deadline_arrives_otherwise<T>(o);
		}
	});
	CHECK(otherwise == 0);
}

} // namespace of_patience

namespace of_timeout_lock {

/*
 * timeout_lock: who gives up, comes back, tries; who waits on behind them; a
 * holder that never leaves; tickets that wrap.
 */

using klock::timeout_lock;
using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;
using verdict::good;

namespace {

template <unsigned Cpus>
using whole = subject<"lock", timeout_lock<Cpus>, service::fifo>;

/*
 * Complete executions. By C++20's release sequences, which order less than
 * RC11's: what passes passes with these, too.
 */
template <typename Of>
u64 counted_by(Of of, const kind &k, options how)
{
	how.every_turn = true; /* who gives up and comes back */
	const result r = of(k, how);

	good(r);
	return r.complete;
}

template <unsigned Cpus>
u64 deadlines(std::vector<unsigned> sections, unsigned patient,
	      unsigned bits = 0)
{
	return counted_by(gives_up, kind_of<whole<Cpus>>,
			  {.sections = sections,
			   .patient = patient,
			   .counter_bits = bits});
}

template <unsigned Cpus>
u64 and_tries(std::vector<unsigned> sections, unsigned bits = 0)
{
	return counted_by(gives_up_and_tries, kind_of<whole<Cpus>>,
			  {.sections = sections, .counter_bits = bits});
}

} // namespace

TEST_CASE("timeout_lock: deadlines of nobody, of one, of all; and tries",
	  "[deep]")
{
	CHECK(deadlines<2>({2, 2}, everybody) == 78);
	CHECK(deadlines<2>({2, 2}, 0) == 560);
	CHECK(deadlines<2>({3, 3}, ~1u) == 7964);
	CHECK(and_tries<2>({4, 3}) == 30331);
	CHECK(deadlines<2>({4, 2}, 0, 2) == 26240); /* wraps */
	CHECK(deadlines<3>({1, 1, 1}, everybody) == 54);
	CHECK(deadlines<3>({1, 1, 1}, 0) == 216);
	CHECK(deadlines<3>({2, 1, 1}, 0) == 1872);
	CHECK(deadlines<3>({2, 2, 1}, ~1u) == 4830);
	CHECK(and_tries<3>({3, 1, 1}) == 2150);
}

TEST_CASE("timeout_lock: three CPUs by two sections", "[.large]")
{
	CHECK(deadlines<3>({2, 2, 2}, everybody) == 10746);
	CHECK(deadlines<3>({2, 2, 2}, ~1u) == 39150);
	CHECK(deadlines<3>({2, 2, 2}, ~3u) == 131218);
}

TEST_CASE("timeout_lock: tickets wrap, and so does the ring")
{
	CHECK(deadlines<2>({4, 1}, everybody, 2) == 33);
	CHECK(deadlines<2>({1, 5}, ~1u, 2) == 65);
	CHECK(deadlines<2>({5, 1}, ~1u, 2) == 7144);
	CHECK(and_tries<2>({1, 4}, 2) == 91);
	CHECK(and_tries<2>({2, 4}, 2) == 1501);
}

TEST_CASE("timeout_lock: a holder that never leaves holds up nobody for ever")
{
	CHECK(counted_by(holder_stays, kind_of<whole<2>>,
			 {.sections = {1, 3}}) == 10);
	CHECK(counted_by(holder_stays, kind_of<whole<3>>,
			 {.sections = {1, 2, 1}}) == 239);
	/* As it does whoever waits without a deadline. */
	CHECK(holder_stays(kind_of<whole<2>>,
			   {.sections = {1, 1}, .patient = 2})
		      .found == model::bug::deadlock);
}

/*
 * As first_come_first_served(), but CPU 2 gives up at any look, and comes back.
 * CPU 1 does not lose its place by that, nor does CPU 0 get ahead.
 */
TEST_CASE("timeout_lock: in turn, behind one that gives up and comes back")
{
	const u64 counts[] = {48, 450, 3408};
	const auto in_turn = [](const kind &k, const options &how) {
		return play({k, "llL", &world::first_come}, how);
	};

	for (unsigned times = 1; times <= 3; times++)
		CHECK(counted_by(in_turn, kind_of<whole<3>>,
				 {.sections = {1, 1, times}, .patient = ~4u}) ==
		      counts[times - 1]);
}

} // namespace of_timeout_lock

namespace of_try_lock_until {

/*
 * try_lock_until of every lock that can be tried: who gives up leaves nothing
 * behind, who gets in is alone. A CPU's clock counts here what the CPU has
 * done: a deadline is so many attempts.
 */

using namespace worlds;
using verdict::good;

namespace {

/* CPU 0 asks until so much later; the others wait as long as it takes. */
outcome asks(const kind &k, std::vector<unsigned> sections, u64 later)
{
	return play({.lock = k,
		     .roles = sections.size() == 2 ? "al" : "all",
		     .is_free_at_end = true,
		     .later = later},
		    {.sections = sections});
}

} // namespace

TEST_CASE("try_lock_until: alone inside, and nothing is left by who gives up")
{
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (!k.by.try_lock)
			continue;
		for (const u64 later : {u64{0}, u64{3}}) {
			const outcome two = asks(k, {2, 1}, later);

			INFO(later);
			good(two);
			CHECK(two.most_left_out == 2);
			good(asks(k, {1, 1, 1}, later));
		}
	}
}

} // namespace of_try_lock_until

namespace of_meter {

/*
 * calibrate's handoff_meter: a ball that goes to and fro hands on what a lock
 * would, by orders that are all needed.
 */

using model::options;
using model::result;

namespace {

/* Each side says something before its part of a handoff, and then listens. */
struct table {
	union {
		klock::handoff_meter meter;
	};
	klock::plain<unsigned> thrown, answered, finished;

	table() : meter()
	{
		model::name(meter, "ball");
		model::name(thrown, "thrown");
		model::name(answered, "answered");
		model::name(finished, "finished");
	}
	~table() {}

	void throws()
	{
		thrown.set(1);
		meter.there_and_back(1);
		model::check(answered.get() == 1, "what was answered is seen");
		finished.set(1);
		meter.finish();
		meter.~handoff_meter();
	}

	void answers()
	{
		answered.set(1);
		model::check(meter.answer_once(), "thrown to be answered");
		model::check(thrown.get() == 1, "what was thrown is seen");
		model::check(!meter.answer_once(), "thrown for the last time");
		model::check(finished.get() == 1, "what was finished is seen");
	}
};

result play(options how)
{
	how.sections = {1, 1};
	return model::explore<table>(how, [](table &t, unsigned cpu) {
		if (cpu == 0)
			t.throws();
		else
			t.answers();
	});
}

} // namespace

TEST_CASE("meter: a handoff hands on, there and back, and the meter may end")
{
	const result r = play({});

	verdict::right_by(1, r);
}

TEST_CASE("meter: each of its orders is needed")
{
	const result whole = play({.record_uses = true});
	unsigned tried = 0;

	for (const model::use &u : whole.uses) {
		if (!u.file.ends_with("klock/calibrate.hpp"))
			continue;
		for (const model::weakening &w : model::weakenings(u)) {
			INFO(model::text(w));
			CHECK_FALSE(play({.weaken = w}).ok());
			tried++;
		}
	}
	/* O1 to O6, each acquire or release: one step to relaxed. */
	CHECK(tried == 6);
}

} // namespace of_meter
