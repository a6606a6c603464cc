/* SPDX-License-Identifier: MIT */
#pragma once

#include "../watchdog.hpp"

#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <typeinfo>
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

/* All of it but the lock's type: a script is compiled once for all locks. */
struct stage_of_any {
	stage_of_any(const stage_of_any &) = delete;
	stage_of_any &operator=(const stage_of_any &) = delete;

	unsigned size() const { return static_cast<unsigned>(cast.size()); }
	place step(unsigned who);
	place where(unsigned who) const { return cast[who].where(); }
	unsigned count(place there) const;

	/* Steps of these actors, one after another. */
	void steps(std::initializer_list<unsigned> actors);
	/* One by one; the first takes the lock and stays inside. */
	void all_come();
	/* Looks until it is inside, so many times at most. */
	bool looks(unsigned who, unsigned most);
	/* Whether it gets in by its next look; then it leaves. */
	bool serves(unsigned who);
	/* All who wait take a look, the last of them first. */
	void all_look();
	/*
	 * Everybody is served and leaves. Between two leaves all have looked,
	 * so that even a lock that holds too many lets them go.
	 */
	void clear();
	/* The lock's bytes; nobody moves while the script reads. */
	std::vector<u8> bytes() const;

      protected:
	struct calls {
		const std::type_info &type;
		usize size;
		void (*lock)(void *lock, void *who);
		void (*unlock)(void *lock, void *who);
	};

	stage_of_any(void *lock, calls of) : its_lock(lock), by(of) {}
	~stage_of_any() = default;

	void add(void *contender);

      private:
	[[noreturn]] void report_stuck() const;

	void *const its_lock;
	const calls by;
	std::deque<actor> cast;
};

template <typename L>
struct stage final : stage_of_any {
	/* The lock is made of what follows the number of actors. */
	template <typename... Args>
	explicit stage(unsigned actors, Args... lock_args)
	    : stage_of_any(&lock, calls_of_it()), lock(lock_args...)
	{
		for (unsigned i = 0; i < actors; i++)
			add(&contenders.emplace_back(i));
	}
	~stage() { clear(); }

	L lock;

      private:
	using contender = klock::selftest::contender<L>;

	static calls calls_of_it()
	{
		return {typeid(L), sizeof(L),
			[](void *l, void *who) {
				static_cast<contender *>(who)->lock(
					*static_cast<L *>(l));
			},
			[](void *l, void *who) {
				static_cast<contender *>(who)->unlock(
					*static_cast<L *>(l));
			}};
	}

	std::deque<contender> contenders;
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
	static std::vector<u32> values(const stage_of_any &s)
	{
		const auto bytes = s.bytes();
		Counter both[2]; /* owner, next */

		static_assert(sizeof(both) == sizeof(lock));
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
	static std::vector<u32> values(const stage_of_any &s)
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
