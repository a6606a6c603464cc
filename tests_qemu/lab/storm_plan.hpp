/* SPDX-License-Identifier: MIT */
/*
 * storm_plan - what is asked of a storm, and what it has shown
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

using klock::u32;
using klock::u64;

/*
 * What a storm is made of; a mask. A run in which a part did not happen was no
 * storm, whatever else it shows.
 */
enum storm_part : u32 {
	part_handler = 1,  /* timer or IPI handlers took the lock */
	part_nmi = 2,	   /* NMI handlers took the lock */
	part_halt = 4,	   /* a holder halted */
	part_leave = 8,	   /* a CPU left and came back */
	part_nest = 16,	   /* another lock was taken inside */
	part_handoff = 32, /* the lock went from CPU to CPU */
	part_update = 64,  /* critical sections write; nothing without them */
};

/* The first of the parts, in words: what did not happen. */
constexpr const char *missed(u32 parts)
{
	return parts & part_handler ? "no storm: no handler took the lock"
	       : parts & part_nmi   ? "no storm: no NMI handler took the lock"
	       : parts & part_halt  ? "no storm: no holder halted"
	       : parts & part_leave ? "no storm: no CPU left"
	       : parts & part_nest  ? "no storm: no other lock was taken inside"
	       : parts & part_handoff
		       ? "no storm: the lock did not go from CPU to CPU"
		       : nullptr;
}

struct storm_plan {
	unsigned cpus; /* at most half of the lock's room: NMIs contend, too */
	u32 sections;  /* of all threads together */
	u32 seed;
	bool handlers_lock;
	u32 without; /* parts that are left out: then they must be missed */
};

struct storm_result {
	u64 sections = 0; /* threads, handlers, NMI handlers */
	u64 by_handlers = 0;
	u64 by_nmis = 0;
	u64 refused = 0; /* try_lock() in vain */
	u64 nested = 0;
	u64 halts = 0;	/* holders that stood still in HLT */
	u64 leaves = 0; /* CPUs that went away and came back */
	u64 overlaps = 0;
	u64 lost = 0;
	u32 missing = 0; /* parts of the storm that did not happen */
	bool gave_up = false;
};

/* A null pointer: passed. Else what is wrong, in words. */
constexpr const char *fault(const storm_result &r)
{
	if (r.overlaps)
		return "two CPUs were in the section at once";
	if (r.lost)
		return "an update made under the lock was lost";
	if (r.gave_up)
		return "no progress: everybody waits";
	return nullptr;
}

} // namespace lab
