/* SPDX-License-Identifier: MIT */
/*
 * checker - the engine behind the hooked port: the state that its parts share
 *
 * Method: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly
 * Stateless, Optimal Dynamic Partial Order Reduction, POPL 2022). The work is a
 * stack of graphs. Running one replays its events, then adds events until
 * nobody can go on; every read of an older write, every place of a write in
 * modification order and every earlier read that the write may serve is a copy
 * of the graph on the stack.
 *
 *	explorer.cpp	the stack of graphs, until it is empty
 *	brancher.cpp	what else could have been: reads, writes, revisits;
 *bounds symmetry.cpp	of executions that differ in who is who, one
 *	load_buffering.cpp	reads of what comes after them
 *	run.cpp		one run: who goes on, from the world's making to its end
 *	interpreter.cpp	operations as events, interrupts
 *	waits.cpp	waits, and who is deadlocked
 *	plain_data.cpp	plain variables, as the compiler tells of them
 *	weaken.cpp	weaker orders
 *	api.cpp		what a body may call
 *	lines.cpp	from a return address to a line
 *	finding.cpp	the shortest execution that shows a fault, shown
 *	learner.cpp	what the code does next, written down by the runs;
 *			and a run by what is known of it
 *	loops.cpp	what the code calls: its own loops, turns in vain
 *	deepen.cpp	explorations with wider and wider bounds
 *	crash.cpp	signals and exits of the code: findings
 *	sanitizers.cpp	what AddressSanitizer and its like report, likewise
 *	workers.cpp	the stack shared by processes
 *	graph.cpp	an execution as relations
 *	consistency.cpp	the axioms
 *	objects.cpp	plain data and lifetimes
 *	members.cpp	members of objects, by debugging information
 *	met.cpp		which operations met another CPU
 *	cause.cpp	what is missing where something was found
 *	intended.cpp	plain data that are taken as relaxed atomics
 *	timeline.cpp	a run as text, and as a picture
 *	fold.cpp	what of it nobody needs
 */
#pragma once

#include "cause.hpp"
#include "consistency.hpp"
#include "exploration.hpp"
#include "graph.hpp"
#include "brancher.hpp"
#include "interrupts.hpp"
#include "learner.hpp"
#include "load_buffering.hpp"
#include "loops.hpp"
#include "objects.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "symmetry.hpp"
#include "timeline.hpp"
#include "waits.hpp"
#include "walker.hpp"
#include "work_list.hpp"
#include "workers.hpp"

#include <model/access.hpp>
#include <model/model.hpp>
#include <model/places.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace model {

/* Relaxed data of a statement of the code: intended.cpp. */
struct shown_word {
	char *at;
	u8 bytes;
	u64 was; /* at first, and again when the statement is over */
	bool writes;
	u64 shows;
};

struct statement {
	static constexpr usize most = 32;

	shown_word of[most];
	usize count = 0, bytes = 0;
	const void *caller = nullptr;
	bool writes = false, joined = false, settled = true;
};

/* What one CPU does in one run. */
struct cpu_state {
	own_stack own;	     /* what it alone does there */
	u32 idle = 0;	     /* accesses to plain data, no event between */
	u8 idle_since = 0;   /* events before them */
	unsigned births = 0; /* objects that it has made */
	u16 last_op = 0;     /* cause.cpp */
	bool plain = false;  /* its operation is of plain data: intended.cpp */
	bool panicked = false;
	unsigned spurious_left = 0;
	void (*on_wait)(void *) = nullptr;
	void *on_wait_what = nullptr;
	/* With relaxed data: its own, and its handlers'. Else: none. */
	std::vector<statement> statements;
};

struct checker final : hooked::engine {
	result explore(program &, const options &);

	/* -- hooks: execution.cpp -- */
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
	void notify(window, site) override;
	void read_plain(const void *at, usize bytes, site) override;
	void write_plain(const void *at, const void *with, usize bytes,
			 site) override;
	void relax(u32) override {}
	u64 cycles() override;
	bool irq_flag(bool enabled) override;

	/* The code under test ends its CPU; does not come back. */
	[[noreturn]] void panic(const std::string &message);
	/* So does what would end the process: crash.cpp. */
	[[noreturn]] void crash(const std::string &what, site);
	[[noreturn]] void refuse(const detail::trapped &, site);
	bool runs_code() const;
	bool is_below_stack(const void *at) const;
	site line_of_code(const void *returns_to);
	/* If it does not hold, this CPU stops; the execution does not count. */
	void assume(bool holds);
	/* One of 0 .. n-1, each in executions of its own. */
	u64 choose(u64 n = 2);
	/*
	 * The source line of the call whose return address this is. It is
	 * computed when a timeline or a list of uses wants it. own: the call is
	 * one of the running CPU's.
	 */
	site place_of_return(const void *to, bool own = true);
	site line_of_return(const void *to);
	const void *called_from = nullptr; /* the last */
	/* A plain access of code that the compiler has instrumented. */
	void touch(const void *at, usize bytes, bool writes, const void *caller,
		   detail::access_of by);
	/* The code comes here: its last access of relaxed data is done. */
	void settle();
	void intend(const void *object, usize bytes, const char *text);
	/* Clears the engine's traces from a stack that loops.hpp compares. */
	void leave_no_traces()
	{
		if (cuts_loops)
			way_in.wipe();
	}
	/* The compiler's hook: a function of the CPU begins; null: one ends. */
	void frame(const char *at, const void *returns_to, const void *caller);
	void storage_ends(const void *at, usize bytes, const void *caller);
	/* The klock::context of the running code: thread, or a handler. */
	int context() const;
	unsigned current() const { return cpus.current(); }
	cpu_state &me() { return code_on[cpus.current()]; }
	graph &execution() const { return work.running(); }

	exploration task;
	scheduler cpus;
	work_list work;
	reporter reports{task, cpus, work};
	model::symmetry symmetry{cpus};
	operation_table operations;
	bounds limits{task};
	load_buffering early{task, work, cpus, reports, operations, limits};
	learner learning{task, cpus, symmetry, reports};
	brancher branches{task,	    work,	cpus,	symmetry,
			  learning, operations, limits, early};
	interrupts irqs;
	model::waits waits{task, cpus, work, learning, branches, irqs, reports};
	walker walks{cpus, work, symmetry, learning, branches, waits, irqs};

      private:
	friend struct loops;

	/* -- The exploration -- */
	void explore_once();
	void explore_whole(unsigned cpus);
	void explore_all(unsigned cpus);
	void explore_work();
	void explore_next();
	void explore_early();

	/* -- A run -- */
	void run_one();
	void walk_or_run();
	bool walk();
	void put_known_values();
	void run_code();
	void run();
	void begin();
	void close();
	void end_world();
	bool all_done() const;
	void start_cpus();
	void wait_for_turn(bool rmw_write);
	void finish();
	void report_deadlock();
	void look_at_end();
	void put_last_values();
	void save(const void *at, usize bytes);
	void restore();
	static void cpu_main(void *);
	static void end_main(void *);
	static void end_waits_for_ever(site s);

	/* -- deepen.cpp -- */
	using time_point = std::chrono::steady_clock::time_point;
	void explore_deeper(const options &, unsigned cpus);
	void set_deadline(time_point start, double budget);
	bool is_late() const;
	void look_at_clock();
	time_point deadline = time_point::max();
	bool level_ended = false;

	/* -- workers.cpp -- */
	bool share_work(progress &);
	[[noreturn]] void work_for(pool &, unsigned me);

	/* -- Operations as events -- */
	const event &read(const reading &, unsigned place);
	void write(const reading &, unsigned place, u64 word);
	const event &next(kind, unsigned place, u16 op);
	bool is_at_end() const;
	void learn_ends(const reading &, unsigned place);

	/* -- crash.cpp -- */
	static void must_be_memory(const void *at, site);
	bool destroys_world() const;
	[[noreturn]] void leave_destructor(const std::string &what, site);

	/* -- execution.cpp -- */
	unsigned on_stack_of(const void *at) const;
	void meet_on_stack(unsigned of, const char *byte);
	void refuse_what_is_gone(const void *at, site);
	unsigned place_of(window &, site);
	unsigned place_known(const window &) const;
	reading asking(const window &, effect) const;
	actor actor_at(u8 epoch, site) const;
	void blame(const conflict &, const void *at, site);
	u64 do_rmw(reading &, site, const char *name);
	bool read_equals(const window &field, u64 expected, order, site);
	bool swap_split(const window &, u64 &expected, u64 desired, effect,
			site);
	void note(const char *name, const reading &, site, unsigned place);
	void note_plain(const void *at, usize bytes, bool writes,
			const std::string &value, site);
	window bell_of(const window &);
	u64 look(window, effect, site, const hooked::test *until = nullptr);
	void block_unless(const reading &, u64 word, site);
	void about_to_wait();

	/* -- loops.cpp -- */
	bool has_the_values_of_the_turn_before(const turn &) const;
	bool is_like_the_turn_before(const turn &) const;
	bool does_the_same(std::unique_ptr<graph> &other);
	std::vector<turn> turns_to_ask() const;
	bool find_turn_in_vain(const std::vector<turn> &,
			       bool &world_is_the_same);

	/* -- intended.cpp -- */
	void start_intended();
	statement &statement_now();
	unsigned entry_of(const void *caller);
	bool intended_by(const void *at, usize bytes, const void *caller,
			 bool is_volatile);
	std::string what_was_intended() const;
	void split_access(const char *word, usize size, const char *first,
			  const char *last);
	u64 oldest(const char *at, usize bytes);
	void touch_intended(const void *at, usize bytes, bool writes,
			    const void *caller);
	bool copies(usize bytes, bool writes, const void *caller);
	bool intended_access(const void *at, usize bytes, bool writes,
			     const void *caller, detail::access_of by);

	/* -- execution.cpp -- */
	void branch_over_interrupts();
	effect effective(operation, order, site, u16 swap = 0);
	order weakened(operation, order, site) const;

	/* -- met.cpp -- */
	std::vector<use> uses_of_code();
	void look_at_uses();
	u16 operation_of(const graph &, ref) const;
	bool note_acquire(ref read, const clock &seen);
	void note_release(ref write, unsigned of, unsigned there);
	void note_order(unsigned of, unsigned there, const clock &seen,
			unsigned but_for);
	static void plain_in_order(unsigned of, u8 epoch, const actor &);
	void note_orders_before(ref later);
	void note_sc_fences();
	void note_orders();

	/* -- cause.cpp -- */
	enum class outcome { right, fails, fails_else, unknown };
	order repaired(u16 op, order, site, u16 swap);
	std::unique_ptr<graph> with(const graph &, const std::vector<repair> &,
				    machine,
				    std::vector<u8> (&there)[max_cpus]) const;
	bool fails(const shown_fault &, const std::vector<repair> &,
		   machine) const;
	void add_orders(const graph &, std::vector<repair> &to) const;
	std::vector<repair> least(const shown_fault &,
				  const std::vector<repair> &had,
				  std::vector<repair> some) const;
	std::vector<repair> missing(const shown_fault &,
				    const std::vector<repair> &had) const;
	outcome explore_again(const std::vector<repair> &, machine);
	bool complete(std::vector<repair> &, bool &sc);
	std::string text_of(const repair &, const shown_fault &) const;
	std::string cause_of(const shown_fault &);
	void find_cause();

	std::vector<repair> repairs; /* while it is explored again */
	bug fault = bug::none;

	std::vector<cpu_state> code_on;
	fiber ender{256 * 1024};
	objects memory;
	loops way_in{*this}; /* what the code calls, where loops are cut */
	bool cuts_loops = false;
	bool endless = false; /* a loop is, unless they are cut or bounded */
	std::string endless_loop; /* that has a bound now, as a limit */
	/* seen: by loops.hpp, too. */
	void count_idle(site, bool seen = true);
	void leave_out();
	hooked::engine &called()
	{
		if (cuts_loops)
			return way_in;
		return *this;
	}

	static constexpr unsigned none = ~0u;
	bool suspected = false; /* a walk came to a fault: does a run? */
	bool run_all = false;	/* what was learnt has been wrong */

	bool ended = false;  /* and nothing is: the world can be left */
	std::string died_of; /* the crash of its destructor */
	site died_at{nullptr, 0};

	/* Old bytes of memory that the run changed and did not allocate. */
	struct saved {
		void *at;
		std::vector<u8> was;
	};
	std::vector<saved> changed;

	/* The ranges of the host's thread_locals: each thread has its own. */
	std::vector<std::pair<const char *, const char *>> thread_locals;

	/* Words that std::atomic's sleepers wait on, by its address. */
	std::map<const void *, std::unique_ptr<u64>> bells;

	/* -- intended.cpp -- */
	struct named_range {
		const char *at;
		usize bytes;
		u8 entry; /* of options.relaxed */
	};
	std::vector<named_range> intended; /* of this run's world */
	std::map<const void *, unsigned> lines;
	std::set<std::pair<const char *, usize>> split;
	std::vector<bool> matched; /* which of options.relaxed was met */
	bool volatile_matched = false;
};

checker &the_checker();

/* Whether it is a line of the C++ library's headers. */
bool is_of_library(site);

/* Whether the end of a world lasts: a signal's handler. */
void look_at_the_end(int);

} // namespace model
