/* SPDX-License-Identifier: MIT */
/*
 * interpreter - turns each operation of the code into events
 *
 * A store to a field of a word is a read and a write of the one location, with
 * nothing in between. Plain accesses are no events: a replay keeps to
 * happens-before, so without a race they find the right values in memory.
 */
#pragma once

#include "brancher.hpp"
#include "cause.hpp"
#include "exploration.hpp"
#include "interrupts.hpp"
#include "learner.hpp"
#include "load_buffering.hpp"
#include "lookout.hpp"
#include "loops.hpp"
#include "memory.hpp"
#include "operations.hpp"
#include "relaxed.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "symmetry.hpp"
#include "waits.hpp"
#include "work_list.hpp"

#include <klock/arch/engine.hpp>

#include <map>
#include <memory>
#include <string>

namespace model {

/* The parts that operations go through. */
struct interpreted {
	exploration &task;
	scheduler &cpus;
	work_list &work;
	reporter &reports;
	model::symmetry &symmetry;
	operation_table &operations;
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
};

struct interpreter final : hooked::engine, private interpreted {
	explicit interpreter(const interpreted &parts) : interpreted(parts) {}

	void start_run(unsigned count);

	/* -- hooks -- */
	void born(const void *at, usize bytes) override;
	void dead(const void *at, usize bytes) override;
	u64 load(window, order, site) override;
	void store(window, u64 v, order, site) override;
	u64 rmw(window, hooked::update, u64 operand, order, site) override;
	bool compare_exchange(window, u64 &expected, u64 desired, order,
			      site) override;
	bool compare_exchange_or(window, u64 &expected, u64 desired, order,
				 order failed, bool weak, site) override;
	void advance(window, u64 from, u64 to, order, site) override;
	void fence(order, site) override;
	u64 await(window, hooked::test, hooked::pace, order, site) override;
	u64 await_patient(window, hooked::patience, order, site) override;
	u64 await_until(window, hooked::test, u64 deadline, order,
			site) override;
	u64 await_exchange(window, u64 v, hooked::test, order, site) override;
	void await_either(window, hooked::test, window, hooked::test, order,
			  site) override;
	void wait_while(window, u64 old, order, site) override;
	void notify(window, bool all, site) override;
	void read_plain(const void *at, usize bytes, site) override;
	void write_plain(const void *at, const void *with, usize bytes,
			 site) override;
	void relax(u32) override {}
	u64 cycles() override;
	bool irq_flag(bool enabled) override;

	/* Counts what the checker has seen of the current CPU in this run. */
	u64 seen() const
	{
		const of_cpu &mine = of[cpus.current()];
		return u64{cpus.ran()} << 32 | mine.idle;
	}

	/* Called by instrumented code for a plain access. Returns how much of
	 * the stack it has used at most. */
	usize touch(const void *at, usize bytes, bool writes,
		    const void *caller, detail::access_of by);
	/* If the assumption does not hold, this CPU stops; the execution does
	 * not count. */
	void assume(bool holds);
	/* Whether what may fail, or end, for no reason does so now. */
	bool happens_for_no_reason();
	/* Returns one of 0 .. n-1, each in executions of its own. */
	u64 choose(u64 n = 2);
	/* Ends the CPU's part: its next step is beyond a bound. */
	void leave_out();
	/* Runs the interrupts that may come now. */
	void branch_over_interrupts()
	{
		if (irqs.may_come(cpus.current()))
			let_interrupts_come();
	}

	/* The klock::context of the running code: thread, or a handler. */
	int context() const;
	bool interrupts_on() const { return irqs.at(cpus.current()).on; }
	/* Called by the current CPU before each wait; null: none. */
	void set_on_wait(void (*call)(void *), void *with);
	const void *on_wait() const { return of[cpus.current()].on_wait_with; }

      private:
	struct of_cpu {
		u32 idle = 0; /* accesses to plain data, no event between */
		u8 idle_since = 0; /* events before them */
		unsigned spurious_left = 0;
		void (*on_wait)(void *) = nullptr;
		void *on_wait_with = nullptr;
	};

	void let_interrupts_come();

	/* -- Events -- */
	const event &read(const reading &, unsigned location);
	void write(const reading &, unsigned location, u64 word);
	const event &next(kind, unsigned location, u16 op);
	bool is_at_end() const;
	void learn_ends(const reading &, unsigned location);
	void wait_for_turn(bool rmw_write);
	[[noreturn]] void end_at_limit();
	/* seen: the loop cutter is told of the access, too. */
	void count_idle(site, bool seen = true);

	/* -- Operations -- */
	effect effective(operation, order, site, u16 swap = 0);
	unsigned location_of(window &, site);
	reading asking(const window &, effect) const;
	u64 do_rmw(reading &, site, const char *name);
	bool read_equals(const window &field, u64 expected, order, site);
	bool swap_split(const window &, u64 &expected, u64 desired, effect,
			site);
	void about_to_wait();
	void block_unless(const reading &, u64 word, site);
	u64 look(window, effect, site, const hooked::test *until = nullptr);
	window queue_of(const window &);
	u64 enter(const window &queue, site);
	ref last_read() const;

	/* -- Rows -- */
	void note(const char *name, const reading &, site, unsigned location);
	void add_row(const char *name, const reading &, site,
		     unsigned location);
	void note_plain(const void *at, usize bytes, bool writes,
			const std::string &value, site);

	of_cpu of[max_cpus];
	/* The queues of std::atomic's sleepers, by its address. */
	std::map<const void *, std::unique_ptr<u64>> queues;
};

} // namespace model
