/* SPDX-License-Identifier: MIT */
/*
 * The notes about owners of locks, stepped through instruction by instruction:
 * compiled as they are shipped, unlike test_owner.cpp. With lib/preempted in
 * front.
 */
#include <klock/checked_lock.hpp>
#include <klock/order_calls.hpp>

#include "pretended_kernel.hpp"
#include "stepper.hpp"

#include <catch.hpp>

#include <memory>

using namespace klock;

namespace owner_steps_tests {

namespace {

/* Runs code once for each of its instructions, interrupted there by handler();
 * then check(). Each has a table of its own. */
template <typename Table>
void at_each_step(void (*code)(Table &), void (*handler)(Table &),
		  void (*check)(Table &))
{
	bool intruded = unit::can_step;
	unsigned long steps = 0;

	for (; intruded; steps++) {
		const std::unique_ptr<Table> table(new Table());

		intruded = unit::with_intrusion(
			steps + 1, [&] { code(*table); },
			[&] { handler(*table); });
		check(*table);
	}
	CHECK((steps > 20 || !unit::can_step));
}

/* Locks, or nodes; their addresses alone. */
char its, handlers;
/* The fault in the interrupted release, which is no place for a CHECK. */
const char *wrong = nullptr;

usize address_of(const char &of) { return reinterpret_cast<usize>(&of); }

} // namespace

TEST_CASE("owners: a handler sees what it interrupts, and leaves no note")
{
	at_each_step<held_spins>(
		[](held_spins &table) {
			table.note(&its, {"its", 0}, {"f.c", 1});
			table.forget(&its);
		},
		[](held_spins &table) {
			table.note(&handlers, {"handlers", 0}, {"f.c", 2});
			const held_spin *const seen = table.mine(&handlers);

			CHECK((!seen || seen->taken.site().line == 1));
			CHECK(table.has(&handlers));
			table.forget(&handlers);
			CHECK_FALSE(table.has(&handlers));
		},
		[](held_spins &table) { CHECK(!table.mine(nullptr)); });
	at_each_step<lent_nodes>(
		[](lent_nodes &table) {
			(void)table.lend(address_of(its));
			table.give_back(address_of(its));
		},
		[](lent_nodes &table) {
			if (table.lend(address_of(its)))
				table.give_back(address_of(its));
			CHECK(table.lend(address_of(handlers)));
			CHECK_FALSE(table.lend(address_of(handlers)));
			table.give_back(address_of(handlers));
		},
		[](lent_nodes &table) {
			CHECK(table.lend(address_of(its)));
			CHECK(table.lend(address_of(handlers)));
		});
	at_each_step<shared_usage>(
		[](shared_usage &table) {
			table.note(0, {"f.c", 1}, false);
			wrong = table.forget(0);
		},
		[](shared_usage &table) {
			running here(current_cpu, context::interrupt);

			table.note(0, {"f.c", 2}, false);
			CHECK(table.is_mine());
			CHECK(table.forget(0) == nullptr);
		},
		[](shared_usage &table) {
			CHECK(wrong == nullptr);
			CHECK_FALSE(table.is_read());
		});
}

/* Both nodes have the same places. */
TEST_CASE("owners: a node that another keeps from its first place")
{
	constexpr usize node = 0x80000, other = 0x40000;
	const std::unique_ptr<lent_nodes> table(new lent_nodes());

	CHECK((table->lend(other) && table->lend(node)));
	CHECK_FALSE(table->lend(node));
	table->give_back(other);
	CHECK_FALSE(table->lend(node));
	table->give_back(node);
	CHECK(table->lend(node));
}

TEST_CASE("owners: a node that a handler lends, too, and keeps")
{
	static bool is_lent, to_handler;

	at_each_step<lent_nodes>(
		[](lent_nodes &table) {
			is_lent = table.lend(address_of(its));
		},
		[](lent_nodes &table) {
			to_handler = table.lend(address_of(its));
		},
		[](lent_nodes &) {
			CHECK(is_lent != to_handler);
			to_handler = false;
		});
}

TEST_CASE("held_locks: a handler in the middle of a thread's last release")
{
	bool intruded = unit::can_step;
	unsigned long steps = 0;

	for (; intruded; steps++) {
		std::unique_ptr<held_locks> place(new held_locks());
		const held_by_owners all = {place.get(), 1};
		char lock = 0, others = 0;
		held_place other = {nullptr, nullptr};

		current_thread = 5;
		const held_place mine = all.push();
		mine.at->address.store_relaxed(reinterpret_cast<usize>(&lock));
		intruded = unit::with_intrusion(
			steps + 1, [&] { mine.stack->pop(*mine.at); },
			[&] {
				const held_place handler = all.push();
				handler.at->address.store_relaxed(
					reinterpret_cast<usize>(&lock));
				handler.stack->pop(*handler.at);
				current_thread = 6;
				other = all.push();
				if (other.at) {
					other.at->address.store_relaxed(
						reinterpret_cast<usize>(
							&others));
					other.at->take();
				}
				current_thread = 5;
			});
		CHECK(all.mine() == nullptr);
		if (!other.at)
			continue;
		current_thread = 6;
		CHECK(all.mine() == place.get());
		CHECK(place->size() == 1);
		CHECK(place->find(&others) == other.at);
	}
	CHECK((steps > 20 || !unit::can_step));
	current_thread = 0;
}

} // namespace owner_steps_tests
