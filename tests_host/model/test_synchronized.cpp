/* SPDX-License-Identifier: MIT */
/*
 * synchronized and irq_lock: no access to the data races, and a handler that
 * takes what its own CPU holds finds interrupts off.
 */
#include "proof.hpp"

#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/plain.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

using klock::irq_lock;
using klock::plain;
using klock::synchronized;
using klock::u32;
using klock::u8;
using model::bug;
using model::check;
using model::options;
using model::result;
using ticket = klock::ticket_lock<u8>;

namespace {

/* The checker sees each access to it. */
struct counter {
	plain<u32> value;
	void add() { value.set(value.get() + 1); }
};

template <typename L>
struct world {
	synchronized<counter, L> data;
	/* On the host: tries in vain, and interrupts. */
	u32 failed = 0, handled = 0;
};

template <typename L>
result all_are_counted(const options &how)
{
	u32 expected = 0;

	for (unsigned sections : how.sections)
		expected += 2 * sections;
	return model::explore<world<L>>(
		how,
		[](world<L> &w, unsigned) {
			w.data.with([](counter &c) { c.add(); });
			if (auto held = w.data.try_lock())
				held->add();
			else
				w.failed++;
		},
		[expected](world<L> &w) {
			const u32 counted = w.data.without_lock().value.get();

			check(counted + w.failed == expected + w.handled,
			      "an update is lost");
		},
		[](world<L> &w, unsigned) {
			auto held = w.data.lock();
			held->add();
			w.handled++;
		});
}

} // namespace

TEST_CASE("synchronized: no update is lost, no access races")
{
	const auto passes = [](const result &r) {
		INFO(r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete >= 2);
	};

	passes(all_are_counted<ticket>({.sections = {1, 1}}));
	passes(all_are_counted<ticket>({.sections = {2, 2}}));
	passes(all_are_counted<klock::mcs_lock>({.sections = {1, 1}}));
	passes(all_are_counted<irq_lock<ticket>>({.sections = {1, 1}}));
}

TEST_CASE("irq_lock: a handler takes what its own CPU takes")
{
	const options interrupted{.sections = {1, 1}, .interrupts = 1};
	const result off = all_are_counted<irq_lock<ticket>>(interrupted);

	INFO(off.message << "\n" << off.timeline);
	CHECK(off.ok());
	CHECK(off.exhaustive);
	CHECK(off.complete >= 100);
	/* The same without the type that says so. */
	CHECK(all_are_counted<ticket>(interrupted).found == bug::deadlock);
}
