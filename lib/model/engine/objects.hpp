/* SPDX-License-Identifier: MIT */
/*
 * objects - the objects in memory during one run: made, used, ended
 *
 * Finds data races on plain data, and uses of dead objects, both by one rule:
 * two accesses are not ordered by happens-before, and one of them is a write, a
 * birth or a death. Each access is compared only with the last ones of each
 * kind; if those are ordered, so are the ones before them (FastTrack: Flanagan,
 * Freund, PLDI 2009).
 *
 * An access after a CPU's i-th event has the epoch i + 1: it is before the next
 * event that the CPU publishes.
 */
#pragma once

#include "graph.hpp"

#include <klock/arch/engine.hpp>

#include <map>
#include <tuple>
#include <vector>

namespace model {

using klock::usize;
using klock::arch::site;

/* The CPU of an access, its epoch, its clock, and the line. */
struct actor {
	unsigned cpu;
	u8 epoch;
	clock seen;
	site where;
};

/* A fault of an access, or none. */
struct conflict {
	bug found = bug::none;
	const char *text = nullptr;
	unsigned cpu = 0; /* the other side */
	site where{nullptr, 0};
	u8 epoch = 0;	      /* its */
	bool is_over = false; /* it is an end: nothing may come after it */
};

struct object {
	struct access {
		u8 epoch = 0; /* 0: never */
		site where{nullptr, 0};
	};

	const void *at = nullptr;
	u32 run = 0; /* the run that this entry is of */
	u32 bytes = 0;
	bool alive = true;
	bool was_born = false; /* else it was there before the run */
	bool atomic = false;
	bool part = false;	/* of an atomic that begins before it */
	u8 maker = 0;		/* CPU that made or ended it */
	unsigned birth = 0;	/* how many that CPU had made before */
	access end;		/* birth while alive, else death */
	u8 writer = 0;		/* CPU of the last plain write */
	access write;		/* that write */
	access reads[max_cpus]; /* last read, or atomic access, of each */
	int location = -1;	/* its number in the graphs */
	u8 user = 0;		/* whose atomic access was the first */
	site used{nullptr, 0};
};

/* Called for two accesses in conflict that are in order. */
struct order_watcher {
	/* The first is of this CPU, and has this epoch. */
	virtual void in_order(unsigned cpu, u8 epoch, const actor &) = 0;

      protected:
	~order_watcher() = default;
};

struct objects {
	/* Forgets all but the numbers of locations in graphs. */
	void start_run();
	void forget_all();

	conflict born(const void *at, usize bytes, const actor &by,
		      unsigned birth);
	conflict dead(const void *at, usize bytes, const actor &by);
	conflict read_plain(const void *at, usize bytes, const actor &by);
	conflict write_plain(const void *at, usize bytes, const actor &by);

	/* Notes an atomic access; sets its location in the graphs. */
	conflict use(const void *at, usize bytes, const actor &by,
		     unsigned &location);

	/*
	 * Notes a plain access to a byte. reuses: the object there is gone, and
	 * the caller knows that the storage may belong to another.
	 */
	void meet_byte(const void *at, const actor &by, bool reuses);

	/* Forgets what lay there: the storage is given anew. */
	void given(const void *at, usize bytes);

	/* Ends the object that lies there, if there is one. */
	conflict ended(const void *at, const actor &by);

	/*
	 * Notes a byte of a CPU's stack, with the accesses of that CPU, the
	 * only one so far.
	 */
	void adopt(const void *at, unsigned cpu, const object::access &write,
		   const object::access &read, u8 ended);

	order_watcher *in_order = nullptr;

	/* The location of what was used there before, if it was not born. */
	int location_known(const void *at) const;

	/* The object in this run; null: not met yet. */
	const object *find(const void *at) const;

	/* Calls visit(object) for each of this run, in order of first use. */
	template <typename Visit>
	void for_each(Visit visit) const
	{
		for (u32 slot : order_of_use)
			visit(table[slot]);
	}

      private:
	object &entry(const void *at, usize bytes);
	object *find_mutable(const void *at)
	{
		return const_cast<object *>(find(at));
	}
	const object *atomic_around(const void *at) const;
	conflict overlap(object &o, usize bytes, const actor &by);
	bool ordered(unsigned cpu, const object::access &before,
		     const actor &by) const;
	conflict alive(const object &o, const actor &by) const;
	conflict ended_by_all(const object &o, const actor &by, bug as,
			      const char *text) const;
	void grow();

	/* Open addressing; an entry of another run counts as empty. */
	std::vector<object> table = std::vector<object>(256);
	std::vector<u32> order_of_use;
	u32 run = 1;

	/* address, CPU that made it (or none), and how many it had made:
	 * number */
	std::map<std::tuple<const void *, unsigned, unsigned>, int> numbers;
};

/*
 * A CPU's own stack. Its accesses are noted here, and passed to `objects` when
 * another CPU accesses the stack. A frame ends when the compiler reports it
 * (__tsan_func_exit); the objects in it are then gone.
 */
struct own_stack {
	struct byte {
		u32 when = 0; /* the last note; of this run: after its start */
		u8 wrote = 0, read = 0; /* epochs; 0: never */
		bool shared = false;
	};
	/* The return addresses of the calls; known while a finding is shown. */
	struct callers {
		const void *writer = nullptr, *reader = nullptr;
	};
	struct end {
		u32 when;
		const char *above;
		u8 epoch;
	};

	void start_run(const char *from, const char *to, bool shown);
	/* False: not noted, as other CPUs have accessed it, too. */
	bool accessed(const char *at, usize bytes, bool writes, u8 epoch,
		      const void *by);
	/* An object of its own is born there or dies. */
	void forget(const char *at, usize bytes);
	void enter(const char *frame, const void *returns_to);
	/* The upper end of the frames that have ended; null: none has. */
	const char *leave(const char *frame, u8 epoch);
	/* The end of the byte's frame after its last access; null: it has not
	 * ended. */
	const end *end_of(const char *at);
	byte &at(const char *place)
	{
		byte &b = bytes[static_cast<usize>(place - low)];
		if (b.when <= start)
			b = {};
		return b;
	}
	callers callers_of(const char *place) const
	{
		return by.empty() ? callers{}
				  : by[static_cast<usize>(place - low)];
	}
	void share(const char *place);
	/* The compiler reports accesses to this stack. */
	bool told() const { return notes != start; }
	bool contains(const void *place) const
	{
		return place >= low && place < high;
	}

	/* The bytes that other CPUs have accessed, too: `objects` has them. */
	std::vector<const char *> shared;

	/* The frames that have not returned, as far as they were reported. */
	struct frame {
		const char *sp, *above;
		const void *returns_to;
	};
	std::vector<frame> calls;

      private:
	/* Allocates on first use: many stacks have no reported frame. */
	void make_room()
	{
		if (bytes.empty())
			bytes.resize(static_cast<usize>(high - low));
	}

	const char *low = nullptr, *high = nullptr;
	u32 start = 0, notes = 0;
	std::vector<byte> bytes;
	std::vector<callers> by;
	std::vector<end> ends;
};

} // namespace model
