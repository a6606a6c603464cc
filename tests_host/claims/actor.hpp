/* SPDX-License-Identifier: MIT */
/*
 * actor - a thread that takes and leaves a lock one step at a time
 *
 * A real thread in a real lock; only when it goes on is up to the script. It
 * stops in three places: before lock(), after lock(), and in each turn of its
 * wait (tests_host/watched).
 */
#pragma once

#include <klock/cpu.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace claims {

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

} // namespace claims
