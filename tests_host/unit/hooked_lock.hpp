/* SPDX-License-Identifier: MIT */
/*
 * hooked_lock - a lock that runs a test's code inside of its operations
 *
 * An interrupt may come between any two instructions; around the lock inside,
 * those are the places that a checked lock has to think of. One thread alone
 * uses it, so that a wait is one for ever.
 */
#pragma once

#include <klock/ticket_lock.hpp>

#include <functional>
#include <stdexcept>
#include <utility>

enum class place { before_ticket, taken, before_release, released };

/* Once, at this place; a handler may use the same lock. */
struct hook {
	place at = place::taken;
	std::function<void()> run;
};

inline hook next_hook;

struct hooked_lock {
	static constexpr klock::u64 max_contenders =
		klock::ticket_lock<klock::u8>::max_contenders;

	void lock()
	{
		reach(place::before_ticket);
		if (inner.is_locked())
			throw std::runtime_error("waits for ever");
		inner.lock();
		reach(place::taken);
	}

	[[nodiscard]] bool try_lock()
	{
		reach(place::before_ticket);
		const bool taken = inner.try_lock();
		reach(place::taken);
		return taken;
	}

	void unlock()
	{
		reach(place::before_release);
		inner.unlock();
		reach(place::released);
	}

	[[nodiscard]] bool is_locked() const { return inner.is_locked(); }

      private:
	static void reach(place where)
	{
		if (!next_hook.run || next_hook.at != where)
			return;
		const auto run = std::exchange(next_hook.run, nullptr);
		run();
	}

	klock::ticket_lock<klock::u8> inner;
};
