/* SPDX-License-Identifier: MIT */
/*
 * checked_calls - what is asked of any lock and known by a checked one
 *
 * Part of <klock/checked_lock.hpp>, and of <klock/counted_lock.hpp>, which has
 * a name as well: include those. The same line compiles with checks and
 * without, where it does nothing.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * Names a lock at run time, before others use it; the name must live as long.
 * With a number it is an element of an array: "runqueue[3]". Any lock: one that
 * is not checked has no name, and this does nothing.
 */
template <any_lock L>
void set_name(L &lock, const char *name)
{
	if constexpr (requires { lock.set_name(name); })
		lock.set_name(name);
}
template <any_lock L>
void set_name(L &lock, const char *name, u32 element)
{
	if constexpr (requires { lock.set_name(name, element); })
		lock.set_name(name, element);
}

/*
 * A panic unless the caller holds the lock; of a lock that is not checked
 * nobody knows, and this does nothing. In any context.
 */
template <any_lock L>
void assert_held(const L &lock, call_site by = caller_site())
{
	if constexpr (requires { lock.assert_held(by); })
		lock.assert_held(by);
}

} // namespace klock
