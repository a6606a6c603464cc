/* SPDX-License-Identifier: MIT */
/*
 * memory - the memory of a run: objects, the CPUs' stacks, old bytes
 *
 * It finds races and wrong accesses. Plain data are noted as the compiler
 * reports them, byte by byte, as accesses may have different sizes. Accesses of
 * a CPU to its own stack are not compared with others until another CPU
 * accesses it.
 */
#pragma once

#include "exploration.hpp"
#include "objects.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "work_list.hpp"

#include <klock/arch/engine.hpp>

#include <string>
#include <vector>

namespace model {

namespace hooked = klock::arch::hooked;

/* More bytes than any hook of the engine uses on a CPU's stack. */
inline constexpr usize engine_depth = 4096;
/* Likewise of those by which the compiler tells of calls and of accesses to
 * the CPU's own stack: they are the most frequent by far. */
inline constexpr usize shallow_depth = 1024;

struct memory {
	memory(exploration &of, scheduler &those, const work_list &graphs,
	       reporter &to)
	    : task(of), cpus(those), work(graphs), reports(to)
	{
	}

	/* A call of explore() begins. */
	void start();
	/* Reports accesses that are in order to it; null: to none. */
	void tell(order_watcher *whom) { seen.in_order = whom; }
	order_watcher *told() const { return seen.in_order; }
	/* An exploration begins. */
	void forget() { seen.forget_all(); }
	void start_run(unsigned count);

	/* -- The current CPU's accesses -- */

	/* The location of a window in the graphs, if the object lives. */
	unsigned location_of(const hooked::window &, site);
	/* The location of a window that was used before. */
	unsigned location_known(const void *at) const;
	/* Reports the CPU's last load, if it found no value. */
	void report_unset()
	{
		if (last_unset[cpus.current()].at)
			report_last_unset();
	}
	bool has_unset() const { return !unset.empty(); }
	/* Reports a read of what it started with, if that is no value. */
	void look_at_start(unsigned location, const void *at, site);
	/* The newest value of an atomic object; 0: there is none. */
	u64 newest_of(const void *at) const;
	void born(const void *at, usize bytes);
	void dead(const void *at, usize bytes);
	void read(const void *at, usize bytes, site);
	void write(const void *at, usize bytes, site);

	/* -- As the compiler tells of them -- */

	/*
	 * Notes an access to the CPU's own stack; false: it is not there, or
	 * other CPUs have accessed that stack.
	 */
	bool note_private(const void *at, usize bytes, bool writes,
			  const void *caller);
	bool is_on_own_stack(const void *at) const;
	enum class access_is { load, store, end_of_copy, untold };
	void touch(const void *at, usize bytes, access_is, bool writes, site);
	/* A function begins; returns_to is null: one ends. Returns how much of
	 * the stack it has used at most. */
	usize frame(const char *at, const void *returns_to, const void *caller);
	void storage_ends(const void *at, usize bytes, const void *caller);
	void storage_is_given(const void *at, usize bytes)
	{
		seen.given(at, bytes);
	}
	/* The current CPU has ended. */
	void thread_locals_end(site);

	/*
	 * The source line of the call whose return address this is. It is
	 * computed when a timeline or a list of uses wants it. own: the call is
	 * one of the running CPU's.
	 */
	site place_of_return(const void *to, bool own = true);
	/* The line of the code's call, if a library's function made that. */
	site line_of_caller(site of_library) const;
	const void *called_from() const { return last_caller; }

	/* -- Changes by the run -- */

	/* Saves bytes that outlive the run before they are written. */
	void save(const void *at, usize bytes);
	void restore();
	/* Writes the last values to memory, for the test's check at the end. */
	void put_last_values();

	const object *find(const void *at) const { return seen.find(at); }

      private:
	actor actor_at(site) const;
	/* For what is said of an access besides. */
	enum class access_by { statement, untold, atomic_pointer };
	void blame(const conflict &, const void *at, site,
		   access_by = access_by::statement);
	unsigned on_stack_of(const void *at) const;
	void meet_on_stack(unsigned of, const char *byte);
	void refuse_what_is_gone(const void *at, usize bytes, site);
	void look_at_bounds(const void *at, usize bytes, site);
	void look_at_thread_local(const void *at, usize bytes, site);
	void look_at_unset(const void *at, usize bytes, access_is, site);
	void report_last_unset();
	own_stack &mine() { return stacks[cpus.current()]; }

	static constexpr unsigned none = ~0u;

	exploration &task;
	scheduler &cpus;
	const work_list &work;
	reporter &reports;

	objects seen;
	unsigned count = 0; /* CPUs of the run */
	std::vector<own_stack> stacks;
	unsigned births[max_cpus] = {}; /* objects that each has made */
	/* Locations in memory that nothing was stored to before. */
	std::vector<unsigned> unset;
	/* The CPU's last load, if it was of such memory. */
	struct unset_load {
		const void *at = nullptr;
		usize bytes = 0;
		site where{nullptr, 0};
	};
	unset_load last_unset[max_cpus];
	const void *last_caller = nullptr;
	/* It was called within std::atomic<std::shared_ptr>. */
	mutable bool in_atomic_pointer = false;

	/* Old bytes of memory that the run changed and did not allocate. */
	struct saved {
		void *at;
		std::vector<u8> was;
	};
	std::vector<saved> changed;

	/* The bytes of each CPU's thread_locals that others have accessed. */
	std::vector<const char *> met[max_cpus];
};

} // namespace model
