/* SPDX-License-Identifier: MIT */
/*
 * uses - which orders a client tests, and which it does not
 *
 * An order matters between accesses of two CPUs that are in conflict: one
 * before a write that releases, the other after a read of it that acquires. A
 * client without such accesses is right with any order there. So if a weaker
 * order passes, too, the order is either not needed or not met.
 *
 * Accesses are in conflict if they are not two reads, and are to the same plain
 * data, or make or end the same object. Accesses to the same atomic are if the
 * first found or left a value that the second's CPU has not written.
 */
#pragma once

#include "exploration.hpp"
#include "graph.hpp"
#include "objects.hpp"
#include "operations.hpp"
#include "work_list.hpp"

namespace model {

struct order_uses final : order_watcher {
	order_uses(const work_list &graphs, operation_table &those_of_code)
	    : work(graphs), operations(those_of_code)
	{
	}

	/* Two accesses of plain data are in order. */
	void in_order(unsigned of, u8 epoch, const actor &by) override;
	/* A run is over: notes which orders put atomics into an order. */
	void note_run();

	/* Puts the client's uses into the result. */
	void add_to(exploration &) const;

      private:
	bool note_acquire(ref read, const clock &seen);
	void note_release(ref write, unsigned of, unsigned there);
	void note_order(unsigned of, unsigned there, const clock &seen,
			unsigned but_for);
	void note_orders_before(ref later);
	void note_sc_fences();

	static constexpr unsigned none = ~0u;

	const work_list &work;
	operation_table &operations;
};

/* The operation of an event: of a compare-and-swap that fails, its load. */
u16 operation_of(const operation_table &, const graph &, ref);

} // namespace model
