/* SPDX-License-Identifier: MIT */
/*
 * engine - the simulated machine: CPUs on fibers, events in virtual time
 *
 * A CPU's operation happens when every event before it has happened. One that
 * its cache serves takes effect at once and moves the CPU's clock on. One that
 * it does not serve becomes a request to the line: the fiber is left until the
 * request is done. A CPU in a plain wait whose line is in its cache is parked:
 * it costs nothing until the line is taken from it.
 *
 * scheduler.cpp: the event loop. coherence.cpp: what a request does and costs.
 * operations.cpp: loads, stores, read-modify-writes. waits.cpp: parking.
 * stuck.cpp: who waits for what.
 */
#pragma once

#include "lines.hpp"
#include "memory.hpp"

#include <sim/sim.hpp>

#include <klock/arch/engine.hpp>

#include <queue>
#include <string>
#include <vector>

namespace sim {

using klock::order;
using klock::u32;
using klock::u64;
using klock::u8;
using klock::arch::site;
namespace hooked = klock::arch::hooked;

struct processor {
	fiber *runs = nullptr;
	u64 now = 0; /* its clock */
	counts did;
	bool finished = false;
	bool irqs_on = true;

	/* What it asks a line for, or holds the line for while parked. */
	bool to_write = false;
	unsigned behind = nobody; /* the next in the line's queue */

	/* Its wait: where in the code, for what, and since when. */
	const char *waits = nullptr; /* a word for it; null: does not */
	site where{nullptr, 0};
	const void *waits_at = nullptr;
	u64 sees = 0;
	u64 since = 0;

	/* Parked until it loses one of these: see waits.cpp. */
	bool parked = false;
	line *watched[2] = {};
	u64 next_turn = 0; /* when it would look again */
	u64 turn = 0;	   /* from one look to the next */
	counts each_turn;  /* what a look counts as */
};

struct event {
	u64 time;
	u64 order; /* events at one time: first come, first served */
	unsigned cpu;
	line *free; /* not null: the line that is done with a request */

	bool operator<(const event &o) const
	{
		return time != o.time ? time > o.time : order > o.order;
	}
};

/* How long a request takes, and how long the line serves nobody else. */
struct service {
	u64 takes;
	u64 keeps;
};

struct engine final : hooked::engine {
	engine(const machine &on, unsigned cpus, u64 patience);

	outcome run(const std::function<void(unsigned)> &body);

	/* -- What a body calls, by api.cpp -- */

	processor &me() { return cpus[current]; }
	unsigned current = nobody;
	u64 last_progress = 0;
	[[noreturn]] void stop();

	/* Lets all happen that comes before this CPU's next operation. */
	void settle();

	/* -- hooked::engine -- */

	void born(const void *, usize) override {}
	void dead(const void *, usize) override {}
	u64 load(hooked::window, order, site) override;
	void store(hooked::window, u64, order, site) override;
	u64 rmw(hooked::window, hooked::update, u64, order, site) override;
	bool compare_exchange(hooked::window, u64 &, u64, order, site) override;
	void fence(order, site) override;
	u64 await(hooked::window, hooked::test, hooked::pace, order,
		  site) override;
	u64 await_patient(hooked::window, hooked::patience, order,
			  site) override;
	u64 await_until(hooked::window, hooked::test, u64 deadline, order,
			site) override;
	u64 await_exchange(hooked::window, u64, hooked::test, order,
			   site) override;
	void await_either(hooked::window, hooked::test, hooked::window,
			  hooked::test, order, site) override;
	void read_plain(const void *, usize, site) override;
	void write_plain(const void *, const void *, usize, site) override;
	void relax(u32 turns) override;
	u64 cycles() override { return me().now; }
	bool irq_flag(bool enabled) override;

	const machine on;
	const unsigned count; /* of CPUs */
	const u64 patience;
	std::vector<processor> cpus;
	line_table lines;
	u64 round = 1;	 /* of counting lines */
	u64 touched = 0; /* lines, in this round */

      private:
	/* scheduler.cpp */
	void at(u64 time, unsigned cpu, line *free = nullptr);
	void go_on(unsigned cpu);
	static void begin(void *engine);

	/* coherence.cpp */
	void access(const void *at, bool to_write);
	void ask(line &, unsigned cpu);
	void serve(line &, unsigned cpu, u64 time);
	void hand_on(line &, u64 time);
	service fetch(line &, unsigned cpu, u64 time);
	u64 take(line &, unsigned cpu, u64 time);
	void lose(line &, unsigned cpu, u64 time);
	const distance &way(unsigned from, unsigned to) const;
	unsigned socket_of(unsigned cpu) const
	{
		return cpu * on.sockets / count;
	}

	/* waits.cpp */
	void begin_wait(const char *word, const hooked::window &, site);
	void end_wait() { me().waits = nullptr; }
	void park(line &, line *other, bool to_write, const counts &a_turn,
		  u64 turn);
	void unpark(unsigned cpu, u64 time);

	/* stuck.cpp */
	std::string stuck(const char *why) const;

	std::priority_queue<event> events;
	u64 orders = 0;
	u64 time = 0;
	unsigned unfinished = 0;
	bool stopped = false;
	const std::function<void(unsigned)> *body = nullptr;
};

/* The one whose fiber this is. */
engine &the_engine();

} // namespace sim
