/* SPDX-License-Identifier: MIT */
/*
 * machine - what a simulated machine's memory operations cost, in its cycles
 *
 * The one cost table. A machine of your own is a value of this type:
 *
 *	constexpr sim::machine mine = {
 *		.name = "mine", .sockets = 1, .hit = 4, ...
 *	};
 *
 * What is not in the table is not simulated: README.md beside this lists it.
 */
#pragma once

#include <klock/types.hpp>

namespace sim {

using klock::u32;
using klock::u64;

inline constexpr unsigned max_cpus = 1024;
inline constexpr unsigned max_sockets = 8;

/* What it takes to bring a line over some distance. */
struct distance {
	u32 owned;  /* from the one cache that has it (M or E) */
	u32 shared; /* of a line that several have (S): a copy, or all of it */
};

struct machine {
	const char *name;

	/*
	 * CPUs are dealt out to sockets in blocks of the same size: of 8 CPUs
	 * on 2 sockets, 0 to 3 and 4 to 7.
	 */
	unsigned sockets;

	u32 hit;	/* a load or a store of what the cache has */
	u32 rmw;	/* a read-modify-write, on top of what its line costs */
	u32 fence;	/* a full fence */
	u32 pause;	/* one turn of cpu_relax() */
	u32 memory;	/* a line that no cache has */
	u32 invalidate; /* each copy that a write takes away, on top */
	u32 next_copy;	/* from one copy of a shared line to the next */

	distance near; /* within a socket */
	distance far;  /* across the link */
};

/* -- Machines that were measured ----------------------------------------- */

/*
 * Two Intel Xeon Platinum 8180 (Skylake-SP), 2.5 GHz. Cycles are the source's
 * nanoseconds times 2.5.
 *
 * memory, near, far: FD.io CSIT, "Calibration Data - Skylake" (Intel Memory
 * Latency Checker v3.5; docs/report/introduction/
 * test_environment_sut_calib_skx.rst at 4f1ba73c40de in the project's
 * repository): idle latency 202.0 clocks; L2 to L2 53.7 ns, hit or modified;
 * across the link 113.9 ns where the writer's socket is the line's home,
 * 177.9 ns where the reader's is: the mean, as a lock's line is at home with
 * half of its users. The link's `shared` was not measured: taken as `owned`.
 * pause: Intel 64 and IA-32 Architectures Optimization Reference Manual,
 * 2.6.4: "as many as 140 cycles".
 * hit: the same manual, Skylake's L1 data cache: 4 cycles.
 * rmw, fence: Fog, Instruction tables, Skylake: LOCK XADD 18, MFENCE 33; cited
 * from memory, not looked up.
 * invalidate, next_copy: as xeon_e5_2699v3's.
 */
inline constexpr machine xeon_8180 = {
	.name = "xeon_8180",
	.sockets = 2,
	.hit = 4,
	.rmw = 18,
	.fence = 33,
	.pause = 140,
	.memory = 202,
	.invalidate = 4,
	.next_copy = 20,
	.near = {.owned = 134, .shared = 134},
	.far = {.owned = 365, .shared = 365},
};

/*
 * Two Intel Xeon E5-2699 v3 (Haswell-EP), 2.3 GHz. Cycles are the source's
 * nanoseconds times 2.3.
 *
 * memory, near, far: FD.io CSIT, "Calibration Data - Haswell" (Intel Memory
 * Latency Checker v3.5; docs/report/introduction/
 * test_environment_sut_calib_hsw.rst at 4ed2c9177218): idle latency 227.2
 * clocks; L2 to L2 42.1 ns hit, 47.0 ns modified; across the link 108.0 ns.
 * The link's `shared` was not measured: taken as `owned`.
 * pause: the optimization manual, 2.6.4: before Skylake "about 10 cycles".
 * hit: the same manual, Haswell's L1 data cache: 4 cycles.
 * rmw, fence: Fog, Instruction tables, Haswell: LOCK XADD 19, MFENCE 33; cited
 * from memory, not looked up, as are the two figures of the next.
 * invalidate: David, Guerraoui and Trigonakis, SOSP 2013, section 5.2, an
 * eight-socket Xeon: a store to a line that one other core of the die shares
 * takes 116 cycles, to one that all 80 cores share 445: (445 - 116) / 79. It is
 * the wrong Xeon; nobody seems to have published it for this one.
 * next_copy: a guess, nothing is published: the last-level cache serves readers
 * in a pipeline. It moves times, and counts a little: README.md.
 */
inline constexpr machine xeon_e5_2699v3 = {
	.name = "xeon_e5_2699v3",
	.sockets = 2,
	.hit = 4,
	.rmw = 19,
	.fence = 33,
	.pause = 10,
	.memory = 227,
	.invalidate = 4,
	.next_copy = 20,
	.near = {.owned = 108, .shared = 97},
	.far = {.owned = 248, .shared = 248},
};

/* -- A machine to reckon with -------------------------------------------- */

/* No machine: round figures, each different, for cases worked by hand. */
inline constexpr machine round_figures = {
	.name = "round_figures",
	.sockets = 1,
	.hit = 1,
	.rmw = 5,
	.fence = 20,
	.pause = 10,
	.memory = 200,
	.invalidate = 3,
	.next_copy = 40, /* as near.shared: one after the other */
	.near = {.owned = 60, .shared = 40},
	.far = {.owned = 160, .shared = 140},
};

} // namespace sim
