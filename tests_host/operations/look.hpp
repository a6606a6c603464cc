/* SPDX-License-Identifier: MIT */
/*
 * look - what an engine was told of one operation, against its name
 */
#pragma once

#include <operations/recorder.hpp>

#include <set>
#include <string>

namespace klock::tests {

/* Where the operations are called. */
inline constexpr site there{"caller.cpp", 42};

/* What was not as its name says: "fetch_or_acq_rel of 4 bytes: its order" */
using findings = std::set<std::string>;

/* One operation over x was asked for: this one, by its name. */
struct look {
	findings &wrong;
	const char *name;
	usize bytes;
	const recorder &r;

	void expect(bool holds, const char *what) const
	{
		if (!holds)
			wrong.insert(std::string(name) + " of " +
				     std::to_string(bytes) + " bytes: " + what);
	}

	/* The one call; it looks at bits of x from shift on. */
	call at(request what, const void *x, unsigned shift, usize bits) const
	{
		expect(r.calls.size() == 1, "how many calls");
		const call c = r.calls.empty()
				       ? call{what, order::relaxed, there}
				       : r.calls[0];

		expect(c.what == what, "another operation");
		expect(c.ord == order_of(name), "its order");
		expect(c.where.line == there.line, "where it is called");
		expect(c.at.at == x && c.at.bytes == bytes, "its location");
		expect(c.at.shift == shift && c.at.bits == bits, "its bits");
		return c;
	}
};

} // namespace klock::tests
