/* SPDX-License-Identifier: MIT */
/*
 * loops - the code's own loops: a turn in vain ends the CPU's part in an
 * execution
 *
 * A CPU's code is deterministic: what it does next follows from its local state
 * (stack and registers) and from the values that it reads. So a CPU that comes
 * to an operation a second time in the same state, and has changed nothing in
 * between, has made a turn in vain: whatever it does now, it could have done
 * without the turn. It is blocked there, like a CPU whose await has failed. In
 * other executions, later writes revisit the reads of its turn. (Await model
 * checking: Oberhauser et al., ASPLOS 2021; spin loops as assumptions: GenMC,
 * Kokologiannakis, Vafeiadis, CAV 2021.)
 *
 * Sound. Let a turn be calls that change nothing: loads, fences,
 * compare-and-swaps that fail, reads of plain data. Take its events out of an
 * execution: every relation of RC11 over the rest is a subset of what it was,
 * so the rest is an execution too, and an execution of this program, because
 * the states before and after the turn are the same. It has the same outcome.
 * An RMW that writes what it read may be part of a turn, too: a read of its
 * write then reads the write below it, which has the same value; modification
 * order and release sequences only get shorter. A plain store of the value that
 * is there may be: without a race, the next reader finds that value with the
 * turn and without. This must hold for each store alone: if one changes the
 * value and the next one changes it back, another CPU may have read it in
 * between. An atomic store may not be part of a turn: it moves its value up in
 * modification order. Without the turn, there is less order, but no outcome is
 * lost.
 *
 * Races. A plain access in a turn may race, also a store of the same value.
 * While its CPU is blocked, the others' accesses are compared with it. But
 * accesses that others make because of what the CPU does after the turn are in
 * no execution that has the turn. So if others access the same bytes, and one
 * of them writes, a turn is not cut, unless it reads the same writes as the
 * turn before it. A race is between an access in one turn of a CPU and an
 * access of another CPU, so it is in the execution that has no other turns; and
 * of two turns with the same reads either will do. The cutter learns which CPUs
 * access which bytes. If a turn was cut because of something that proves wrong,
 * everything is explored anew. (This is not done for lifetimes. If an object is
 * accessed in failed turns only, and a CPU that waits by a relaxed order for
 * what comes after these turns ends it, that is not found.)
 *
 * Complete and optimal. Whether a CPU is blocked is a function of what it has
 * read, as with an assume(): TruSt's proofs hold for the program with those. So
 * a state must depend on nothing else: the stack is cleared before a run, and
 * the engine's traces in it are cleared after each call (wipe()).
 *
 * Ends. With given writes, a loop's reads only go up in modification order, so
 * in the end it reads the same values again and again. If its state depends on
 * these values alone, it repeats. A loop that counts or writes has another
 * state in each turn, and goes on until max_events. Everything is then explored
 * anew, with a bound for its turns in a row (bound_endless_loop()); the result
 * names the loop.
 *
 * Counts. Values in dead registers make two states differ that mean the same:
 * then the turn is not cut here. It is found in the complete execution, by what
 * the code does and not by its state (runner). So `complete` does not depend on
 * dead registers. It does depend on whether the compiler merges a look before a
 * loop with the loop's.
 *
 * A turn with an await in it repeats only if it reads the same writes as the
 * turn before it: the counts of locks include such turns.
 *
 * Learnt. A load at a head that has read a value, and nothing else happened
 * until the CPU came back in the same state, makes a turn in vain whenever the
 * CPU is in that state and reads that value. So it is taken as an await's: of
 * these values, only the newest is read (see waits.cpp, leads_nowhere()), and
 * the code need not run to find that another leads nowhere.
 *
 * States are kept only at the heads of loops. A head is learned when a run
 * comes to it a second time; that run begins anew. No earlier run has come to
 * it twice. From then on every execution is a run of the code; none is walked
 * (walker).
 */
#pragma once

#include "exploration.hpp"
#include "interrupts.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "turns.hpp"
#include "waits.hpp"
#include "work_list.hpp"

#include <klock/arch/engine.hpp>

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace model {

namespace hooked = klock::arch::hooked;
struct interpreter;

/* A call of a hook, as far as it shows where the code is. */
struct call {
	enum class kind : u8 {
		load,
		rmw,
		swap,
		store,
		fence,
		wait,
		plain,
		plain_store,
		flag
	};

	kind what = kind::load;
	const void *at = nullptr;
	site where{nullptr, 0};
	u8 ran = 0; /* the CPU's events before it */
};

/*
 * The hooks that the code calls: those of the engine, with a check of the CPU's
 * state before each, and after each whether it changed anything.
 */
struct loop_cutter final : hooked::engine, scheduler::watcher {
	loop_cutter(exploration &of, scheduler &those, const work_list &graphs,
		    reporter &to, model::waits &those_blocked,
		    const interrupts &flags, interpreter &does)
	    : task(of), cpus(those), work(graphs), reports(to),
	      waits(those_blocked), irqs(flags), code(does)
	{
	}

	/* -- Whether loops are cut -- */
	bool cuts() const { return is_on; }
	void cut_if(bool asked) { is_on = asked; }
	/* The hooks that the code calls: these, or the interpreter's. */
	hooked::engine &hooks();
	/* The scheduler tells it of turns; null: loops are not cut. */
	scheduler::watcher *watcher() { return is_on ? this : nullptr; }
	/* Clears the engine's traces from a stack that is compared. */
	void leave_no_traces(usize depth) const;

	/* An exploration begins, or begins anew with what it has learnt. */
	void start_exploration()
	{
		words.clear();
		endless.clear();
	}
	void forget_heads();
	void start_run(unsigned cpus);

	/* Forget the current CPU's calls: its body begins, or it wrote. */
	void start_section();
	void forget_turns();

	/*
	 * The compiler reports a plain access that the current CPU is about to
	 * make, to other memory than its stack. settle() checks whether a store
	 * has changed anything, when the CPU comes here again.
	 */
	void touch(const void *at, usize bytes, bool writes);
	void settle();

	/* The current CPU is resumed, or has left. */
	void resumed() override;
	void left() override;

	/* Whether a new head was found, so that the run must begin anew. */
	bool found_a_head() const { return again; }

	/*
	 * Tells values that end the loop of the load that the current CPU has
	 * come to from those that do not; null: none is known.
	 */
	const hooked::test *ends_of_load()
	{
		return is_on && mine().in_vain ? &mine().ends : nullptr;
	}

	/*
	 * The line of the current CPU's last call, and whether it is in a loop.
	 */
	site last_site() const;
	bool in_a_loop() const;

	/* The turns in a row that a loop without an end may take. */
	static constexpr unsigned endless_turns = 4;
	bool bound_endless_loop();
	/* The loop that has a bound now, as a limit for the result; empty:
	 * none. */
	const std::string &endless_loop() const { return limit; }
	void note_endless(const std::string &text) { limit = text; }

	/* The CPU's calls since it last changed anything. */
	const std::vector<call> &calls_of(unsigned cpu) const
	{
		return of[cpu].calls;
	}

	/* The turns of the run that may be in vain. */
	const std::vector<turn> &turns() const { return ended; }

	/* -- hooks -- */
	void born(const void *at, usize bytes) override;
	void dead(const void *at, usize bytes) override;
	u64 load(hooked::window, order, site) override;
	void store(hooked::window, u64 v, order, site) override;
	u64 rmw(hooked::window, hooked::update, u64 operand, order,
		site) override;
	bool compare_exchange(hooked::window, u64 &expected, u64 desired, order,
			      site) override;
	bool compare_exchange_or(hooked::window, u64 &expected, u64 desired,
				 order, order failed, bool weak, site) override;
	void advance(hooked::window, u64 from, u64 to, order, site) override;
	void fence(order, site) override;
	u64 await(hooked::window, hooked::test, hooked::pace, order,
		  site) override;
	u64 await_patient(hooked::window, hooked::patience, order,
			  site) override;
	u64 await_until(hooked::window, hooked::test, u64 deadline, order,
			site) override;
	u64 await_exchange(hooked::window, u64 v, hooked::test, order,
			   site) override;
	void await_either(hooked::window, hooked::test, hooked::window,
			  hooked::test, order, site) override;
	void wait_while(hooked::window, u64 old, order, site) override;
	void notify(hooked::window, bool all, site) override;
	void read_plain(const void *at, usize bytes, site) override;
	void write_plain(const void *at, const void *with, usize bytes,
			 site) override;
	void relax(u32 turns) override;
	u64 cycles() override;
	bool irq_flag(bool enabled) override;

      private:
	/* The state of a CPU at a head. */
	struct state {
		bool same(const state &) const;

		call at;
		const char *low; /* of the stack, up to its end */
		std::vector<u8> stack;
		interrupt_state irqs;
		const void *on_wait;
	};
	struct plain_access {
		const void *at;
		usize bytes;
		bool writes;
		u8 ran;
	};
	/* Masks of CPUs: those that access it, and those whose turn was cut
	 * because of that. */
	struct byte {
		unsigned readers, writers, cut_readers, cut_writers;
	};
	struct of_cpu {
		void forget_turns();

		std::vector<call> calls; /* since it changed anything */
		std::vector<plain_access> plains; /* likewise */
		const void *stores_to = nullptr;  /* next: touch() */
		std::vector<u8> stores_over;	  /* what is there */
		std::vector<std::pair<call, unsigned>> times; /* of calls */
		std::vector<std::pair<call, unsigned>> in_a_row;
		std::vector<state> states;
		std::size_t used = 0;	/* of states: their room is kept */
		std::vector<u8> memory; /* as it was when it went on */

		/* The values that the load at a head, to which it has come, is
		 * known to read in vain. */
		const std::vector<u64> *in_vain = nullptr;
		hooked::test ends{};
		u64 loaded = 0; /* by its last load */
		site last{nullptr, 0};
	};

	/* Clears what the engine has left on the CPU's stack. */
	template <usize depth>
	void wipe() const;
	[[gnu::noinline]] void arrive(const call &);
	void look(const call &, const char *low);
	bool look_back(const call &);
	void block_if_repeated(const state &now);
	const std::string &key_of(const state &);
	void learn(const state &first, const turn &);
	template <typename Visit>
	void memory_of_mine(Visit) const;
	void look_at_memory();
	bool stays(const call &first) const;
	bool any_since(const call &first, call::kind) const;
	void note_plain(const void *at, usize bytes, bool writes);
	bool has_plain_since(const call &first) const;
	bool trust_plain_since(const call &first);
	template <typename Visit>
	unsigned of_bytes(const plain_access &, Visit);
	void bound(const call &);
	bool is_endless(const call &) const;
	void passed(bool changed);
	bool wrote_what_it_read() const;
	of_cpu &mine();

	exploration &task;
	scheduler &cpus;
	const work_list &work;
	reporter &reports;
	model::waits &waits;
	const interrupts &irqs;
	interpreter &code;

	bool is_on = false;
	std::string limit;
	std::vector<turn> ended; /* turns of the run, as they end */
	std::vector<of_cpu> of;
	std::vector<call> heads;
	std::vector<call> endless; /* in loops that have no end */
	/* The values that a load at a head reads in vain, by the state
	 * there. */
	std::unordered_map<std::string, std::vector<u64>> vain_values;
	std::string key;				      /* room for one */
	std::unordered_map<usize, std::array<byte, 8>> words; /* plain data */
	std::size_t deepest = 0; /* bytes of a stack in use, at most */
	bool again = false;
};

} // namespace model
