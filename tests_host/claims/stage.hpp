/* SPDX-License-Identifier: MIT */
#pragma once

#include "../watchdog.hpp"

#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace claims {

/*
 * stage - one lock and the threads that a script moves, step by step
 */

/*
 * actor - a thread that takes and leaves a lock one step at a time
 *
 * A real thread in a real lock; only when it goes on is up to the script. It
 * stops in three places: before lock(), after lock(), and in each turn of its
 * wait (tests_host/overlays/watched).
 */

enum class place { outside, waits, inside };

struct actor final : private klock::arch::watcher {
	actor(std::function<void()> lock, std::function<void()> unlock);
	/* It must be outside by now: a thread in a wait cannot be had back. */
	~actor();
	actor(const actor &) = delete;
	actor &operator=(const actor &) = delete;

	/*
	 * Outside: calls lock(), up to its first turn of waiting or its return.
	 * Waiting: takes one more look. Inside: calls unlock(). Returns where
	 * it stands then.
	 */
	place step();

	[[nodiscard]] place where() const { return now; }

      private:
	void turn() override { stop_at(place::waits); }
	void play();
	void stop_at(place there);
	void await_cue(std::unique_lock<std::mutex> &hold);

	std::function<void()> lock, unlock;
	std::mutex mutex;
	std::condition_variable cue, stopped;
	bool moving = false;  /* between a cue and the next stop */
	bool leaving = false; /* the end: no more steps */
	place now = place::outside;
	std::thread thread; /* last: it uses all others */
};

/*
 * stage - one lock and its actors, moved by a script
 */

using klock::u32;
using klock::u8;
using klock::usize;

template <typename L>
struct stage {
	/* The lock is made of what follows the number of actors. */
	template <typename... Args>
	explicit stage(unsigned actors, Args... lock_args) : lock(lock_args...)
	{
		for (unsigned i = 0; i < actors; i++) {
			auto &who = contenders.emplace_back(i);
			cast.emplace_back([this, &who] { who.lock(lock); },
					  [this, &who] { who.unlock(lock); });
		}
	}

	~stage() { clear(); }

	unsigned size() const { return static_cast<unsigned>(cast.size()); }
	place step(unsigned who)
	{
		watchdog::note<L>("a step of actor", who);
		return cast[who].step();
	}
	place where(unsigned who) const { return cast[who].where(); }

	unsigned count(place there) const
	{
		unsigned sum = 0;

		for (const actor &a : cast)
			sum += a.where() == there;
		return sum;
	}

	/* Looks until it is inside, so many times at most. */
	bool looks(unsigned who, unsigned most)
	{
		for (unsigned i = 0; i < most && where(who) == place::waits;
		     i++)
			step(who);
		return where(who) == place::inside;
	}

	/* All who wait take a look, the last of them first. */
	void all_look()
	{
		for (unsigned i = size(); i-- > 0;)
			if (where(i) == place::waits)
				step(i);
	}

	/*
	 * Everybody is served and leaves. Between two leaves all have looked,
	 * so that even a lock that holds too many lets them go.
	 */
	void clear()
	{
		for (int round = 0; round < patience; round++) {
			if (count(place::outside) == size())
				return;
			all_look();
			for (unsigned i = 0; i < size(); i++) {
				if (where(i) != place::inside)
					continue;
				step(i);
				break;
			}
		}
		report_stuck();
	}

	/* The lock's bytes; nobody moves while the script reads. */
	std::array<u8, sizeof(L)> bytes() const
	{
		const u8 *from = reinterpret_cast<const u8 *>(&lock);
		std::array<u8, sizeof(L)> out{};

		for (usize i = 0; i < sizeof(L); i++)
			out[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
		return out;
	}

	L lock;

      private:
	/* More than the turns that a back-off pauses, for each who waits. */
	static constexpr int patience = 1 << 14;

	[[noreturn]] void report_stuck() const
	{
		static const char *const words[] = {"is outside", "waits",
						    "is inside"};

		std::fputs("stage: no way out\n", stderr);
		for (unsigned i = 0; i < size(); i++)
			std::fprintf(stderr, "  %u %s\n", i,
				     words[static_cast<int>(where(i))]);
		std::abort();
	}

	std::deque<klock::selftest::contender<L>> contenders;
	std::deque<actor> cast;
};

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

/* The fields of a lock that a row shows, and their names. */
template <typename L>
struct words;

template <typename Counter>
struct words<klock::ticket_lock<Counter>> {
	using lock = klock::ticket_lock<Counter>;
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
	static std::vector<u32> values(const stage<klock::tas_lock> &s)
	{
		return {s.bytes()[0]};
	}

	static std::string comes(const std::vector<u32> &, place now)
	{
		return now == place::inside ? "finds 0, has it" : "finds 1";
	}
};

/* Whether waiters that the script does not move also look. */
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
