/* SPDX-License-Identifier: MIT */
/*
 * one_version - two versions of klock in one program are not linked
 *
 * Two versions are two definitions of one type, as two ports are. The linker
 * keeps one function of each version's name; if there are two, the strong name
 * beside it is defined twice, which is an error. (port.hpp in arch/<port>
 * includes this header where the linker supports such names.) The function is
 * never called. A symbol's name cannot be made of a constant: the number is
 * repeated here, and checked.
 */
#pragma once

#include <klock/version.hpp>

namespace klock::detail {

/* Whether "klock_version_1_2_3" has the numbers of version.hpp. */
constexpr bool names_this_version(const char *name)
{
	unsigned part[4] = {};
	unsigned at = 0;

	for (name += sizeof("klock_version") - 1; *name; ++name)
		if (*name == '_')
			++at;
		else
			part[at] = 10 * part[at] + unsigned(*name - '0');
	return part[1] == version_major && part[2] == version_minor &&
	       part[3] == version_patch;
}

} // namespace klock::detail

/* See types.hpp. */
namespace klock::arch {
inline constexpr bool linker_refuses_twice = true;
}

extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_version_0_4_0() noexcept
{
	static_assert(klock::detail::names_this_version(__func__),
		      "rename these functions as <klock/version.hpp> says");
}
[[gnu::alias("klock_version_0_4_0"), gnu::visibility("hidden")]] void
klock_two_versions_in_one_program() noexcept;
}
