/* SPDX-License-Identifier: MIT */
/*
 * value_worlds - what the tests have CPUs do with a value that has its own lock
 * or sequence
 *
 * A world is the value and a role for each CPU: those of roles.hpp that write
 * and read. Each write makes all parts of the value one more; a reader sees all
 * of a write or nothing of it, and what a lone writer knew before.
 */
#pragma once

#include "roles.hpp"

#include <klock/irq.hpp>
#include <klock/plain.hpp>

#include <model/model.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace worlds {

using klock::u32;
using model::check;
using model::options;
using model::result;

/* A value's parts, all between these: of whole ones they are the same. */
struct parts {
	u32 least, most;
};

/* Whatever has a value, types erased: its world is compiled once. */
struct some_value {
	virtual ~some_value() = default;
	virtual void update() = 0;
	virtual bool try_update() { return update(), true; }
	virtual void write_ones() {}
	virtual parts read() = 0;
	virtual bool try_read(parts &seen) { return seen = read(), true; }
};

/* As game, of a value: the same in each execution. */
struct value_game {
	some_value *(*make)(void *at);
	std::string roles, handlers = {};
	unsigned interrupts_off = 0; /* a mask of CPUs */

	[[nodiscard]] bool has_one_writer() const
	{
		return std::count_if(roles.begin(), roles.end(), [](char c) {
			       return role_of(c).changes() && c != '1';
		       }) == 1;
	}
	/* The readers are its handlers. */
	[[nodiscard]] bool writer_is_alone() const { return roles == "l"; }
};

struct value_world {
	const value_game &now;
	const bool one_writer;
	alignas(64) unsigned char room[256];
	some_value *value;
	klock::plain<u32> before; /* by the one writer */

	/* on the host, each CPU's own */
	u32 updates[most_cpus] = {}, seen[most_cpus] = {};
	u32 done[most_cpus] = {};

	explicit value_world(const value_game &g)
	    : now(g), one_writer(g.has_one_writer()), value(g.make(room))
	{
	}
	~value_world() { value->~some_value(); }
	value_world(const value_world &) = delete;

	void look_at(unsigned cpu, const parts &now_is)
	{
		const u32 is = now_is.least;

		check(is == now_is.most, "two halves of two writes");
		check(is >= seen[cpu], "older than what was seen before");
		seen[cpu] = is;
		if (now.writer_is_alone())
			check(is + 1 >= updates[0], "older than the last");
		/* A reader that sees a write sees what came before it, too. */
		if (!one_writer || is == 0)
			return;
		const u32 known = before.get();
		if (now.writer_is_alone())
			check(known >= is, "not what came before");
	}
	void write(const role &is, unsigned cpu)
	{
		const u32 nth = ++updates[cpu];

		if (is.how == way::overwrites)
			return value->write_ones();
		if (one_writer && (nth == 1 || now.writer_is_alone()))
			before.set(nth);
		value->update();
		done[cpu]++;
		if (is.next == then::tries_again)
			done[cpu] += value->try_update();
	}
	void act(char letter, unsigned cpu)
	{
		const role &is = role_of(letter);
		parts seen_now;

		if (is.changes())
			write(is, cpu);
		else if (is.how == way::tries && value->try_read(seen_now))
			look_at(cpu, seen_now);
		else if (is.reads() && is.how == way::waits)
			look_at(cpu, value->read());
	}
	void section(unsigned cpu)
	{
		const bool off = now.interrupts_off >> cpu & 1;

		if (off)
			(void)klock::irq_save();
		act(now.roles[cpu], cpu);
		if (off)
			klock::irq_restore(true);
	}
	/* Every update counts. */
	void at_end()
	{
		u32 all = 0;

		for (const u32 one : done)
			all += one;
		if (!all)
			return;
		const parts is = value->read();
		check(is.least == all && is.most == all, "an update is lost");
	}
};

inline result play_value(const value_game &g, options how)
{
	only("lU1rs-", g.roles + g.handlers);
	if (how.sections.empty())
		how.sections.assign(g.roles.size(), 1);
	return model::explore_from(
		how, [&g] { return value_world(g); },
		[](value_world &w, unsigned cpu) { w.section(cpu); },
		[](value_world &w) { w.at_end(); },
		[](value_world &w, unsigned cpu) {
			w.act(w.now.handlers[cpu], cpu);
		});
}

/* handlers: of each CPU; interrupts_off: a mask of CPUs */
template <typename Value>
result values(const options &how, const char *roles, const char *handlers = "",
	      unsigned interrupts_off = 0)
{
	static_assert(sizeof(Value) <= sizeof(value_world::room));
	return play_value(
		{[](void *at) -> some_value * { return ::new (at) Value; },
		 roles, handlers, interrupts_off},
		how);
}

} // namespace worlds
