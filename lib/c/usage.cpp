/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_lock.hpp>

using klock::as_cpp;

void klock_usage_set_name(klock_usage *usage, const char *name)
{
	as_cpp(*usage).set_name(name);
}

void klock_usage_set_element(klock_usage *usage, const char *name,
			     unsigned index)
{
	as_cpp(*usage).set_name(name, index);
}

int klock_usage_is_held_by_me(const klock_usage *usage)
{
	return as_cpp(*usage).is_held_by_me();
}

void klock_usage_assert_held(const klock_usage *usage, const char *file,
			     int line)
{
	if (!as_cpp(*usage).is_held_by_me())
		as_cpp(*usage).complain("not held by the caller", {file, line});
}
