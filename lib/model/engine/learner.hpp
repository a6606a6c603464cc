/* SPDX-License-Identifier: MIT */
/*
 * learner - records in each run what the code does next
 *
 * Each operation of a run is compared with the step that is known there, or
 * becomes that step. A body is not learnt if it keeps anything but atomic and
 * plain data in the world, as its steps may depend on that. Nor is a body that
 * makes such data on its stack.
 */
#pragma once

#include "exploration.hpp"
#include "interrupts.hpp"
#include "learnt.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "symmetry.hpp"

#include <utility>
#include <vector>

namespace model {

struct learner {
	learner(exploration &of, scheduler &those, model::symmetry &alike,
		reporter &to)
	    : task(of), cpus(those), symmetry(alike), reports(to)
	{
	}

	/* An exploration begins; on: the code may be learnt. */
	void start(bool on) { is_on = on; }
	void forget() { code.forget(); }
	/* A run of the code begins. */
	void start_run(unsigned count);

	bool learns() const { return is_on; }
	/* This code cannot be learnt. */
	void give_up();
	/* Turns it off, or to what it was; returns what it is. */
	bool set_learning(bool on) { return std::exchange(is_on, on); }
	bool is_learning_step() const
	{
		return is_on && step_of[cpus.current()];
	}

	/* -- The current CPU is about to do this -- */
	void reads(const reading &, unsigned location);
	void writes(const reading &, unsigned location, u64 word);
	void fences(effect);
	void chooses(u64 of);
	void blocks(const wait *, unsigned count, const interrupt_state &);
	void drops() { doing(step::does::drop); }
	void ends() { doing(step::does::end); }
	/* A plain access; `with` is the value read, or to be written. */
	void accesses(step::does, const void *at, usize bytes,
		      const void *with);

	/* It has done so, and has read this value. */
	void went(u64 value);
	/* Notes a value that its wait could have read, and whether that ends
	 * the wait. */
	void note_end(u64 value, bool ends);
	/* Notes a value that a wait of a blocked CPU could read. */
	void note_end(unsigned cpu, unsigned wait, u64 value, bool ends);

	/* It has read the same as before, and done something else. */
	void report_otherwise();

	/* -- Knowledge -- */
	u32 step_at(unsigned cpu) const { return step_of[cpu]; }
	u32 current_step() const { return step_of[cpus.current()]; }
	void set_step(unsigned cpu, u32 to) { step_of[cpu] = to; }
	const step &at(u32 number) const { return code.steps[number]; }
	const learnt &known() const { return code; }

	/* -- Runs by what is known, in which the code does not run -- */
	void begin_walk()
	{
		walks = true;
		missing = false;
	}
	void end_walk() { walks = false; }
	bool is_walk() const { return walks; }
	/* The walk has come to a step that is not known. */
	void miss() { missing = true; }
	bool missed() const { return missing; }
	/*
	 * Returns whether a value ends the wait of a blocked CPU. If that is
	 * not known, the walk misses, and it returns true.
	 */
	bool ask_free(unsigned cpu, unsigned wait, u64 value);

      private:
	step *doing(step::does);

	exploration &task;
	scheduler &cpus;
	model::symmetry &symmetry;
	reporter &reports;

	learnt code;
	bool is_on = false;
	bool walks = false;
	bool missing = false;
	u32 step_of[max_cpus] = {}; /* each CPU's next; 0: not known */
	std::vector<u8> host;	    /* the world as it must be in this run */
};

/*
 * Returns whether a value ends a step's wait. The walk misses if that is not
 * known.
 */
bool known_verdict(void *step, u64 value);

} // namespace model
