/* SPDX-License-Identifier: MIT */
/*
 * clock - stands in front of the hosted port's: a thread's waits can be watched
 *
 * The first turn of a wait says two things that cannot be had from outside:
 * this thread has left its doorway behind, and it has found that it is not its
 * turn. And a thread that is kept in a turn takes no further look at the lock:
 * that is how a script holds it back.
 */
#pragma once

#include <klock/types.hpp>
#include <time.h>

namespace klock::arch {

/* A clock that only grows, in nanoseconds. */
inline u64 nanoseconds()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<u64>(now.tv_sec) * 1000000000u +
	       static_cast<u64>(now.tv_nsec);
}

/* Told of each turn of a wait, on the thread that waits. */
struct watcher {
	virtual void turn() = 0;
	/* Returns the time of that thread's clock. */
	virtual u64 time() { return nanoseconds(); }

      protected:
	~watcher() = default;
};

/* This thread's; none: its waits are its own business. */
inline thread_local constinit watcher *watched_by = nullptr;

inline u64 cycles() { return watched_by ? watched_by->time() : nanoseconds(); }

inline u64 cycles_begin() { return cycles(); }
inline u64 cycles_end() { return cycles(); }
inline bool cycles_usable() { return true; }
inline bool cycles_steady() { return true; }

} // namespace klock::arch
