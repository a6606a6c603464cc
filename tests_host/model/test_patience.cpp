/* SPDX-License-Identifier: MIT */
/*
 * Waits with patience or a deadline: each look that may be the last is, in some
 * execution, and options.patient takes that away.
 */
#include <klock/atomic.hpp>
#include <model/model.hpp>
#include <operations/recorder.hpp>

#include <catch.hpp>

#include <set>

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

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
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
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 1);
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
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 1);
	CHECK(seen == std::set<u8>{2});
}

/* -- What an engine is told -------------------------------------------------
 */

namespace {

using klock::order;
using namespace klock::tests;

/* One wait was asked for: on x, in this order, with this patience. */
template <typename T>
bool told(const recorder &r, const klock::atomic<T> &x, order o, u32 looks)
{
	if (r.calls.size() != 1)
		return false;
	const call &c = r.calls[0];

	return c.what == request::patient_wait && c.ord == o && c.at.at == &x &&
	       c.at.bits == 8 * sizeof(T) && c.at.shift == 0 &&
	       c.operand == looks && c.where.line == 42;
}

} // namespace

TEST_CASE("patience: an engine is told the order, the bits and the number")
{
	const klock::site there{"caller.cpp", 42};

	all_types::for_each([there]<typename T>() {
		const T found = value_of<T>(~u64{0});

		for (const u32 looks : {0u, 7u, endless}) {
			const auto patience = [=](T v) {
				return v == found ? looks : u32{1};
			};
			klock::atomic<T> x{};
			{
				recorder r(bits_of(found));
				CHECK(x.await_patient_relaxed(patience,
							      there) == found);
				CHECK(told(r, x, order::relaxed, looks));
			}
			recorder r(bits_of(found));
			CHECK(x.await_patient_acquire(patience, there) ==
			      found);
			CHECK(told(r, x, order::acquire, looks));
		}
	});
}

TEST_CASE("deadline: an engine is told the order, the bits and the time")
{
	const klock::site there{"caller.cpp", 42};

	all_types::for_each([there]<typename T>() {
		const T found = value_of<T>(~u64{0});
		const auto done = [=](T v) { return v == found; };
		klock::atomic<T> x{};

		for (const order o : {order::relaxed, order::acquire}) {
			recorder r(bits_of(found));
			CHECK((o == order::relaxed
				       ? x.await_until_relaxed(done, 77, there)
				       : x.await_until_acquire(
						 done, 77, there)) == found);
			REQUIRE(r.calls.size() == 1);
			const call &c = r.calls[0];
			CHECK(c.what == request::timed_wait);
			CHECK(c.ord == o);
			CHECK(c.at.at == &x);
			CHECK(c.at.bits == 8 * sizeof(T));
			CHECK(c.operand == 1);
			CHECK(c.expected == 77);
			CHECK(c.where.line == 42);
		}
	});
}
