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
using namespace worlds;

namespace {

template <typename L>
using checked = checked_lock<L, "runqueue">;

/* A guard takes it; interrupts are as the game says. */
template <typename L>
constexpr kind guarded =
	describe<checked<L>, guarding<checked<L>, guard<checked<L>>>>(
		"runqueue");

/* CPU 0 takes it with interrupts on, CPU 1 with interrupts off. */
template <typename L>
outcome interrupted(bool handler_comes)
{
	return play({.lock = guarded<L>,
		     .roles = "ll",
		     .handlers = "ll",
		     .interrupts_off = 2},
		    {.interrupts = handler_comes, .may_panic = true});
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

using of_two = checked<one_bit_tickets>;

/* Interrupts are off: another test checks what is noted about them. The others
 * come when CPU 0 has it, and meet it anywhere on its way out. */
outcome crowded(std::vector<unsigned> sections)
{
	return play(
		{.lock = describe<of_two, guarding<of_two, irq_guard<of_two>>>(
			 ""),
		 .roles = std::string(sections.size(), 'l'),
		 .scene = &world::newcomers},
		{.sections = sections, .may_panic = true});
}

/* An NMI handler tries, wherever it comes. */
outcome tried(unsigned sections)
{
	return play({.lock = describe<of_two>(""),
		     .roles = "l",
		     .handlers = "t",
		     .interrupts_off = everybody},
		    {.sections = {sections},
		     .interrupts = 1,
		     .non_maskable = true,
		     .may_panic = true});
}

} // namespace

TEST_CASE("checked_lock: one more contender never gets in")
{
	const auto r = crowded({1, 1, 1});

	verdict::right(r);
	CHECK(r.panicked > 0);
	CHECK(r.complete > 0);
}

TEST_CASE("checked_lock: as many contenders as fit are no crowd")
{
	for (const auto &r : {crowded({1, 3}), tried(2)}) {
		verdict::right(r);
		CHECK(r.panicked == 0);
		CHECK(r.complete > 1);
	}
}
