/* SPDX-License-Identifier: MIT */
/*
 * checked_lock, at every point at which an interrupt or another CPU may come:
 * what would wait for ever is named, what is right is not, and one contender
 * too many never gets in.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "../checker/verdict.hpp"
#include "lock_worlds.hpp"
#include "orders.hpp"

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

namespace {

/* Two at once, as CPU 1 comes when CPU 0 has left. */
struct relayed_world {
	void use()
	{
		const irq_state before = irq_save();

		lock.lock();
		lock.unlock();
		irq_restore(before);
	}

	of_two lock;
	atomic<u32> is_gone;
};

model::result relayed(options how)
{
	how.sections = {1, 1, 1};
	return model::explore<relayed_world>(
		how,
		[](relayed_world &of, unsigned cpu) {
			if (cpu == 1)
				of.is_gone.await_eq_acquire(1);
			of.use();
			if (cpu == 0)
				of.is_gone.store_release(1);
		},
		[](relayed_world &) {});
}

/* Room for two, who read or write. */
struct two_readers : rw_ticket_lock<u8> {
	static constexpr u64 max_contenders = 2, max_readers = 2;
};

/* CPU 0 leaves as a writer and arrives as a reader before it leaves. */
model::result downgraded(options how)
{
	how.sections = {1, 1};
	return model::explore<checked<two_readers>>(
		how,
		[](checked<two_readers> &lock, unsigned cpu) {
			const irq_state before = irq_save();

			lock.lock();
			if (cpu == 0) {
				lock.downgrade();
				lock.unlock_shared();
			} else {
				lock.unlock();
			}
			irq_restore(before);
		},
		[](checked<two_readers> &) {});
}

} // namespace

TEST_CASE("checked_lock: who comes when another has left is no crowd")
{
	verdict::good(relayed({}));
	verdict::good(downgraded({}));
}

TEST_CASE("checked_lock: the orders of its arrivals are needed")
{
	const auto clients = [](const options &how, auto enough) {
		return enough(relayed(how)) || enough(downgraded(how));
	};
	unsigned tried = 0;

	for (const orders::use &u : orders::uses(clients)) {
		if (!u.file.ends_with("/detail/checked.hpp") ||
		    u.what != model::operation::rmw)
			continue;
		for (const auto &w : model::weakenings(u)) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	}
	CHECK(tried == 3);
}

namespace {

constexpr usize first_place(usize) { return 0; }

/* The tables of owners.hpp alone, which two CPUs write at the same time. */
struct tables {
	shared_usage readers;
	lent_nodes nodes;
	owner_table<held_spin, 1, 1, first_place> one_place;
	unsigned lent = 0; /* on the host */
	char node = 0;
	char lock[2] = {};
};

} // namespace

TEST_CASE("owners: what a place held is gone when another claims it")
{
	verdict::right(model::explore<tables>(
		{.sections = {1, 1}},
		[](tables &of, unsigned cpu) {
			const usize me = key_of(cpu);
			const void *const mine = &of.lock[cpu];
			held_spin *const at = of.one_place.claim(me);

			if (!at)
				return;
			at->lock.store_relaxed(mine);
			model::check(at->has(me, mine), "another's");
			at->leave();
		},
		[](tables &) {}));
}

TEST_CASE("owners: two readers that come at the same time have two places")
{
	verdict::right(model::explore<tables>(
		{.sections = {1, 1}},
		[](tables &of, unsigned cpu) {
			of.readers.note(cpu, {"f.c", 1}, false);
			model::check(of.readers.is_mine(), "not noted");
			model::check(!of.readers.forget(cpu), "another's note");
			model::check(!of.readers.is_mine(), "still noted");
		},
		[](tables &of) { model::check(!of.readers.is_read()); }));
}

TEST_CASE("owners: a node that two lend at the same time is lent to one")
{
	verdict::right(model::explore<tables>(
		{.sections = {1, 1}},
		[](tables &of, unsigned) {
			const auto address = reinterpret_cast<usize>(&of.node);

			of.lent += of.nodes.lend(address);
		},
		[](tables &of) { model::check(of.lent == 1); }));
}
