/* SPDX-License-Identifier: MIT */
/*
 * runner - one run of a graph, from the world's making to its end
 *
 * It is a walk if enough is known of the code; else the code runs.
 */
#pragma once

#include "interpreter.hpp"
#include "uses.hpp"
#include "walker.hpp"

#include <model/body.hpp>

#include <string>
#include <vector>

namespace model {

/* The parts that a run is made of. */
struct run_parts {
	exploration &task;
	scheduler &cpus;
	work_list &work;
	reporter &reports;
	model::symmetry &symmetry;
	load_buffering &early;
	learner &learning;
	brancher &branches;
	interrupts &irqs;
	model::waits &waits;
	model::memory &memory;
	repair_list &repairs;
	lookout &looks;
	relaxed_data &relaxed;
	loop_cutter &loops;
	interpreter &code;
	walker &walks;
	order_uses &uses;
};

struct runner : private run_parts {
	explicit runner(const run_parts &parts) : run_parts(parts) {}

	/* Runs the graph under way. */
	void run_one();

	/* -- The code ends its CPU; these do not come back -- */
	[[noreturn]] void panic(const std::string &message);
	/* The code would end the process. */
	[[noreturn]] void crash(const std::string &message, site);
	/* It has an instruction that the compiler does not report. */
	[[noreturn]] void refuse(const std::string &message, site);

	/* It has come to a loop in which it does nothing that is seen. */
	[[noreturn]] void loop_for_ever(const std::string &function, site);

	/*
	 * Called at each of the timer's ticks that finds the code running.
	 * Returns whether the code has done nothing that the checker sees for
	 * as many ticks as it may.
	 */
	bool note_tick();

	/* Whether the test's code runs, which these functions end. */
	bool runs_code() const;
	/* Whether the address is below a CPU's stack, where a full one ends. */
	bool is_below_stack(const void *at) const;
	/* The size of the CPU's stack; 0: at the end, there is none. */
	usize stack_bytes() const
	{
		const fiber &f = cpus.stack(cpus.current());

		return cpus.now() == scheduler::phase::ending
			       ? 0
			       : static_cast<usize>(f.high() - f.low());
	}

      private:
	void walk_or_run();
	bool walk();
	void run_code();
	void begin();
	void run();
	void close();
	void make_world();
	void end_world();
	void start_cpus();
	void forget_panics();
	static void cpu_main(void *);
	void end_thread_locals(unsigned cpu);

	/* -- The end -- */
	bool all_done() const;
	void finish();
	void report_deadlock();
	void look_at_end();
	void put_known_values();
	[[noreturn]] void end_cpu();
	static void end_waits_for_ever(site);

	/* -- Turns of loops -- */
	std::vector<turn> turns_to_ask() const;
	bool find_in_vain(const std::vector<turn> &, bool &world_is_the_same);
	bool does_the_same(some_graph &other);

	bool suspected = false; /* a walk found a fault, not yet a run */
	bool ended = false;	/* and nothing is: the world can be left */
	bool panicked[max_cpus] = {};
	/* How far the code was at the last tick that found it running. */
	struct reached {
		u64 runs = 0;
		unsigned cpu = 0;
		u64 seen = 0;
		bool operator==(const reached &) const = default;
	};
	reached last_reached;
	unsigned idle_ticks = 0;
	std::string died_of; /* the crash of its destructor */
	site died_at{nullptr, 0};
	fiber ender{256 * 1024};
};

/* How often the timer ticks in a second of CPU time. */
inline constexpr unsigned ticks_a_second = 5;

/* Called at each tick: ends a world's destructor that takes too long. */
void look_at_the_end();

} // namespace model
