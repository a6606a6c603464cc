/* SPDX-License-Identifier: MIT */
/*
 * scheduler - runs the CPUs as fibers, and decides which goes on
 *
 * The order in which CPUs add events is a function of the graph alone (first
 * whoever is between the halves of an RMW, then the lowest CPU that can go on):
 * the method's proof needs that, and so does replaying.
 */
#pragma once

#include "graph.hpp"
#include "thread_locals.hpp"

#include <fiber/fiber.hpp>

#include <memory>
#include <vector>

namespace model {

struct scheduler {
	/* The run's state. */
	enum class phase {
		replaying,
		comparing, /* replaying a graph that may be no execution */
		finishing_rmws,
		extending,
		ending
	};

	/* A CPU's state. */
	enum class state {
		runs,
		at_source, /* its next read's write is not replayed yet */
		at_end,	   /* of its events in the graph */
		before_rmw_write,
		blocked, /* in a wait that its read did not end */
		done,
	};

	/* Told when a CPU is resumed, and when it has left. */
	struct watcher {
		virtual void resumed() = 0;
		virtual void left() = 0;

	      protected:
		~watcher() = default;
	};

	/* Makes as many CPUs, if there are fewer; all anew for other stacks.
	 */
	void make(unsigned cpus, std::size_t stack_bytes);

	/* A run begins: code(with) is what each CPU runs. watches may be null.
	 */
	void start(unsigned cpus, void (*code)(void *), void *with,
		   watcher *watches);
	/* Lets the CPUs run what the graph has. */
	void replay(phase as);
	/* Lets them add events, until none goes on. */
	void extend();
	/* Runs it on a stack that is no CPU's. */
	void run_apart(fiber &on, void (*code)(void *), void *with);
	/*
	 * Runs without the code, on a fiber: the CPUs take their turns as in a
	 * run, and advance() does the current one's steps.
	 */
	template <typename Advance>
	void walk(unsigned cpus, Advance advance);

	unsigned current() const { return cpu; }
	phase now() const { return at; }
	void look_at_end() { at = phase::ending; }

	/* Whether a fiber runs, so that leave() and stop() can be called. */
	bool on_fiber() const { return inside; }

	/* Lets others run; returns when the scheduler resumes this CPU. */
	void leave(state why);
	/* Waits until this event is replayed. */
	void wait_for(ref event)
	{
		while (ran(event.cpu) < event.index) {
			mine->source = event;
			leave(state::at_source);
		}
	}
	/* Waits until the CPU may add an event. */
	void wait_for_turn(bool rmw_write);

	/* Ends the run at once. */
	[[noreturn]] void stop();
	void set_stopped() { over = true; }
	void set_going() { over = false; }
	bool stopped() const { return over; }

	state state_of(unsigned c) const { return cpus[c]->is; }
	void set_done(unsigned c) { cpus[c]->is = state::done; }

	/* How many events of the graph a CPU has run. */
	u8 ran() const { return mine->ran; }
	u8 ran(unsigned c) const { return cpus[c]->ran; }
	/* The event of the graph that the current CPU runs next. */
	ref next_event() const
	{
		return {static_cast<u8>(cpu), static_cast<u8>(ran() + 1)};
	}
	void count_event() { mine->ran++; }
	void set_ran(unsigned c, unsigned events)
	{
		cpus[c]->ran = static_cast<u8>(events);
	}

	const fiber &stack(unsigned c) const { return cpus[c]->stack; }
	unsigned made() const { return static_cast<unsigned>(cpus.size()); }

	thread_locals locals;

      private:
	struct one {
		explicit one(std::size_t stack_bytes) : stack(stack_bytes) {}

		fiber stack;
		state is = state::done;
		ref source; /* at_source: the event */
		u8 ran = 0;
	};

	void resume(unsigned which);
	void give_turn(unsigned which)
	{
		cpu = which;
		mine = cpus[cpu].get();
	}

	std::vector<std::unique_ptr<one>> cpus;
	unsigned count = 0;  /* in this run */
	unsigned cpu = 0;    /* the one that runs */
	one *mine = nullptr; /* its state */
	phase at = phase::replaying;
	bool inside = false;
	bool over = false;
	watcher *told = nullptr;
};

template <typename Advance>
void scheduler::walk(unsigned many, Advance advance)
{
	count = many;
	at = phase::replaying;
	const auto take_turn = [&](unsigned c) {
		give_turn(c);
		mine->is = advance();
	};

	for (unsigned c = 0; c < count; c++)
		take_turn(c);
	at = phase::finishing_rmws;
	for (unsigned c = 0; c < count; c++)
		if (cpus[c]->is == state::before_rmw_write)
			take_turn(c);
	at = phase::extending;
	for (unsigned c = 0; c < count; c++)
		if (cpus[c]->is == state::at_end)
			take_turn(c);
	give_turn(0);
}

} // namespace model
