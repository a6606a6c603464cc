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

#include <sim/counts.hpp>
#include <sim/machine.hpp>

#include <klock/types.hpp>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace sim {

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
	 * given up. CPUs that all wait for a line that nobody can write any
	 * more are found at once; it is for those that keep trying.
	 */
	simulator(const machine &on, unsigned cpus, u64 patience = 100'000'000);
	~simulator();
	simulator(const simulator &) = delete;
	simulator &operator=(const simulator &) = delete;

	/* Runs body(cpu) once on each CPU, all from cycle 0. Once only. */
	outcome run(const std::function<void(unsigned cpu)> &body);

	/* What a CPU has done so far; what all have. */
	const counts &of(unsigned cpu) const;
	counts total() const;

	/* Of the line that holds the byte, in that CPU's cache. */
	mesi state(const void *at, unsigned cpu) const;

	/* Lines touched, by any CPU, since the last call. */
	u64 lines_touched();

      private:
	std::unique_ptr<engine> its;
};

/* -- What a body may call ------------------------------------------------ */

/* The CPU that runs this, and its clock. */
unsigned cpu();
u64 now();

/*
 * Lets so many cycles pass; until that cycle, if it is not yet over. When they
 * return, all that other CPUs did before that cycle is done.
 */
void work(u64 cycles);
void sleep_until(u64 cycle);

/* Says that the run goes on: a lock was taken. See patience. */
void progress();

/* Ends the run for everybody; does not return. */
[[noreturn]] void stop();

/* -- Where simulated objects lie ----------------------------------------- */

namespace detail {
void *lend(usize bytes, usize alignment);
void take_back(void *at);
} // namespace detail

/*
 * world<T> - an object at the same place at every run
 *
 * Whatever lies elsewhere is simulated as well; but a lock that makes random
 * numbers of its address (backoff_ttas_lock) then draws others at each run.
 * Worlds end in the reverse order of their making.
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
