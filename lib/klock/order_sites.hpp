/* SPDX-License-Identifier: MIT */
/*
 * order_sites - in which lines the learned order was seen, for reports
 *
 * Whoever calls holds the lock of lock_order.hpp. One edge a place, the first
 * time that it was seen; where there are more edges than places, a report names
 * the classes alone.
 */
#pragma once

#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

/* A line that was noted. */
struct plain_site {
	void set(call_site to)
	{
		file.set(to.file);
		line.set(static_cast<u32>(to.line));
	}
	[[nodiscard]] call_site get() const
	{
		return {file.get(), static_cast<int>(line.get())};
	}

      private:
	plain<const char *> file;
	plain<u32> line;
};

/* `from` was held, taken there, while `to` was waited for here. */
struct order_edge {
	u32 from, to;
	call_site there, here;
	u32 cpu;
};

struct order_edge_slot {
	void set(const order_edge &e)
	{
		from.set(static_cast<u8>(e.from));
		to.set(static_cast<u8>(e.to));
		cpu.set(static_cast<u16>(e.cpu));
		there.set(e.there);
		here.set(e.here);
	}
	[[nodiscard]] order_edge get() const
	{
		return {from.get(), to.get(), there.get(), here.get(),
			cpu.get()};
	}

      private:
	plain<u8> from, to;
	plain<u16> cpu;
	plain_site there, here;
};

struct order_sites {
	/* False: there was no room. */
	[[nodiscard]] bool note(const order_edge &e) const
	{
		const u32 n = count->get();

		if (n == most)
			return false;
		edges[n].set(e);
		count->set(n + 1);
		return true;
	}

	/* The edge, and whether it was noted. */
	[[nodiscard]] bool find(u32 from, u32 to, order_edge &found) const
	{
		for (u32 i = 0; i < count->get(); i++) {
			found = edges[i].get();
			if (found.from == from && found.to == to)
				return true;
		}
		return false;
	}

	order_edge_slot *edges;
	plain<u32> *count;
	u32 most;
	/* Of each class: where a handler waited for it, where it was held or
	 * waited for with interrupts on; its rank, 0: none. */
	plain_site *in_handler;
	plain_site *open;
	plain<u32> *ranks;
};

} // namespace klock
