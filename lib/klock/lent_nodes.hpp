/* SPDX-License-Identifier: MIT */
/*
 * lent_nodes - which nodes are lent to a checked lock just now
 *
 * A node serves one acquisition at a time. Two at once, in one lock or in two,
 * and whoever is behind it waits for ever. The lock cannot see that: another
 * may have the node. So there is one table for all checked locks.
 *
 * A node is looked for in a few places that follow from its address. Where all
 * are taken by others it is not noted, and so not checked. Two contexts that
 * lend the same node in the same instant, while a third gives back a place
 * before theirs, may both pass; an interrupt handler is always seen by what it
 * interrupts, and the other way round.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct lent_nodes {
	constexpr lent_nodes() = default;

	/* Returns false if it is lent already. */
	[[nodiscard]] bool lend(const void *node)
	{
		const usize address = reinterpret_cast<usize>(node);

		if (find(address))
			return false;
		for (usize i = 0; i < tries; i++) {
			usize found = nobody;

			if (place(address, i)
				    .compare_exchange_relaxed(found, address))
				return true;
			if (found == address)
				return false;
		}
		return true;
	}

	void give_back(const void *node)
	{
		const usize address = reinterpret_cast<usize>(node);

		if (atomic<usize> *const at = find(address))
			at->store_relaxed(nobody);
	}

      private:
	static constexpr usize places = 256;
	static constexpr usize tries = 4;
	static constexpr usize nobody = 0;

	atomic<usize> &place(usize address, usize i)
	{
		/* Nodes are as far apart as a line, or as a stack frame. */
		const usize hash = address / 16 + address / 1024;

		return lent[(hash + i) % places];
	}

	atomic<usize> *find(usize address)
	{
		for (usize i = 0; i < tries; i++)
			if (place(address, i).load_relaxed() == address)
				return &place(address, i);
		return nullptr;
	}

	/* Addresses; 0: nobody's */
	atomic<usize> lent[places];
};

/* Of all checked locks of a program. */
inline constinit lent_nodes nodes_in_use;

} // namespace klock
