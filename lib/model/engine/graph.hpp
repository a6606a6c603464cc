/* SPDX-License-Identifier: MIT */
/*
 * graph - an execution as events and the relations between them
 *
 * RC11 (Lahav et al., PLDI 2017) calls it an execution graph: program order
 * (sb), reads-from (rf) and modification order (mo). An event carries what is
 * before it as vector clocks, which stay right as long as the graph only loses
 * events that nothing kept depends on.
 *
 * Graphs are copied for every branch of the exploration: all is flat.
 */
#pragma once

#include <klock/types.hpp>

#include <model/options.hpp>

#include <cstring>
#include <vector>

namespace model {

using klock::u16;
using klock::u32;

inline constexpr unsigned max_cpus = 16;

/* Events of one CPU in one execution, at most: an index is a byte. */
inline constexpr unsigned max_index = 250;

constexpr bool acquires(order o)
{
	return o == order::acquire || o == order::acq_rel ||
	       o == order::seq_cst;
}

constexpr bool releases(order o)
{
	return o == order::release || o == order::acq_rel ||
	       o == order::seq_cst;
}

/* An event's name: its CPU, and its index there, counted from 1. */
struct ref {
	u8 cpu = 0;
	u8 index = 0; /* 0: what the location started with */

	bool initial() const { return index == 0; }
	friend bool operator==(ref, ref) = default;
};

/* A set of events that is closed under program order: the number of each
 * CPU's. */
struct clock {
	u8 at[max_cpus] = {};

	bool contains(ref e) const { return at[e.cpu] >= e.index; }
	void join(const clock &other)
	{
		for (unsigned i = 0; i < max_cpus; i++)
			at[i] = at[i] > other.at[i] ? at[i] : other.at[i];
	}
};

enum class kind : u8 { read, write, fence, choice };

struct event {
	u64 value = 0; /* read or written; of a choice: what was chosen */
	clock hb;      /* what happens before it, and itself */
	clock porf;    /* the same for (sb | rf)+ */
	clock rel;     /* write: what acquiring from it brings */
	u32 stamp = 0; /* when it was added */
	u32 step = 0;  /* of the code that added it: learnt.hpp */
	u16 location = 0;
	u16 mo = 0; /* write: its position in modification order, from 1 */
	u16 op =
		0; /* the operation of the code that it is of: operations.hpp */
	ref from;  /* read: the write it reads */
	kind what = kind::read;
	order ord = order::relaxed;
	bool exclusive = false; /* write: its read is the event before it */
	bool behind = false;   /* read: was served a write that is not newest */
	bool revisits = false; /* write: a read that was there first reads it */
	bool early = false;    /* read: before what it reads is there */
	bool promised = false; /* write: an early read has its value */
};

inline bool is_access(const event &e)
{
	return e.what == kind::read || e.what == kind::write;
}

struct graph {
	unsigned cpus = 0;
	release_sequence sequence = release_sequence::cxx20;

	void reset(unsigned with_cpus, release_sequence by);

	unsigned length(unsigned cpu) const
	{
		return static_cast<unsigned>(sb[cpu].size());
	}
	event &at(ref e) { return sb[e.cpu][e.index - 1u]; }
	const event &at(ref e) const { return sb[e.cpu][e.index - 1u]; }
	/* Whether a CPU has the most events that it may have. */
	bool is_full(unsigned cpu, unsigned most) const
	{
		return length(cpu) >= most || length(cpu) + 1 >= max_index;
	}
	ref last_of(unsigned cpu) const
	{
		return {static_cast<u8>(cpu), static_cast<u8>(length(cpu))};
	}
	ref next_of(unsigned cpu) const
	{
		return {static_cast<u8>(cpu), static_cast<u8>(length(cpu) + 1)};
	}
	/* The clock before this event, which need not be in the graph yet. */
	clock seen_before(ref e) const
	{
		return e.index > 1 ? sb[e.cpu][e.index - 2u].hb : clock{};
	}

	/* Writes to a location, at the positions 1 .. last(); 0 is the initial.
	 */
	unsigned last(unsigned location) const
	{
		return location < counts.size() ? counts[location] : 0;
	}
	ref write_at(unsigned location, unsigned position) const
	{
		return position ? orders[location * stride + position - 1]
				: ref{};
	}
	/* The newest write to a location; null: it has the initial value. */
	const event *newest(unsigned location) const
	{
		const unsigned position = last(location);

		return position ? &at(write_at(location, position)) : nullptr;
	}
	/* The position of a write, or of the write that a read reads. */
	unsigned position(const event &e) const
	{
		if (e.what == kind::write)
			return e.mo;
		return e.from.initial() ? 0 : at(e.from).mo;
	}
	/* Whether a write above the event's was there when it was added. */
	bool was_newer(const event &e) const
	{
		for (unsigned p = position(e) + 1; p <= last(e.location); p++)
			if (at(write_at(e.location, p)).stamp < e.stamp)
				return true;
		return false;
	}
	/* Whether the write at this position is an RMW's. */
	bool is_exclusive(unsigned location, unsigned position) const
	{
		return position && position <= last(location) &&
		       at(write_at(location, position)).exclusive;
	}

	/* Each adds the CPU's next event. */
	event &add_read(unsigned cpu, unsigned location, order o, ref from,
			u64 value);
	event &add_write(unsigned cpu, unsigned location, order o, u64 value,
			 bool exclusive);
	event &add_fence(unsigned cpu, order o);
	event &add_choice(unsigned cpu, u64 value);

	/* Puts a write into modification order. */
	void insert(ref write, unsigned position);

	/* Makes the CPU's last event, a read, read a write that is newer. */
	void redirect(ref read, ref from);

	/* Copies the events of another graph that are in `kept`. */
	void copy_kept(const graph &from, const clock &kept);

	/* Finds happens-before anew; false: an event happens before itself. */
	bool settle();

	std::vector<event> sb[max_cpus];
	bool any_sc = false;	    /* whether SC events are or were there */
	bool any_sc_access = false; /* the same, but for fences */
	u32 step = 0;		    /* of the code that adds events now */
	u16 op = 0;		    /* likewise */
	u8 gate[max_cpus] = {};	    /* each CPU's, or 0: symmetry */
	double share = 1;	    /* of the whole exploration, by estimate */

	/* load_buffering: events up to this stamp stay; 0: no early read */
	u32 core = 0;
	bool unsure = false; /* whether the code does it is to be seen */

	/* The graph as bytes for another process, without references to learnt
	 * steps. */
	std::vector<u8> packed() const;
	void unpack(const u8 *bytes);

      private:
	event &append(unsigned cpu, kind what, order o);
	void find_past(unsigned cpu, std::size_t i);
	clock own_of(unsigned cpu, std::size_t i) const;
	void hand_on(unsigned cpu, std::size_t i);
	void make_room(unsigned location);

	u32 next_stamp = 1;
	unsigned stride = 24; /* room for so many writes to a location */
	std::vector<u16> counts;
	std::vector<ref> orders;
};

} // namespace model
