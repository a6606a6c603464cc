/* SPDX-License-Identifier: MIT */
#pragma once

#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>

#include "../watchdog.hpp"

#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace claims {
/*
 * stage - one lock and the threads that a script moves, step by step
 */

/*
 * actor - a thread that takes and leaves a lock one step at a time
 *
 * A real thread in a real lock; only when it goes on is up to the script. It
 * stops in three places: before lock(), after lock(), and in each turn of its
 * wait (tests_host/watched).
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

} // namespace claims
