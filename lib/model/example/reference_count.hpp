/* SPDX-License-Identifier: MIT */
/*
 * reference_count - the guide's example: a kernel's own code, to be checked
 */
#pragma once

#include <klock/atomic.hpp>

/* How many hold an object; who lets go last may take it apart. */
struct reference_count {
	void get() { count.fetch_add_relaxed(1); }

	/* True for the last; all that others did with the object is seen. */
	[[nodiscard]] bool put()
	{
		if (count.fetch_add_release(~klock::u32{0}) != 1)
			return false;
		klock::fence_acquire();
		return true;
	}

	klock::atomic<klock::u32> count{1};
};
