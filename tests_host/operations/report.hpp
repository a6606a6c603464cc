/* SPDX-License-Identifier: MIT */
/*
 * report - what the tests of the operations' values have found
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/types.hpp>

namespace klock::tests {

/* How many facts were looked at, and the first that was wrong. */
struct report {
	unsigned checked = 0;
	unsigned failed = 0;
	const char *operation = "";
	unsigned bytes = 0; /* of the type */
	u64 found = 0, operand = 0;

	void expect(bool holds, const char *name, unsigned of_bytes, u64 was,
		    u64 with)
	{
		checked++;
		if (holds || failed++)
			return;
		operation = name;
		bytes = of_bytes;
		found = was;
		operand = with;
	}
};

inline constexpr site here{"", 0};

} // namespace klock::tests
