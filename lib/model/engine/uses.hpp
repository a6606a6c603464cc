/* SPDX-License-Identifier: MIT */
/*
 * uses - what a client tests of each order, and what it does not
 *
 * An order matters between accesses of two CPUs that are in conflict: one
 * before a write that releases, the other after a read of it that acquires. A
 * client in which there are none is right with any order there. So a weaker
 * order that is right, too, is one of two things: not needed, or not met.
 *
 * Accesses are in conflict if they are to the same plain data, or the end or
 * the making of the same object, and not two reads; or to the same atomic, in
 * which the first found or left what the second's CPU has not written.
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

	/* Puts what the client has shown into the result. */
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
