/* SPDX-License-Identifier: MIT */
#pragma once

#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "stage.hpp"

#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace claims {
/*
 * timeline - what each thread does and what the lock then holds, row by row
 */

/*
 * timeline - what each thread does and what the lock then holds, row by row
 *
 * A script says who moves when; whether he gets the lock, and every value, is
 * read from the run.
 */

enum class move {
	goes,	 /* takes his next step: see actor::step() */
	rests,	 /* stays where he is; the row tells where that is */
	finishes /* is done inside, and has not left yet */
};

struct cue {
	unsigned who;
	move what;
};

struct row {
	unsigned who;
	std::string cell;
	std::vector<u32> values;
};

/* What of a lock a row shows, and in which words. */
template <typename L>
struct words;

template <typename Counter>
struct words<klock::ticket_lock<Counter>> {
	using lock = klock::ticket_lock<Counter>;
	static std::vector<std::string> heads()
	{
		return {"next_ticket", "now_serving"};
	}

	static std::vector<u32> values(const stage<lock> &s)
	{
		const auto bytes = s.bytes();
		Counter both[2]; /* owner, next */

		static_assert(sizeof(both) == sizeof(bytes));
		std::memcpy(both, bytes.data(), sizeof(both));
		return {both[1], both[0]};
	}

	/* Came, when the lock looked so. */
	static std::string comes(const std::vector<u32> &before, place)
	{
		return "takes " + std::to_string(before[0]);
	}
};

template <>
struct words<klock::tas_lock> {
	static std::vector<std::string> heads() { return {"flag"}; }

	static std::vector<u32> values(const stage<klock::tas_lock> &s)
	{
		return {s.bytes()[0]};
	}

	static std::string comes(const std::vector<u32> &, place now)
	{
		return now == place::inside ? "finds 0, has it" : "finds 1";
	}
};

/* Who waits and is not meant to move: do they look all the same? */
enum class others { stand_still, look_all_the_time };

template <typename L>
std::vector<row> play(std::span<const cue> script, unsigned actors,
		      others when = others::stand_still)
{
	static const char *const here[] = {"is outside", "waits", "is inside"};
	stage<L> s(actors);
	std::vector<row> rows;

	for (const cue &c : script) {
		if (when == others::look_all_the_time)
			for (unsigned i = actors; i-- > 0;)
				if (i != c.who && s.where(i) == place::waits)
					s.step(i);
		const place was = s.where(c.who);
		const std::vector<u32> before = words<L>::values(s);
		const place now =
			c.what == move::goes ? s.step(c.who) : s.where(c.who);
		std::string cell = here[static_cast<int>(now)];

		if (c.what == move::finishes && now == place::inside)
			cell = "is done";
		else if (c.what == move::goes && was == place::inside)
			cell = "releases";
		else if (c.what == move::goes && was == place::outside)
			cell = words<L>::comes(before, now);
		else if (c.what == move::goes)
			cell = now == place::inside ? "enters" : "looks again";
		rows.push_back({c.who, cell, words<L>::values(s)});
	}
	return rows;
}

/*
 * scripts - the schedules of the two timelines of source text 003
 *
 * Who moves at t1, t2, ..; the outcome is the lock's. Rows t2, t4, .. of those
 * tables say where a thread is after its step: it rests.
 */

inline constexpr unsigned A = 0, B = 1, C = 2;

/* A, B and C come one after another; each works and leaves. */
inline constexpr cue one_after_another[] = {
	{A, move::goes},     {A, move::rests}, {B, move::goes},
	{B, move::rests},    {C, move::goes},  {C, move::rests},
	{A, move::finishes}, {A, move::goes},  {B, move::goes},
	{B, move::finishes}, {B, move::goes},  {C, move::goes},
};

/* A comes back at once, twice, before B and C look again; and once more. */
inline constexpr cue one_comes_back[] = {
	{A, move::goes},  {A, move::rests}, {B, move::goes}, {B, move::rests},
	{C, move::goes},  {C, move::rests}, {A, move::goes}, {A, move::goes},
	{A, move::rests}, {A, move::goes},  {A, move::goes}, {A, move::rests},
	{B, move::goes},  {B, move::rests}, {C, move::goes}, {C, move::rests},
	{A, move::goes},  {A, move::goes},
};

} // namespace claims
