/* SPDX-License-Identifier: MIT */
/*
 * order_memory - all that lock_order.hpp keeps, in one object of fixed size
 */
#pragma once

#include <klock/held_locks.hpp>
#include <klock/order_learning.hpp>
#include <klock/types.hpp>

namespace klock {

/* Of addresses of names: the least power of two that is twice as many. */
constexpr u32 slots_for(u32 classes)
{
	u32 power = 1;

	while (power < 2 * classes)
		power *= 2;
	return power;
}

/* Zero bytes: nothing is known yet. */
template <u32 Classes, u32 Owners>
struct lock_order_memory {
	static_assert(Classes >= 1 && Classes <= order_graph::limit,
		      "lock_order: 1 to 256 names of locks");
	static_assert(Owners >= 1, "lock_order: one owner at least");

	/* Of edges whose lines can be named. */
	static constexpr u32 edges = 2 * Classes;

	constexpr lock_order_memory() = default;

	constexpr order_learning learning()
	{
		return {{slot, slots, names, Classes},
			{seen, declared, Classes, route, queue, came_from},
			{handlers},
			{open},
			{edge, &edge_count, edges, in_handler, opened, ranks},
			&busy};
	}

	held_locks held[Owners];

      private:
	static constexpr u32 words = class_set::words_for(Classes);

	static constexpr u32 slots = slots_for(Classes);

	atomic<usize> seen[Classes * words];
	atomic<usize> declared[Classes * words];
	atomic<usize> handlers[words];
	atomic<usize> open[words];
	class_slot slot[slots];
	plain<const char *> names[Classes];
	order_edge_slot edge[edges];
	plain<u32> edge_count;
	plain_site in_handler[Classes];
	plain_site opened[Classes];
	plain<u32> ranks[Classes];
	plain<u8> route[2 * Classes];
	plain<u8> queue[Classes];
	plain<u8> came_from[Classes];
	tas_lock busy;
};

} // namespace klock
