/* SPDX-License-Identifier: MIT */
/*
 * engine - the simulated machine: CPUs on fibers, events in virtual time
 *
 * A CPU's operation happens when every event before it has happened. An
 * operation that its cache serves takes effect at once, and advances the CPU's
 * clock. Any other becomes a request to the line: the fiber is left until the
 * request is done. A CPU in a plain wait whose line is in its cache is parked:
 * it costs nothing until it loses the line.
 *
 * engine.cpp: the event loop, loads and stores, waits, and who is stuck.
 * memory.cpp: what a request does and costs.
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

#include <fiber/fiber.hpp>
#include <sim/sim.hpp>

#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

namespace sim {

/*
 * lines - which cache has which line, and which CPUs wait for it
 *
 * A directory: for each line the CPU that owns it (M or E), or those that share
 * it (S), or nobody: then memory has it. One request at a time is served; the
 * others queue in the order in which they came. That is the line's busy time.
 */

inline constexpr unsigned nobody = ~0u;
inline constexpr usize line_bytes = 64;

/* A set of CPUs. */
struct cpu_set {
	bool has(unsigned c) const { return words[c / 64] >> c % 64 & 1; }
	void add(unsigned c) { words[c / 64] |= u64{1} << c % 64; }
	void clear() { *this = {}; }

	/* Calls visit(cpu) for each, smallest first. */
	template <typename Visit>
	void for_each(Visit visit) const
	{
		for (unsigned i = 0; i < max_cpus / 64; i++)
			for (u64 w = words[i]; w != 0; w &= w - 1)
				visit(i * 64 + std::countr_zero(w));
	}

      private:
	u64 words[max_cpus / 64] = {};
};

struct line {
	unsigned number;	 /* in the order of first use, from 1 */
	unsigned owner = nobody; /* who has it alone */
	bool written = false;	 /* and has written to it: M, not E */
	cpu_set copies;		 /* who shares it, while nobody owns it */
	unsigned copies_in[max_sockets] = {};

	bool busy = false;			/* a request is being served */
	unsigned first = nobody, last = nobody; /* the queue behind it */
	u64 touched = 0;			/* the last round of counting */

	mesi state(unsigned cpu) const
	{
		if (owner == cpu)
			return written ? mesi::modified : mesi::exclusive;
		return copies.has(cpu) ? mesi::shared : mesi::invalid;
	}
	bool serves(unsigned cpu, bool to_write) const
	{
		return owner == cpu || (!to_write && copies.has(cpu));
	}
	bool is_shared() const
	{
		for (unsigned n : copies_in)
			if (n != 0)
				return true;
		return false;
	}
};

/* All lines that were ever touched, by address. */
struct line_table {
	line &of(const void *at)
	{
		const auto key =
			reinterpret_cast<std::uintptr_t>(at) / line_bytes;

		if (key == last_key)
			return *last_line;
		auto [found, is_new] = by_address.try_emplace(key, nullptr);
		if (is_new) {
			all.emplace_back();
			all.back().number = static_cast<unsigned>(all.size());
			found->second = &all.back();
		}
		last_key = key;
		last_line = found->second;
		return *last_line;
	}

	/* Null: never touched. */
	const line *find(const void *at) const
	{
		const auto found = by_address.find(
			reinterpret_cast<std::uintptr_t>(at) / line_bytes);

		return found == by_address.end() ? nullptr : found->second;
	}

      private:
	std::deque<line> all; /* stays where it is as it grows */
	std::unordered_map<std::uintptr_t, line *> by_address;
	std::uintptr_t last_key = 0;
	line *last_line = nullptr;
};

/*
 * memory - the CPUs' stacks and the simulated objects, always laid out alike
 *
 * The kernel places mappings at random. A lock that distinguishes waiters by
 * the distance from itself to their stacks would see other distances in each
 * run. So all stacks are made at once, below one block of memory, each next to
 * the one before: distances are then constants.
 */

using klock::usize;

struct simulated_memory {
	static simulated_memory &the();

	/* CPU number cpu's stack. */
	fiber &stack(unsigned cpu) { return *stacks[cpu]; }

	/* A piece of the block; pieces are given back last one first. */
	void *lend(usize bytes, usize alignment);
	void take_back(void *at);

      private:
	static constexpr usize block_bytes = usize{4} << 20;
	static constexpr usize stack_bytes = usize{64} << 10;
	static constexpr usize line_alignment = 64; /* no false sharing */

	simulated_memory();

	fiber block{block_bytes}; /* never run: its stack is the block */
	std::vector<std::unique_ptr<fiber>> stacks;
	std::vector<std::unique_ptr<fiber>> elsewhere; /* did not fit in line */
	usize used = 0;
};

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

	/* Whether it requests a line to write, or has it to write while
	 * parked. */
	bool to_write = false;
	unsigned behind = nobody; /* the next in the line's queue */

	/* Its wait: where in the code, for what, and since when. */
	const char *waits = nullptr; /* a word for it; null: does not */
	site where{nullptr, 0};
	const void *waits_at = nullptr;
	u64 sees = 0;
	u64 since = 0;

	/* Parked until it loses one of these: see engine.cpp. */
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

/* The cycles that a request takes, and those in which the line serves no
 * other. */
struct service {
	u64 takes;
	u64 keeps;
};

struct engine final : hooked::engine {
	engine(const machine &on, unsigned cpus, u64 patience);

	outcome run(const std::function<void(unsigned)> &body);

	/* -- Called by a body, through api.cpp -- */

	processor &me() { return cpus[current]; }
	unsigned current = nobody;
	u64 last_progress = 0;
	[[noreturn]] void stop();

	/* Processes all events before this CPU's next operation. */
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
	/* engine.cpp: the event loop */
	void at(u64 time, unsigned cpu, line *free = nullptr);
	void go_on(unsigned cpu);
	static void begin(void *engine);

	/* memory.cpp */
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

	/* engine.cpp: waits */
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

/* The simulator that runs this fiber. */
engine &the_engine();

} // namespace sim
