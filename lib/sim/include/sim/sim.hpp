/* SPDX-License-Identifier: MIT */
/*
 * sim - runs code on many simulated CPUs and counts what their caches do
 *
 *	sim::world<klock::mcs_lock> lock;
 *	sim::simulator s(sim::xeon_8180, 64);
 *
 *	auto out = s.run([&](unsigned cpu) {
 *		klock::guard held(*lock);
 *		sim::work(100);
 *	});
 *	INFO(out.stuck);
 *	CHECK(out.finished);
 *	s.total().transfers;
 *
 * Operations of klock's atomics take virtual time; all other code takes none.
 * Every figure is the same at each run of the same binary. A body must own no
 * heap: a run that is stopped or stuck leaves it half-way.
 */
#pragma once

#include <klock/types.hpp>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace sim {

/*
 * machine - the costs of a simulated machine's memory operations, in cycles
 *
 * The one cost table. A machine of your own is a value of this type:
 *
 *	constexpr sim::machine mine = {
 *		.name = "mine", .sockets = 1, .hit = 4, ...
 *	};
 *
 * Nothing else is simulated: README.md beside this lists what is left out.
 */

using klock::u32;
using klock::u64;

inline constexpr unsigned max_cpus = 1024;
inline constexpr unsigned max_sockets = 8;

/* The cost of moving a line over some distance. */
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

/*
 * counts - the effects of a CPU's memory operations
 */

using klock::u64;

struct counts {
	u64 loads = 0;	   /* atomic and plain, the turns of waits included */
	u64 stores = 0;	   /* atomic and plain */
	u64 rmws = 0;	   /* read-modify-writes, failed ones too */
	u64 fences = 0;	   /* full ones */
	u64 misses = 0;	   /* operations that the CPU's cache could not serve */
	u64 memory = 0;	   /* of them: no cache had the line */
	u64 transfers = 0; /* of them: the line came from another cache */
	u64 upgrades = 0;  /* of them: it was here, but others had it too */
	u64 sent = 0;	   /* copies of others that this CPU's writes took */
	u64 received = 0;  /* copies that it lost to others' writes */

	counts &operator+=(const counts &o)
	{
		loads += o.loads;
		stores += o.stores;
		rmws += o.rmws;
		fences += o.fences;
		misses += o.misses;
		memory += o.memory;
		transfers += o.transfers;
		upgrades += o.upgrades;
		sent += o.sent;
		received += o.received;
		return *this;
	}

	/* The counts since `before`. */
	counts since(const counts &before) const
	{
		return {loads - before.loads,
			stores - before.stores,
			rmws - before.rmws,
			fences - before.fences,
			misses - before.misses,
			memory - before.memory,
			transfers - before.transfers,
			upgrades - before.upgrades,
			sent - before.sent,
			received - before.received};
	}

	friend bool operator==(const counts &, const counts &) = default;
};

using klock::usize;

/* The states of a line in one CPU's cache. */
enum class mesi { modified, exclusive, shared, invalid };

struct outcome {
	bool finished = false; /* all bodies have returned, or stop() */
	u64 cycles = 0;	       /* virtual time at the end */
	std::string stuck;     /* else: who waits for what, a line per CPU */
};

struct engine;

struct simulator {
	/*
	 * patience: virtual cycles without progress() after which a run is
	 * given up. It is for CPUs that keep trying: if all wait for a line
	 * that no CPU can write any more, that is found at once.
	 */
	simulator(const machine &on, unsigned cpus, u64 patience = 100'000'000);
	~simulator();
	simulator(const simulator &) = delete;
	simulator &operator=(const simulator &) = delete;

	/* Runs body(cpu) once on each CPU, all from cycle 0. Once only. */
	outcome run(const std::function<void(unsigned cpu)> &body);

	/* The counts of one CPU so far; those of all together. */
	const counts &of(unsigned cpu) const;
	counts total() const;

	/* The state that the byte's line has in that CPU's cache. */
	mesi state(const void *at, unsigned cpu) const;

	/* Lines touched, by any CPU, since the last call. */
	u64 lines_touched();

      private:
	std::unique_ptr<engine> its;
};

/* -- Calls of a CPU's body ----------------------------------------------- */

/* The CPU that runs this, and its clock. */
unsigned cpu();
u64 now();

/*
 * Let that many cycles pass; or wait until that cycle, if it is not over yet.
 * When they return, all operations of other CPUs before that cycle are done.
 */
void work(u64 cycles);
void sleep_until(u64 cycle);

/* Tells the simulator that a lock was taken, so the run goes on: see
 * patience. */
void progress();

/* Ends the run for everybody; does not return. */
[[noreturn]] void stop();

/* -- Where simulated objects lie ----------------------------------------- */

namespace detail {
void *lend(usize bytes, usize alignment);
void take_back(void *at);
} // namespace detail

/*
 * world<T> - an object at the same address in every run
 *
 * Objects elsewhere are simulated as well; but a lock that makes random numbers
 * from its address (backoff_ttas_lock) then draws others in each run. Worlds
 * must be destroyed in the reverse order of their construction.
 */
template <typename T>
struct world {
	template <typename... Arguments>
	explicit world(Arguments &&...with)
	    : at(::new(detail::lend(sizeof(T), alignof(T)))
			 T(std::forward<Arguments>(with)...))
	{
	}
	~world()
	{
		at->~T();
		detail::take_back(at);
	}
	world(const world &) = delete;
	world &operator=(const world &) = delete;

	T &operator*() const { return *at; }
	T *operator->() const { return at; }

      private:
	T *at;
};

} // namespace sim
