/* SPDX-License-Identifier: MIT */
/*
 * checked_lock, at every point at which an interrupt or another CPU may come:
 * what would wait for ever is named, what is right is not, and one contender
 * too many never gets in.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "../checker/verdict.hpp"
#include "lock_worlds.hpp"

#include <catch.hpp>

using namespace klock;
using model::bug;

namespace {

template <typename L>
struct world {
	checked_lock<L, "runqueue"> lock;
	plain<unsigned> count;
	unsigned handled = 0; /* on the host */

	template <typename Guard>
	void section()
	{
		Guard held(lock);
		count.set(count.get() + 1);
	}
};

template <typename L>
using by_guard = guard<checked_lock<L, "runqueue">>;
template <typename L>
using by_irq_guard = irq_guard<checked_lock<L, "runqueue">>;

/* CPU 0 takes it with interrupts on, CPU 1 with interrupts off. */
template <typename L>
model::result interrupted(bool handler_comes)
{
	return model::explore<world<L>>(
		{.sections = {1, 1},
		 .interrupts = handler_comes,
		 .may_panic = true},
		[](world<L> &w, unsigned cpu) {
			if (cpu == 0)
				w.template section<by_guard<L>>();
			else
				w.template section<by_irq_guard<L>>();
		},
		[](world<L> &w) {
			model::check(w.count.get() == 2 + w.handled);
		},
		[](world<L> &w, unsigned) {
			w.template section<by_guard<L>>();
			w.handled++;
		});
}

} // namespace

TEST_CASE("checked_lock: wherever a handler comes, nobody waits for ever",
	  "[deep]")
{
	const auto r = interrupted<ticket_lock<u8>>(true);

	verdict::right(r);
	CHECK(r.panicked > 0);
}

TEST_CASE("checked_lock: where no handler comes, nothing is said")
{
	const auto r = interrupted<ticket_lock<u8>>(false);

	verdict::right(r);
	CHECK(r.panicked == 0);
	CHECK(r.complete > 1);
}

namespace {

/* Room for two; a third would share a ticket with the first. */
struct one_bit_tickets {
	static constexpr u64 max_contenders = 2;

	void lock()
	{
		const u8 mine = both.fetch_add_acq_rel(one_next) >> 7;

		both.await_acquire(
			[mine](u8 now) { return (now & 1) == mine; });
	}
	[[nodiscard]] bool try_lock()
	{
		u8 found = both.load_relaxed();

		if (found >> 7 != (found & 1))
			return false;
		return both.compare_exchange_acquire(
			found, static_cast<u8>(found + one_next));
	}
	void unlock()
	{
		both.fetch_add_release(both.load_relaxed() & 1 ? 0xff : 1);
	}

      private:
	static constexpr u8 one_next = 0x80;

	/* next in the top bit, owner in the lowest */
	atomic<u8> both;
};

/* Interrupts are off: another test checks what is noted about them. */
template <typename World>
void section(World &w)
{
	irq_guard held(w.lock);
	w.count.set(w.count.get() + 1);
}

/* The others come when CPU 0 has it, and meet it anywhere on its way out. */
model::result crowd(const std::vector<unsigned> &sections)
{
	struct leaving : world<one_bit_tickets> {
		atomic<u8> taken;
	};

	return model::explore<leaving>(
		{.sections = sections, .may_panic = true},
		[](leaving &w, unsigned cpu) {
			if (cpu != 0) {
				w.taken.await_eq_acquire(1);
				section(w);
				return;
			}
			irq_guard held(w.lock);
			w.taken.store_release(1);
			w.count.set(w.count.get() + 1);
		});
}

/* An NMI handler tries, wherever it comes. */
model::result tried(const std::vector<unsigned> &sections)
{
	using tried_world = world<one_bit_tickets>;

	return model::explore<tried_world>(
		{.sections = sections,
		 .interrupts = 1,
		 .non_maskable = true,
		 .may_panic = true},
		[](tried_world &w, unsigned) { section(w); },
		[](tried_world &) {},
		[](tried_world &w, unsigned) {
			if (!w.lock.try_lock())
				return;
			w.count.set(w.count.get() + 1);
			w.lock.unlock();
		});
}

} // namespace

TEST_CASE("checked_lock: one more contender never gets in")
{
	const auto r = crowd({1, 1, 1});

	verdict::right(r);
	CHECK(r.panicked > 0);
	CHECK(r.complete > 0);
}

TEST_CASE("checked_lock: as many contenders as fit are no crowd")
{
	for (const auto &r : {crowd({1, 3}), tried({2})}) {
		verdict::right(r);
		CHECK(r.panicked == 0);
		CHECK(r.complete > 1);
	}
}
