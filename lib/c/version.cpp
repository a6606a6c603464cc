/* SPDX-License-Identifier: MIT */
#include <klock/verbs.h>

#include <klock/version.hpp>

namespace {

/* "major.minor.patch", out of the numbers. */
struct version_text {
	char text[32] = {};
	unsigned length = 0;

	constexpr version_text()
	{
		put(klock::version_major);
		text[length++] = '.';
		put(klock::version_minor);
		text[length++] = '.';
		put(klock::version_patch);
	}

	constexpr void put(unsigned number)
	{
		if (number >= 10)
			put(number / 10);
		text[length++] = static_cast<char>('0' + number % 10);
	}
};
constexpr version_text version;

} // namespace

const char *klock_version() { return version.text; }
